//! A branch whose closure and result are stored elsewhere, so that one instance serves all types.
//!
//! It lies in its joiner's frame, beside the `data` that it points to. Loops use it
//! (`par/lazy.rs`): their `data` is the half on offer.
//!
//! | what | written | read |
//! |---|---|---|
//! | `job`, `run`, `data` | by the joiner, before the push | by the thief |
//! | behind `data` | by the joiner, before the push; by the thief, in `run` | by the joiner |
//! | `panic` | by the thief, before it sets the latch | by the joiner |
//! | `latch` | see `latch.rs` | |
//!
//! The joiner reads these after its pop, or once the latch is set.
//!
//! By the rules of the join stack one thread gets the branch: the joiner by a pop, or a thief. If
//! the joiner popped it, no other thread touches any of it. If it was stolen, the joiner touches
//! nothing but the latch until that is set, and then the thief has left.
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
    /// Creates a branch that calls `run` with `data`, once, if it is stolen.
    ///
    /// # Safety
    /// `run` may be called with `data` on any thread as long as the branch may be stolen, and if it
    /// was stolen, until its latch is set.
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

    /// The job to push, from which the whole branch can be recovered.
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
        // SAFETY: the joiner's frame stays until the latch is set, which happens last. The contract
        // of `new` allows the thief to call `run`.
        unsafe {
            let (run, data) = ((*this).run, (*this).data);
            let result = catch_unwind(AssertUnwindSafe(|| run(data)));
            (*this).panic.with_mut(|place| *place = result.err());
            Latch::set(&raw const (*this).latch);
        }
    }
}
