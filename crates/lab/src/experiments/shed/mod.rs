//! Tasks that are created, made ready and executed by many threads at once.
//!
//! * `steps`: the tests A to E of the Bikeshed article, each with one improvement more, and what `gains` says about
//!   them. Their loops are in `load`.

mod gains;
mod load;
mod steps;

use crate::experiment::{Experiment, Group, Plan};
use crate::store::Record;

/// The experiment `shed`.
pub(crate) struct Shed;

impl Experiment for Shed {
    fn name(&self) -> &'static str {
        "shed"
    }

    fn about(&self) -> &'static str {
        "Threads create tasks while others execute them: what each step from one list of ready tasks to channels, \
         padding, pauses and batches brings."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        let mut groups = steps::groups(plan);
        groups.push(steps::single(plan));
        groups
    }

    fn verdict(&self, records: &[Record]) -> Option<String> {
        gains::table(records)
    }
}
