//! Numbers that were taken and given back while later ones stayed taken.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use std::collections::BTreeMap;

/// Consecutive numbers; an empty run has a length of 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The last of them.
    pub last: u64,
    /// How many.
    pub len: u64,
}

/// A set of numbers, as runs. Other numbers lie between the runs.
#[derive(Debug, Default)]
pub struct Gaps {
    /// The last number of each run, by its first.
    runs: BTreeMap<u64, u64>,
}

impl Gaps {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds numbers that are not in the set.
    pub fn add(&mut self, run: Run) {
        if run.len == 0 {
            return;
        }
        let (mut first, mut last) = (run.last - (run.len - 1), run.last);
        if let Some((&before, &end)) = self.runs.range(..first).next_back()
            && end + 1 == first
        {
            self.runs.remove(&before);
            first = before;
        }
        if let Some(end) = last.checked_add(1).and_then(|next| self.runs.remove(&next)) {
            last = end;
        }
        self.runs.insert(first, last);
    }

    /// Takes out the numbers up to `floor`.
    pub fn forget(&mut self, floor: u64) {
        while self.take(floor, u64::MAX).len > 0 {}
    }

    /// Takes out the first `most` numbers of the lowest run, up to `end`.
    pub fn take(&mut self, end: u64, most: u64) -> Run {
        let Some((&first, &last)) = self.runs.first_key_value() else { return Run::default() };
        if first > end || most == 0 {
            return Run::default();
        }
        let until = last.min(end).min(first.saturating_add(most - 1));
        self.runs.remove(&first);
        if until < last {
            self.runs.insert(until + 1, last);
        }
        Run { last: until, len: until - first + 1 }
    }

    /// Takes out the run that ends with `last`, if there is one. Returns its length.
    pub fn take_ending(&mut self, last: u64) -> u64 {
        match self.runs.last_key_value() {
            Some((&first, &end)) if end == last => {
                self.runs.remove(&first);
                end - first + 1
            }
            _ => 0,
        }
    }

    /// How many there are up to `end`, or `enough` if there are more.
    pub fn count(&self, end: u64, enough: u64) -> u64 {
        let mut sum = 0u64;
        for (&first, &last) in self.runs.range(..=end) {
            sum += last.min(end) - first + 1;
            if sum >= enough {
                return enough;
            }
        }
        sum
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use sateen_base::XorShift;
    use std::collections::BTreeSet;

    /// Beside a set of single numbers.
    #[test]
    fn runs_are_numbers() {
        let (mut gaps, mut twin) = (Gaps::default(), BTreeSet::new());
        let mut random = XorShift::new(7);
        for _ in 0..20_000 {
            let (n, m) = (1 + random.next_u64() % 60, random.next_u64() % 5);
            match random.next_u64() % 5 {
                0 | 1 => {
                    let free = (n..=n + m).take_while(|number| !twin.contains(number)).count();
                    twin.extend(n..n + free as u64);
                    gaps.add(Run { last: (n + free as u64).wrapping_sub(1), len: free as u64 });
                }
                2 => {
                    let run = gaps.take(n, m);
                    assert!(
                        run.len <= m && (run.len > 0 || m == 0 || twin.range(..=n).count() == 0)
                    );
                    for number in (run.last + 1 - run.len..=run.last).take(run.len as usize) {
                        assert_eq!(twin.pop_first(), Some(number));
                    }
                }
                3 => {
                    let len = gaps.take_ending(n);
                    assert_eq!(len > 0, twin.last() == Some(&n));
                    (0..len).for_each(|i| assert!(twin.remove(&(n - i))));
                }
                _ => {
                    let most = twin.range(..=n).count() as u64;
                    assert_eq!(gaps.count(n, 10), most.min(10));
                    if m == 0 {
                        gaps.forget(n / 4);
                        twin.retain(|&number| number > n / 4);
                    }
                }
            }
            assert_eq!(gaps.is_empty(), twin.is_empty());
        }
    }

    #[test]
    fn the_last_number_is_a_number() {
        let mut gaps = Gaps::default();
        gaps.add(Run { last: u64::MAX, len: 2 });
        assert_eq!(gaps.count(u64::MAX, 9), 2);
        assert_eq!(gaps.take(u64::MAX, u64::MAX), Run { last: u64::MAX, len: 2 });
        assert!(gaps.is_empty());
    }
}
