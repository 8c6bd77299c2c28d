//! Support for `crates/rayon-core` that the public interface does not provide.
//!
//! That is a runtime that nobody waits for, a `join` that reports thefts, scopes whose bodies stay
//! on their thread, spawns without handles, and work on top of the caller. The module is hidden,
//! and its names are not stable. It is thin: the modules behind the public functions do the work.

mod outside;
mod pool;
mod scope;
mod yields;

pub(crate) use outside::{OutsideScopes, Unstarted};

pub use pool::{FirstJob, Listing, Pool, is_worker_thread};
pub use sateen_base::abort_with;
pub use sateen_base::os::{PerProcess, variable};
pub use sateen_base::unwind::discard;
pub use scope::RawScope;
pub use yields::{has_local_work, run_other};

use crate::builder::Builder;
use crate::context;
use crate::frames;
use crate::join::join_on;
use crate::join_stack::Job;
use crate::runtime::CalledJob;
use crate::task::Running;
use std::mem::offset_of;
use std::ptr::NonNull;

/// Settings for [`Pool::build`]. The environment is ignored, work posted to a worker waits until
/// that worker's own queue is empty, and a failed build does not wait for threads.
pub fn builder() -> Builder {
    Builder::default().compat()
}

/// [`join`](crate::join()) that tells its branches whether another thread took them over. On a
/// thread that runs no fiber it calls `outside` instead.
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B, outside: impl FnOnce(A, B) -> (RA, RB)) -> (RA, RB)
where
    A: FnOnce(bool) -> RA + Send,
    B: FnOnce(bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let Some(fiber) = context::fiber() else { return outside(a, b) };
    // SAFETY: the running fiber's stack.
    unsafe { join_on(fiber.join_stack(), || a(false), b) }
}

/// Whether the caller runs on a fiber, so that it may offer branches and wait.
pub fn is_on_fiber() -> bool {
    context::fiber().is_some()
}

/// A job on the heap, which frees itself when it runs.
#[repr(C)]
struct HeapJob<F> {
    /// In the form of a call, because other code inspects the queue where calls lie.
    called: CalledJob,
    f: F,
}

impl<F: FnOnce() + Send> HeapJob<F> {
    /// The job is run once, by the thread that takes it. `f` does not unwind. The caller keeps
    /// alive what `f` borrows until then.
    ///
    /// `caller` is null, or an activation that [helps](crate::help) and waits for the job as the
    /// piece `what` of its work.
    fn alloc(caller: *const Running, what: *const (), f: F) -> NonNull<CalledJob> {
        const { assert!(offset_of!(Self, called) == 0) };
        let called = CalledJob::of(Self::run, caller, what);
        frames::place(Self { called, f }).cast()
    }

    /// # Safety
    /// `job` starts a `HeapJob<F>` made by `alloc`; called once.
    unsafe fn run(job: *const Job) {
        // SAFETY: by contract; `alloc` placed it, and the closure is moved out.
        let f = unsafe {
            let this = NonNull::new_unchecked(job.cast::<Self>().cast_mut());
            let f = (&raw const (*this.as_ptr()).f).read();
            frames::give(this);
            f
        };
        f();
    }
}
