//! What can be seen of a run while it goes on, and how it went.

use std::collections::VecDeque;
use std::time::Duration;

/// Looks that are remembered: a minute of the view's.
const REMEMBERED: usize = 240;
/// The rate shown is that of so many looks.
const SMOOTHED: usize = 4;

/// A run at a point in time. Counts are from its beginning.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Look {
    /// Since the run began.
    pub(super) at: Duration,
    pub(super) sent: u64,
    pub(super) received: u64,
    /// By the queues' policy.
    pub(super) dropped: u64,
    /// Items in each queue.
    pub(super) depths: Vec<u64>,
    /// Items that each worker has received.
    pub(super) workers: Vec<u64>,
    /// How long items waited in the queues.
    pub(super) waits: Waits,
}

impl Look {
    /// Items in all queues.
    pub(super) fn in_queue(&self) -> u64 {
        self.depths.iter().sum()
    }
}

/// How long items waited, from the beginning of the run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    pub(super) p50: Duration,
    pub(super) p90: Duration,
    pub(super) p99: Duration,
    pub(super) max: Duration,
}

/// What the user can change while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    /// A second, of each sender; infinite if there is no limit.
    pub(super) send_rate: f64,
    /// Of each worker.
    pub(super) receive_rate: f64,
    pub(super) paused: bool,
    /// Workers whose handler takes its time.
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
    /// From `before` to `after`; nothing for no time.
    pub(super) fn between(before: &Look, after: &Look) -> Self {
        let seconds = after.at.saturating_sub(before.at).as_secs_f64();
        let rate = |from: u64, to: u64| {
            if seconds > 0.0 { to.saturating_sub(from) as f64 / seconds } else { 0.0 }
        };
        // Where there was no worker before, it has received nothing.
        let earlier = before.workers.iter().copied().chain(std::iter::repeat(0));
        Self {
            at: after.at,
            sent: rate(before.sent, after.sent),
            received: rate(before.received, after.received),
            workers: after.workers.iter().zip(earlier).map(|(to, from)| rate(from, *to)).collect(),
        }
    }
}

/// The last looks, and the rates between them.
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

    /// Rates between neighbouring looks, from the oldest on.
    pub(super) fn rates(&self) -> impl Iterator<Item = &Rates> {
        self.rates.iter()
    }

    /// The rates over the last few looks.
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
