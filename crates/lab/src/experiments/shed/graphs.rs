//! Graphs in which each task adds 1 to one counter: what the dependencies cost.
//!
//! A [`Work`] is a graph and how often it runs, the same for all implementations. An implementation
//! prepares the graph before the time begins, unless building is part of the case. It runs all
//! tasks, and passes the counter and the time to [`Work::judge`].

use super::work::{Case, Work};
use super::{byhand, driven, spinning};
use crate::adapter::Job;
use crate::experiment::{Group, Plan};
use crate::peers;
use crate::registry::for_each;
use std::rc::Rc;

pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let mut groups = Vec::new();
    for case in Case::ALL {
        let work = Rc::new(Work::new(case, case.size(plan)));
        for workers in plan.workers_or(&[1, 2]) {
            let mut group = Group::new(workers, vec![case.figure(workers)]);
            group.in_tour = false;
            for_each!(S in scopes(plan.peers) => byhand::add::<S>(&mut group, workers, &work));
            spinning::add(&mut group, workers, &work);
            driven::add(&mut group, workers, &work);
            if plan.peers.all() {
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
