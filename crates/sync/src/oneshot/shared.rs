//! A oneshot receiver for many waiters.

use super::{Receiver, RecvError};
use crate::waiting::{awaited, block, block_timeout};
use crate::{Event, OnceLock};
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, UnsafeCell};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc as StdArc;
use std::task::{Context, Poll, Wake, Waker};

/// A receiver shared by any number of waiters: each clone returns the same value, by reference.
///
/// Created by [`Receiver::shared`]. Waiters are independent: one that is not polled, or is
/// forgotten, delays no other.
///
/// # Cost
///
/// Two allocations; a clone is one reference count. Waiting costs as much as for an [`Event`].
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
    /// Accessed only by the initialiser of `value`.
    receiver: UnsafeCell<Receiver<T>>,
    finished: StdArc<Finished>,
    value: OnceLock<Result<T, RecvError>>,
}

/// The receiver's waker, set once the value was sent, or never will be. All waiters wait here.
struct Finished(Event);

impl Wake for Finished {
    fn wake(self: StdArc<Self>) {
        self.0.set();
    }

    fn wake_by_ref(self: &StdArc<Self>) {
        self.0.set();
    }
}

// SAFETY: one initialiser at a time accesses `receiver`, and moves the value from it into `value`.
// Shared reads are from there, so the value must be `Sync`.
unsafe impl<T: Send + Sync> Sync for Shared<T> {}

impl<T> SharedReceiver<T> {
    pub(super) fn new(mut receiver: Receiver<T>) -> Self {
        let finished = StdArc::new(Finished(Event::new()));
        let value = OnceLock::new();
        if receiver.inner.is_none() {
            // It was received before.
            _ = value.set(Err(RecvError));
        } else {
            let waker = Waker::from(StdArc::clone(&finished));
            let now = Pin::new(&mut receiver).poll(&mut Context::from_waker(&waker));
            if let Poll::Ready(result) = now {
                _ = value.set(result);
            }
        }
        let receiver = UnsafeCell::new(receiver);
        Self { shared: Arc::new(Shared { receiver, finished, value }) }
    }

    /// Blocks the thread, or suspends the fiber, until the value arrives.
    ///
    /// # Errors
    /// [`RecvError`] if the sender was dropped.
    pub fn get(&self) -> Result<&T, RecvError> {
        block(awaited("oneshot", &*self.shared), self.get_async())
    }

    /// [`get`](Self::get) with a time limit: `None` if there is no value in time.
    pub fn get_timeout(&self, timeout: Duration) -> Option<Result<&T, RecvError>> {
        block_timeout(awaited("oneshot", &*self.shared), timeout, self.get_async())
    }

    /// [`get`](Self::get) as a future.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn get_async(&self) -> Result<&T, RecvError> {
        let shared = &*self.shared;
        if shared.value.get().is_none() {
            shared.finished.0.wait_async().await;
        }
        // SAFETY: this runs as the initialiser of `value`. It neither waits nor runs user code.
        let receive = || unsafe { shared.receive() };
        shared.value.get_or_init(receive).as_ref().map_err(|error| *error)
    }
}

impl<T> Shared<T> {
    /// # Safety
    /// The caller is the initialiser of `value`. There is one at a time, and none once there is a
    /// value.
    unsafe fn receive(&self) -> Result<T, RecvError> {
        // SAFETY: there is no other initialiser now.
        let received = self.receiver.with_mut(|receiver| unsafe { &mut *receiver }.try_recv());
        received.map_err(|_| RecvError)
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
