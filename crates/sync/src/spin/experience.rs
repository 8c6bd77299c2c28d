//! What a lock learns from earlier waits: how long to spin, and whether to.

use super::config::SpinConfig;
use super::wait::Waiter;
#[cfg(not(loom))]
use sateen_base::prim::{AtomicU64, Ordering};

/// Experience of one lock.
///
/// | bits | meaning |
/// |---|---|
/// | 0 to 15 | `usual`: how many tests spinning takes, in eighths: a moving average of the waits that it ended |
/// | 16 to 31 | `crowd`: 1 more for each wait that took half of the time since the last one began or longer, 1 less for others |
/// | 32 to 63 | when the last wait began, in units of 16 ticks |
///
/// A hint, changed by loads and stores: whatever it holds is right. Hence not modelled.
pub(super) struct Experience(#[cfg(not(loom))] AtomicU64);

/// A wait that has begun.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    usual: u32,
    crowd: u32,
    last: u32,
    began: u32,
    /// How many tests it may make.
    pub(super) limit: u32,
}

impl Experience {
    /// Fewest tests in a wait: they find out whether waits have become shorter.
    const FEW: u32 = 8;
    /// From here on half of the waits do not spin.
    const CROWDED: u32 = 8;
    const MOST: u32 = 12;

    pub(super) const fn new() -> Self {
        Self(
            #[cfg(not(loom))]
            AtomicU64::new(0),
        )
    }

    /// Whether there is nearly always somebody who spins.
    pub(super) fn is_crowded(&self) -> bool {
        (self.get() >> 16 & 0xFFFF) as u32 >= Self::CROWDED
    }

    /// A wait begins. It may spin for four times the usual time; in a crowd, every other one may not at all: which, chance
    /// decides, or the same threads might always be the ones to sleep.
    pub(super) fn begin<C: SpinConfig>(&self, waiter: &Waiter<C>) -> Wait {
        let known = self.get();
        let (usual, crowd) = ((known & 0xFFFF) as u32, (known >> 16 & 0xFFFF) as u32);
        let began = now();
        let steps_back = crowd >= Self::CROWDED && began & 1 == 0;
        let limit = if steps_back { 0 } else { (usual / 2 + Self::FEW).min(waiter.limit()) };
        Wait { usual, crowd, last: (known >> 32) as u32, began, limit }
    }

    /// It has ended by spinning.
    pub(super) fn spun<C: SpinConfig>(&self, wait: Wait, waiter: &Waiter<C>) {
        let usual = wait.usual - wait.usual / 8 + waiter.tests;
        let took = now().wrapping_sub(wait.began);
        let between = wait.began.wrapping_sub(wait.last);
        let long = took > between / 2;
        let crowd = if long { wait.crowd + 1 } else { wait.crowd.saturating_sub(1) };
        self.set(wait, usual, crowd);
    }

    /// It has to go on otherwise.
    pub(super) fn in_vain<C: SpinConfig>(&self, wait: Wait, waiter: &Waiter<C>) {
        if wait.limit == 0 {
            // Nothing was tried, nothing is learned.
        } else if wait.limit < waiter.limit() {
            self.set(wait, wait.usual * 2 + 8 * Self::FEW, wait.crowd);
        } else {
            self.set(wait, 0, wait.crowd);
        }
    }

    fn get(&self) -> u64 {
        #[cfg(not(loom))]
        return self.0.load(Ordering::Relaxed);
        #[cfg(loom)]
        0
    }

    fn set(&self, wait: Wait, usual: u32, crowd: u32) {
        let (usual, crowd) = (usual.min(0xFFFF), crowd.min(Self::MOST));
        let _known = u64::from(usual | crowd << 16) | u64::from(wait.began) << 32;
        #[cfg(not(loom))]
        self.0.store(_known, Ordering::Relaxed);
    }
}

/// Ticks; only differences and their ratios matter.
fn now() -> u32 {
    if cfg!(loom) { 0 } else { (sateen_base::tsc::now() >> 4) as u32 }
}
