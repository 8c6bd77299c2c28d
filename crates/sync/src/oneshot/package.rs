//! A closure with a receiver for its result.

use super::{Receiver, channel};
use crate::hook::Cancelled;
use sateen_base::unwind::discard;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A closure for another thread or task to run, with a receiver for its result or panic: C++'s
/// `packaged_task`.
///
/// The receiver gets [`RecvError`](super::RecvError) if the closure is dropped without running. It
/// also gets it if the task that runs the closure is cancelled; that unwinding continues. If the
/// closure is forgotten, or never returns, the receiver waits for ever.
///
/// # Panics
/// The returned closure panics with the panic of the receiver's waker, not with one of `f`. It
/// drops a result that no receiver takes, and panics with the panic of that destructor.
///
/// # Examples
///
/// ```
/// use sateen::sync::oneshot;
///
/// let (task, result) = oneshot::package(|| 6 * 7);
/// std::thread::spawn(task);
/// assert_eq!(result.recv().unwrap().unwrap(), 42);
/// ```
pub fn package<T>(f: impl FnOnce() -> T) -> (impl FnOnce(), Receiver<std::thread::Result<T>>) {
    let (sender, receiver) = channel();
    let run = move || match catch_unwind(AssertUnwindSafe(f)) {
        // The cancellation concerns the runner, not the receiver.
        Err(cancelled) if cancelled.is::<Cancelled>() => {
            discard(sender);
            resume_unwind(cancelled);
        }
        result => _ = sender.send(result),
    };
    (run, receiver)
}
