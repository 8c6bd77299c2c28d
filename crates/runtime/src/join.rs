//! `join`: two branches, the second of which may be stolen.

use crate::context::{self, this_fiber};
use crate::distant::Distant;
use crate::elsewhere::elsewhere;
use crate::fiber::{Fiber, Joining};
use crate::help::{self, Under};
use crate::join_stack::{Job, JoinStack, SlotRoom};
use crate::latch::Latch;
use crate::offer;
use crate::task::{in_branch, interrupted_after};
use crate::unwind::{Held, discard, run_and_discard};
use crate::worker::Owner;
use sateen_base::prim::UnsafeCell;
use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::Result as Caught;

/// Results of at least this size go on the heap. On the stack each level of nested joins would hold
/// several copies of them, and in a debug build thirty.
const LARGE: usize = 512;

/// A branch in its joiner's frame.
#[repr(C)]
struct Branch<F, R> {
    job: Job,
    latch: Latch<Fiber>,
    f: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<Caught<R>>>,
    room: SlotRoom,
}

// The join slots lie behind the stack, and pushes do not check for room.
const _: () = assert!(size_of::<Branch<(), ()>>() >= crate::stack::BYTES_PER_SLOT);
const _: () = assert!(size_of::<Distant<Fiber>>() >= crate::stack::BYTES_PER_SLOT);

/// The closure's argument tells whether the branch was stolen.
impl<F: FnOnce(bool) -> R, R> Branch<F, R> {
    #[inline(always)]
    fn new(f: F) -> Self {
        Self {
            job: Job { run: Self::run_stolen },
            latch: Latch::new(),
            f: UnsafeCell::new(ManuallyDrop::new(f)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
            room: SlotRoom::uninit(),
        }
    }

    /// The job to push. Derived from the whole branch, because the thief goes from it to the other
    /// fields: a pointer derived from the field `job` may only be used for that field.
    #[inline(always)]
    fn job(&self) -> *const Job {
        const { assert!(offset_of!(Self, job) == 0) };
        std::ptr::from_ref(self).cast()
    }

    /// # Safety
    /// Called once, by the side that owns the branch: its joiner after a pop, or its thief.
    #[inline(always)]
    unsafe fn take(&self) -> F {
        // SAFETY: exactly one side gets the branch, and takes the closure once.
        self.f.with_mut(|f| unsafe { ManuallyDrop::take(&mut *f) })
    }

    /// # Safety
    /// `job` starts a `Branch<F, R>` that the caller has stolen.
    unsafe fn run_stolen(job: *const Job) {
        let this = job.cast::<Self>();
        // SAFETY: the joiner's frame stays until the latch is set, which happens last.
        unsafe {
            let f = (*this).take();
            let result = catch_unwind(AssertUnwindSafe(|| f(true)));
            (*this).result.with_mut(|place| (*place).write(result));
            Latch::set(&raw const (*this).latch);
        }
    }

    /// # Safety
    /// The latch is set, and the result has not been taken.
    unsafe fn result(&self) -> Caught<R> {
        // SAFETY: the thief wrote it before it set the latch.
        self.result.with_mut(|place| unsafe { (*place).assume_init_read() })
    }
}

/// Runs both closures, possibly in parallel, and returns both results.
///
/// `a` runs on the caller's stack at once. From this moment another worker may steal `b`; otherwise
/// `b` runs here afterwards. If `b` was stolen and is not done yet, the task is suspended. Its
/// worker then runs other work, but never on top of this frame. On a thread outside of any runtime,
/// both closures run on the global runtime.
///
/// # Panics
///
/// If a branch panics, the panic resumes here after both are done. If both panic, the panic of `a`
/// resumes.
///
/// # Cost
///
/// About 1 ns a call in naive Fibonacci, when nothing is stolen.
///
/// Source: Cilk's work-first principle; the semantics of rayon's function of this name.
///
/// # Examples
///
/// ```
/// fn sum(data: &[u64]) -> u64 {
///     if data.len() < 1000 {
///         return data.iter().sum();
///     }
///     let (left, right) = data.split_at(data.len() / 2);
///     let (a, b) = sateen::join(|| sum(left), || sum(right));
///     a + b
/// }
/// let data: Vec<u64> = (0..10_000).collect();
/// assert_eq!(sum(&data), 49_995_000);
/// ```
///
/// A closure that is not `Send` does not compile:
///
/// ```compile_fail
/// let rc = std::rc::Rc::new(1);
/// sateen::join(|| *rc, || *rc);
/// ```
#[inline(always)]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if const { size_of::<RA>() + size_of::<RB>() > LARGE } {
        let (ra, rb) = join_small(|| Box::new(a()), || Box::new(b()));
        return (*ra, *rb);
    }
    join_small(a, b)
}

/// [`join`] of results that are small enough to move. (The compiler decides whether to inline it:
/// in recursion it is better not to.)
#[inline]
fn join_small<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let mut branch = MaybeUninit::uninit();
    if context::with(|c| c.is_beyond((&raw const branch).addr())) {
        return join_elsewhere(a, b);
    }
    let branch = branch.write(Branch::new(|_| b()));
    // SAFETY: the frame is not beyond the limit, so a fiber runs.
    unsafe { join_branch(context::stack(), a, branch) }
}

/// [`join`] on a fiber; `b` learns whether it was stolen.
///
/// # Safety
/// `stack` is the join stack of the running fiber.
#[cfg(feature = "compat")]
#[inline(always)]
pub(crate) unsafe fn join_on<A, B, RA, RB>(stack: &JoinStack, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(bool) -> RB,
{
    // SAFETY: passed on to the caller.
    unsafe { join_branch(stack, a, &Branch::new(b)) }
}

/// Runs `a`, and `branch` if no thief does.
///
/// # Safety
/// `stack` is the join stack of the running fiber. The branch is new, and not used again.
#[inline(always)]
unsafe fn join_branch<A, B, RA, RB>(stack: &JoinStack, a: A, branch: &Branch<B, RB>) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(bool) -> RB,
{
    // SAFETY: the running fiber's stack; the branch is popped below before its frame goes.
    if unsafe { offer::push(stack, branch.job(), || context::with(context::Context::requests)) } {
        Owner::answer();
    }
    // No panic may leave this frame while the branch is on the stack or stolen. (The two outcomes
    // share no code, which saves the fast path a test.)
    match catch_unwind(AssertUnwindSafe(|| in_branch(a))) {
        Ok(ra) => {
            if !stack.pop() && !Owner::reclaim(stack) {
                return join_stolen(branch, ra);
            }
            // SAFETY: the branch was popped, so this thread owns it.
            let b = unsafe { branch.take() };
            let ra = Held::new(ra);
            let rb = in_branch(|| b(false));
            (ra.release(), rb)
        }
        Err(panic) => {
            if !stack.pop() && !Owner::reclaim(stack) {
                panic_stolen(branch, panic);
            }
            // SAFETY: the branch was popped, so this thread owns it.
            a_panicked(panic, unsafe { branch.take() })
        }
    }
}

/// Runs `a` while another worker may take the branch, which calls `run` with `data`. If nobody
/// takes the branch, it does not run. Returns the panic to resume, if any. When this returns, no
/// other thread uses `data`.
///
/// For loops: with [`join`], each loop would compile its own copy for its own types.
///
/// # Safety
/// `stack` is the join stack of the running fiber. Until this returns, one call of `run` with
/// `data` is allowed, on any thread.
#[inline(never)]
pub(crate) unsafe fn join_distant(
    stack: &JoinStack,
    a: &mut dyn FnMut(),
    run: unsafe fn(*mut ()),
    data: *mut (),
) -> Option<Box<dyn Any + Send>> {
    // SAFETY: by contract; it is popped or awaited below.
    let branch = unsafe { Distant::new(run, data) };
    // SAFETY: the running fiber's stack; the branch is popped below before its frame goes.
    if unsafe { offer::push(stack, branch.job(), || context::with(context::Context::requests)) } {
        Owner::answer();
    }
    let a = catch_unwind(AssertUnwindSafe(|| in_branch(a)));
    if stack.pop() || Owner::reclaim(stack) {
        return a.err();
    }
    wait_for_stolen(branch.latch(), &Under::piece(&branch));
    // SAFETY: the latch is set.
    let b = unsafe { branch.take_panic() };
    match (a, b) {
        (Err(panic), b) => {
            discard(b);
            Some(panic)
        }
        (Ok(()), Some(panic)) => Some(panic),
        (Ok(()), None) => interrupted_after(this_fiber(), ()).err(),
    }
}

/// `a` panicked; `b` runs nevertheless.
#[cold]
fn a_panicked<B: FnOnce(bool) -> RB, RB>(panic: Box<dyn Any + Send>, b: B) -> ! {
    run_and_discard(|| b(false));
    resume_unwind(panic)
}

/// The branch was stolen.
#[cold]
#[inline(never)]
fn join_stolen<B, RA, RB>(branch: &Branch<B, RB>, ra: RA) -> (RA, RB)
where
    B: FnOnce(bool) -> RB,
{
    wait_for_stolen(&branch.latch, &Under::piece(branch));
    // SAFETY: the latch is set.
    let result = unsafe { branch.result() };
    let panic = match result {
        Ok(rb) => match interrupted_after(this_fiber(), ()) {
            Ok(()) => return (ra, rb),
            Err(cancelled) => {
                discard(ra);
                discard(rb);
                resume_unwind(cancelled)
            }
        },
        Err(panic) => panic,
    };
    discard(ra);
    resume_unwind(panic)
}

/// `a` panicked, and the branch was stolen. The branch's result or panic is discarded in favour of
/// `a`'s panic, even if dropping it panics in turn.
#[cold]
#[inline(never)]
fn panic_stolen<B, RB>(branch: &Branch<B, RB>, panic: Box<dyn Any + Send>) -> !
where
    B: FnOnce(bool) -> RB,
{
    wait_for_stolen(&branch.latch, &Under::piece(branch));
    // SAFETY: the latch is set.
    discard(unsafe { branch.result() });
    resume_unwind(panic)
}

#[cold]
#[inline(never)]
fn wait_for_stolen(latch: &Latch<Fiber>, under: &Under) {
    let fiber = this_fiber();
    // SAFETY: the tag of the fiber's own stack is an activation that runs there.
    let joining = unsafe { Joining::begin(fiber, fiber.join_stack().tag().cast()) };
    help::spin(latch, under);
    if !latch.is_done() {
        latch.wait_helping(fiber, || {
            joining.look();
            help::once(under)
        });
    }
}

#[cold]
#[inline(never)]
fn join_elsewhere<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    elsewhere().run(
        a,
        b,
        |a, b| join_small(a, b),
        |a, b| match catch_unwind(AssertUnwindSafe(a)) {
            Ok(ra) => {
                let ra = Held::new(ra);
                let rb = b();
                (ra.release(), rb)
            }
            Err(panic) => a_panicked(panic, |_| b()),
        },
    )
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Miri says if the pointer may not be used for the whole branch.
    #[test]
    fn what_is_pushed_leads_to_the_whole_branch() {
        let branch = Branch::new(|stolen| (stolen, "result"));
        let job = branch.job();
        // SAFETY: the branch lies above, and is run once.
        unsafe { ((*job).run)(job) };
        assert!(branch.latch.is_done());
        // SAFETY: the latch is set.
        assert_eq!(unsafe { branch.result() }.ok(), Some((true, "result")));
    }
}
