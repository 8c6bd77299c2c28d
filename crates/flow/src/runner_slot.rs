//! Whether a runner task is queued that will look for work.
//!
//! A *runner task* is a task of the runtime. It is queued from its spawn to its start. The word
//! says whether one is queued:
//!
//! | queued | means | left by |
//! |---|---|---|
//! | `false` | none, or one has started and is about to look | a notifying thread |
//! | `true` | one is or will be spawned; it stores `false`, then looks | the task that starts |
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicBool;
use sateen_base::prim::{Ordering, fence};

/// One bit: any thread sets it, the runner task clears it.
#[derive(Debug)]
pub struct RunnerSlot {
    queued: AtomicBool,
}

impl Default for RunnerSlot {
    fn default() -> Self {
        Self::new()
    }
}

impl RunnerSlot {
    /// Without a runner task.
    pub fn new() -> Self {
        Self { queued: AtomicBool::new(false) }
    }

    /// Call it after making work visible and before [`notify`](Self::notify): the queued runner
    /// task sees that work, or `notify` sees that none is queued.
    #[inline(always)]
    pub fn announce() {
        // Ordering: SeqCst, with the fence in `begin`: one of the two comes first. If it is
        // this one, the runner task sees the work. If it is that one, we see the word as the
        // runner task left it, or later.
        fence(Ordering::SeqCst);
    }

    /// Whether one is queued, as far as the caller can see.
    #[inline(always)]
    pub fn is_queued(&self) -> bool {
        self.queued.load(Ordering::Relaxed)
    }

    /// Ensures that a runner task will look. If it returns `true`, the caller has to spawn it.
    #[inline(always)]
    pub fn notify(&self) -> bool {
        // Relaxed for both: the fences make visible what the runner task has to see, or its spawn
        // does.
        !self.is_queued() && !self.queued.swap(true, Ordering::Relaxed)
    }

    /// The runner task starts (or never will): a later `notify` asks for another one. It has to
    /// look for work after this.
    #[inline(always)]
    pub fn begin(&self) {
        self.queued.store(false, Ordering::Relaxed);
        // Ordering: SeqCst, with the fence in `announce`.
        fence(Ordering::SeqCst);
    }
}
