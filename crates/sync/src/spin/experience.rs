//! What a lock learns from earlier waits: how long to spin.

use super::config::SpinConfig;
use super::wait::Waiter;
#[cfg(not(loom))]
use sateen_base::prim::{AtomicU32, Ordering};

/// Experience of one lock: the number of tests that spinning takes, in eighths, as a moving average
/// over the waits that it ended.
///
/// A hint, changed by loads and stores: every value is correct, so it is not modelled.
pub(super) struct Experience(#[cfg(not(loom))] AtomicU32);

/// A wait that has begun.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    usual: u32,
    /// The most tests that it may make.
    pub(super) limit: u32,
}

impl Experience {
    /// The minimum number of tests of a wait: they detect that waits have become shorter.
    const FEW: u32 = 8;
    pub(super) const fn new() -> Self {
        Self(
            #[cfg(not(loom))]
            AtomicU32::new(0),
        )
    }

    /// Begins a wait, which may spin for four times the usual time.
    pub(super) fn begin<C: SpinConfig>(&self, waiter: &Waiter<C>) -> Wait {
        let usual = self.get();
        Wait { usual, limit: (usual / 2 + Self::FEW).min(waiter.limit()) }
    }

    /// Spinning has ended the wait. Only a value that is far off is corrected: the caller now holds
    /// the lock, and the value is beside its word.
    #[inline]
    pub(super) fn spun<C: SpinConfig>(&self, wait: Wait, waiter: &Waiter<C>) {
        let (usual, seen) = (wait.usual, 8 * waiter.tests);
        if seen > 2 * usual.max(2 * Self::FEW) || 4 * seen < usual.saturating_sub(2 * Self::FEW) {
            self.set(usual - usual / 8 + waiter.tests);
        }
    }

    /// Spinning did not end the wait. The next may spin longer, unless this one reached the limit.
    pub(super) fn in_vain<C: SpinConfig>(&self, wait: Wait, waiter: &Waiter<C>) {
        let longer = wait.usual * 2 + 8 * Self::FEW;
        self.set(if wait.limit < waiter.limit() { longer } else { 0 });
    }

    fn get(&self) -> u32 {
        #[cfg(not(loom))]
        return self.0.load(Ordering::Relaxed);
        #[cfg(loom)]
        0
    }

    fn set(&self, _usual: u32) {
        #[cfg(not(loom))]
        self.0.store(_usual.min(0xFFFF), Ordering::Relaxed);
    }
}
