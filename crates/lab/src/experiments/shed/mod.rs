//! Tasks that wait for each other.
//!
//! * `throughput`: tasks without dependencies, from threads to threads.
//! * `graphs`: whole graphs, whose shapes are in `shapes`; `byhand` runs them without a scheduler for
//!   dependencies.

mod byhand;
mod graphs;
pub(crate) mod shapes;
mod throughput;

use crate::experiment::{Experiment, Group, Plan};

/// The experiment `shed`.
pub(crate) struct Shed;

impl Experiment for Shed {
    fn name(&self) -> &'static str {
        "shed"
    }

    fn about(&self) -> &'static str {
        "Tasks that wait for each other: fans, a chain, a random graph with its building, and a game's frame that is \
         run again and again, beside the same with scopes and counters written by hand."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = throughput::groups(plan);
        groups.extend(graphs::groups(plan));
        groups
    }
}
