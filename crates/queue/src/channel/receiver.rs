//! The receiving half.

use super::buffered::Buffered;
use super::clock::{self, Timed};
use super::counted::Rx;
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::handle::{HalfId, Handle};
use super::iter::{IntoIter, Iter, TryIter};
use super::spin_phase::has_passed;
use super::token::Token;
use super::wait::{Case, Idle, Wait};
use super::zero::Zero;
use crate::PopError;
use crate::mpmc::{Bounded, Unbounded};
use sateen_base::prim::time::{Duration, Instant};
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::sync::Arc;

/// The receiving half of a channel.
///
/// Clone it to receive in several places: each item goes to one of them. When the last one is
/// dropped, senders get [`SendError`](super::SendError), and the items left in the channel are
/// dropped.
///
/// # Examples
/// ```
/// use sateen::channel::bounded;
/// let (sender, receiver) = bounded(2);
/// std::thread::spawn(move || (0..10).try_for_each(|i| sender.send(i)));
/// assert_eq!(receiver.recv(), Ok(0));
/// assert_eq!(receiver.iter().sum::<i32>(), 45);
/// ```
pub struct Receiver<T> {
    pub(super) flavor: RxFlavor<T>,
}

pub(super) enum RxFlavor<T> {
    Bounded(Rx<Buffered<Bounded<T>>>),
    Unbounded(Rx<Buffered<Unbounded<T>>>),
    Zero(Rx<Zero<T>>),
    Timed(Arc<dyn Timed<T>>),
    Never,
}

impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    /// Receives an item if there is one now; without a buffer, if a sender waits.
    ///
    /// Without a buffer, a [`SendFuture`](super::SendFuture) that waits is woken, and sends when it
    /// is polled: its item is there for a later call.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    ///
    /// ```
    /// use sateen::channel::{TryRecvError, unbounded};
    /// let (sender, receiver) = unbounded();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(1).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    /// ```
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let received = match &self.flavor {
            RxFlavor::Bounded(channel) => channel.try_recv(),
            RxFlavor::Unbounded(channel) => channel.try_recv(),
            RxFlavor::Zero(channel) => return channel.try_recv(),
            RxFlavor::Timed(clock) => return clock.try_recv(),
            RxFlavor::Never => return Err(TryRecvError::Empty),
        };
        received.map_err(TryRecvError::from)
    }

    /// Receives an item; waits for one if there is none. A thread blocks, a fiber is suspended.
    ///
    /// # Cost
    /// With a buffer one locked instruction, while there are items and no sender waits.
    ///
    /// # Errors
    /// If the channel is empty and all senders are gone.
    ///
    /// ```
    /// use sateen::channel::{RecvError, unbounded};
    /// let (sender, receiver) = unbounded();
    /// std::thread::spawn(move || sender.send(1));
    /// assert_eq!(receiver.recv(), Ok(1));
    /// assert_eq!(receiver.recv(), Err(RecvError));
    /// ```
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.recv_until(None).map_err(|_| RecvError)
    }

    /// [`recv`](Self::recv) with a limit.
    ///
    /// # Errors
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    ///
    /// ```
    /// use sateen::channel::{RecvTimeoutError, unbounded};
    /// use std::time::Duration;
    /// let (_sender, receiver) = unbounded::<u8>();
    /// let received = receiver.recv_timeout(Duration::from_millis(1));
    /// assert_eq!(received, Err(RecvTimeoutError::Timeout));
    /// ```
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        // A deadline that no clock will reach is no limit.
        self.recv_until(Instant::now().checked_add(timeout))
    }

    /// [`recv`](Self::recv) until `deadline`.
    ///
    /// # Errors
    /// As [`recv_timeout`](Self::recv_timeout).
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    #[inline]
    fn recv_until(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        match &self.flavor {
            RxFlavor::Bounded(channel) => channel.recv(deadline),
            RxFlavor::Unbounded(channel) => channel.recv(deadline),
            RxFlavor::Zero(channel) => channel.recv(deadline),
            RxFlavor::Timed(clock) => clock.recv(deadline),
            RxFlavor::Never => {
                clock::sleep(deadline);
                Err(RecvTimeoutError::Timeout)
            }
        }
    }

    /// Receives up to `max` items with one reservation and appends them to `buf`, in order; returns
    /// how many. Waits for at least one. `buf` grows if it has to.
    ///
    /// # Errors
    /// If the channel is empty and all senders are gone, and `max` is not 0.
    ///
    /// ```
    /// let (sender, receiver) = sateen::channel::unbounded();
    /// sender.send_all(0..5).unwrap();
    /// let mut buf = Vec::new();
    /// assert_eq!(receiver.recv_into(&mut buf, 4), Ok(4));
    /// assert_eq!(buf, [0, 1, 2, 3]);
    /// ```
    pub fn recv_into(&self, buf: &mut Vec<T>, max: usize) -> Result<usize, RecvError> {
        if max == 0 {
            return Ok(0);
        }
        match &self.flavor {
            RxFlavor::Bounded(channel) => channel.recv_into(buf, max).ok_or(RecvError),
            RxFlavor::Unbounded(channel) => channel.recv_into(buf, max).ok_or(RecvError),
            _ => {
                buf.push(self.recv()?);
                Ok(1)
            }
        }
    }

    /// [`recv_into`](Self::recv_into) that does not wait.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`], if `max` is not 0.
    ///
    /// ```
    /// use sateen::channel::{TryRecvError, unbounded};
    /// let (_sender, receiver) = unbounded::<u8>();
    /// assert_eq!(receiver.try_recv_into(&mut Vec::new(), 4), Err(TryRecvError::Empty));
    /// ```
    pub fn try_recv_into(&self, buf: &mut Vec<T>, max: usize) -> Result<usize, TryRecvError> {
        if max == 0 {
            return Ok(0);
        }
        match &self.flavor {
            RxFlavor::Bounded(channel) => Ok(channel.try_recv_into(buf, max)?),
            RxFlavor::Unbounded(channel) => Ok(channel.try_recv_into(buf, max)?),
            _ => {
                buf.push(self.try_recv()?);
                Ok(1)
            }
        }
    }

    /// How many items are in the channel, at some moment during the call.
    ///
    /// ```
    /// let (sender, receiver) = sateen::channel::unbounded();
    /// sender.send(1).unwrap();
    /// assert_eq!(receiver.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        match &self.flavor {
            RxFlavor::Bounded(channel) => channel.len(),
            RxFlavor::Unbounded(channel) => channel.len(),
            RxFlavor::Timed(clock) => usize::from(clock.next().is_some_and(has_passed)),
            RxFlavor::Zero(_) | RxFlavor::Never => 0,
        }
    }

    /// Whether the channel is empty; without a buffer it always is.
    ///
    /// ```
    /// assert!(sateen::channel::unbounded::<u8>().1.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the channel is full; without a buffer it always is.
    ///
    /// ```
    /// let (sender, receiver) = sateen::channel::bounded(1);
    /// assert!(!receiver.is_full());
    /// sender.send(1).unwrap();
    /// assert!(receiver.is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        self.capacity().is_some_and(|capacity| self.len() >= capacity)
    }

    /// How many items the channel can hold; `None` if there is no limit.
    ///
    /// ```
    /// use sateen::channel::{bounded, unbounded};
    /// assert_eq!(bounded::<u8>(5).1.capacity(), Some(5));
    /// assert_eq!(unbounded::<u8>().1.capacity(), None);
    /// ```
    pub fn capacity(&self) -> Option<usize> {
        match &self.flavor {
            RxFlavor::Bounded(channel) => channel.capacity(),
            RxFlavor::Unbounded(_) => None,
            RxFlavor::Timed(_) => Some(1),
            RxFlavor::Zero(_) | RxFlavor::Never => Some(0),
        }
    }

    /// Receives until the channel is empty and all senders are gone; waits whenever there is no
    /// item.
    ///
    /// ```
    /// let (sender, receiver) = sateen::channel::unbounded();
    /// std::thread::spawn(move || sender.send_all(1..4));
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// Receives the items that are there, without waiting.
    ///
    /// ```
    /// let (sender, receiver) = sateen::channel::unbounded();
    /// sender.send_all(1..4).unwrap();
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }

    /// Whether both receive from the same channel.
    ///
    /// ```
    /// let (_sender, receiver) = sateen::channel::unbounded::<u8>();
    /// assert!(receiver.same_channel(&receiver.clone()));
    /// ```
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.flavor, &other.flavor) {
            (RxFlavor::Bounded(a), RxFlavor::Bounded(b)) => a.same(b),
            (RxFlavor::Unbounded(a), RxFlavor::Unbounded(b)) => a.same(b),
            (RxFlavor::Zero(a), RxFlavor::Zero(b)) => a.same(b),
            (RxFlavor::Timed(a), RxFlavor::Timed(b)) => Arc::ptr_eq(a, b),
            (RxFlavor::Never, RxFlavor::Never) => true,
            _ => false,
        }
    }
}

impl From<PopError> for TryRecvError {
    fn from(error: PopError) -> Self {
        match error {
            PopError::Empty => Self::Empty,
            PopError::Closed => Self::Disconnected,
        }
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        let flavor = match &self.flavor {
            RxFlavor::Bounded(channel) => RxFlavor::Bounded(channel.clone()),
            RxFlavor::Unbounded(channel) => RxFlavor::Unbounded(channel.clone()),
            RxFlavor::Zero(channel) => RxFlavor::Zero(channel.clone()),
            RxFlavor::Timed(clock) => RxFlavor::Timed(clock.clone()),
            RxFlavor::Never => RxFlavor::Never,
        };
        Self { flavor }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> Handle for Receiver<T> {
    fn half(&self) -> HalfId {
        HalfId::Receiving(match &self.flavor {
            RxFlavor::Bounded(channel) => channel.address(),
            RxFlavor::Unbounded(channel) => channel.address(),
            RxFlavor::Zero(channel) => channel.address(),
            RxFlavor::Timed(clock) => Arc::as_ptr(clock).addr(),
            RxFlavor::Never => return HalfId::Never,
        })
    }

    fn try_select(&self, token: &mut Token) -> bool {
        match &self.flavor {
            RxFlavor::Bounded(channel) => channel.try_select_recv(token),
            RxFlavor::Unbounded(channel) => channel.try_select_recv(token),
            RxFlavor::Zero(channel) => channel.try_select_recv(token),
            RxFlavor::Timed(clock) => {
                let item = clock.try_recv().ok();
                let there = item.is_some();
                token.item.put(item);
                there
            }
            RxFlavor::Never => false,
        }
    }

    fn abort(&self, token: &mut Token) {
        // A selection may be on a thread to which its items may not go: they are not dropped there.
        // SAFETY: chosen by this receiver, whose items are of type `T`.
        std::mem::forget(unsafe { token.item.take::<T>() });
    }

    fn is_ready(&self) -> bool {
        match &self.flavor {
            RxFlavor::Bounded(channel) => channel.is_poppable(),
            RxFlavor::Unbounded(channel) => channel.is_poppable(),
            RxFlavor::Zero(channel) => channel.is_poppable(),
            RxFlavor::Timed(clock) => clock.next().is_some_and(has_passed),
            RxFlavor::Never => false,
        }
    }

    fn meets(&self) -> bool {
        matches!(self.flavor, RxFlavor::Zero(_))
    }

    fn deadline(&self) -> Option<Instant> {
        match &self.flavor {
            RxFlavor::Timed(clock) => clock.next(),
            _ => None,
        }
    }

    fn wait(&self, case: Case) -> Option<Pin<Box<dyn Wait + '_>>> {
        match &self.flavor {
            RxFlavor::Zero(channel) => channel.wait_recv(case),
            _ => self.watch(),
        }
    }

    fn watch(&self) -> Option<Pin<Box<dyn Wait + '_>>> {
        match &self.flavor {
            RxFlavor::Bounded(channel) => channel.wait_recv(),
            RxFlavor::Unbounded(channel) => channel.wait_recv(),
            RxFlavor::Zero(channel) => channel.watch_recv(),
            RxFlavor::Timed(_) | RxFlavor::Never => {
                (!self.is_ready()).then(|| Box::pin(Idle) as Pin<Box<dyn Wait>>)
            }
        }
    }
}
