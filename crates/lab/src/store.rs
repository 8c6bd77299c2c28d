//! What has been measured so far. The interrupt handler shares it, and prints it.

use crate::figure::{Figure, Trend};
use crate::stats::{Summary, median};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One figure and its runs.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) experiment: &'static str,
    pub(crate) implementation: &'static str,
    pub(crate) figure: Figure,
    /// One value for each run.
    pub(crate) samples: Vec<f64>,
    /// The median of each round's runs, in order.
    pub(crate) rounds: Vec<f64>,
    /// How many samples are of rounds that have ended.
    pub(crate) rounded: usize,
    /// Why the machine was not fit for the figure; empty if it was.
    pub(crate) notes: Vec<String>,
}

impl Record {
    /// A record without runs.
    pub(crate) fn new(
        experiment: &'static str,
        implementation: &'static str,
        figure: Figure,
    ) -> Self {
        let (samples, rounds, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { experiment, implementation, figure, samples, rounds, rounded: 0, notes }
    }

    /// The runs since the last call were a round.
    pub(crate) fn end_round(&mut self) {
        let fresh = &self.samples[self.rounded..];
        if !fresh.is_empty() {
            self.rounds.push(median(&mut fresh.to_vec()));
            self.rounded = self.samples.len();
        }
    }

    /// Returns `experiment/case/implementation/config`.
    pub(crate) fn id(&self) -> String {
        identity(self.experiment, self.implementation, &self.figure)
    }

    /// Returns the summary of the runs, if there are any.
    pub(crate) fn summary(&self) -> Option<Summary> {
        Summary::of(&self.samples)
    }

    /// Returns the best and the worst run.
    pub(crate) fn best_and_worst(s: &Summary, trend: Trend) -> (f64, f64) {
        match trend {
            Trend::Lower => (s.min, s.max),
            Trend::Higher => (s.max, s.min),
        }
    }
}

/// Returns `experiment/case/implementation/config`.
pub(crate) fn identity(experiment: &str, implementation: &str, figure: &Figure) -> String {
    format!("{experiment}/{}/{implementation}/{}", figure.case, figure.config)
}

/// All records of a run, in the order of their experiments.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) records: Vec<Record>,
    /// Records before this index have been shown.
    shown: usize,
}

impl Store {
    /// Returns the records with runs that were not shown yet, and marks them as shown.
    pub(crate) fn take_unshown(&mut self) -> Vec<Record> {
        let fresh = self.records[self.shown..].iter().filter(|r| !r.samples.is_empty()).cloned();
        let fresh = fresh.collect();
        self.shown = self.records.len();
        fresh
    }
}

/// A handle on the store for the runner, the reports and the interrupt handler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<Store>>);

impl Shared {
    /// Locks the store. A panic of another thread does not hide what was measured.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
