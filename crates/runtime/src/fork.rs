//! `fork`: an array of branches, an array of results.

use crate::context::{self, this_fiber};
use crate::elsewhere::elsewhere;
use crate::fiber::{Fiber, Joining};
use crate::help::{self, Under};
use crate::join_stack::{Job, SlotRoom};
use crate::latch::CountLatch;
use crate::offer;
use crate::task::{in_branch, interrupted_after};
use crate::unwind::discard;
use crate::worker::Owner;
use sateen_base::prim::UnsafeCell;
use std::any::Any;
use std::mem::{ManuallyDrop, MaybeUninit, offset_of};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

type Panic = Box<dyn Any + Send>;

/// State that all branches of one fork share.
struct Frame {
    latch: CountLatch<Fiber>,
}

/// A branch: the closure, and the place for its result.
#[repr(C)]
struct Branch<F, R> {
    job: Job,
    frame: *const Frame,
    f: UnsafeCell<ManuallyDrop<F>>,
    /// Written by a thief only; the forker returns its own results directly.
    result: UnsafeCell<MaybeUninit<Result<R, Panic>>>,
    room: SlotRoom,
}

// As in `join.rs`.
const _: () = assert!(size_of::<Branch<(), ()>>() >= crate::stack::BYTES_PER_SLOT);

impl<F: FnOnce() -> R, R> Branch<F, R> {
    /// The job to push. As in `join.rs`, the whole branch can be recovered from it.
    #[inline(always)]
    fn job(&self) -> *const Job {
        const { assert!(offset_of!(Self, job) == 0) };
        std::ptr::from_ref(self).cast()
    }

    /// # Safety
    /// As for a join's branch: called once, by the side that owns the branch.
    #[inline(always)]
    unsafe fn take(&self) -> F {
        // SAFETY: exactly one side gets the branch.
        self.f.with_mut(|f| unsafe { ManuallyDrop::take(&mut *f) })
    }

    /// # Safety
    /// `job` starts a `Branch<F, R>` that the caller has stolen.
    unsafe fn run_stolen(job: *const Job) {
        let this = job.cast::<Self>();
        // SAFETY: the forker's frame stays until every stolen branch has dropped its count.
        unsafe {
            let f = (*this).take();
            let result = catch_unwind(AssertUnwindSafe(f));
            (*this).result.with_mut(|place| (*place).write(result));
            CountLatch::drop_one(&raw const (*(*this).frame).latch);
        }
    }
}

/// The results so far, in order. If the fork panics, dropping this drops them.
struct Results<R, const N: usize> {
    values: [MaybeUninit<R>; N],
    filled: usize,
}

impl<R, const N: usize> Results<R, N> {
    #[inline(always)]
    fn push(&mut self, value: R) {
        self.values[self.filled].write(value);
        self.filled += 1;
    }

    #[inline(always)]
    fn finish(self) -> [R; N] {
        assert_eq!(self.filled, N, "a fork lost a result");
        let this = ManuallyDrop::new(self);
        // SAFETY: all N are written, and `this` does not drop them; the layouts are the same.
        unsafe { std::mem::transmute_copy::<[MaybeUninit<R>; N], [R; N]>(&this.values) }
    }
}

impl<R, const N: usize> Drop for Results<R, N> {
    fn drop(&mut self) {
        if !std::mem::needs_drop::<R>() {
            return;
        }
        for value in &self.values[..self.filled] {
            // Each result is dropped separately, so that a panic of one does not leak the others.
            // SAFETY: the first `filled` are written, and read once.
            discard(unsafe { value.assume_init_read() });
        }
    }
}

/// Runs all closures, possibly in parallel, and returns their results in order.
///
/// The first closure runs on the caller's stack at once. The others may be stolen, the last one
/// first; the rest run here in order. The caller waits as in [`join`](crate::join).
///
/// # Panics
/// With the first panic in the order of the branches, after all are done.
///
/// # Cost
/// About 3 ns a branch when nothing is stolen.
///
/// # Examples
///
/// ```
/// let squares = sateen::fork([1u64, 2, 3].map(|x| move || x * x));
/// assert_eq!(squares, [1, 4, 9]);
/// ```
#[inline]
pub fn fork<F, R, const N: usize>(fs: [F; N]) -> [R; N]
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let frame = 0u8;
    if context::with(|c| c.is_beyond((&raw const frame).addr())) {
        return fork_elsewhere(fs);
    }
    // SAFETY: the frame is not beyond the limit, so a fiber runs.
    let stack = unsafe { context::stack() };
    let mut results = Results { values: [const { MaybeUninit::uninit() }; N], filled: 0 };
    if N == 0 {
        return results.finish();
    }
    let frame = Frame { latch: CountLatch::new(N) };
    let branches = fs.map(|f| Branch {
        job: Job { run: Branch::<F, R>::run_stolen },
        frame: &raw const frame,
        f: UnsafeCell::new(ManuallyDrop::new(f)),
        result: UnsafeCell::new(MaybeUninit::uninit()),
        room: SlotRoom::uninit(),
    });
    for branch in branches[1..].iter().rev() {
        let requests = || context::with(context::Context::requests);
        // SAFETY: the running fiber's stack; every push is popped below.
        if unsafe { offer::push(stack, branch.job(), requests) } {
            Owner::answer();
        }
    }
    let mut panic = None;
    let mut own = 0;
    for branch in &branches {
        // No panic may leave this frame while branches are on the stack or stolen.
        if own > 0 && !stack.pop() && !Owner::reclaim(stack) {
            // Thieves take the oldest first, so the rest is stolen too.
            for _ in own + 1..N {
                let left = stack.pop() || Owner::reclaim(stack);
                debug_assert!(!left, "a younger branch was stolen before an older one");
            }
            break;
        }
        own += 1;
        // SAFETY: the branch was popped (or is the first, which is never pushed), so this thread
        // owns it.
        let f = unsafe { branch.take() };
        match catch_unwind(AssertUnwindSafe(|| in_branch(f))) {
            Ok(value) if panic.is_none() => results.push(value),
            other => note(&mut panic, other),
        }
    }
    if own < N {
        wait_for_stolen(&frame, own, &Under::pieces(&branches[own..]));
        for branch in &branches[own..] {
            // SAFETY: the latch is set, so every stolen branch has written its result.
            match branch.result.with_mut(|place| unsafe { (*place).assume_init_read() }) {
                Ok(value) if panic.is_none() => results.push(value),
                other => note(&mut panic, other),
            }
        }
    }
    if own < N && panic.is_none() {
        panic = interrupted_after(this_fiber(), ()).err();
    }
    if let Some(panic) = panic {
        go_on(panic, results);
    }
    results.finish()
}

/// Keeps the first panic; drops any other result, panicking or not.
#[cold]
#[inline(never)]
fn note<R>(first: &mut Option<Panic>, result: Result<R, Panic>) {
    match result {
        Err(panic) if first.is_none() => *first = Some(panic),
        other => discard(other),
    }
}

#[cold]
#[inline(never)]
fn go_on<R, const N: usize>(panic: Panic, results: Results<R, N>) -> ! {
    drop(results);
    resume_unwind(panic)
}

#[cold]
#[inline(never)]
fn wait_for_stolen(frame: &Frame, own: usize, under: &Under) {
    let fiber = this_fiber();
    // SAFETY: the tag of the fiber's own stack is an activation that runs there.
    let joining = unsafe { Joining::begin(fiber, fiber.join_stack().tag().cast()) };
    let spin = |latch: &_| help::spin(latch, under);
    frame.latch.finish_helping(
        own,
        spin,
        || fiber,
        || {
            joining.look();
            help::once(under)
        },
    );
}

#[cold]
#[inline(never)]
fn fork_elsewhere<F, R, const N: usize>(fs: [F; N]) -> [R; N]
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    elsewhere().run(
        fs,
        (),
        |fs, ()| fork(fs),
        |fs, ()| {
            let mut results = Results { values: [const { MaybeUninit::uninit() }; N], filled: 0 };
            let mut panic = None;
            for f in fs {
                match catch_unwind(AssertUnwindSafe(f)) {
                    Ok(value) if panic.is_none() => results.push(value),
                    other => note(&mut panic, other),
                }
            }
            match panic {
                Some(panic) => go_on(panic, results),
                None => results.finish(),
            }
        },
    )
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Miri says if the pointer may not be used for the whole branch.
    #[test]
    fn what_is_pushed_leads_to_the_whole_branch() {
        let frame = Frame { latch: CountLatch::new(1) };
        fn branch<F: FnOnce() -> R, R>(f: F, frame: &Frame) -> Branch<F, R> {
            Branch {
                job: Job { run: Branch::<F, R>::run_stolen },
                frame,
                f: UnsafeCell::new(ManuallyDrop::new(f)),
                result: UnsafeCell::new(MaybeUninit::uninit()),
                room: SlotRoom::uninit(),
            }
        }
        let branch = branch(|| "result", &frame);
        let job = branch.job();
        // SAFETY: the branch lies above, and is run once.
        unsafe { ((*job).run)(job) };
        // SAFETY: the branch has run.
        let result = branch.result.with_mut(|place| unsafe { (*place).assume_init_read() });
        assert_eq!(result.ok(), Some("result"));
    }
}
