//! Tasks that wait for each other.
//!
//! * `throughput`: tasks without dependencies, from threads to threads, in tests that each bring one improvement
//!   more; our loops are in `load`, and `gains` says what each step brings.
//! * `graphs`: whole graphs, whose shapes are in `shapes`; `byhand` runs them without a scheduler for
//!   dependencies, `spinning` and `driven` with one, by threads that spin and by workers that sleep, built in `build`.

mod build;
mod byhand;
mod bytes;
mod driven;
mod gains;
mod graphs;
mod load;
pub(crate) mod shapes;
mod spinning;
mod throughput;

use crate::experiment::{Experiment, Group, Plan};
use crate::store::Record;

/// The experiment `shed`.
pub(crate) struct Shed;

impl Experiment for Shed {
    fn name(&self) -> &'static str {
        "shed"
    }

    fn about(&self) -> &'static str {
        "Tasks from threads that create them to threads that execute them, in steps from one list to channels and \
         batches. And tasks that wait for each other: fans, a chain, a random graph with its building, and a game's \
         frame that is run again and again, beside the same with scopes and counters written by hand."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = throughput::groups(plan);
        groups.push(throughput::single(plan));
        groups.extend(graphs::groups(plan));
        groups.push(driven::starved(plan));
        groups.extend(bytes::groups());
        groups
    }

    fn verdict(&self, records: &[Record]) -> Option<String> {
        gains::table(records)
    }
}
