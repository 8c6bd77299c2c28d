//! Which of the sleeping workers sleeps no longer than until the earliest timer.
//!
//! | word | meaning | leaves it |
//! |---|---|---|
//! | 0 | nobody watches | a worker that falls asleep: to its own |
//! | i + 1 | worker i watches: it sleeps until the earliest timer it saw, or is awake again | that worker, awake |
//!
//! What holds: a timer that somebody has told of is seen by the watcher, or by a worker that is awake and
//! looks before it sleeps or goes on with something else; or nobody sleeps. Proof: `README.md`, "Timers".

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use crate::sleepers::Sleepers;
use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::{Ordering, fence};

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct Watcher(AtomicUsize);

impl Watcher {
    /// Nobody watches.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Worker `me`, which has announced its sleep, is to watch unless another does. True: it looks at all
    /// timers now, and sleeps no longer than until the earliest.
    pub fn watch(&self, me: usize) -> bool {
        // Ordering: Relaxed; the fences order it: ours below, and the one that followed the announcement.
        let before = self.0.compare_exchange(0, me + 1, Ordering::Relaxed, Ordering::Relaxed);
        let watches = before.map_or_else(|other| other == me + 1, |_| true);
        if watches && cfg!(not(sateen_canary = "watch_no_fence")) {
            // Partner: the fence in `tell`. Either we see the timer, or the other sees us.
            fence(Ordering::SeqCst);
        }
        watches
    }

    /// A timer was armed that comes before all others at its worker.
    pub fn tell(&self, sleepers: &Sleepers) {
        if cfg!(not(sateen_canary = "watch_tell_no_fence")) {
            // Partners: the fences in `watch` and `hand_on`.
            fence(Ordering::SeqCst);
        }
        match self.0.load(Ordering::Relaxed) {
            0 => sleepers.notify_one(),
            // If it is awake it will look.
            watcher => _ = sleepers.notify(watcher - 1),
        }
    }

    /// Worker `me` is awake. Before it goes on with something that may take long, [`Watcher::hand_on`].
    pub fn leave(&self, me: usize) {
        // Ordering: Relaxed, see `watch`.
        if self.0.load(Ordering::Relaxed) == me + 1 {
            self.0.store(0, Ordering::Relaxed);
        }
    }

    /// The caller has been woken, maybe in order to watch, and goes on with something else: if there are
    /// timers to watch, another one has to.
    pub fn hand_on(&self, sleepers: &Sleepers, has_timers: impl FnOnce() -> bool) {
        if cfg!(sateen_canary = "watch_not_handed_on") {
            return;
        }
        if cfg!(not(sateen_canary = "watch_hand_on_no_fence")) {
            // Partners: the fence in `tell`, and the one that follows the announcement of a sleeper that
            // found us watching.
            fence(Ordering::SeqCst);
        }
        if self.0.load(Ordering::Relaxed) == 0 && sleepers.has_sleepers() && has_timers() {
            sleepers.notify_one();
        }
    }
}
