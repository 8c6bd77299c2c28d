//! Promises, their futures, shared futures and packaged tasks. Protocol and proof: the crate's
//! `README.md`, section *Promise*.
//!
//! The names are C++'s and Boost's: [`Promise`] is `std::promise`, [`PromiseFuture`] `std::future`,
//! [`SharedFuture`] `std::shared_future`, [`PackagedTask`] `std::packaged_task`. An exception is a
//! panic here; an error is a value (`Promise<Result<T, E>>`).

mod packaged_task;
mod shared;
mod state;

pub use crate::oneshot::BrokenPromise;
pub use packaged_task::PackagedTask;
pub use shared::{SharedFuture, SharedWait};

use sateen_base::prim::Arc;
use sateen_base::prim::time::Duration;
use state::{Outcome, OwnedWait, State};
use std::any::Any;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Promises a value that others wait for through its [`PromiseFuture`].
///
/// A promise that is dropped unfulfilled is broken, which its future reports.
///
/// Cost: one allocation; to fulfil it costs what [`Event::set`](crate::Event::set) costs.
///
/// ```
/// use sateen::sync::Promise;
///
/// let mut promise = Promise::new();
/// let future = promise.future().expect("taken for the first time");
/// std::thread::spawn(move || promise.set_value(42));
/// assert_eq!(future.get(), Ok(42));
/// ```
pub struct Promise<T> {
    /// `None` once it is fulfilled.
    state: Option<Arc<State<T>>>,
    future_taken: bool,
}

// SAFETY: a promise, and the one future of it, only send the value: nobody shares it. (What is shared
// becomes a `SharedFuture`, which asks for `Sync`.)
unsafe impl<T: Send> Send for Promise<T> {}

impl<T> Promise<T> {
    /// A promise with nothing in it.
    pub fn new() -> Self {
        Self { state: Some(Arc::new(State::new())), future_taken: false }
    }

    /// Its future: once, `None` afterwards.
    pub fn future(&mut self) -> Option<PromiseFuture<T>> {
        if std::mem::replace(&mut self.future_taken, true) {
            return None;
        }
        self.state.clone().map(|state| PromiseFuture { state })
    }

    /// Fulfils it.
    ///
    /// # Panics
    /// With the panic of a waker; the promise is fulfilled nevertheless.
    pub fn set_value(self, value: T) {
        self.finish(Outcome::Value(value));
    }

    /// Ends it with a panic, which whoever gets the value of its future goes on with.
    ///
    /// ```
    /// let mut promise = sateen::sync::Promise::<()>::new();
    /// let future = promise.future().unwrap();
    /// promise.set_panic(Box::new("no value"));
    /// let panic = std::thread::spawn(|| future.get()).join().unwrap_err();
    /// assert_eq!(panic.downcast_ref(), Some(&"no value"));
    /// ```
    ///
    /// # Panics
    /// As [`set_value`](Self::set_value).
    pub fn set_panic(self, payload: Box<dyn Any + Send>) {
        self.finish(Outcome::Panic(payload));
    }

    /// Fulfils it with what [`std::panic::catch_unwind`] gave.
    ///
    /// # Panics
    /// As [`set_value`](Self::set_value).
    pub fn set_result(self, result: std::thread::Result<T>) {
        self.finish(match result {
            Ok(value) => Outcome::Value(value),
            Err(panic) => Outcome::Panic(panic),
        });
    }

    fn finish(mut self, outcome: Outcome<T>) {
        if let Some(state) = self.state.take() {
            // SAFETY: the state was taken out, so this is the only call.
            unsafe { state.finish(outcome) };
        }
    }
}

impl<T> Default for Promise<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            // SAFETY: as in `finish`.
            unsafe { state.finish(Outcome::Broken) };
        }
    }
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").finish_non_exhaustive()
    }
}

/// The one future of a [`Promise`] or a [`PackagedTask`]: its value is got once.
///
/// It blocks ([`get`](Self::get)) or is awaited. For several waiters [`share`](Self::share) it.
pub struct PromiseFuture<T> {
    state: Arc<State<T>>,
}

// SAFETY: as for `Promise`.
unsafe impl<T: Send> Send for PromiseFuture<T> {}
// SAFETY: a shared reference gives no access to the value.
unsafe impl<T: Send> Sync for PromiseFuture<T> {}

impl<T> PromiseFuture<T> {
    /// Blocks the thread, or suspends the fiber, until there is a value.
    ///
    /// # Errors
    /// [`BrokenPromise`].
    ///
    /// # Panics
    /// With the panic that the promise was given.
    pub fn get(self) -> Result<T, BrokenPromise> {
        self.state.wait();
        // SAFETY: ready; there is one future, and it is given up.
        unsafe { self.state.take() }.into_result()
    }

    /// Blocks until there is a value, and leaves it there.
    pub fn wait(&self) {
        self.state.wait();
    }

    /// [`wait`](Self::wait) with a limit; whether there is a value.
    ///
    /// ```
    /// use std::time::Duration;
    /// let mut promise = sateen::sync::Promise::new();
    /// let future = promise.future().unwrap();
    /// assert!(!future.wait_timeout(Duration::from_millis(1)));
    /// promise.set_value(1);
    /// assert!(future.wait_timeout(Duration::ZERO));
    /// assert_eq!(future.get(), Ok(1));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        self.state.wait_timeout(timeout)
    }

    /// Whether [`get`](Self::get) would return at once.
    pub fn is_ready(&self) -> bool {
        self.state.is_ready()
    }

    /// The same future for any number of waiters.
    pub fn share(self) -> SharedFuture<T> {
        SharedFuture::new(self.state)
    }
}

impl<T> IntoFuture for PromiseFuture<T> {
    type Output = Result<T, BrokenPromise>;
    type IntoFuture = PromiseWait<T>;

    fn into_future(self) -> PromiseWait<T> {
        PromiseWait { wait: OwnedWait::new(self.state) }
    }
}

impl<T> fmt::Debug for PromiseFuture<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromiseFuture").field("ready", &self.is_ready()).finish_non_exhaustive()
    }
}

/// A [`PromiseFuture`] being awaited.
///
/// # Panics
/// With the panic that the promise was given.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct PromiseWait<T> {
    wait: OwnedWait<T>,
}

// SAFETY: as for `PromiseFuture`, which it was.
unsafe impl<T: Send> Send for PromiseWait<T> {}

impl<T> Future for PromiseWait<T> {
    type Output = Result<T, BrokenPromise>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: `wait` is pinned with us and never moved.
        let wait = unsafe { self.map_unchecked_mut(|this| &mut this.wait) };
        // SAFETY: ready; there is one future, and it became us.
        wait.poll(cx).map(|state| unsafe { state.take() }.into_result())
    }
}
