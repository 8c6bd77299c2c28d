//! What goes on during a soak, in rounds of some milliseconds until the world has ended.

mod boxes;
mod cancelled;
mod channels;
mod deques;
mod forkjoin;
mod futures;
mod graphs;
mod locks;
mod pools;
mod queues;
mod runtimes;
mod sheds;
mod worker_queues;

use super::world::World;
use crate::error::Error;
use sateen_base::XorShift;

/// An activity. It runs until the world has ended, and fails if something is wrong.
pub(super) type Activity = fn(&World<'_>, XorShift) -> Result<(), Error>;

/// All activities by name.
pub(super) const ALL: [(&str, Activity); 13] = [
    ("forkjoin", forkjoin::run),
    ("boxes", boxes::run),
    ("channels", channels::run),
    ("locks", locks::run),
    ("queues", queues::run),
    ("deques", deques::run),
    ("pools", pools::run),
    ("sheds", sheds::run),
    ("graphs", graphs::run),
    ("workerqueues", worker_queues::run),
    ("futures", futures::run),
    ("cancelled", cancelled::run),
    ("runtimes", runtimes::run),
];
