//! Fresh stacks, on which nested work continues if its caller's stack is nearly full.
//!
//! With them, recursion by nested work is limited only by memory. The caller hands its worker to a
//! fiber with a stack of its own, which calls the work, and waits for it as for a stolen branch.
//! Both stay on one thread and take turns. The work sees the same task, mask, time limit and
//! identity as its caller.
//!
//! The check costs no more than the check for a caller outside of any runtime: both compare the
//! frame's address with one word (`context.rs`).
//!
//! A caller that keeps its thread, or for which there is no stack, continues on its own stack.

use crate::context;
use crate::distant::Distant;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::latch::Waiter;
use crate::root;
use crate::stack::DEFAULT_STACK;
use crate::task::{Running, interrupted_after};
use crate::worker::Owner;
use sateen_base::AbortGuard;
use sateen_base::prim::thread;
use std::ptr::NonNull;

/// Bytes of a stack that are reserved for code without nested work: a panic with a backtrace, or
/// anything that the innermost function calls.
const RESERVE: usize = 64 * 1024;
/// A loop that begins with less room than this moves to a fresh stack. It has few frames, but large
/// ones: some for each half that is stolen, each with the half's results.
const LOOP_ROOM: usize = DEFAULT_STACK / 2;

/// Bytes at the end of a stack of `size` bytes in which no nested work begins.
pub(crate) const fn reserve(size: usize) -> usize {
    if size / 2 < RESERVE { size / 2 } else { RESERVE }
}

/// A fiber that waits for a call of the running one.
pub(crate) struct Fresh(&'static Fiber);

impl Fresh {
    /// Takes a fresh stack for the running `caller`. `None` if the caller keeps its thread or there
    /// is no stack.
    #[cold]
    pub(crate) fn take(worker: &Owner, caller: &Fiber) -> Option<Self> {
        if caller.keeps_thread() {
            return None;
        }
        root::fresh_fiber(worker, run_call).map(Self)
    }

    /// Takes a fresh stack for a loop if the caller has little room.
    #[inline]
    pub(crate) fn for_loop() -> Option<Self> {
        let (worker, caller) = context::here()?;
        if caller.stack_left() >= LOOP_ROOM { None } else { Self::for_loop_slow(worker, caller) }
    }

    /// A loop usually manages with less, so it takes no stack that a task may be waiting for.
    #[cold]
    #[inline(never)]
    fn for_loop_slow(worker: &Owner, caller: &Fiber) -> Option<Self> {
        if worker.shared().stacks.are_few() { None } else { Self::take(worker, caller) }
    }

    /// Calls `job` on the fresh stack. Returns the panic that must continue here: its own, or that
    /// of a cancellation.
    #[cold]
    #[inline(never)]
    pub(crate) fn call(self, job: &mut (dyn FnMut() + Send)) -> std::thread::Result<()> {
        let (fiber, caller) = (self.0, context::this_fiber());
        // SAFETY: the caller runs on this fiber.
        let worker = unsafe { caller.owner() };
        // The fresh stack does not unwind itself, so without a mask it could be cancelled.
        let masks = u32::from(thread::panicking());
        let mut call = Call { caller, masks, job };
        // SAFETY: `call` stays until the latch is set; one fiber runs it.
        let branch = unsafe { Distant::new(Call::run, (&raw mut call).cast()) };
        fiber.will_start(Entry::job(NonNull::from(&branch).cast()));
        worker.dispatch(caller, Entry::fiber(fiber));
        if !branch.latch().is_done() {
            // A cancellation or a time limit of the caller interrupts the work.
            branch.latch().wait_helping(caller, || {
                if caller.is_cancelled() {
                    fiber.unpark();
                }
                false
            });
        }
        // SAFETY: the latch is set.
        let panic = unsafe { branch.take_panic() };
        panic.map_or_else(|| interrupted_after(caller, ()), Err)
    }
}

/// What the fresh fiber must do.
struct Call<'a> {
    caller: &'a Fiber,
    /// 1 if the caller unwinds: nothing may interrupt that, here included.
    masks: u32,
    job: &'a mut (dyn FnMut() + Send),
}

impl Call<'_> {
    /// # Safety
    /// `this` points to a call whose caller waits; the running fiber was made for it.
    unsafe fn run(this: *mut ()) {
        // SAFETY: by contract.
        let Call { caller, masks, job } = unsafe { &mut *this.cast::<Call<'_>>() };
        let fiber = context::this_fiber();
        fiber.act_for(caller, *masks, || {
            // SAFETY: the caller waits for it.
            unsafe { Running::continued(fiber, caller.running(), this.cast(), job) }
        });
    }
}

/// The main function of a fresh fiber.
fn run_call(_: &'static Owner, fiber: &'static Fiber) {
    let guard = AbortGuard::new("a panic reached the base of a fresh stack");
    if let Some(Work::Job(job)) = fiber.take_start().map(Entry::decode) {
        // SAFETY: the branch of `Fresh::call`, which waits for it, once.
        unsafe { ((*job).run)(job) };
    }
    guard.disarm();
}
