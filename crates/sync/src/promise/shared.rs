//! A future with many waiters.

use super::state::{OwnedWait, State};
use crate::oneshot::BrokenPromise;
use sateen_base::prim::Arc;
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that any number of waiters share: each clone sees the same value, by reference, or as a
/// clone when awaited.
///
/// From [`PromiseFuture::share`](super::PromiseFuture::share).
///
/// Cost: a clone is one reference count; waiting costs what waiting for an [`Event`](crate::Event) does.
///
/// ```
/// let mut promise = sateen::sync::Promise::new();
/// let shared = promise.future().unwrap().share();
/// let readers = [0; 3].map(|_| {
///     let shared = shared.clone();
///     std::thread::spawn(move || shared.get().copied())
/// });
/// promise.set_value(42);
/// for reader in readers {
///     assert_eq!(reader.join().unwrap(), Ok(42));
/// }
/// ```
pub struct SharedFuture<T> {
    state: Arc<State<T>>,
}

impl<T> SharedFuture<T> {
    /// The one future of this state was given up for it.
    pub(super) fn new(state: Arc<State<T>>) -> Self {
        Self { state }
    }

    /// Blocks the thread, or suspends the fiber, until there is a value.
    ///
    /// # Errors
    /// [`BrokenPromise`].
    ///
    /// # Panics
    /// With the message of the panic that the promise was given.
    pub fn get(&self) -> Result<&T, BrokenPromise> {
        self.state.wait();
        self.try_get().unwrap_or(Err(BrokenPromise))
    }

    /// [`get`](Self::get) with a limit: `None` if there is no value in time.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    pub fn get_timeout(&self, timeout: Duration) -> Option<Result<&T, BrokenPromise>> {
        self.state.wait_timeout(timeout);
        self.try_get()
    }

    /// What is there: `None` if nothing is, yet. Never waits.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    pub fn try_get(&self) -> Option<Result<&T, BrokenPromise>> {
        self.state.peek().map(|outcome| outcome.as_result())
    }

    /// Whether [`get`](Self::get) would return at once.
    pub fn is_ready(&self) -> bool {
        self.state.is_ready()
    }
}

impl<T> Clone for SharedFuture<T> {
    fn clone(&self) -> Self {
        Self { state: self.state.clone() }
    }
}

impl<T: Clone> IntoFuture for SharedFuture<T> {
    type Output = Result<T, BrokenPromise>;
    type IntoFuture = SharedWait<T>;

    fn into_future(self) -> SharedWait<T> {
        SharedWait { wait: OwnedWait::new(self.state) }
    }
}

impl<T: Clone> IntoFuture for &SharedFuture<T> {
    type Output = Result<T, BrokenPromise>;
    type IntoFuture = SharedWait<T>;

    fn into_future(self) -> SharedWait<T> {
        self.clone().into_future()
    }
}

impl<T> fmt::Debug for SharedFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedFuture").field("ready", &self.is_ready()).finish_non_exhaustive()
    }
}

/// A [`SharedFuture`] being awaited: gives a clone of the value.
///
/// # Panics
/// With the message of the panic that the promise was given.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct SharedWait<T> {
    wait: OwnedWait<T>,
}

impl<T: Clone> Future for SharedWait<T> {
    type Output = Result<T, BrokenPromise>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `wait` is pinned with us and never moved.
        let wait = unsafe { self.map_unchecked_mut(|this| &mut this.wait) };
        wait.poll(cx).map(|state| match state.peek() {
            Some(outcome) => outcome.as_result().cloned(),
            None => Err(BrokenPromise),
        })
    }
}
