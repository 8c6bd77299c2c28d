//! Runs a claimed task to its result: sets what its fiber runs, and restores it afterwards.

use super::{Cancelled, Header, JoinError, identity};
use crate::consent::Consent;
use crate::context;
use crate::fiber::Fiber;
use crate::spans;
use crate::task::locals::Locals;
use crate::trace;
use crate::unwind::discard;
use sateen_sync::park::Identity;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// The activation that a fiber runs: a task, or a branch of one. It lies on the runner's stack, and
/// nests if a task runs another that it joins.
#[derive(Debug)]
pub(crate) struct Running {
    /// Null for work without a task.
    pub(crate) task: *const Header,
    /// Its number in reports. A continuation on another stack has its caller's number.
    pub(crate) id: u64,
    /// Its identity for re-entrant mutexes, valid while it lies here, on this thread.
    identity: Identity,
    /// The outer activation, which continues afterwards; null for none.
    pub(crate) outer: *const Running,
    /// The piece of its caller's work that it is: the address of the branch or of the scope; null
    /// for a task.
    pub(crate) what: *const (),
    /// The activation that waits for this one, if known. It, and everything that its own `caller`
    /// leads to, stay valid as long as this one.
    pub(crate) caller: *const Running,
    /// The task's locals, which its own frames reach but its branches do not.
    pub(crate) locals: *const Locals,
    /// Whether its branches elsewhere may be interrupted.
    pub(crate) consent: Consent,
    /// The height of the join stack at the start. Branches of outer work are below it.
    pub(crate) below: usize,
    /// The nesting depth of branches in its own frames; debug builds only, see `locals.rs`.
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
        called: Called,
        f: impl FnOnce() -> R,
    ) -> R {
        /// Ends the activation on drop, because `f` may unwind.
        struct Leave<'a>(&'a Fiber, *const Running, *const ());
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set_running(self.1);
                self.0.join_stack().set_tag(self.2);
            }
        }
        let outer = fiber.running();
        let running = Self {
            task,
            id,
            identity: Identity::new(),
            outer,
            what: called.what,
            caller: called.caller,
            locals,
            consent: Consent::new(),
            below: fiber.join_stack().height(),
            #[cfg(debug_assertions)]
            branches: std::cell::Cell::new(0),
        };
        let _leave = Leave(fiber, outer, fiber.join_stack().tag());
        fiber.set_running(&raw const running);
        // Branches of outer work that can be stolen stay with it. The caller ensures that there are
        // none if the task has an identity that branches need.
        if fiber.join_stack().is_empty() {
            fiber.join_stack().set_tag((&raw const running).cast());
        }
        // SAFETY: null, or a task that runs as long as this does.
        let _inside = unsafe { spans::enter(task) };
        f()
    }

    /// Runs `f` as the piece `what` of the work of `caller`, which another fiber left for thieves.
    ///
    /// # Safety
    /// `caller` is null, or an activation that waits for `f`.
    pub(crate) unsafe fn branch<R>(
        fiber: &Fiber,
        caller: *const Self,
        what: *const (),
        f: impl FnOnce() -> R,
    ) -> R {
        // SAFETY: the caller runs on `fiber`.
        let id = unsafe { fiber.owner() }.ids().draw().get();
        // SAFETY: it waits. Other threads read only fields that never change.
        let task = if caller.is_null() { std::ptr::null() } else { unsafe { (*caller).task } };
        let _slice = trace::in_branch(fiber, id, task, !caller.is_null());
        Self::run(fiber, task, id, std::ptr::null(), Called::by(caller, what), || {
            // SAFETY: null, or a task that waits for this branch.
            if let Some(task) = unsafe { task.as_ref() } {
                task.share();
                fiber.describe(task);
            }
            f()
        })
    }
}

impl Running {
    /// Runs `f`, the call `what` of a task of another runtime, which waits for it in `caller`.
    pub(crate) fn called<R>(
        fiber: &Fiber,
        caller: *const Self,
        what: *const (),
        f: impl FnOnce() -> R,
    ) -> R {
        // SAFETY: the caller runs on `fiber`.
        let id = unsafe { fiber.owner() }.ids().draw().get();
        let _slice = trace::in_branch(fiber, id, std::ptr::null(), false);
        Self::run(fiber, std::ptr::null(), id, std::ptr::null(), Called::by(caller, what), f)
    }

    /// Runs `f`, the call `what` of `caller`, which waits for it on another stack of this thread.
    ///
    /// # Safety
    /// `caller` is null, or an activation that waits for `f`.
    pub(crate) unsafe fn continued<R>(
        fiber: &Fiber,
        caller: *const Self,
        what: *const (),
        f: impl FnOnce() -> R,
    ) -> R {
        // SAFETY: by contract.
        let Some(activation) = (unsafe { caller.as_ref() }) else {
            // SAFETY: as above.
            return unsafe { Self::branch(fiber, caller, what, f) };
        };
        let called = Called::by(caller, what);
        Self::run(fiber, activation.task, activation.id, std::ptr::null(), called, || {
            // SAFETY: null, or a task that waits for this call.
            if let Some(task) = unsafe { activation.task.as_ref() } {
                task.share();
                fiber.describe(task);
            }
            f()
        })
    }

    /// The identity for re-entrant mutexes. A continuation on another stack has its caller's.
    pub(crate) fn identity(&self) -> &Identity {
        // SAFETY: null, or an activation that waits for this one. Its number never changes, and is
        // unique on this thread.
        match unsafe { self.caller.as_ref() } {
            Some(caller) if caller.id == self.id => caller.identity(),
            _ => &self.identity,
        }
    }
}

/// The relation of an activation to the one that waits for it; see [`Running`].
#[derive(Clone, Copy)]
pub(super) struct Called {
    what: *const (),
    caller: *const Running,
}

impl Called {
    /// Called by nobody, or by an unknown caller.
    pub(super) const NOT: Self = Self::by(std::ptr::null(), std::ptr::null());

    const fn by(caller: *const Running, what: *const ()) -> Self {
        Self { what, caller }
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
        // SAFETY: what runs here stays valid until the frames above it are gone, and this is one of
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

/// Returns the result of finished nested work, or drops it if the task was cancelled meanwhile.
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
/// The caller has claimed the task, and is on a fiber or on a thread that runs it by a plain call.
#[inline]
pub(crate) unsafe fn run_claimed(header: NonNull<Header>) {
    // SAFETY: the claim keeps the frame alive.
    let task = unsafe { header.as_ref() };
    if task.is_cancelled() {
        // SAFETY: claimed.
        return unsafe { refuse_claimed(header, JoinError::Cancelled) };
    }
    let Some(fiber) = context::fiber() else {
        sateen_base::abort_with("a task was started on no fiber")
    };
    task.started_on.set(fiber);
    let counters = &fiber.worker().counters;
    counters.started.bump();
    let locals = Locals::new();
    // A task that joins it in place waits for it.
    let called = Called { caller: fiber.running(), ..Called::NOT };
    fiber.begin_task(task);
    trace::started(fiber, task);
    let id = task.id.get();
    // SAFETY: claimed, and not begun.
    unsafe { spans::make(task) };
    Running::run(fiber, header.as_ptr(), id, &raw const locals, called, || {
        // SAFETY: claimed.
        unsafe { (task.actions.run)(header) };
        locals.destroy();
    });
    // SAFETY: claimed, and over.
    unsafe { spans::close(task) };
    trace::ended(fiber, id);
    counters.ended.bump();
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

/// The error for a caught panic.
pub(crate) fn caught(payload: Box<dyn std::any::Any + Send>) -> JoinError {
    if payload.is::<Cancelled>() {
        JoinError::Cancelled
    } else {
        JoinError::Panicked(payload.into())
    }
}
