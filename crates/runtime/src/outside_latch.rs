//! A count-down latch whose owner may be any thread and leaves a waker in it.
//!
//! | field | used by |
//! |---|---|
//! | `count` | all that hold a count: the owner one, each job one |
//! | `waker` | the thread that drops the last count, unless that is the owner |
//! | `done` | set by that thread, read by the owner |
//!
//! 1. The owner drops its own count first and then waits. So exactly one thread drops the last
//!    count: the owner, which then does not wait, or a job's thread.
//! 2. That job's thread takes the waker while the owner still waits for `done`. So no other thread
//!    uses the waker or frees the latch.
//! 3. The job's thread then sets `done` and does not touch the latch again, because the owner may
//!    free it.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::{AtomicBool, AtomicUsize};
use sateen_base::prim::{Ordering, UnsafeCell};

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct OutsideLatch<W> {
    count: AtomicUsize,
    waker: UnsafeCell<Option<W>>,
    done: AtomicBool,
}

// SAFETY: `waker` passes to one other thread, which alone uses it: step 2 above.
unsafe impl<W: Send> Sync for OutsideLatch<W> {}

impl<W> OutsideLatch<W> {
    /// Starts with the owner's count. `waker` wakes the owner.
    pub fn new(waker: W) -> Self {
        Self {
            count: AtomicUsize::new(1),
            waker: UnsafeCell::new(Some(waker)),
            done: AtomicBool::new(false),
        }
    }

    /// Adds a count. The caller holds one itself, or another holder keeps the latch alive.
    #[inline]
    pub fn add_one(&self) {
        // Ordering: Relaxed, as with any reference count: another count keeps it above zero.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Drops the owner's count. Returns whether it was the last. If not, the owner must wait for
    /// [`OutsideLatch::is_done`] before anything else.
    pub fn drop_own(&self) -> bool {
        // Ordering: AcqRel; if it was the last, everything that the jobs did is visible.
        self.count.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether all counts are gone. For the owner, after [`OutsideLatch::drop_own`].
    pub fn is_done(&self) -> bool {
        // Ordering: Acquire pairs with the Release in `drop_one`.
        self.done.load(Ordering::Acquire)
    }

    /// Drops a job's count, and calls `wake` if it was the last.
    ///
    /// # Safety
    /// `this` points to a latch, and the caller owns a job's count of it. The latch may be gone
    /// when this returns.
    pub unsafe fn drop_one(this: *const Self, wake: impl FnOnce(W)) {
        // Ordering: Release publishes this job's writes. Acquire lets the last job see the writes
        // of all others before it passes them on.
        // SAFETY: the count keeps the latch until this exchange.
        if unsafe { (*this).count.fetch_sub(1, Ordering::AcqRel) } != 1 {
            return;
        }
        // SAFETY: the owner waits for `done`, so the latch is there, and the waker is ours.
        let waker = unsafe { (*this).waker.with_mut(|waker| (*waker).take()) };
        // SAFETY: as above. Nothing touches the latch after this.
        unsafe { (*this).done.store(true, Ordering::Release) };
        waker.map(wake);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::OutsideLatch;
    use sateen_base::prim::{AtomicUsize, Ordering, thread};

    struct Address(*const OutsideLatch<thread::Thread>);

    // SAFETY: the latch waits for the thread's count.
    unsafe impl Send for Address {}

    impl Address {
        fn get(&self) -> *const OutsideLatch<thread::Thread> {
            self.0
        }
    }

    #[test]
    fn many_threads_give_back_their_counts() {
        for round in 0..500 {
            let ran = AtomicUsize::new(0);
            let latch = Box::new(OutsideLatch::new(thread::current()));
            std::thread::scope(|scope| {
                for _ in 0..round % 4 {
                    latch.add_one();
                    let (ran, address) = (&ran, Address(&raw const *latch));
                    scope.spawn(move || {
                        ran.fetch_add(1, Ordering::Relaxed);
                        // SAFETY: the latch waits for this count.
                        unsafe { OutsideLatch::drop_one(address.get(), |owner| owner.unpark()) };
                    });
                }
                if !latch.drop_own() {
                    while !latch.is_done() {
                        thread::park();
                    }
                }
                assert_eq!(ran.load(Ordering::Relaxed), round % 4);
                drop(latch);
            });
        }
    }
}
