//! The calling thread's runtime context: its join stack, worker and fiber.
//!
//! | a caller wants | it calls |
//! |---|---|
//! | the fiber that it runs on | [`fiber`], or [`this_fiber`] where there must be one |
//! | that fiber's worker, as its owner | [`owner`] |
//! | both | [`here`] |
//! | the worker that the thread is, also at its root and in hooks | [`thread_owner`] |
//!
//! The fast paths read three words here and nothing else: the request word that a push polls, the
//! fiber whose join stack it uses, and the address that its frame must lie above. Outside of a
//! runtime the request word is a constant that is always raised, and no frame lies above the
//! address. So no path needs a separate test for "not on a worker".

use crate::fiber::Fiber;
use crate::join_stack::JoinStack;
use crate::shared::Shared;
use crate::unwind::run_and_discard;
use crate::worker::{OUTSIDE, Owner};
use sateen_base::prim::{AtomicU32, Ordering};
use sateen_sync::park;
use std::cell::Cell;

static OUTSIDE_REQUESTS: AtomicU32 = AtomicU32::new(OUTSIDE);

/// Far more than calls can nest.
const OFF_FIBER: u64 = 1 << 32;

/// A thread's words. All pointers are null outside of a runtime.
pub(crate) struct Context {
    requests: Cell<*const AtomicU32>,
    /// Frames below this address start no nested work; see `fresh.rs`.
    limit: Cell<usize>,
    fiber: Cell<*const Fiber>,
    /// The worker, while a fiber runs on it. Null at a worker's root and in its hooks.
    owner: Cell<*const Owner>,
    /// The thread's worker, at all times.
    thread: Cell<*const Owner>,
    /// The runtime that cannot end before the thread's current work does; null for none. Only
    /// compared.
    member_of: Cell<*const Shared>,
    /// How deep the thread is in code whose nested work runs inline. Each level adds 1 if the
    /// runtime is shut down, and [`OFF_FIBER`] if the code belongs to no task.
    inline: Cell<u64>,
}

/// What a thread was before it temporarily became a worker.
pub(crate) struct Saved {
    running: (*const Owner, *const Fiber),
    thread: *const Owner,
    inline: u64,
}

/// The fiber and worker that a thread has temporarily left.
pub(crate) struct Left(*const Owner, *const Fiber);

thread_local! {
    static CONTEXT: Context = const {
        Context {
            requests: Cell::new(&raw const OUTSIDE_REQUESTS),
            limit: Cell::new(usize::MAX),
            fiber: Cell::new(std::ptr::null()),
            owner: Cell::new(std::ptr::null()),
            thread: Cell::new(std::ptr::null()),
            member_of: Cell::new(std::ptr::null()),
            inline: Cell::new(0),
        }
    };
}

/// Runs `f` with the calling thread's words.
#[inline(always)]
pub(crate) fn with<R>(f: impl FnOnce(&Context) -> R) -> R {
    CONTEXT.with(f)
}

/// The fiber that the caller runs on; `None` outside of tasks.
#[inline]
pub(crate) fn fiber() -> Option<&'static Fiber> {
    with(Context::fiber)
}

/// [`fiber`], where the caller must run on one.
pub(crate) fn this_fiber() -> &'static Fiber {
    match fiber() {
        Some(fiber) => fiber,
        None => sateen_base::abort_with("waited for a branch outside a fiber"),
    }
}

/// The join stack of the running fiber.
///
/// # Safety
/// The caller is on a fiber, and does not use the result beyond its own frame.
#[inline(always)]
pub(crate) unsafe fn stack() -> &'static JoinStack {
    // (A reference returned from `with` would be tested for null.)
    let fiber = with(|c| c.fiber.get());
    // SAFETY: a fiber runs. Fibers live as long as their runtime, and the caller's frame keeps this
    // one on its stack.
    unsafe { &*fiber }.join_stack()
}

/// The worker that the calling fiber belongs to; `None` outside of tasks.
#[inline(always)]
pub(crate) fn owner() -> Option<&'static Owner> {
    with(Context::owner)
}

/// The calling fiber and its worker; `None` outside of tasks.
#[inline]
pub(crate) fn here() -> Option<(&'static Owner, &'static Fiber)> {
    with(|c| Some((c.owner()?, c.fiber()?)))
}

/// The calling thread's worker, whatever runs on it.
pub(crate) fn thread_owner() -> Option<&'static Owner> {
    with(Context::thread)
}

impl Context {
    /// The requests raised for this worker; [`OUTSIDE`] on other threads.
    #[inline(always)]
    pub(crate) fn requests(&self) -> u32 {
        // SAFETY: a static, or the request word of this thread's worker, which outlives the
        // thread's time in the runtime.
        // Ordering: Relaxed; a request is a hint to enter the slow path, which synchronises.
        unsafe { (*self.requests.get()).load(Ordering::Relaxed) }
    }

    /// Whether nested work of a caller with a frame at `frame` must run elsewhere, because no fiber
    /// runs or its stack is nearly full.
    #[inline(always)]
    pub(crate) fn is_beyond(&self, frame: usize) -> bool {
        frame < self.limit.get()
    }

    /// The worker that the running fiber belongs to, if there is one.
    #[inline(always)]
    fn owner(&self) -> Option<&'static Owner> {
        // SAFETY: the worker outlives the thread's time in its runtime, and callers are on that
        // thread. An owner is not Sync, so the reference stays on it.
        unsafe { self.owner.get().as_ref() }
    }

    /// The fiber that runs now.
    #[inline]
    fn fiber(&self) -> Option<&'static Fiber> {
        // SAFETY: as for `owner`; fibers live as long as their runtime.
        unsafe { self.fiber.get().as_ref() }
    }

    /// This thread's worker, whatever runs on it.
    fn thread(&self) -> Option<&'static Owner> {
        // SAFETY: as for `owner`.
        unsafe { self.thread.get().as_ref() }
    }

    /// Makes the thread `owner`'s worker, or an ordinary thread again.
    pub(crate) fn enter(&self, owner: Option<&Owner>) {
        self.thread.set(owner.map_or(std::ptr::null(), std::ptr::from_ref));
    }

    /// Makes the thread work for `runtime`, as a worker or otherwise. Returns what it worked for
    /// before.
    pub(crate) fn join_runtime(&self, runtime: *const Shared) -> *const Shared {
        self.member_of.replace(runtime)
    }

    /// Whether `runtime` cannot end before the caller returns.
    pub(crate) fn is_member_of(&self, runtime: &Shared) -> bool {
        std::ptr::eq(self.member_of.get(), runtime)
    }

    /// Sets the running fiber, or none.
    #[inline]
    pub(crate) fn set_fiber(&self, fiber: Option<(&Owner, &Fiber)>) {
        match fiber {
            Some((owner, fiber)) => {
                self.requests.set(owner.requests().word());
                self.limit.set(fiber.record().limit());
                self.owner.set(owner);
                self.fiber.set(fiber);
            }
            None => {
                self.requests.set(&raw const OUTSIDE_REQUESTS);
                self.limit.set(usize::MAX);
                self.owner.set(std::ptr::null());
                self.fiber.set(std::ptr::null());
            }
        }
    }

    /// Leaves the running fiber for a while; the thread keeps its other roles. Returns the argument
    /// of [`Context::return_to`].
    pub(crate) fn leave_fiber(&self) -> Left {
        let left = Left(self.owner.get(), self.fiber.get());
        if !left.1.is_null() {
            self.set_fiber(None);
        }
        left
    }

    pub(crate) fn return_to(&self, left: Left) {
        let Left(owner, fiber) = left;
        if !fiber.is_null() {
            // SAFETY: they run the caller's frames, so they are valid.
            self.set_fiber(unsafe { owner.as_ref().zip(fiber.as_ref()) });
        }
    }

    /// Makes the thread an ordinary one. Returns what it was, for [`Context::restore`].
    pub(crate) fn step_out(&self) -> Saved {
        let running = (self.owner.get(), self.fiber.get());
        let saved = Saved { running, thread: self.thread.get(), inline: self.inline.replace(0) };
        self.set_fiber(None);
        self.enter(None);
        saved
    }

    /// Restores what the thread was.
    pub(crate) fn restore(&self, saved: &Saved) {
        let (owner, fiber) = saved.running;
        // SAFETY: null, or what runs the caller's frames and so is valid.
        self.set_fiber(unsafe { owner.as_ref().zip(fiber.as_ref()) });
        self.thread.set(saved.thread);
        self.inline.set(saved.inline);
    }

    /// Whether nested work must run on this thread by plain calls.
    pub(crate) fn is_inline(&self) -> bool {
        self.inline.get() != 0
    }

    /// Whether the thread is in [`off_fiber`].
    pub(crate) fn is_off_fiber(&self) -> bool {
        self.inline.get() >= OFF_FIBER
    }
}

/// Runs `f` on the calling fiber without the limit on its stack. Nested work then stays on this
/// stack, unless the fiber is suspended.
pub(crate) fn without_limit<R>(f: impl FnOnce() -> R) -> R {
    struct Restore(&'static Fiber);
    impl Drop for Restore {
        fn drop(&mut self) {
            with(|c| c.limit.set(self.0.record().limit()));
        }
    }
    let _restore = Restore(this_fiber());
    with(|c| c.limit.set(0));
    f()
}

/// Calls user code outside of any fiber, so that it cannot see a half-finished operation of the
/// runtime. Its waits block the thread, and its nested work runs by plain calls. `f` must not
/// unwind.
pub(crate) fn off_fiber<R>(f: impl FnOnce() -> R) -> R {
    let fiber = with(Context::leave_fiber);
    // SAFETY: here and below, the caller has taken the wakers of all its waits, and `f` returns.
    let before = unsafe { park::install(None) };
    let result = inline_by(OFF_FIBER, f);
    // SAFETY: as above.
    unsafe { park::install(before) };
    with(|c| c.return_to(fiber));
    result
}

/// Like [`off_fiber`]. A panic of `f` is reported by the panic hook and goes no further.
pub(crate) fn call_off_fiber(f: impl FnOnce()) {
    off_fiber(|| run_and_discard(f));
}

/// Runs `f` with nested work as plain calls.
pub(crate) fn run_inline<R>(f: impl FnOnce() -> R) -> R {
    inline_by(1, f)
}

fn inline_by<R>(calls: u64, f: impl FnOnce() -> R) -> R {
    struct Leave(u64);
    impl Drop for Leave {
        fn drop(&mut self) {
            with(|c| c.inline.set(c.inline.get() - self.0));
        }
    }
    with(|c| c.inline.set(c.inline.get() + calls));
    let _leave = Leave(calls);
    f()
}
