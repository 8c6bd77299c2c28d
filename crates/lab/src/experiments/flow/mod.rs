//! The throttled worker queue.
//!
//! * `steps`: the published steps; `collection` and `ours` hold the candidates.
//! * `promises`: the rate, items that nobody handles, idle workers.

mod collection;
mod ours;
mod promises;
mod steps;

use crate::experiment::{Experiment, Group, Plan};

/// The experiment `flow`.
pub(crate) struct Flow;

impl Experiment for Flow {
    fn name(&self) -> &'static str {
        "flow"
    }

    fn about(&self) -> &'static str {
        "Items through queues to workers, each end held to a rate, in the published steps: the \
         clock read at every wait, at every 8th, more threads, a queue for each. Then how exact \
         the rate is, and how long items wait while a worker is blocked, with idle workers that \
         steal and without."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = steps::groups(plan);
        groups.extend(promises::accuracy(plan));
        groups.push(promises::stranded(plan));
        groups.push(promises::idle(plan));
        groups
    }
}
