//! What the experiments `queue` and `channel` share: numbers from some threads to as many others.

use crate::crew::Done;
use crate::error::{Error, expect};
use crate::experiment::Plan;
use crate::host::plural;
use std::time::{Duration, Instant};

/// Numbers of a run, if the budget allows this many.
const ITEMS: u64 = 10_000_000;
/// Runs that the budget must allow.
const RUNS: u32 = 5;
/// A producer reads the clock once in this many numbers.
const LOOKS: u64 = 1024;

/// Returns the fourth part of the identity for so many threads at the ends, and its description.
pub(crate) fn config(producers: usize, consumers: usize) -> (String, String) {
    let (p, c) = (plural(producers), plural(consumers));
    (
        format!("{producers}x{consumers}"),
        format!("{producers} producer{p} to {consumers} consumer{c}"),
    )
}

/// How much a producer sends: this many numbers, or as many as it can in a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocked {
    items: u64,
    time: Duration,
}

impl Clocked {
    /// For each of `producers` under `plan`.
    pub(crate) fn new(plan: &Plan, producers: usize) -> Self {
        let items = plan.size(ITEMS, 2_000) / producers as u64;
        Self { items, time: plan.size(plan.budget / RUNS, Duration::MAX) }
    }

    /// As many numbers as a producer can send in `time`.
    pub(crate) fn lasting(time: Duration) -> Self {
        Self { items: u64::MAX >> 24, time }
    }

    /// Begins the producer's sending now. Each producer has numbers of its own.
    #[inline]
    pub(crate) fn begin(self, producer: usize) -> Sending {
        let first = (producer as u64) << 40;
        Sending {
            first,
            next: first,
            look: 0,
            end: first + self.items,
            start: Instant::now(),
            time: self.time,
        }
    }
}

/// What a producer has sent, and when it ends.
#[derive(Debug)]
pub(crate) struct Sending {
    first: u64,
    next: u64,
    /// The number at which it reads the clock again.
    look: u64,
    end: u64,
    start: Instant,
    time: Duration,
}

impl Sending {
    /// Returns what to send next: the first of up to `most` consecutive numbers, and how many.
    #[inline(always)]
    pub(crate) fn next(&mut self, most: usize) -> Option<(u64, usize)> {
        if self.next >= self.look {
            if self.next >= self.end || self.start.elapsed() >= self.time {
                return None;
            }
            self.look = self.end.min(self.next + LOOKS);
        }
        let (first, count) = (self.next, (most as u64).min(self.look - self.next));
        self.next += count;
        Some((first, count as usize))
    }

    /// Returns when the sending began.
    pub(crate) fn started(&self) -> Instant {
        self.start
    }

    /// Returns count and sum of what was sent.
    pub(crate) fn sums(&self) -> Sums {
        let count = self.next - self.first;
        let ends = u128::from(self.first) + u128::from(self.next);
        // It wraps, as the consumers' sums do.
        Sums { count, sum: ((ends * u128::from(count) - u128::from(count)) / 2) as u64 }
    }
}

/// How many numbers, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) count: u64,
    pub(crate) sum: u64,
}

impl Sums {
    #[inline(always)]
    pub(crate) fn add(&mut self, item: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(item);
    }

    fn and(self, other: Self) -> Self {
        Self { count: self.count + other.count, sum: self.sum.wrapping_add(other.sum) }
    }

    /// Checks that the consumers, which follow `producers` producers in `done`, have received what
    /// the producers have sent. Returns the nanoseconds per item.
    pub(crate) fn judge(done: &[Done<Self>], producers: usize) -> Result<Vec<f64>, Error> {
        let total =
            |half: &[Done<Self>]| half.iter().fold(Self::default(), |all, d| all.and(d.result));
        let (sent, received) = (total(&done[..producers]), total(&done[producers..]));
        expect("what came out", received, sent)?;
        let wall = done.iter().map(|d| d.elapsed).max().unwrap_or_default();
        Ok(vec![wall.as_nanos() as f64 / sent.count.max(1) as f64])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_numbers() {
        let clocked = Clocked { items: 3000, time: Duration::MAX };
        for producer in [0, 1, 300] {
            let (mut sending, mut sums) = (clocked.begin(producer), Sums::default());
            let mut least = u64::MAX;
            while let Some((first, count)) = sending.next(16) {
                least = least.min(first);
                (first..first + count as u64).for_each(|item| sums.add(item));
            }
            assert_eq!((least, sums.count), ((producer as u64) << 40, 3000));
            assert_eq!(sending.sums(), sums);
        }
    }

    #[test]
    fn time_ends_it() {
        let mut sending = Clocked { items: u64::MAX >> 1, time: Duration::ZERO }.begin(0);
        assert_eq!(sending.next(1), None);
        assert_eq!(sending.sums(), Sums::default());
    }
}
