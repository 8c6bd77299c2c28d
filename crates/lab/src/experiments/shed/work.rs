//! A graph that is run, the same for all implementations, and how a run is judged.

use super::shapes::{self, Shape};
use crate::error::{Error, expect};
use crate::experiment::{Figure, Plan, Trend};
use crate::host::plural;
use std::cell::OnceCell;
use std::time::Duration;

/// Which graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// So many fans in a row.
    Fan,
    /// So many tasks in a row.
    Chain,
    /// So many tasks with four times as many edges. A run builds the graph from the list of its
    /// edges, and runs it.
    Random,
    /// A frame, run this many times.
    Frame,
}

impl Case {
    pub(super) const ALL: [Self; 4] = [Self::Fan, Self::Chain, Self::Random, Self::Frame];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fan => "fan",
            Self::Chain => "chain",
            Self::Random => "random",
            Self::Frame => "frame",
        }
    }

    pub(super) fn size(self, plan: &Plan) -> u32 {
        match self {
            Self::Fan => plan.size(1_000, 3),
            Self::Chain | Self::Random => plan.size(1_000_000, 500),
            Self::Frame => plan.size(10_000, 3),
        }
    }

    /// Returns how many tasks a run executes.
    pub(super) fn executed(self, size: u32) -> u64 {
        match self {
            Self::Fan => u64::from(size) * u64::from(shapes::FAN_TASKS),
            Self::Chain | Self::Random => u64::from(size),
            Self::Frame => u64::from(size) * u64::from(shapes::FRAME_TASKS),
        }
    }

    /// Returns nanoseconds for a task, or microseconds for a frame.
    pub(super) fn value(self, size: u32, ns: f64) -> f64 {
        match self {
            Self::Frame => ns / 1e3 / f64::from(size),
            _ => ns / self.executed(size) as f64,
        }
    }

    pub(super) fn figure(self, workers: usize) -> Figure {
        let (unit, title, description) = match self {
            Self::Fan => {
                ("ns", "time per task of a fan", "1,000 in a row of (1 → 100 → 1): time per task")
            }
            Self::Chain => {
                ("ns", "time per link of a chain", "1,000,000 tasks in a row: time per task")
            }
            Self::Random => (
                "ns",
                "time per task of a random graph",
                "1,000,000 tasks with 4,000,000 random edges, built and run: time per task",
            ),
            Self::Frame => (
                "µs",
                "time per frame",
                "a frame of 300 tasks and 586 edges, run 10,000 times: time per frame",
            ),
        };
        Figure {
            case: self.name().to_owned(),
            config: format!("w{workers}"),
            name: format!("{title}/{workers} worker{}", plural(workers)),
            unit,
            trend: Trend::Lower,
            description: description.to_owned(),
        }
    }
}

/// A graph, and how often it runs.
pub(crate) struct Work {
    pub(crate) case: Case,
    /// See [`Case`].
    pub(crate) size: u32,
    shape: OnceCell<Shape>,
}

impl Work {
    pub(super) fn new(case: Case, size: u32) -> Self {
        Self { case, size, shape: OnceCell::new() }
    }

    /// Returns the graph's tasks and edges, made at first use.
    pub(crate) fn shape(&self) -> &Shape {
        self.shape.get_or_init(|| match self.case {
            Case::Fan => shapes::fan(self.size),
            Case::Chain => shapes::chain(self.size),
            Case::Random => shapes::random(self.size),
            Case::Frame => shapes::frame(),
        })
    }

    /// Returns how often a run executes the graph.
    pub(crate) fn times(&self) -> u32 {
        if self.case == Case::Frame { self.size } else { 1 }
    }

    /// Returns the values of a run that executed so many tasks.
    ///
    /// # Errors
    /// The run executed too few or too many.
    pub(crate) fn judge(&self, executed: u64, elapsed: Duration) -> Result<Vec<f64>, Error> {
        expect("the number of executed tasks", executed, self.case.executed(self.size))?;
        Ok(vec![self.case.value(self.size, elapsed.as_nanos() as f64)])
    }
}
