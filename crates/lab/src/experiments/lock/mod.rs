//! Locks: what each kind costs alone, under contention, and inside of a scheduler.
//!
//! The critical sections and the time between them are computations on registers, of a length that
//! is calibrated; see [`work`]. The count under the lock must be what the threads have counted.

mod alone;
mod asked;
mod inside;
mod shared;
mod sweep;
mod work;

pub(crate) use asked::Asked;

use crate::experiment::{Experiment, Figure, Group, Plan, Trend};
use crate::host::plural;
use std::time::Duration;

/// The experiment `lock`.
pub(crate) struct Lock;

impl Experiment for Lock {
    fn name(&self) -> &'static str {
        "lock"
    }

    fn about(&self) -> &'static str {
        "Kinds of locks: taken by a thread alone, by two and eight threads with sections of \
         several lengths, and in a scheduler whose workers share a queue. The figures are time and \
         processor time per section, the sections of the least served thread divided by those of \
         the most served, and the wait that one of a thousand exceeds."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups: Vec<Group> =
            SECTIONS.iter().map(|section| alone::group(plan, section)).collect();
        groups.extend(SECTIONS.iter().map(|section| shared::alone(plan, section)));
        for threads in [2, 8] {
            groups.extend(SECTIONS.iter().map(|section| shared::group(plan, threads, section)));
        }
        groups.extend(sweep::groups(plan));
        groups.push(inside::group(plan));
        for group in &mut groups {
            let shown = ["uncontended-empty", "t2-short", "t8-short", "in-runtime"];
            group.in_tour = shown.contains(&group.figures[0].case.as_str());
        }
        groups
    }
}

/// Length and spacing of critical sections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    name: &'static str,
    length: Duration,
    /// Average time between sections under contention; each time is from half to one and a half of
    /// it.
    between: Duration,
    /// One wait in this many is timed, so that the measured time is not that of the clock.
    sampled: usize,
}

/// The lengths that are measured.
const SECTIONS: [Section; 3] = [
    Section {
        name: "empty",
        length: Duration::ZERO,
        between: Duration::from_nanos(50),
        sampled: 64,
    },
    Section {
        name: "short",
        length: Duration::from_nanos(50),
        between: Duration::from_nanos(50),
        sampled: 32,
    },
    Section {
        name: "long",
        length: Duration::from_micros(2),
        between: Duration::from_micros(2),
        sampled: 4,
    },
];

impl Section {
    /// Describes the sections.
    fn words(&self) -> String {
        match self.length.as_nanos() {
            0 => "sections of one addition".to_owned(),
            ns if ns % 1000 == 0 => format!("sections of about {} µs", ns / 1000),
            ns => format!("sections of about {ns} ns"),
        }
    }

    /// Returns the sections of a context that a user asks about. Without `between`, the time
    /// between sections is as long as a section.
    fn asked(length: Duration, between: Option<Duration>) -> Self {
        let between = between.unwrap_or(length.max(Duration::from_nanos(50)));
        // About as in the sections above.
        let sampled = (64 / (1 + between.as_nanos() / 100)).clamp(4, 64) as usize;
        Self { name: "asked", length, between, sampled }
    }
}

/// Returns a figure in nanoseconds of `case` with `config`, named like the case.
fn figure(case: String, config: String, threads: usize, description: String) -> Figure {
    let name = format!("{}/{threads} thread{}", case.replace('-', " "), plural(threads));
    Figure { case, config, name, unit: "ns", trend: Trend::Lower, description }
}
