//! What is known about a run while it goes on, and at its end.

use std::collections::VecDeque;
use std::time::Duration;

/// How many looks are kept: a minute of the view's.
const REMEMBERED: usize = 240;
/// The shown rate is the average over this many looks.
const SMOOTHED: usize = 4;

/// A run at a point in time. Counts start with the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Look {
    /// Time since the run began.
    pub(super) at: Duration,
    pub(super) sent: u64,
    pub(super) received: u64,
    /// Items that the queues' policy dropped.
    pub(super) dropped: u64,
    /// Items in each queue.
    pub(super) depths: Vec<u64>,
    /// Items that each worker has received.
    pub(super) workers: Vec<u64>,
    /// How long items waited in the queues.
    pub(super) waits: Waits,
}

impl Look {
    /// Returns the number of items in all queues.
    pub(super) fn in_queue(&self) -> u64 {
        self.depths.iter().sum()
    }
}

/// How long items have waited since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    pub(super) p50: Duration,
    pub(super) p90: Duration,
    pub(super) p99: Duration,
    pub(super) max: Duration,
}

/// What the user can change during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    /// Of each sender, in items a second; infinite if there is no limit.
    pub(super) send_rate: f64,
    /// Of each worker, in items a second.
    pub(super) receive_rate: f64,
    pub(super) paused: bool,
    /// How many workers have a slow handler.
    pub(super) slow: usize,
}

/// Rates a second between two looks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rates {
    /// When the later look was taken.
    pub(super) at: Duration,
    pub(super) sent: f64,
    pub(super) received: f64,
    /// Of each worker.
    pub(super) workers: Vec<f64>,
}

impl Rates {
    /// Returns the rates from `before` to `after`; zeros if no time has passed.
    pub(super) fn between(before: &Look, after: &Look) -> Self {
        let seconds = after.at.saturating_sub(before.at).as_secs_f64();
        let rate = |from: u64, to: u64| {
            if seconds > 0.0 { to.saturating_sub(from) as f64 / seconds } else { 0.0 }
        };
        // A worker that did not exist before has received nothing.
        let earlier = before.workers.iter().copied().chain(std::iter::repeat(0));
        Self {
            at: after.at,
            sent: rate(before.sent, after.sent),
            received: rate(before.received, after.received),
            workers: after.workers.iter().zip(earlier).map(|(to, from)| rate(from, *to)).collect(),
        }
    }
}

/// The last looks, and the rate between each two of them.
#[derive(Debug, Default)]
pub(super) struct History {
    looks: VecDeque<Look>,
    rates: VecDeque<Rates>,
}

impl History {
    /// Adds a look.
    pub(super) fn add(&mut self, look: Look) {
        if let Some(last) = self.looks.back() {
            self.rates.push_back(Rates::between(last, &look));
        }
        self.looks.push_back(look);
        while self.looks.len() > REMEMBERED {
            self.looks.pop_front();
            self.rates.pop_front();
        }
    }

    /// The last look.
    pub(super) fn last(&self) -> Option<&Look> {
        self.looks.back()
    }

    /// Returns the rates between neighbouring looks, the oldest first.
    pub(super) fn rates(&self) -> impl Iterator<Item = &Rates> {
        self.rates.iter()
    }

    /// Returns the rates over the last few looks.
    pub(super) fn now(&self) -> Rates {
        let Some(last) = self.looks.back() else { return Rates::default() };
        let before = self.looks.len().saturating_sub(1 + SMOOTHED);
        Rates::between(&self.looks[before], last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(seconds: u64, sent: u64, workers: &[u64]) -> Look {
        Look {
            at: Duration::from_secs(seconds),
            sent,
            received: workers.iter().sum(),
            workers: workers.to_vec(),
            ..Look::default()
        }
    }

    #[test]
    fn rates_are_of_the_time_between() {
        let mut history = History::default();
        assert_eq!(history.now(), Rates::default());
        history.add(look(1, 100, &[]));
        assert_eq!(history.now().sent, 0.0);
        history.add(look(3, 300, &[10, 20]));
        let now = history.now();
        assert_eq!((now.sent, now.received, now.workers), (100.0, 15.0, vec![5.0, 10.0]));
        for second in 4..1000 {
            history.add(look(second, 300, &[10, 20]));
        }
        assert_eq!((history.rates().count(), history.now().sent), (REMEMBERED - 1, 0.0));
    }
}
