//! The experiments. A new one is a file or folder here, and a line in [`all`].

mod deque;

use crate::experiment::Experiment;

/// All experiments, in the order of the tour.
pub(crate) fn all() -> Vec<Box<dyn Experiment>> {
    vec![Box::new(deque::Deques)]
}
