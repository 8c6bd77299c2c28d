//! A receiver with many waiters.

use super::{Receiver, RecvError};
use crate::OnceLock;
use crate::waiting::{awaited, block, block_timeout};
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, UnsafeCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A receiver that any number of waiters share: each clone gives the same value, by reference.
///
/// [`Receiver::shared`] makes it. One waiter receives and the others wait for it; if it gives up,
/// another goes on.
///
/// # Cost
///
/// One allocation; a clone is one reference count. Waiting costs what waiting for a
/// [`OnceLock`] does.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = sateen::sync::oneshot::channel();
/// let shared = receiver.shared();
/// let readers = [0; 3].map(|_| {
///     let shared = shared.clone();
///     std::thread::spawn(move || shared.get().copied())
/// });
/// sender.send(42).unwrap();
/// for reader in readers {
///     assert_eq!(reader.join().unwrap(), Ok(42));
/// }
/// ```
#[must_use = "a receiver that is dropped receives nothing"]
pub struct SharedReceiver<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    /// Accessed by the initialiser of `value` only.
    receiver: UnsafeCell<Receiver<T>>,
    value: OnceLock<Result<T, RecvError>>,
}

// SAFETY: `receiver` is accessed by one initialiser at a time, which moves the value from it into
// `value`; what is shared is read from there, hence `Sync`.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> SharedReceiver<T> {
    pub(super) fn new(receiver: Receiver<T>) -> Self {
        let receiver = UnsafeCell::new(receiver);
        Self { shared: Arc::new(Shared { receiver, value: OnceLock::new() }) }
    }

    /// Blocks the thread, or suspends the fiber, until the value is there.
    ///
    /// # Errors
    /// [`RecvError`] if the sender was dropped.
    pub fn get(&self) -> Result<&T, RecvError> {
        block(awaited("oneshot", &*self.shared), self.get_async())
    }

    /// [`get`](Self::get) with a limit: `None` if there is no value in time.
    pub fn get_timeout(&self, timeout: Duration) -> Option<Result<&T, RecvError>> {
        block_timeout(awaited("oneshot", &*self.shared), timeout, self.get_async())
    }

    /// [`get`](Self::get) as a future.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn get_async(&self) -> Result<&T, RecvError> {
        let shared = &*self.shared;
        // SAFETY: this runs as the initialiser of `value`.
        let receive = || poll_fn(|cx| unsafe { shared.poll_receive(cx) });
        shared.value.get_or_init_async(receive).await.as_ref().map_err(|error| *error)
    }
}

impl<T> Shared<T> {
    /// # Safety
    /// The caller is the initialiser of `value`: there is one at a time, and none once there is a
    /// value.
    unsafe fn poll_receive(&self, cx: &mut Context<'_>) -> Poll<Result<T, RecvError>> {
        // SAFETY: there is no other initialiser now.
        self.receiver.with_mut(|receiver| Pin::new(unsafe { &mut *receiver }).poll(cx))
    }
}

impl<T> Clone for SharedReceiver<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> fmt::Debug for SharedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let received = self.shared.value.get().is_some();
        f.debug_struct("SharedReceiver").field("received", &received).finish_non_exhaustive()
    }
}
