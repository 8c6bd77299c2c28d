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
        "Items go through queues to workers, and each end keeps to a rate. The steps are the \
         published ones: the clock is read at every wait, then at every 8th, then there are more \
         threads, then a queue for each. Also: how exact the rate is, and how long items wait \
         while a worker is blocked, if idle workers steal and if they do not."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = steps::groups(plan);
        groups.extend(promises::accuracy(plan));
        groups.push(promises::stranded(plan));
        groups.push(promises::idle(plan));
        groups
    }
}
