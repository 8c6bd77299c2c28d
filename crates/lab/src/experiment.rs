//! The interface between the lab and its experiments.
//!
//! An [`Experiment`] is a family of cases under one name. It returns [`Group`]s: a group is one
//! case in one configuration, measured with several implementations ([`Subject`]s) whose runs are
//! interleaved. One run of a subject returns one value for each of the group's [`Figure`]s, so that
//! a time and a rate, or a median and a 99th percentile, come from the same run.

use crate::adapter::{BikeshedHeader, Environment};
use crate::error::{Error, expect};
pub(crate) use crate::figure::{Figure, Trend};
use crate::report::Screen;
use crate::store::Record;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A family of cases, such as `deque` or `forkjoin`.
pub(crate) trait Experiment {
    /// First part of every identity.
    fn name(&self) -> &'static str;
    /// One sentence: what it shows, and why it matters.
    fn about(&self) -> &'static str;
    /// Everything it can measure under `plan`, in the order of its table.
    fn groups(&self, plan: &Plan) -> Vec<Group>;
    /// What `records` say about an open question, to be printed under their table.
    fn verdict(&self, _records: &[Record], _screen: &Screen) -> Option<String> {
        None
    }
}

/// How large and how often.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// Smallest sizes and single runs: shows that everything works, measures nothing.
    pub(crate) smoke: bool,
    /// As in the tour: no more runs than needed to see the picture.
    pub(crate) short: bool,
    /// Which other libraries to measure too.
    pub(crate) peers: Others,
    /// Worker counts that replace the usual ones; empty for the usual ones.
    pub(crate) workers: Vec<usize>,
    /// Time for each configuration of each implementation.
    pub(crate) budget: Duration,
    /// Whether experiments are measured in rounds, as in the tour.
    pub(crate) in_rounds: bool,
    /// The user's copy of Bikeshed's header.
    pub(crate) bikeshed: Option<Rc<BikeshedHeader>>,
}

/// Which libraries are measured beside ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Others {
    #[default]
    None,
    /// The standard library, which everybody has.
    Std,
    /// All libraries that were compiled in, and programs in other languages.
    All,
}

impl Others {
    /// Returns whether to measure all of them.
    pub(crate) fn all(self) -> bool {
        self == Self::All
    }

    /// Returns whether to measure the standard library.
    pub(crate) fn std(self) -> bool {
        self != Self::None
    }
}

impl From<bool> for Others {
    /// All or none.
    fn from(all: bool) -> Self {
        if all { Self::All } else { Self::None }
    }
}

impl Plan {
    /// Returns `full`, or `smoke` in a smoke run.
    pub(crate) fn size<T>(&self, full: T, smoke: T) -> T {
        if self.smoke { smoke } else { full }
    }

    /// Returns the worker counts to measure: those the user asked for, else `usual`.
    pub(crate) fn workers_or(&self, usual: &[usize]) -> Vec<usize> {
        if self.workers.is_empty() { usual.to_vec() } else { self.workers.clone() }
    }
}

/// One case in one configuration, with the implementations to compare.
pub(crate) struct Group {
    /// What one run measures, in the order of the run's values.
    pub(crate) figures: Vec<Figure>,
    /// Threads that compute at the same time. If there are fewer cores, the figure is marked.
    pub(crate) threads: usize,
    /// Untimed runs before a subject's first timed one.
    pub(crate) warmups: u32,
    /// Timed runs at least, whatever the budget.
    pub(crate) min_runs: u32,
    /// Timed runs at most; `None` for as many as the budget allows.
    pub(crate) max_runs: Option<u32>,
    /// Whether the tour shows the group.
    pub(crate) in_tour: bool,
    pub(crate) subjects: Vec<Subject>,
}

impl Group {
    /// Creates a group with the usual rules (one warm-up, at least three runs, part of the tour)
    /// and no subjects.
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
            may_hang: false,
            environment: || Ok(None),
        });
    }

    /// If `apart`, measures the implementation added last in processes of its own, because its
    /// threads cannot be ended.
    pub(crate) fn keep_apart(&mut self, apart: bool) {
        if let Some(last) = self.subjects.last_mut() {
            last.apart = apart;
        }
    }

    /// Gives the implementation added last a time limit for each turn, in a process of its own,
    /// because a run of it may never end.
    pub(crate) fn limit_time(&mut self) {
        if let Some(last) = self.subjects.last_mut() {
            (last.apart, last.may_hang) = (true, true);
        }
    }

    /// Sets a variable in the processes of the implementation added last.
    pub(crate) fn set_environment(&mut self, environment: Environment) {
        if let Some(last) = self.subjects.last_mut() {
            last.environment = environment;
        }
    }
}

/// Sets an implementation up for one turn.
pub(crate) type OpenFn = Box<dyn Fn() -> Result<Box<dyn Session>, Error>>;

/// One implementation in a group.
pub(crate) struct Subject {
    /// Third part of the identity.
    pub(crate) implementation: &'static str,
    /// Sets up threads, pools and data for one turn. They are dropped before the next subject's
    /// turn, so that idle threads do not disturb the others.
    pub(crate) open: OpenFn,
    /// Whether each turn runs in a process of its own.
    pub(crate) apart: bool,
    /// Whether that process has a time limit.
    pub(crate) may_hang: bool,
    /// What that process needs.
    pub(crate) environment: Environment,
}

/// An implementation that is set up and can be run.
pub(crate) trait Session {
    /// Makes one timed run. Returns a value for each of the group's figures, and checks its own
    /// result.
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

/// Calls `f` `calls` times. Returns the nanoseconds for one call, as the values of a run.
#[inline(always)]
pub(crate) fn per_call(calls: u32, mut f: impl FnMut()) -> Result<Vec<f64>, Error> {
    let start = Instant::now();
    for _ in 0..calls {
        f();
    }
    Ok(vec![start.elapsed().as_nanos() as f64 / f64::from(calls)])
}

/// Calls `check` `calls` times. Returns the nanoseconds for one call, as the values of a run.
///
/// # Errors
/// A call of `check` returned false.
#[inline(always)]
pub(crate) fn per_check(calls: u32, mut check: impl FnMut() -> bool) -> Result<Vec<f64>, Error> {
    let mut refused = 0u32;
    let values = per_call(calls, || refused += u32::from(!check()));
    expect("the number of refusals", refused, 0)?;
    values
}
