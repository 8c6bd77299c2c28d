//! Graphs in which each task adds 1 to one counter: what the dependencies cost.
//!
//! A [`Work`] is a graph and how often it is run, the same for all implementations. An implementation has what it
//! needs of the graph before the time begins, unless building is part of the case; it runs all tasks, and hands the
//! counter and the time to [`Work::judge`].

use super::shapes::{self, Shape};
use super::{byhand, driven, spinning};
use crate::adapter::{Job, visit_scopes};
use crate::error::{Error, expect};
use crate::experiment::{Figure, Group, Plan, Trend};
use crate::host::plural;
use crate::peers;
use std::cell::OnceCell;
use std::rc::Rc;
use std::time::Duration;

/// Which graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// As many fans in a row as the size says.
    Fan,
    /// As many tasks in a row.
    Chain,
    /// As many tasks with four times as many edges. A run builds the graph from the list of its edges, and runs it.
    Random,
    /// A frame, run so many times.
    Frame,
}

impl Case {
    const ALL: [Self; 4] = [Self::Fan, Self::Chain, Self::Random, Self::Frame];

    fn name(self) -> &'static str {
        match self {
            Self::Fan => "fan",
            Self::Chain => "chain",
            Self::Random => "random",
            Self::Frame => "frame",
        }
    }

    fn size(self, plan: &Plan) -> u32 {
        match self {
            Self::Fan => plan.size(1_000, 3),
            Self::Chain | Self::Random => plan.size(1_000_000, 500),
            Self::Frame => plan.size(10_000, 3),
        }
    }

    /// Tasks that are executed in a run.
    fn executed(self, size: u32) -> u64 {
        match self {
            Self::Fan => u64::from(size) * u64::from(shapes::FAN_TASKS),
            Self::Chain | Self::Random => u64::from(size),
            Self::Frame => u64::from(size) * u64::from(shapes::FRAME_TASKS),
        }
    }

    /// Nanoseconds a task, or microseconds a frame.
    fn value(self, size: u32, ns: f64) -> f64 {
        match self {
            Self::Frame => ns / 1e3 / f64::from(size),
            _ => ns / self.executed(size) as f64,
        }
    }

    fn figure(self, workers: usize) -> Figure {
        let (unit, title, description) = match self {
            Self::Fan => {
                ("ns", "time per task of a fan", "1,000 in a row of (1 → 100 → 1): time by tasks")
            }
            Self::Chain => {
                ("ns", "time per link of a chain", "1,000,000 tasks in a row: time by tasks")
            }
            Self::Random => (
                "ns",
                "time per task of a random graph",
                "1,000,000 tasks with 4,000,000 random edges, built and run: time by tasks",
            ),
            Self::Frame => (
                "µs",
                "time per frame",
                "a frame of 300 tasks and 586 edges, run 10,000 times: time of one",
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

/// A graph, and how often it is run.
pub(crate) struct Work {
    pub(crate) case: Case,
    /// See [`Case`].
    pub(crate) size: u32,
    shape: OnceCell<Shape>,
}

impl Work {
    fn new(case: Case, size: u32) -> Self {
        Self { case, size, shape: OnceCell::new() }
    }

    /// The graph's tasks and edges, made when they are first wanted.
    pub(crate) fn shape(&self) -> &Shape {
        self.shape.get_or_init(|| match self.case {
            Case::Fan => shapes::fan(self.size),
            Case::Chain => shapes::chain(self.size),
            Case::Random => shapes::random(self.size),
            Case::Frame => shapes::frame(),
        })
    }

    /// How often the graph is executed in a run.
    pub(crate) fn times(&self) -> u32 {
        if self.case == Case::Frame { self.size } else { 1 }
    }

    /// The values of a run in which so many tasks were executed.
    ///
    /// # Errors
    /// That were not all, or too many.
    pub(crate) fn judge(&self, executed: u64, elapsed: Duration) -> Result<Vec<f64>, Error> {
        expect("the number of executed tasks", executed, self.case.executed(self.size))?;
        Ok(vec![self.case.value(self.size, elapsed.as_nanos() as f64)])
    }
}

pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let mut groups = Vec::new();
    for case in Case::ALL {
        let work = Rc::new(Work::new(case, case.size(plan)));
        for workers in plan.workers_or(&[1, 2]) {
            let mut group = Group::new(workers, vec![case.figure(workers)]);
            group.in_tour = case == Case::Frame;
            let by_hand = &mut byhand::AddAll { group: &mut group, workers, work: &work };
            visit_scopes(plan.peers, by_hand);
            spinning::add(&mut group, workers, &work);
            driven::add(&mut group, workers, &work);
            if plan.peers {
                add_programs(&mut group, workers, &work);
            }
            groups.push(group);
        }
    }
    groups
}

/// Adds the schedulers in other languages.
fn add_programs(group: &mut Group, workers: usize, work: &Work) {
    let value: fn(&[f64], &Job) -> Vec<f64> = match work.case {
        Case::Frame => |ns, job| vec![Case::Frame.value(job.size as u32, ns[0])],
        _ => |ns, job| vec![ns[0] / job.check as f64],
    };
    let Work { case, size, .. } = *work;
    let check = case.executed(size);
    let job = Job { case: case.name(), workers, size: size.into(), check, values: value };
    peers::add_programs(group, &[case.name()], job);
}
