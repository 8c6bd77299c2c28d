//! Counts who is at work, and lets others wait for a change of that.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::CachePadded;
use sateen_base::prim::{AtomicUsize, Ordering};
use sateen_sync::WaitPoint;
use sateen_sync::park::{Awaited, waiting_for};

/// A count of those at work, and a point to wait at for what they bring about.
#[derive(Debug, Default)]
pub struct Quiescence {
    /// Runner tasks, queued or started, and threads that execute tasks that only they may execute.
    live: AtomicUsize,
    changed: CachePadded<WaitPoint>,
}

impl Quiescence {
    /// No thread works or waits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one more at work.
    pub fn enter(&self) {
        // Relaxed: one that enters is accounted for by the one that makes it enter, or looks for
        // work afterwards.
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one less. The last one notifies the waiters.
    pub fn leave(&self) {
        // Ordering: Release, for `is_quiet`: a thread that sees 0 sees all that was done. The
        // exchanges of those that leave later pass it on.
        if self.live.fetch_sub(1, Ordering::Release) == 1 {
            self.notify();
        }
    }

    /// Whether no worker is at work. If so, what they did is visible.
    pub fn is_quiet(&self) -> bool {
        // Ordering: Acquire, with the Release in `leave`.
        self.live.load(Ordering::Acquire) == 0
    }

    /// Wakes all who wait, after a change that they may wait for.
    #[inline]
    pub fn notify(&self) {
        self.changed.notify_all();
    }

    /// Waits for a change, unless `changed` says that there was one. May return for no reason.
    pub fn wait_unless(&self, changed: impl Fn() -> bool) {
        let place = std::ptr::from_ref(self).cast();
        waiting_for(Awaited::new("quiescence", place), || self.changed.wait(None, changed));
    }
}
