//! The forms of waiting for ten subtasks, under each scheduling policy: the time of one leaf.

use super::{answer, group, judge};
use crate::adapter::{Form, Job, Tasks};
use crate::error::Error;
use crate::experiment::{Group, Plan, Session};
use crate::peers;
use crate::registry::for_each;
use std::time::Instant;

/// A case: our form, its description, and the cases of programs to compare it with.
struct Case {
    name: &'static str,
    form: Form,
    what: &'static str,
    programs: &'static [&'static str],
}

const CASES: [Case; 5] = [
    Case {
        name: "join",
        form: Form::Join,
        what: "spawned tasks, joined",
        programs: &["skynet-join", "sateen-join"],
    },
    // In libraries whose tasks all have a stack from the start, a leaf need not yield to get one.
    Case {
        name: "join-suspend",
        form: Form::Suspend,
        what: "the same, but every leaf yields once (unless it has a stack anyway)",
        programs: &["skynet-join", "skynet-detach", "sateen-suspend"],
    },
    Case {
        name: "detach",
        form: Form::Detach,
        what: "detached tasks, whose parent blocks until all ten have delivered",
        programs: &["skynet-detach", "sateen-detach"],
    },
    Case {
        name: "channel",
        form: Form::Channel,
        what: "detached tasks that send to their parent through a channel",
        programs: &["skynet-detach", "sateen-channel"],
    },
    Case {
        name: "async",
        form: Form::Async,
        what: "futures, awaited",
        programs: &["skynet-async", "sateen-async"],
    },
];

pub(super) fn groups(plan: &Plan, leaves: u64, counted: &str) -> Vec<Group> {
    let mut groups = Vec::new();
    for case in CASES {
        for workers in plan.workers_or(&[1, 2]) {
            let mut group = group(case.name, workers, "leaf", counted, case.what);
            let form = case.form;
            for_each!(T in policies(plan.peers) => add::<T>(&mut group, workers, form, leaves));
            if plan.peers.all() {
                let job = Job {
                    case: "",
                    workers,
                    size: leaves,
                    check: answer(leaves),
                    values: |ns, job| vec![ns[0] / job.size as f64],
                };
                peers::add_programs(&mut group, case.programs, job);
            }
            if !group.subjects.is_empty() {
                groups.push(group);
            }
        }
    }
    groups
}

fn add<T: Tasks>(group: &mut Group, workers: usize, form: Form, leaves: u64) {
    if workers <= T::MOST_WORKERS && T::FORMS.contains(&form) {
        group.add(T::NAME, move || Ok(Forms::<T> { pool: T::build(workers)?, form, leaves }));
        group.keep_apart(T::LINGERS);
        group.set_environment(T::environment(leaves));
    }
}

struct Forms<T: Tasks> {
    pool: T::Pool,
    form: Form,
    leaves: u64,
}

impl<T: Tasks> Session for Forms<T> {
    fn run(&mut self) -> Result<Vec<f64>, Error> {
        let start = Instant::now();
        let sum = T::skynet(&self.pool, self.form, self.leaves);
        judge(self.leaves, start.elapsed(), sum, self.leaves)
    }
}
