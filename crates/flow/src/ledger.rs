//! Which tokens of a shared limit have been taken: each number on the grid belongs to one caller at
//! most.
//!
//! | word | meaning | changed by |
//! |---|---|---|
//! | `taken` = *n* | numbers up to *n* are taken or lost, except gaps | takers; `give_back` |
//! | `any_gaps` | whether there are gaps: a hint without the lock | the holder of the lock |
//!
//! A caller that gives back the last number lowers `taken`. Any other number becomes a gap, and the
//! next caller takes it. A caller that gives up returns its number once, so as many pass in a span
//! of time as are due in it.
//!
//! Tokens guard no data, so all accesses are relaxed: it is enough that each is one exchange.
//! Model: `tests/loom_ledger.rs`.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use crate::gaps::{Gaps, Run};
use sateen_base::prim::Ordering::Relaxed;
use sateen_base::prim::searched::{AtomicBool, AtomicU64};
use sateen_base::{RawSpinLock, SpinLock};

/// The words.
#[derive(Debug)]
pub struct Ledger {
    taken: AtomicU64,
    any_gaps: AtomicBool,
    gaps: SpinLock<Gaps>,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::new()
    }
}

impl Ledger {
    /// Nothing taken.
    pub fn new() -> Self {
        let (taken, any_gaps) = (AtomicU64::new(0), AtomicBool::new(false));
        let gaps = SpinLock::from_raw(RawSpinLock::new(), Gaps::default());
        Self { taken, any_gaps, gaps }
    }

    /// Takes up to `most` consecutive numbers after `floor` that are `due`.
    #[inline]
    pub fn take_some(&self, floor: u64, due: u64, most: u64) -> Run {
        if self.any_gaps.load(Relaxed) {
            let run = self.with_gaps(floor, |gaps| gaps.take(due, most));
            if run.len > 0 {
                return run;
            }
        }
        self.take(floor, due, 1, most)
    }

    /// Takes `n` of the numbers after `floor` that are `due`, or none. Returns whether it did.
    #[inline]
    pub fn take_all(&self, floor: u64, due: u64, n: u64) -> bool {
        if self.any_gaps.load(Relaxed) {
            return self.take_all_slow(floor, due, n);
        }
        self.take(floor, due, n, n).len == n
    }

    #[cold]
    fn take_all_slow(&self, floor: u64, due: u64, n: u64) -> bool {
        self.with_gaps(floor, |gaps| {
            let mut left = gaps.count(due, n);
            let rest = n - left;
            if rest > 0 && self.take(floor, due, rest, rest).len < rest {
                return false;
            }
            while left > 0 {
                left -= gaps.take(due, left).len;
            }
            true
        })
    }

    /// Takes a number after `floor`, due or not: the lowest that was given back, or the next.
    #[inline]
    pub fn line_up(&self, floor: u64) -> u64 {
        if self.any_gaps.load(Relaxed) {
            let run = self.with_gaps(floor, |gaps| gaps.take(u64::MAX, 1));
            if run.len > 0 {
                return run.last;
            }
        }
        // As if everything were due.
        self.take(floor, u64::MAX, 1, 1).last
    }

    /// Takes up to `most` numbers after all that were taken, or none if there are fewer than
    /// `least`.
    #[inline]
    fn take(&self, floor: u64, due: u64, least: u64, most: u64) -> Run {
        let mut taken = self.taken.load(Relaxed);
        loop {
            let base = taken.max(floor);
            let left = due.saturating_sub(base);
            if left < least {
                return Run::default();
            }
            let len = left.min(most);
            let run = Run { last: base + len, len };
            match self.taken.compare_exchange_weak(taken, run.last, Relaxed, Relaxed) {
                Ok(_) => return run,
                Err(seen) => taken = seen,
            }
        }
    }

    /// Gives back numbers that were taken and not used.
    #[cold]
    pub fn give_back(&self, run: Run) {
        self.with_gaps(0, |gaps| {
            let mut back = run;
            // If these are the last ones, they and the gaps just before them count as never taken.
            while back.len > 0 && self.lower(back) {
                let last = back.last - back.len;
                back = Run { last, len: gaps.take_ending(last) };
            }
            gaps.add(back);
        });
    }

    /// Lowers `taken` if these were the last numbers. Returns whether it did.
    fn lower(&self, Run { last, len }: Run) -> bool {
        self.taken.compare_exchange(last, last - len, Relaxed, Relaxed).is_ok()
    }

    /// Runs `f` on the gaps after `floor`; `f` must not unwind.
    #[cold]
    fn with_gaps<R>(&self, floor: u64, f: impl FnOnce(&mut Gaps) -> R) -> R {
        let mut gaps = self.gaps.lock();
        gaps.forget(floor);
        let result = f(&mut gaps);
        self.any_gaps.store(!gaps.is_empty(), Relaxed);
        result
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use sateen_base::XorShift;
    use std::collections::BTreeSet;

    /// Whatever is taken, given back and lost, no number has two owners, and every due one can be
    /// taken.
    #[test]
    fn a_number_has_one_owner() {
        let ledger = Ledger::new();
        let mut owned = BTreeSet::new();
        let mut random = XorShift::new(3);
        let (mut due, mut floor) = (10, 0);
        for _ in 0..50_000 {
            let own = |owned: &mut BTreeSet<u64>, run: Run| {
                for number in run.last + 1 - run.len..=run.last {
                    assert!(number > floor && owned.insert(number), "{number} has two owners");
                }
            };
            match random.next_u64() % 8 {
                0 => {
                    due += random.next_u64() % 5;
                    floor = due.saturating_sub(8);
                    // Lost to their owners, too.
                    owned = owned.split_off(&(floor + 1));
                }
                1 | 2 => own(&mut owned, Run { last: ledger.line_up(floor), len: 1 }),
                3 | 4 => {
                    let run = ledger.take_some(floor, due, random.next_u64() % 4);
                    assert!(run.last <= due);
                    own(&mut owned, run);
                }
                _ => {
                    let at = random.next_u64() as usize % owned.len().max(1);
                    if let Some(&number) = owned.iter().nth(at) {
                        owned.remove(&number);
                        ledger.give_back(Run { last: number, len: 1 });
                    }
                }
            }
        }
        let free = (floor + 1..=due).filter(|number| !owned.contains(number)).count() as u64;
        assert!(!ledger.take_all(floor, due, free + 1));
        assert!(ledger.take_all(floor, due, free));
    }
}
