//! One value from one sender to one receiver. Protocol and proof: the crate's `README.md`, section
//! *Oneshot*.
//!
//! | bit | meaning | set by | then owns the value's slot |
//! |---|---|---|---|
//! | none | | | the sender |
//! | `SENT` 1 | the value is in the slot | the sender, once | receiver, unless `CLOSED` is first |
//! | `DROPPED` 2 | the sender is gone and sent nothing | the sender, once | it stays empty |
//! | `CLOSED` 4 | the receiver is gone | the receiver, once | sender, unless `SENT` is first |
//! | `WAITING` 8 | the receiver has left a waker | the receiver, under the short lock | |

mod package;
mod shared;

pub use package::package;
pub use shared::SharedReceiver;

use crate::hook::Awaited;
use crate::sys::ShortLock;
use crate::waiting::{block, block_pinned_timeout};
use crate::wakers::{let_go, wake};
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, Ordering, UnsafeCell};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

const SENT: u32 = 1;
const DROPPED: u32 = 2;
const CLOSED: u32 = 4;
const WAITING: u32 = 8;

/// A channel for one value.
///
/// The receiver blocks ([`recv`](Receiver::recv)) or is awaited (it is a future). If the sender is
/// dropped without sending, the receiver gets [`RecvError`]. If the receiver is dropped, the sender
/// gets its value back.
///
/// # Cost
/// One allocation; one locked instruction to send, and a spinlock if the receiver waits.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = sateen::sync::oneshot::channel();
/// std::thread::spawn(move || sender.send(42).unwrap());
/// assert_eq!(receiver.recv(), Ok(42));
/// ```
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let inner = Arc::new(Inner {
        word: AtomicU32::new(0),
        value: UnsafeCell::new(None),
        lock: ShortLock::new(),
        waker: UnsafeCell::new(None),
    });
    (Sender { inner: Some(inner.clone()) }, Receiver { inner: Some(inner) })
}

/// The sender is gone and has sent nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the sender was dropped without sending")
    }
}

impl std::error::Error for RecvError {}

/// Why there is no value, or not yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// It has not been sent yet (within the time, if one was given).
    Empty,
    /// The sender is gone and has sent nothing, or the value was received before.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("nothing has been sent yet"),
            Self::Closed => f.write_str("the value was received before, or will never be sent"),
        }
    }
}

impl std::error::Error for TryRecvError {}

struct Inner<T> {
    word: AtomicU32,
    /// Accessed only by its owner: see the table.
    value: UnsafeCell<Option<T>>,
    /// One waiter needs no queue: a waker under a lock, held only to exchange it.
    lock: ShortLock,
    /// Accessed only under `lock`.
    waker: UnsafeCell<Option<Waker>>,
}

// SAFETY: the value is moved from the sender's thread to the receiver's, never shared; the word
// decides which of them owns it. The waker is `Send`.
unsafe impl<T: Send> Send for Inner<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Inner<T> {}

impl<T> Inner<T> {
    /// Exchanges the waker. The caller drops or wakes the result outside of the lock.
    fn swap_waker(&self, waker: Option<Waker>) -> Option<Waker> {
        // SAFETY: the lock is held.
        self.lock
            .with(|| self.waker.with_mut(|slot| unsafe { std::mem::replace(&mut *slot, waker) }))
    }

    /// The sender's last access to the word. Returns false if the receiver was already gone.
    fn finish(&self, how: u32) -> bool {
        // Ordering: Release pairs with the Acquire in `Receiver::take` and in `Receiver::drop`.
        let before = self.word.fetch_or(how, Ordering::Release);
        if before & CLOSED != 0 {
            return false;
        }
        if before & WAITING != 0
            && let Some(waker) = self.swap_waker(None)
        {
            wake(waker);
        }
        true
    }

    /// # Safety
    /// The caller owns the slot: see the table.
    unsafe fn take_value(&self) -> Option<T> {
        // SAFETY: the caller owns the slot.
        self.value.with_mut(|slot| unsafe { (*slot).take() })
    }
}

/// Sends one value; see [`channel`].
pub struct Sender<T> {
    /// `None` after it has sent.
    inner: Option<Arc<Inner<T>>>,
}

impl<T> Sender<T> {
    /// Sends the value. Never waits.
    ///
    /// # Errors
    /// The value, if the receiver is gone. If the receiver goes later, the value is dropped.
    ///
    /// # Panics
    /// If the receiver's waker panics; the value is sent nevertheless.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = sateen::sync::oneshot::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send("nobody listens"), Err("nobody listens"));
    /// ```
    pub fn send(mut self, value: T) -> Result<(), T> {
        let Some(inner) = self.inner.take() else { return Err(value) };
        // SAFETY: nothing was sent, so the sender owns the slot.
        inner.value.with_mut(|slot| unsafe { *slot = Some(value) });
        if inner.finish(SENT) {
            return Ok(());
        }
        // SAFETY: `CLOSED` was set before `SENT`, so the sender still owns the slot.
        match unsafe { inner.take_value() } {
            Some(value) => Err(value),
            None => Ok(()),
        }
    }

    /// Whether the receiver is gone, so that the value is not needed.
    pub fn is_closed(&self) -> bool {
        // Relaxed: it says nothing about the value.
        self.inner.as_ref().is_none_or(|inner| inner.word.load(Ordering::Relaxed) & CLOSED != 0)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if let Some(inner) = &self.inner {
            inner.finish(DROPPED);
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// Receives one value: by blocking, or as a future of `Result<T, RecvError>`. See [`channel`].
#[must_use = "a receiver that is dropped receives nothing"]
pub struct Receiver<T> {
    /// `None` after it has received.
    inner: Option<Arc<Inner<T>>>,
}

impl<T> Receiver<T> {
    /// Blocks the thread, or suspends the fiber, until the value arrives.
    ///
    /// # Errors
    /// [`RecvError`] if the sender was dropped, or the value was already received.
    pub fn recv(mut self) -> Result<T, RecvError> {
        if self.inner.is_none() {
            return Err(RecvError);
        }
        block(self.awaited(), &mut self)
    }

    /// [`recv`](Self::recv) with a time limit; the receiver stays usable.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] if the time ran out, [`TryRecvError::Closed`].
    ///
    /// # Examples
    ///
    /// ```
    /// use sateen::sync::oneshot::{self, TryRecvError};
    /// use std::time::Duration;
    /// let (sender, mut receiver) = oneshot::channel();
    /// assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(TryRecvError::Empty));
    /// sender.send(1).unwrap();
    /// assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Ok(1));
    /// ```
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, TryRecvError> {
        if self.inner.is_none() {
            return Err(TryRecvError::Closed);
        }
        let what = self.awaited();
        let received = block_pinned_timeout(what, timeout, Pin::new(&mut *self));
        match received {
            Some(result) => result.map_err(|RecvError| TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// The value, if it has arrived; never waits.
    ///
    /// # Errors
    /// [`TryRecvError`].
    ///
    /// # Examples
    ///
    /// ```
    /// use sateen::sync::oneshot::{self, TryRecvError};
    /// let (sender, mut receiver) = oneshot::channel::<u8>();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    /// ```
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let Some(inner) = &self.inner else { return Err(TryRecvError::Closed) };
        // Ordering: Acquire pairs with the Release in `Inner::finish`.
        let word = inner.word.load(Ordering::Acquire);
        self.take(word).ok_or(TryRecvError::Empty)?.map_err(|RecvError| TryRecvError::Closed)
    }

    /// Turns this into a receiver for any number of waiters.
    pub fn shared(self) -> SharedReceiver<T> {
        SharedReceiver::new(self)
    }

    /// The result, if `word`, which was read with Acquire, says that it has arrived.
    fn take(&mut self, word: u32) -> Option<Result<T, RecvError>> {
        if word & (SENT | DROPPED) == 0 {
            return None;
        }
        // SAFETY: after `SENT` the receiver owns the slot, because only our drop sets `CLOSED`.
        let value = self.inner.take().and_then(|inner| unsafe { inner.take_value() });
        Some(value.ok_or(RecvError))
    }

    fn awaited(&self) -> Awaited {
        let inner = self.inner.as_ref();
        Awaited::new(
            "oneshot",
            inner.map_or(std::ptr::null(), |inner| (&raw const inner.word).cast()),
        )
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    /// # Panics
    /// If polled again after it was ready.
    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let inner = self.inner.as_ref().expect("a oneshot receiver was polled after it was ready");
        // Ordering: Acquire pairs with the Release in `Inner::finish`.
        let mut word = inner.word.load(Ordering::Acquire);
        if word & (SENT | DROPPED) == 0 {
            // Dropping the old waker may run any code, so the word is read afterwards.
            let_go(inner.swap_waker(Some(cx.waker().clone())));
            // Either this sees that the value was sent, or the sender sees `WAITING` and then takes
            // the waker. Ordering: Acquire as above.
            word = inner.word.fetch_or(WAITING, Ordering::Acquire);
            if word & (SENT | DROPPED) != 0 {
                // The sender may have left the waker; its destructor must not cost the value.
                let_go(inner.swap_waker(None));
            }
        }
        self.take(word).map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let Some(inner) = &self.inner else { return };
        // Ordering: Acquire pairs with the Release in `Inner::finish`, for the value dropped here.
        let before = inner.word.fetch_or(CLOSED, Ordering::Acquire);
        if before & SENT != 0 {
            // SAFETY: `SENT` was set before `CLOSED`, so the receiver owns the slot.
            drop(unsafe { inner.take_value() });
        }
        let_go(inner.swap_waker(None));
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
