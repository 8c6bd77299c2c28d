//! Predicts whether a worker that begins to work will soon have work for another.
//!
//! A worker that leaves idleness often spawns or forks within microseconds. Waking a sleeper only
//! then delays the new work by a wake-up. So the worker wakes a sleeper early if early wake-ups
//! have paid off lately. Otherwise a lone task wakes one worker only.
//!
//! The prediction is a hint. A needless wake-up costs CPU time, and a missing one is made up for
//! when work is pushed. So all accesses are relaxed and may overwrite each other.

use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicUsize, Ordering};
use sateen_base::tsc;

/// Evidence needed to wake a sleeper early.
const LIKELY: usize = 2;
/// Upper bound of the evidence.
const MOST: usize = 4;
/// Evidence lost by one fruitless wake-up.
const IN_VAIN: usize = 2;
/// Wake-ups count as evidence this long after a worker began to work.
const SOON: Duration = Duration::from_micros(100);

/// See the [module's documentation](self).
#[derive(Debug)]
pub(crate) struct Foresight(AtomicUsize);

impl Foresight {
    /// Starts without evidence.
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Whether to wake a sleeper early.
    pub(crate) fn is_likely(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= LIKELY
    }

    /// Records that a worker has woken another for work that it pushed. The worker began to work at
    /// `began`, in ticks.
    pub(crate) fn woke(&self, began: u64) {
        if tsc::now().wrapping_sub(began) < tsc::ticks(SOON) {
            self.0.store((self.0.load(Ordering::Relaxed) + 1).min(MOST), Ordering::Relaxed);
        }
    }

    /// Records that a woken worker found nothing to do.
    pub(crate) fn in_vain(&self) {
        let evidence = self.0.load(Ordering::Relaxed);
        self.0.store(evidence.saturating_sub(IN_VAIN), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_in_vain_ends_it() {
        let foresight = Foresight::new();
        assert!(!foresight.is_likely());
        for _ in 0..3 {
            foresight.woke(tsc::now());
        }
        assert!(foresight.is_likely());
        foresight.in_vain();
        assert!(!foresight.is_likely());
        foresight.in_vain();
        foresight.woke(tsc::now());
        assert!(!foresight.is_likely(), "one wake-up is not enough");
    }

    #[test]
    fn late_wake_ups_are_no_evidence() {
        let foresight = Foresight::new();
        let long_ago = tsc::now().wrapping_sub(tsc::ticks(SOON * 2));
        for _ in 0..MOST {
            foresight.woke(long_ago);
        }
        assert!(!foresight.is_likely());
    }
}
