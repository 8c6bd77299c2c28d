//! The sending half.

use super::buffered::Buffered;
use super::counted::Tx;
use super::error::{SendError, SendTimeoutError, TrySendError};
use super::handle::{HalfId, Handle};
use super::iter::Unsent;
use super::token::{Reservation, Token};
use super::wait::{Case, Wait};
use super::zero::Zero;
use crate::mpmc::{Bounded, Unbounded};
use crate::{PushError, TrustedItems};
use sateen_base::prim::time::{Duration, Instant};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;

/// The sending half of a channel.
///
/// Clone it to send from several places. When the last one is dropped, receivers get the items that
/// are left, and then [`RecvError`](super::RecvError).
///
/// # Examples
/// ```
/// use sateen::channel::unbounded;
/// let (sender, receiver) = unbounded();
/// let other = sender.clone();
/// std::thread::spawn(move || sender.send(1).unwrap());
/// std::thread::spawn(move || other.send(2).unwrap());
/// assert_eq!(receiver.iter().sum::<i32>(), 3);
/// ```
pub struct Sender<T> {
    pub(super) flavor: TxFlavor<T>,
}

pub(super) enum TxFlavor<T> {
    Bounded(Tx<Buffered<Bounded<T>>>),
    Unbounded(Tx<Buffered<Unbounded<T>>>),
    Zero(Tx<Zero<T>>),
}

impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> Sender<T> {
    /// Sends `item` if there is room now; without a buffer, if a receiver waits.
    ///
    /// # Errors
    /// [`TrySendError::Full`] or [`TrySendError::Disconnected`], with the item.
    ///
    /// ```
    /// use sateen::channel::{TrySendError, bounded};
    /// let (sender, receiver) = bounded(1);
    /// assert_eq!(sender.try_send(1), Ok(()));
    /// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    /// drop(receiver);
    /// assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    /// ```
    #[inline]
    pub fn try_send(&self, item: T) -> Result<(), TrySendError<T>> {
        let sent = match &self.flavor {
            TxFlavor::Bounded(channel) => channel.try_send(item),
            TxFlavor::Unbounded(channel) => channel.try_send(item),
            TxFlavor::Zero(channel) => return channel.try_send(item),
        };
        sent.map_err(|error| match error {
            PushError::Full(item) => TrySendError::Full(item),
            PushError::Closed(item) => TrySendError::Disconnected(item),
        })
    }

    /// Sends `item`; waits for room if there is none, without a buffer for a receiver. A thread
    /// blocks, a fiber is suspended.
    ///
    /// # Cost
    /// With a buffer one locked instruction, while there is room and no receiver waits.
    ///
    /// # Errors
    /// If all receivers are gone; with the item.
    ///
    /// ```
    /// use sateen::channel::{SendError, bounded};
    /// let (sender, receiver) = bounded(1);
    /// assert_eq!(sender.send(1), Ok(()));
    /// drop(receiver);
    /// assert_eq!(sender.send(2), Err(SendError(2)));
    /// ```
    #[inline]
    pub fn send(&self, item: T) -> Result<(), SendError<T>> {
        self.send_until(item, None).map_err(|error| SendError(error.into_inner()))
    }

    /// [`send`](Self::send) with a limit.
    ///
    /// # Errors
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the item.
    ///
    /// ```
    /// use sateen::channel::{SendTimeoutError, bounded};
    /// use std::time::Duration;
    /// let (sender, _receiver) = bounded(0);
    /// let sent = sender.send_timeout(1, Duration::from_millis(1));
    /// assert_eq!(sent, Err(SendTimeoutError::Timeout(1)));
    /// ```
    pub fn send_timeout(&self, item: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        // A deadline that no clock will reach is no limit.
        self.send_until(item, Instant::now().checked_add(timeout))
    }

    /// [`send`](Self::send) until `deadline`.
    ///
    /// # Errors
    /// As [`send_timeout`](Self::send_timeout).
    pub fn send_deadline(&self, item: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(item, Some(deadline))
    }

    #[inline]
    fn send_until(&self, item: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.send(item, deadline),
            TxFlavor::Unbounded(channel) => channel.send(item, deadline),
            TxFlavor::Zero(channel) => channel.send(item, deadline),
        }
    }

    /// Sends all of `items`, in order; returns how many were sent. One reservation takes as many as
    /// there is room for at once. Waits for room like [`send`](Self::send).
    ///
    /// The items come from a container, an array or a range; see [`TrustedItems`].
    ///
    /// # Errors
    /// If all receivers are gone; with the items that were not sent, as an iterator.
    ///
    /// ```
    /// use sateen::channel::bounded;
    /// let (sender, receiver) = bounded(2);
    /// let thread = std::thread::spawn(move || sender.send_all(vec!["a", "b", "c"]));
    /// assert_eq!(receiver.iter().collect::<String>(), "abc");
    /// assert_eq!(thread.join().unwrap().unwrap(), 3);
    /// ```
    pub fn send_all<I>(&self, items: I) -> Result<usize, SendError<Unsent<I::IntoIter>>>
    where
        I: IntoIterator<Item = T, IntoIter: TrustedItems>,
    {
        let mut items = items.into_iter();
        let mut count = 0;
        while items.len() > 0 {
            let sent = match &self.flavor {
                TxFlavor::Bounded(channel) => channel.send_some(&mut items),
                TxFlavor::Unbounded(channel) => channel.send_some(&mut items),
                TxFlavor::Zero(_) => match items.next().map(|item| self.send(item)) {
                    None | Some(Ok(())) => Ok(1),
                    Some(Err(SendError(item))) => Err(Some(item)),
                },
            };
            match sent {
                Ok(sent) => count += sent,
                Err(first) => return Err(SendError(Unsent { first, rest: items })),
            }
        }
        Ok(count)
    }

    /// How many items are in the channel, at some moment during the call.
    ///
    /// ```
    /// let (sender, _receiver) = sateen::channel::unbounded();
    /// sender.send(1).unwrap();
    /// assert_eq!(sender.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.len(),
            TxFlavor::Unbounded(channel) => channel.len(),
            TxFlavor::Zero(_) => 0,
        }
    }

    /// Whether the channel is empty; without a buffer it always is.
    ///
    /// ```
    /// assert!(sateen::channel::unbounded::<u8>().0.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the channel is full; without a buffer it always is.
    ///
    /// ```
    /// let (sender, _receiver) = sateen::channel::bounded(1);
    /// sender.send(1).unwrap();
    /// assert!(sender.is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| self.len() >= capacity)
    }

    /// How many items the channel can hold; `None` if there is no limit.
    ///
    /// ```
    /// use sateen::channel::{bounded, unbounded};
    /// assert_eq!(bounded::<u8>(5).0.capacity(), Some(5));
    /// assert_eq!(unbounded::<u8>().0.capacity(), None);
    /// ```
    pub fn capacity(&self) -> Option<usize> {
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.capacity(),
            TxFlavor::Unbounded(_) => None,
            TxFlavor::Zero(_) => Some(0),
        }
    }

    /// Whether both send to the same channel.
    ///
    /// ```
    /// let (sender, _receiver) = sateen::channel::unbounded::<u8>();
    /// assert!(sender.same_channel(&sender.clone()));
    /// ```
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.flavor, &other.flavor) {
            (TxFlavor::Bounded(a), TxFlavor::Bounded(b)) => a.same(b),
            (TxFlavor::Unbounded(a), TxFlavor::Unbounded(b)) => a.same(b),
            (TxFlavor::Zero(a), TxFlavor::Zero(b)) => a.same(b),
            _ => false,
        }
    }

    /// Sends the item of a selected operation.
    pub(super) fn commit(&self, reservation: Reservation, item: T) -> Result<(), T> {
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.commit(reservation, item),
            TxFlavor::Unbounded(channel) => channel.commit(reservation, item),
            TxFlavor::Zero(channel) => channel.commit(reservation, item),
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let flavor = match &self.flavor {
            TxFlavor::Bounded(channel) => TxFlavor::Bounded(channel.clone()),
            TxFlavor::Unbounded(channel) => TxFlavor::Unbounded(channel.clone()),
            TxFlavor::Zero(channel) => TxFlavor::Zero(channel.clone()),
        };
        Self { flavor }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}

impl<T> Handle for Sender<T> {
    fn half(&self) -> HalfId {
        HalfId::Sending(match &self.flavor {
            TxFlavor::Bounded(channel) => channel.address(),
            TxFlavor::Unbounded(channel) => channel.address(),
            TxFlavor::Zero(channel) => channel.address(),
        })
    }

    fn try_select(&self, token: &mut Token) -> bool {
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.try_select_send(token),
            TxFlavor::Unbounded(channel) => channel.try_select_send(token),
            TxFlavor::Zero(channel) => channel.try_select_send(token),
        }
    }

    fn abort(&self, token: &mut Token) {
        let reservation = std::mem::take(&mut token.reservation);
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.abort(reservation),
            TxFlavor::Unbounded(_) => {}
            TxFlavor::Zero(channel) => channel.abort(reservation),
        }
    }

    fn is_ready(&self) -> bool {
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.is_pushable(),
            TxFlavor::Unbounded(channel) => channel.is_pushable(),
            TxFlavor::Zero(channel) => channel.is_pushable(),
        }
    }

    fn meets(&self) -> bool {
        matches!(self.flavor, TxFlavor::Zero(_))
    }

    fn wait(&self, case: Case) -> Option<Pin<Box<dyn Wait + '_>>> {
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.wait_send(),
            TxFlavor::Unbounded(channel) => channel.wait_send(),
            TxFlavor::Zero(channel) => channel.wait_send(case),
        }
    }

    fn watch(&self) -> Option<Pin<Box<dyn Wait + '_>>> {
        match &self.flavor {
            TxFlavor::Bounded(channel) => channel.wait_send(),
            TxFlavor::Unbounded(channel) => channel.wait_send(),
            TxFlavor::Zero(channel) => channel.watch_send(),
        }
    }
}
