//! Time limits on the waits of a closure.
//!
//! A limit is a frame on its caller's stack, in a list that the fiber holds. When a wait of the
//! fiber checks for a cancellation, it also checks the clock. The limit's timer wakes the fiber.

use crate::context::here;
use crate::elsewhere::outside;
use crate::fiber::Fiber;
use crate::task::Cancelled;
use crate::worker::Owner;
use sateen_base::prim::time::{Duration, Instant};
use sateen_sync::timer::{Elapsed, Timer};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;

/// A limit in force. It lies on its fiber's stack.
#[derive(Debug)]
pub(crate) struct Limit {
    deadline: Instant,
    /// The next outer one, or null.
    outer: *const Limit,
}

impl Limit {
    /// Whether this limit or an outer one has passed.
    pub(crate) fn is_over(&self) -> bool {
        let now = Instant::now();
        let mut limit = Some(self);
        while let Some(this) = limit {
            if this.deadline <= now {
                return true;
            }
            // SAFETY: null, or on the same stack, further out.
            limit = unsafe { this.outer.as_ref() };
        }
        false
    }
}

/// Runs `f`, whose waits end `limit` from now.
///
/// When the limit passes, the current or next wait ends as if the task had been cancelled: it
/// unwinds, and what `f` owns is dropped. If `f` returns a value, that is the result, even if late.
///
/// Only cancellation points ([`check_cancelled`](crate::check_cancelled) among them) are cut short.
/// Computation, [`blocking`](crate::blocking()) calls, and branches that other workers have taken
/// run to their end. On a thread outside of tasks `f` runs on the global runtime. If that is shut
/// down, `f` runs here without a limit.
///
/// In a program built with `panic = "abort"` nothing unwinds: `f` runs to its end, and its value is
/// the result. ([`check_cancelled`](crate::check_cancelled) tells it of the limit.)
///
/// For futures there is [`timeout_async`](crate::timeout_async), for spawned tasks
/// [`JoinHandle::join_timeout`](crate::JoinHandle::join_timeout).
///
/// # Errors
/// [`Elapsed`] if the limit passed first.
///
/// # Panics
/// With the panic of `f`.
///
/// # Cost
/// Arming and disarming a timer; a catch of panics.
///
/// # Examples
///
/// ```
/// use sateen::{Elapsed, timeout};
/// use std::time::Duration;
/// let event = sateen::sync::Event::new();
/// assert_eq!(timeout(Duration::from_millis(1), || event.wait()), Err(Elapsed));
/// event.set();
/// assert_eq!(timeout(Duration::from_secs(9), || event.wait()), Ok(()));
/// ```
pub fn timeout<F, R>(limit: Duration, f: F) -> Result<R, Elapsed>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    match here() {
        Some((worker, fiber)) => within(worker, fiber, limit, f),
        None => outside().run(f, (), |f, ()| timeout(limit, f), |f, ()| Ok(f())),
    }
}

fn within<R>(
    worker: &Owner,
    fiber: &'static Fiber,
    limit: Duration,
    f: impl FnOnce() -> R,
) -> Result<R, Elapsed> {
    /// Ends the limit. Dropped after `f`.
    struct Leave(&'static Fiber, *const Limit);
    impl Drop for Leave {
        fn drop(&mut self) {
            self.0.set_limit(self.1);
        }
    }
    // Beyond the range of the clock: no limit.
    let Some(deadline) = Instant::now().checked_add(limit) else { return Ok(f()) };
    let mut timer = pin!(Timer::new(&*worker.timers));
    if timer.as_mut().arm(deadline, crate::waker::of(fiber)) {
        // Only the fiber's own waits need to know of it.
        worker.note_timer();
    }
    let limit = Limit { deadline, outer: fiber.limit() };
    let result = {
        let _leave = Leave(fiber, limit.outer);
        fiber.set_limit(&raw const limit);
        catch_unwind(AssertUnwindSafe(f))
    };
    timer.disarm();
    match result {
        Ok(value) => Ok(value),
        // Without this limit `f` would not have ended like this.
        Err(panic) if panic.is::<Cancelled>() && limit.is_over() && !fiber.is_interrupted() => {
            Err(Elapsed)
        }
        Err(panic) => resume_unwind(panic),
    }
}
