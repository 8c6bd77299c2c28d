//! A message queue for one thread.

use super::block::{block_local, block_local_timeout};
use super::permits::{Closed, Permits};
use crate::waiting::awaited;
use sateen_base::prim::time::Duration;
use sateen_base::unwind::run_and_discard;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

/// An unbounded channel for the fibers and futures of one thread: many senders, many receivers,
/// first in, first out. A panic of a waker is discarded, and loses no message.
///
/// # Cost
/// Sending allocates when the buffer grows.
///
/// # Examples
///
/// ```
/// use sateen::sync::local::{RecvError, unbounded};
/// let (sender, receiver) = unbounded();
/// sender.send(1).unwrap();
/// drop(sender);
/// assert_eq!(receiver.recv(), Ok(1));
/// assert_eq!(receiver.recv(), Err(RecvError));
/// ```
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    channel(None)
}

/// A channel that holds at most `capacity` messages; a sender waits while it is full.
///
/// # Errors
/// [`ZeroCapacity`].
///
/// # Examples
///
/// ```
/// use sateen::sync::local::{TrySendError, bounded};
/// let (sender, receiver) = bounded(1).unwrap();
/// sender.send(1).unwrap();
/// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
pub fn bounded<T>(capacity: usize) -> Result<(Sender<T>, Receiver<T>), ZeroCapacity> {
    if capacity == 0 { Err(ZeroCapacity) } else { Ok(channel(Some(capacity))) }
}

fn channel<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let chan = Rc::new(Chan {
        buffer: RefCell::new(VecDeque::with_capacity(capacity.unwrap_or(0).min(64))),
        room: capacity.map(Permits::new),
        items: Permits::new(0),
        senders: Cell::new(1),
        receivers: Cell::new(1),
    });
    (Sender { chan: chan.clone() }, Receiver { chan })
}

struct Chan<T> {
    /// Borrowed only while a value is moved in or out.
    buffer: RefCell<VecDeque<T>>,
    /// One permit for each free slot; `None` without a limit.
    room: Option<Permits>,
    /// A permit for each message that was not promised to a receiver. Closed with the last sender.
    items: Permits,
    senders: Cell<usize>,
    receivers: Cell<usize>,
}

impl<T> Chan<T> {
    fn deaf(&self) -> bool {
        self.receivers.get() == 0
    }

    /// Called by the owner of a slot.
    fn put(&self, value: T) {
        self.buffer.borrow_mut().push_back(value);
        self.items.put_quietly(1);
    }

    /// Called when a message was promised, or all senders are gone.
    fn get(&self) -> Result<T, RecvError> {
        let value = self.buffer.borrow_mut().pop_front().ok_or(RecvError)?;
        if let Some(room) = &self.room {
            // The sender's waker is foreign code, and this receiver holds the message.
            room.put_quietly(1);
        }
        Ok(value)
    }
}

/// A channel needs room for one message at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZeroCapacity;

/// There are no receivers; contains the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Why a message was not sent; contains the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full (also at the time limit), or others wait to send.
    Full(T),
    /// There are no receivers.
    Disconnected(T),
}

/// There are no messages and no senders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

/// Why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The channel is empty (also at the time limit), or others wait to receive.
    Empty,
    /// It is empty and there are no senders.
    Disconnected,
}

macro_rules! error {
    ([$($generics:tt)*] $type:ty: $self:ident => $text:expr) => {
        impl<$($generics)*> fmt::Display for $type {
            fn fmt(&$self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($text)
            }
        }
        impl<$($generics)*> std::error::Error for $type where Self: fmt::Debug {}
    };
}

error!([] ZeroCapacity: self => "a bounded channel needs room for one message at least");
error!([T] SendError<T>: self => "all receivers are gone");
error!([T] TrySendError<T>: self => match self {
    Self::Full(_) => "the channel is full",
    Self::Disconnected(_) => "all receivers are gone",
});
error!([] RecvError: self => "no messages, and all senders are gone");
error!([] TryRecvError: self => match self {
    Self::Empty => "the channel is empty",
    Self::Disconnected => "no messages, and all senders are gone",
});

/// The sending side of a local channel.
pub struct Sender<T> {
    chan: Rc<Chan<T>>,
}

impl<T> Sender<T> {
    /// Sends; suspends the fiber while the channel is full.
    ///
    /// # Errors
    /// [`SendError`] with the message if there are no receivers.
    ///
    /// # Panics
    /// If it is full, and this thread runs no other fiber that could receive.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        match self.try_send(value) {
            Ok(()) => Ok(()),
            Err(TrySendError::Disconnected(value)) => Err(SendError(value)),
            Err(TrySendError::Full(value)) => {
                block_local(awaited("channel", &*self.chan), self.send_async(value))
            }
        }
    }

    /// Sends if there is room and no other waits to send.
    ///
    /// # Errors
    /// [`TrySendError`] with the message.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        if self.chan.deaf() {
            return Err(TrySendError::Disconnected(value));
        }
        if self.chan.room.as_ref().is_some_and(|room| !room.try_take(1)) {
            return Err(TrySendError::Full(value));
        }
        self.chan.put(value);
        Ok(())
    }

    /// [`send`](Self::send) with a time limit.
    ///
    /// # Errors
    /// [`TrySendError`] with the message.
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), TrySendError<T>> {
        let what = awaited("channel", &*self.chan);
        match block_local_timeout(what, timeout, self.slot()) {
            Some(true) => {
                self.chan.put(value);
                Ok(())
            }
            Some(false) => Err(TrySendError::Disconnected(value)),
            None => Err(TrySendError::Full(value)),
        }
    }

    /// [`send`](Self::send) as a future.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_async(&self, value: T) -> Result<(), SendError<T>> {
        if !self.slot().await {
            return Err(SendError(value));
        }
        self.chan.put(value);
        Ok(())
    }

    /// Waits for a slot. Returns false if there are no receivers.
    async fn slot(&self) -> bool {
        if let Some(room) = &self.chan.room
            && !self.chan.deaf()
        {
            let _closed = room.take(1).await;
        }
        !self.chan.deaf()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.chan.senders.set(self.chan.senders.get() + 1);
        Self { chan: self.chan.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.chan.senders.set(self.chan.senders.get() - 1);
        if self.chan.senders.get() == 0 {
            run_and_discard(|| self.chan.items.close());
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The receiving side of a local channel: each message goes to one receiver.
pub struct Receiver<T> {
    chan: Rc<Chan<T>>,
}

impl<T> Receiver<T> {
    /// Receives; suspends the fiber while the channel is empty.
    ///
    /// # Errors
    /// [`RecvError`] if it is empty and there are no senders.
    ///
    /// # Panics
    /// If it is empty, and this thread runs no other fiber that could send.
    pub fn recv(&self) -> Result<T, RecvError> {
        match self.try_recv() {
            Ok(value) => Ok(value),
            Err(TryRecvError::Disconnected) => Err(RecvError),
            Err(TryRecvError::Empty) => {
                block_local(awaited("channel", &*self.chan), self.recv_async())
            }
        }
    }

    /// Receives if there is a message and no other waits.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        if self.chan.items.try_take(1) || self.chan.items.is_closed() {
            return self.chan.get().map_err(|RecvError| TryRecvError::Disconnected);
        }
        Err(TryRecvError::Empty)
    }

    /// [`recv`](Self::recv) with a time limit.
    ///
    /// # Errors
    /// [`TryRecvError`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, TryRecvError> {
        let what = awaited("channel", &*self.chan);
        block_local_timeout(what, timeout, self.recv_async())
            .ok_or(TryRecvError::Empty)?
            .map_err(|RecvError| TryRecvError::Disconnected)
    }

    /// [`recv`](Self::recv) as a future. Dropping it early loses no message.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub async fn recv_async(&self) -> Result<T, RecvError> {
        match self.chan.items.take(1).await {
            // Without senders, a message that was promised to another receiver may be taken,
            // because that receiver may never return for it.
            Ok(()) | Err(Closed) => self.chan.get(),
        }
    }

    /// How many messages are in the channel.
    pub fn len(&self) -> usize {
        self.chan.buffer.borrow().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.chan.receivers.set(self.chan.receivers.get() + 1);
        Self { chan: self.chan.clone() }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.chan.receivers.set(self.chan.receivers.get() - 1);
        if self.chan.deaf() {
            // Taken out first: dropping messages may run any code.
            let messages = self.chan.buffer.take();
            if let Some(room) = &self.chan.room {
                run_and_discard(|| room.close());
            }
            drop(messages);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
