//! A closure with the future of its result.

use super::{Promise, PromiseFuture};
use crate::park::Cancelled;
use sateen_base::unwind::discard;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A closure to be run by somebody else, with a future of what it returns.
///
/// [`run`](Self::run) catches a panic of the closure and passes it to the future. A task that is dropped
/// without having run breaks its promise, and so does one whose runner is cancelled: the unwinding of that goes on.
///
/// ```
/// use sateen::sync::PackagedTask;
///
/// let mut task = PackagedTask::new(|| 6 * 7);
/// let future = task.future().expect("taken for the first time");
/// std::thread::spawn(|| task.run());
/// assert_eq!(future.get(), Ok(42));
/// ```
pub struct PackagedTask<F, T> {
    f: F,
    promise: Promise<T>,
}

impl<F: FnOnce() -> T, T> PackagedTask<F, T> {
    /// A task that will run `f`.
    pub fn new(f: F) -> Self {
        Self { f, promise: Promise::new() }
    }

    /// The future of its result: once, `None` afterwards.
    pub fn future(&mut self) -> Option<PromiseFuture<T>> {
        self.promise.future()
    }

    /// Runs the closure here and fulfils the promise.
    ///
    /// # Panics
    /// With the panic of a waker, not with one of the closure.
    pub fn run(self) {
        let Self { f, promise } = self;
        match catch_unwind(AssertUnwindSafe(f)) {
            // It is the runner's, not the future's.
            Err(cancelled) if cancelled.is::<Cancelled>() => {
                discard(promise);
                resume_unwind(cancelled);
            }
            result => promise.set_result(result),
        }
    }
}

impl<F, T> fmt::Debug for PackagedTask<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackagedTask").finish_non_exhaustive()
    }
}
