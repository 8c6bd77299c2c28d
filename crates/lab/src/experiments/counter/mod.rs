//! A number that all threads increment: the ways to protect it.
//!
//! The solutions have a file of their own, and so has the question which published ranking holds
//! here.

mod asked;
mod ranking;
mod solutions;

pub(crate) use asked::{Asked, Total};

use crate::adapter::{OURS, SharedLockKind};
use crate::crew;
use crate::error::{Error, expect};
use crate::experiment::{Experiment, Figure, Group, Plan, Run, Trend};
use crate::registry::for_each;
use crate::report::Screen;
use crate::store::Record;
use solutions::{Atomic, LocalThenAtomic, Locked, NaiveSpin, Striped, YieldingSpin};
use std::time::Duration;

/// The experiment `counter`.
pub(crate) struct Counter;

const NAME: &str = "counter";
const STACK: usize = 256 * 1024;

/// A way to protect the number.
pub(crate) trait Tally: Sync + 'static {
    /// Increments it `times` times, as one of several threads.
    fn count(&self, times: u64);
    /// Returns the sum of all increments so far, once the threads have ended.
    fn total(&self) -> u64;
}

/// The cases: name, description, and how many increments make a run of some tens of milliseconds,
/// so that threads that share a core take turns within it.
const CASES: [(&str, &str, u64); 7] = [
    (
        "local-then-atomic",
        "each thread counts for itself, one atomic addition at the end",
        64_000_000,
    ),
    ("rwlock-exclusive", "a reader-writer lock, taken exclusively", 2_000_000),
    ("atomic", "an atomic addition", 4_000_000),
    ("adaptive-mutex", "a mutex that spins and then sleeps", 4_000_000),
    ("kernel-mutex", "a mutex that always enters the kernel", 200_000),
    ("spin-naive", "a spinlock without tricks", 1_000_000),
    ("striped", "each thread has a stripe that others can read", 32_000_000),
];

impl Experiment for Counter {
    fn name(&self) -> &'static str {
        NAME
    }

    fn about(&self) -> &'static str {
        "Threads increment one number: the cost of each way to protect it, as wall time divided by \
         all increments."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let threads = plan.workers_or(&[1, 2, 4, 8]);
        let of = |(case, what, full)| {
            let threads = threads.clone();
            threads.into_iter().map(move |t| group(plan, case, what, full, t))
        };
        CASES.into_iter().flat_map(of).collect()
    }

    fn verdict(&self, records: &[Record], screen: &Screen) -> Option<String> {
        Some(screen.wrapped(&ranking::text(records)?, 2))
    }
}

fn group(plan: &Plan, case: &'static str, what: &str, full: u64, threads: usize) -> Group {
    let s = if threads == 1 { "" } else { "s" };
    let figure = Figure {
        case: case.to_owned(),
        config: format!("t{threads}"),
        name: format!("increment by {}/{threads} thread{s}", case.replace('-', " ")),
        unit: "ns",
        trend: Trend::Lower,
        description: format!("{what}: wall time divided by all increments"),
    };
    let mut group = Group::new(threads, vec![figure]);
    // Under the most contention the solutions differ most.
    group.in_tour = threads == 8;
    let full = if plan.short { full / 4 } else { full };
    let mut fill = Fill { group, case, increments: plan.size(full, 4000), threads };
    match case {
        "local-then-atomic" => fill.add::<LocalThenAtomic>(OURS),
        "striped" => fill.add::<Striped>(OURS),
        "atomic" => fill.add::<Atomic>("std"),
        "rwlock-exclusive" => {
            for_each!(L in read_write_locks(plan.peers) => fill.add_lock::<L>());
        }
        _ => for_each!(L in shared_locks(plan.peers) => fill.add_lock::<L>()),
    }
    match case {
        "adaptive-mutex" => fill.add::<YieldingSpin>("yielding"),
        "spin-naive" => fill.add::<NaiveSpin>("naive"),
        _ => {}
    }
    fill.group
}

/// Adds solutions to a group.
struct Fill {
    group: Group,
    case: &'static str,
    /// Increments of all threads together.
    increments: u64,
    threads: usize,
}

impl Fill {
    fn add<C: Tally + Default>(&mut self, implementation: &'static str) {
        let (increments, threads) = (self.increments, self.threads);
        self.group.add(implementation, move || {
            Ok(Run(move || {
                let wall = wall_time(&C::default(), threads, increments)?;
                Ok(vec![wall.as_nanos() as f64 / increments as f64])
            }))
        });
    }

    fn add_lock<L: SharedLockKind>(&mut self) {
        let kinds: &[&str] = match self.case {
            "adaptive-mutex" => {
                &["mutex", "ttas-adaptive", "ttas-adaptive-futex", "std", "parking_lot"]
            }
            "kernel-mutex" => &["kernel"],
            "rwlock-exclusive" => &["rwlock", "std-rwlock", "parking_lot-rwlock"],
            _ => &["ttas", "spin"],
        };
        if kinds.contains(&L::NAME) {
            self.add::<Locked<L>>(library(L::NAME));
        }
    }
}

/// The case says which lock it is, so the implementation says whose lock it is.
fn library(name: &'static str) -> &'static str {
    match name {
        "mutex" | "rwlock" => OURS,
        _ => name.strip_suffix("-rwlock").unwrap_or(name),
    }
}

/// Returns how long `threads` threads take to increment the fresh `tally` `increments` times in
/// all. Checks the sum.
pub(crate) fn wall_time(
    tally: &impl Tally,
    threads: usize,
    increments: u64,
) -> Result<Duration, Error> {
    let (each, more) = (increments / threads as u64, increments % threads as u64);
    let times = |i: u64| each + u64::from(i < more);
    let jobs = (0..threads as u64).map(|i| move || tally.count(times(i))).collect();
    let done = crew::run(STACK, jobs)?;
    expect("the sum of all increments", tally.total(), increments)?;
    Ok(done.iter().map(|d| d.elapsed).max().unwrap_or_default())
}
