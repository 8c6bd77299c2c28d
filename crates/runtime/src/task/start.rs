//! From a claim to a result: the task begins and ends to be what its fiber runs.

use super::{Cancelled, Header, JoinError, identity};
use crate::context;
use crate::fiber::Fiber;
use crate::task::locals::Locals;
use crate::unwind::discard;
use sateen_sync::park::Identity;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// What a fiber runs now: a task, or a branch of one. It lies on the runner's stack, and nests
/// where a task runs another that it joins.
#[derive(Debug)]
pub(crate) struct Running {
    /// Null in work that belongs to no task.
    pub(crate) task: *const Header,
    /// The number that reports know it by.
    pub(crate) id: u64,
    /// Its identity for re-entrant mutexes: for as long as it lies here, on this thread.
    pub(crate) identity: Identity,
    /// What ran here before and goes on afterwards; null for nothing.
    pub(crate) outer: *const Running,
    /// The task's own frames reach its locals; its branches do not.
    pub(crate) locals: *const Locals,
    /// The height of the join stack at the start. Below it lie branches of outer work.
    pub(crate) below: usize,
    /// How many branches deep its own frames are; debug builds only, see `locals.rs`.
    #[cfg(debug_assertions)]
    pub(crate) branches: std::cell::Cell<u32>,
}

impl Running {
    /// Runs `f` as `task` (or null) on the calling fiber.
    #[inline]
    pub(super) fn run<R>(
        fiber: &Fiber,
        task: *const Header,
        id: u64,
        locals: *const Locals,
        f: impl FnOnce() -> R,
    ) -> R {
        /// A drop ends it, for `f` may unwind.
        struct Leave<'a>(&'a Fiber, *const Running, *const Header);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set_running(self.1);
                self.0.set_owning_task(self.2);
            }
        }
        let outer = fiber.running();
        let running = Self {
            task,
            id,
            identity: Identity::new(),
            outer,
            locals,
            below: fiber.join_stack().height(),
            #[cfg(debug_assertions)]
            branches: std::cell::Cell::new(0),
        };
        let _leave = Leave(fiber, outer, fiber.owning_task());
        fiber.set_running(&raw const running);
        // Branches that outer work has on the join stack stay its own. The caller ensures that
        // there are none if the task has an identity that branches need.
        if fiber.join_stack().is_bare() {
            fiber.set_owning_task(task);
        }
        f()
    }

    /// Runs `f` as a branch of `task` that another fiber left to be taken; null for none.
    pub(crate) fn branch<R>(fiber: &Fiber, task: *const Header, f: impl FnOnce() -> R) -> R {
        // SAFETY: the caller runs on `fiber`.
        let id = unsafe { fiber.owner() }.ids().draw().get();
        Self::run(fiber, task, id, std::ptr::null(), || {
            // SAFETY: null, or a task that waits for this branch.
            if let Some(task) = unsafe { task.as_ref() } {
                task.share();
            }
            f()
        })
    }
}

/// Runs `f`, a branch that its task runs in place. Debug builds count it, for `fiber_local`.
#[inline(always)]
pub(crate) fn in_branch<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(debug_assertions)]
    let _inside = Inside::enter();
    f()
}

#[cfg(debug_assertions)]
struct Inside(Option<&'static Running>);

#[cfg(debug_assertions)]
impl Inside {
    fn enter() -> Self {
        // SAFETY: what runs here stays until the frames above it are gone, and this frame is one of
        // them.
        let running = context::fiber().and_then(|fiber| unsafe { fiber.running().as_ref() });
        running.inspect(|running| running.branches.set(running.branches.get() + 1));
        Self(running)
    }
}

#[cfg(debug_assertions)]
impl Drop for Inside {
    fn drop(&mut self) {
        self.0.inspect(|running| running.branches.set(running.branches.get() - 1));
    }
}

/// The result of nested work, now over. It is dropped if the task has been cancelled meanwhile.
pub(crate) fn interrupted_after<T>(
    fiber: &Fiber,
    value: T,
) -> Result<T, Box<dyn std::any::Any + Send>> {
    match catch_unwind(AssertUnwindSafe(|| fiber.check_interrupted())) {
        Ok(()) => Ok(value),
        Err(cancelled) => {
            discard(value);
            Err(cancelled)
        }
    }
}

/// Runs a task that the caller has claimed, and writes its result.
///
/// # Safety
/// The caller claimed the task, and is on a fiber or on a thread that runs it by a plain call.
#[inline]
pub(crate) unsafe fn run_claimed(header: NonNull<Header>) {
    // SAFETY: the claim keeps the frame.
    let task = unsafe { header.as_ref() };
    if task.is_cancelled() {
        // SAFETY: claimed.
        return unsafe { refuse_claimed(header, JoinError::Cancelled) };
    }
    let Some(fiber) = context::fiber() else {
        sateen_base::abort_with("a task was started on no fiber")
    };
    task.started_on.set(fiber);
    let locals = Locals::new();
    Running::run(fiber, header.as_ptr(), task.id.get(), &raw const locals, || {
        // SAFETY: claimed.
        unsafe { (task.actions.run)(header) };
        locals.destroy();
    });
    identity::detach(header);
}

/// Ends a claimed task with `error` instead of running it.
///
/// # Safety
/// The caller claimed the task.
#[cold]
pub(crate) unsafe fn refuse_claimed(header: NonNull<Header>, error: JoinError) {
    // SAFETY: claimed.
    unsafe {
        // This comes first: a canceller may wait for it while it holds the token's lock.
        header.as_ref().started_on.set_never();
        (header.as_ref().actions.refuse)(header, error);
    }
    identity::detach(header);
}

/// The error that a caught panic stands for.
pub(crate) fn caught(payload: Box<dyn std::any::Any + Send>) -> JoinError {
    if payload.is::<Cancelled>() { JoinError::Cancelled } else { JoinError::Panicked(payload) }
}
