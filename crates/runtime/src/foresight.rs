//! Whether a worker that begins to work will soon have work for another.
//!
//! A worker that leaves idleness often spawns or forks within microseconds. To wake a sleeper only
//! then delays the work by the time that a wake-up takes. So the worker wakes one ahead, if that
//! has been of use lately. If it has not, a lone task wakes one worker only.
//!
//! It is a hint and guards nothing. A wake-up too many costs processor time. One that was not made
//! ahead is made when there is work. So all accesses are relaxed, and may overwrite each other.

use sateen_base::prim::time::Duration;
use sateen_base::prim::{AtomicUsize, Ordering};
use sateen_base::tsc;

/// With so much evidence a sleeper is woken ahead.
const LIKELY: usize = 2;
/// No more is kept.
const MOST: usize = 4;
/// A wake-up in vain takes away so much.
const IN_VAIN: usize = 2;
/// How soon after a worker began to work its wake-ups are evidence.
const SOON: Duration = Duration::from_micros(100);

/// See the [module's documentation](self).
#[derive(Debug)]
pub(crate) struct Foresight(AtomicUsize);

impl Foresight {
    /// Without evidence.
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Whether a sleeper should be woken ahead.
    pub(crate) fn is_likely(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= LIKELY
    }

    /// A worker that began to work at `began`, in ticks, has woken another for what it has pushed.
    pub(crate) fn woke(&self, began: u64) {
        if tsc::now().wrapping_sub(began) < tsc::ticks(SOON) {
            self.0.store((self.0.load(Ordering::Relaxed) + 1).min(MOST), Ordering::Relaxed);
        }
    }

    /// A worker that was woken has found nothing to do.
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
