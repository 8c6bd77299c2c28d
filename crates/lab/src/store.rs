//! What has been measured so far. Shared with the interrupt handler, which prints it.

use crate::experiment::{Figure, Trend};
use crate::stats::Summary;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One figure and its runs.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) experiment: &'static str,
    pub(crate) implementation: &'static str,
    pub(crate) figure: Figure,
    /// One value a run.
    pub(crate) samples: Vec<f64>,
    /// Why the host was not fit for it; empty if it was.
    pub(crate) notes: Vec<String>,
}

impl Record {
    /// `experiment/case/implementation/config`.
    pub(crate) fn id(&self) -> String {
        identity(self.experiment, self.implementation, &self.figure)
    }

    /// The summary of the runs, once there are some.
    pub(crate) fn summary(&self) -> Option<Summary> {
        Summary::of(&self.samples)
    }

    /// The best and the worst run.
    pub(crate) fn best_and_worst(s: &Summary, trend: Trend) -> (f64, f64) {
        match trend {
            Trend::Lower => (s.min, s.max),
            Trend::Higher => (s.max, s.min),
        }
    }
}

/// `experiment/case/implementation/config`.
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
    /// The records with runs that have not been shown; marks them as shown.
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
    /// The store; a panic elsewhere does not hide what was measured.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
