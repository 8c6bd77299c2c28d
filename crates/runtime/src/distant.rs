//! A branch whose work and result lie elsewhere. So what starts and ends it is built once, whatever
//! it works on.
//!
//! It lies in its joiner's frame, beside the `data` that it leads to. Loops use it (`par/lazy.rs`):
//! their `data` is the half on offer.
//!
//! | what | written | read |
//! |---|---|---|
//! | `job`, `run`, `data` | by the joiner, before the push | by the thief |
//! | behind `data` | by the joiner, before the push; by the thief, in `run` | by the joiner |
//! | `panic` | by the thief, before it sets the latch | by the joiner |
//! | `latch` | see `latch.rs` | |
//!
//! The joiner reads after its pop, or once the latch is set.
//!
//! One thread gets the branch, by the rules of the join stack: the joiner's pop, or a thief. After
//! a pop no other thread has touched or will touch any of it. After a theft the joiner touches
//! nothing but the latch, until that is set; then the thief has left.
//!
//! Model: `loom_distant.rs`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use crate::join_stack::{Job, SlotRoom};
use crate::latch::{Latch, Waiter};
use sateen_base::prim::UnsafeCell;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// See the [module's documentation](self).
#[repr(C)]
#[derive(Debug)]
pub struct Distant<W> {
    job: Job,
    latch: Latch<W>,
    run: unsafe fn(*mut ()),
    data: *mut (),
    panic: UnsafeCell<Option<Box<dyn Any + Send>>>,
    room: SlotRoom,
}

impl<W: Waiter> Distant<W> {
    /// A branch that is to call `run` with `data` if it is stolen, once.
    ///
    /// # Safety
    /// As long as it may be stolen, and until its latch is set if it was, `run` may be called with
    /// `data` on any thread.
    #[inline]
    pub unsafe fn new(run: unsafe fn(*mut ()), data: *mut ()) -> Self {
        Self {
            job: Job { run: Self::run_stolen },
            latch: Latch::new(),
            run,
            data,
            panic: UnsafeCell::new(None),
            room: SlotRoom::uninit(),
        }
    }

    /// What is pushed. It leads to the whole branch.
    #[inline]
    pub fn job(&self) -> *const Job {
        std::ptr::from_ref(self).cast()
    }

    /// Set when the thief has left.
    #[inline]
    pub fn latch(&self) -> &Latch<W> {
        &self.latch
    }

    /// The thief's panic, if it panicked.
    ///
    /// # Safety
    /// The latch is set.
    pub unsafe fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        // SAFETY: the thief wrote it before it set the latch, and touches it no more.
        self.panic.with_mut(|panic| unsafe { (*panic).take() })
    }

    /// # Safety
    /// `job` starts a `Distant` that the caller has stolen.
    unsafe fn run_stolen(job: *const Job) {
        let this = job.cast::<Self>();
        // SAFETY: the joiner's frame stays until the latch is set, which is the last thing done
        // here. The thief may call `run`, by the contract of `new`.
        unsafe {
            let (run, data) = ((*this).run, (*this).data);
            let result = catch_unwind(AssertUnwindSafe(|| run(data)));
            (*this).panic.with_mut(|place| *place = result.err());
            Latch::set(&raw const (*this).latch);
        }
    }
}
