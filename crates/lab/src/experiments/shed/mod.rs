//! Tasks that wait for each other.
//!
//! * `throughput`: tasks without dependencies, from threads to threads, in tests that each add one
//!   improvement. Our loops are in `load`; `gains` says what each step gains.
//! * `graphs`: whole graphs, whose shapes are in `shapes`. `byhand` runs them without a scheduler
//!   for dependencies. `spinning` and `driven` run them in sheds, by threads that spin and by
//!   workers that sleep. `build` puts a graph into a shed.

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
mod work;

use crate::experiment::{Experiment, Group, Plan};
use crate::report::Screen;
use crate::store::Record;

/// The experiment `shed`.
pub(crate) struct Shed;

impl Experiment for Shed {
    fn name(&self) -> &'static str {
        "shed"
    }

    fn about(&self) -> &'static str {
        "Tasks go from threads that create them to threads that execute them, in steps from one \
         list to channels and batches. Then tasks wait for each other: fans, a chain, a random \
         graph with the time to build it, and a game's frame that runs again and again. The table \
         also has these graphs with scopes and counters written by hand."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = throughput::groups(plan);
        groups.push(throughput::single(plan));
        groups.extend(graphs::groups(plan));
        groups.push(driven::starved(plan));
        groups.extend(bytes::groups());
        groups
    }

    fn verdict(&self, records: &[Record], screen: &Screen) -> Option<String> {
        gains::table(records, screen)
    }
}
