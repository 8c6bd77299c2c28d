//! Calls on a fresh stack, for nested work whose caller has little of its own left. So recursion by
//! nested work ends only with memory.
//!
//! The caller hands its worker to a fiber with a stack of its own, which calls the work, and waits
//! for it as for a stolen branch. Both stay on one thread, one after the other. To the work it is
//! as if the caller had called it: it has the caller's task, mask, time limit and identity.
//!
//! A check on the way costs nothing beyond the one for a caller outside of any runtime: both
//! compare the frame's address with one word (`context.rs`).
//!
//! A caller that keeps its thread goes on where it is, and so does one for which there is no stack.

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

/// Bytes of a stack that are left to code without nested work: a panic with a backtrace, whatever
/// the innermost function calls.
const RESERVE: usize = 64 * 1024;
/// A loop that begins with less than so many bytes goes to a fresh stack. Its frames are few and
/// large: some for each half that is taken, each with what the half has made.
const LOOP_ROOM: usize = DEFAULT_STACK / 2;

/// Bytes at the end of a stack of `size` where no nested work begins.
pub(crate) const fn reserve(size: usize) -> usize {
    if size / 2 < RESERVE { size / 2 } else { RESERVE }
}

/// A fiber that waits for a call of the running one.
pub(crate) struct Fresh(&'static Fiber);

impl Fresh {
    /// For `caller`, which runs; none if it keeps its thread, or there is no stack.
    #[cold]
    pub(crate) fn take(worker: &Owner, caller: &Fiber) -> Option<Self> {
        if caller.keeps_thread() {
            return None;
        }
        root::fresh_fiber(worker, run_call).map(Self)
    }

    /// For a loop of the caller, if that has little room.
    #[inline]
    pub(crate) fn for_loop() -> Option<Self> {
        let (worker, caller) = context::here()?;
        if caller.stack_left() >= LOOP_ROOM { None } else { Self::for_loop_slow(worker, caller) }
    }

    /// A loop can mostly do with less, so it takes no stack that a task may be waiting for.
    #[cold]
    #[inline(never)]
    fn for_loop_slow(worker: &Owner, caller: &Fiber) -> Option<Self> {
        if worker.shared().stacks.are_few() { None } else { Self::take(worker, caller) }
    }

    /// Calls `job` on the fresh stack. Returns the panic that is to go on here: its own, or that of
    /// a cancellation.
    #[cold]
    #[inline(never)]
    pub(crate) fn call(self, job: &mut (dyn FnMut() + Send)) -> std::thread::Result<()> {
        let (fiber, caller) = (self.0, context::this_fiber());
        // SAFETY: the caller runs on that fiber.
        let worker = unsafe { caller.owner() };
        // The stack unwinds no panic of its own, so its count would let a cancellation in.
        let masks = u32::from(thread::panicking());
        let mut call = Call { caller, masks, job };
        // SAFETY: `call` stays until the latch is set; one fiber runs it.
        let branch = unsafe { Distant::new(Call::run, (&raw mut call).cast()) };
        fiber.will_start(Entry::job(NonNull::from(&branch).cast()));
        worker.dispatch(caller, Entry::fiber(fiber));
        if !branch.latch().is_done() {
            // What interrupts the caller is for the work: a cancellation, a time limit.
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

/// What the fresh fiber is to do.
struct Call<'a> {
    caller: &'a Fiber,
    /// 1 if the caller unwinds: nothing may interrupt that, here neither.
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
