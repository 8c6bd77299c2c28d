//! The interface between the lab and its experiments.
//!
//! An [`Experiment`] is a family of cases under one name. It gives [`Group`]s: a group is one case
//! in one configuration, measured with several implementations ([`Subject`]s) whose runs are
//! interleaved. One run of a subject gives one value for each of the group's [`Figure`]s, so that a
//! time and a rate, or a median and a 99th percentile, come from the same run.

use crate::error::Error;
use crate::peers::Bikeshed;
use crate::store::Record;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A family of cases, such as `deque` or `forkjoin`.
pub(crate) trait Experiment {
    /// First part of every identity.
    fn name(&self) -> &'static str;
    /// One sentence: what it shows, and why one would care.
    fn about(&self) -> &'static str;
    /// Everything it can measure under `plan`, in the order of its table.
    fn groups(&self, plan: &Plan) -> Vec<Group>;
    /// What `records` say about a question that somebody left open, to stand under their table.
    fn verdict(&self, _records: &[Record]) -> Option<String> {
        None
    }
}

/// How large and how often.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Smallest sizes and single runs: shows that everything works, measures nothing.
    pub(crate) smoke: bool,
    /// A glance, as in the tour: no more runs than needed to see the picture.
    pub(crate) short: bool,
    /// Measure the other libraries too.
    pub(crate) peers: bool,
    /// Worker counts that replace those of the identities; empty for the usual ones.
    pub(crate) workers: Vec<usize>,
    /// Time for each configuration of each implementation.
    pub(crate) budget: Duration,
    /// The user's copy of a scheduler's header.
    pub(crate) bikeshed: Option<Bikeshed>,
}

impl Plan {
    /// `full`, or `smoke` in a smoke run.
    pub(crate) fn size<T>(&self, full: T, smoke: T) -> T {
        if self.smoke { smoke } else { full }
    }

    /// The worker counts to measure: those asked for, else `usual`.
    pub(crate) fn workers_or(&self, usual: &[usize]) -> Vec<usize> {
        if self.workers.is_empty() { usual.to_vec() } else { self.workers.clone() }
    }
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trend {
    /// Times.
    Lower,
    /// Rates.
    Higher,
}

impl Trend {
    /// As written in the JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Lower => "lower-is-better",
            Self::Higher => "higher-is-better",
        }
    }
}

/// One quantity of a group: `experiment/CASE/implementation/CONFIG`.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// Second part of the identity, such as `spawn-rate`.
    pub(crate) case: String,
    /// Fourth part of the identity, such as `w2`.
    pub(crate) config: String,
    /// For people: `spawns over time/2 workers`. See [`Figure::name_for`].
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) trend: Trend,
    /// One line: what is counted, over what.
    pub(crate) description: String,
}

impl Figure {
    /// The display name for `implementation`.
    ///
    /// The default implementation carries the name itself. The others get the case's words and
    /// their own, so that a query by the published wording finds one figure a configuration.
    pub(crate) fn name_for(&self, implementation: &str) -> String {
        if implementation == crate::adapter::OURS {
            return self.name.clone();
        }
        let config = self.name.split_once('/').map_or(self.config.as_str(), |(_, tail)| tail);
        format!("{} of {implementation}/{config}", self.case.replace('-', " "))
    }
}

/// One case in one configuration, with the implementations to compare.
pub(crate) struct Group {
    /// What one run measures, in the order of the run's values.
    pub(crate) figures: Vec<Figure>,
    /// Threads that compute at the same time: more than cores make the figure unfit.
    pub(crate) threads: usize,
    /// Untimed runs before a subject's first timed one.
    pub(crate) warmups: u32,
    /// Timed runs at least, whatever the budget.
    pub(crate) min_runs: u32,
    /// Timed runs at most; `None` for as many as the budget allows.
    pub(crate) max_runs: Option<u32>,
    /// Whether the tour shows it.
    pub(crate) in_tour: bool,
    pub(crate) subjects: Vec<Subject>,
}

impl Group {
    /// A group with the usual rules (one warm-up, at least three runs, part of the tour) and no
    /// subjects yet.
    pub(crate) fn new(threads: usize, figures: Vec<Figure>) -> Self {
        Self {
            figures,
            threads,
            warmups: 1,
            min_runs: 3,
            max_runs: None,
            in_tour: true,
            subjects: Vec::new(),
        }
    }

    /// Adds an implementation.
    pub(crate) fn add<S: Session + 'static>(
        &mut self,
        implementation: &'static str,
        open: impl Fn() -> Result<S, Error> + 'static,
    ) {
        let open: OpenFn = Box::new(move || open().map(|s| Box::new(s) as Box<dyn Session>));
        self.subjects.push(Subject {
            implementation,
            open,
            apart: false,
            environment: || Ok(None),
        });
    }

    /// Measures the implementation added last in processes of its own if `apart`, because its
    /// threads cannot be ended.
    pub(crate) fn keep_apart(&mut self, apart: bool) {
        if let Some(last) = self.subjects.last_mut() {
            last.apart = apart;
        }
    }

    /// Sets a variable in the processes of the implementation added last.
    pub(crate) fn set_environment(&mut self, environment: Environment) {
        if let Some(last) = self.subjects.last_mut() {
            last.environment = environment;
        }
    }
}

/// A variable that the processes of an implementation need, if any; or why it cannot be had.
pub(crate) type Environment = fn() -> Result<Option<(&'static str, PathBuf)>, Error>;

/// Sets an implementation up for a stretch of runs.
pub(crate) type OpenFn = Box<dyn Fn() -> Result<Box<dyn Session>, Error>>;

/// One implementation in a group.
pub(crate) struct Subject {
    /// Third part of the identity.
    pub(crate) implementation: &'static str,
    /// Threads, pools and data for one stretch; dropped before the next subject's turn, so that
    /// nobody's idle threads disturb the others.
    pub(crate) open: OpenFn,
    /// Each turn runs in a process of its own.
    pub(crate) apart: bool,
    /// For that process.
    pub(crate) environment: Environment,
}

/// An implementation that is set up and can be run.
pub(crate) trait Session {
    /// One timed run: a value for each of the group's figures. Checks its own result.
    fn run(&mut self) -> Result<Vec<f64>, Error>;

    /// Brings caches and pools into their usual state, untimed.
    fn warm(&mut self) -> Result<(), Error> {
        self.run().map(drop)
    }
}

/// A session of one closure.
pub(crate) struct Run<F>(pub(crate) F);

impl<F: FnMut() -> Result<Vec<f64>, Error>> Session for Run<F> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        (self.0)()
    }
}

/// Nanoseconds for one of `calls` calls of `f`, as the values of a run.
#[inline(always)]
pub(crate) fn per_call(calls: u32, mut f: impl FnMut()) -> Result<Vec<f64>, Error> {
    let start = Instant::now();
    for _ in 0..calls {
        f();
    }
    Ok(vec![start.elapsed().as_nanos() as f64 / f64::from(calls)])
}
