//! What an experiment may ask of an implementation: one trait a kind of library.
//!
//! Each library, ours included, has one adapter that implements the traits it can. Experiments
//! are written against the traits and visit all implementations, so that a new library is one folder
//! and a line in `peers/mod.rs`, and a new experiment meets all libraries at once.

mod channels;
mod crowds;
mod deque;
mod fibers;
mod forkjoin;
mod locks;
mod pipe;
mod pools;
mod program;
mod queue;
mod scopes;
mod sheds;
mod submit;
mod tasks;
mod turns;

pub(crate) use channels::{Channels, ChannelsVisitor, usual_channels, visit_channels};
pub(crate) use crowds::{Crowd, Crowds, CrowdsVisitor, Late, Open, visit_crowds};
pub(crate) use deque::{Deque, DequeVisitor, Taken, visit_deques};
pub(crate) use fibers::{Fibers, FibersVisitor, visit_fibers};
pub(crate) use forkjoin::{ForkJoin, ForkJoinVisitor, visit_fork_joins};
pub(crate) use locks::{LockKind, LockVisitor, SharedLockKind, visit_locks, visit_read_write};
pub(crate) use pipe::{Pipe, PipeKind, PipeVisitor, visit_pipes};
pub(crate) use pools::{
    BLOCK, Content, LonePoolVisitor, Pool, PoolVisitor, visit_counting_pools, visit_lone_pools,
    visit_pools,
};
pub(crate) use program::Job;
pub(crate) use queue::{Queue, QueueVisitor, visit_queues};
pub(crate) use scopes::{Scopes, ScopesVisitor, visit_scopes};
pub(crate) use sheds::{SHED_TESTS, ShedLoad, ShedTest};
pub(crate) use submit::{Submit, SubmitVisitor, visit_submits};
pub(crate) use tasks::{Form, Tasks, TasksVisitor, visit_policies, visit_tasks};
pub(crate) use turns::{Between, Locks, Turns, TurnsVisitor, Way, visit_turns};

/// Name of our default implementation in identities.
pub(crate) const OURS: &str = "sateen";
/// Name of the plain, single-threaded program in identities.
pub(crate) const SERIAL: &str = "serial";
/// Our implementations that add one step each, in order.
pub(crate) const STAGES: [&str; 4] =
    ["sateen-plain", "sateen-padded", "sateen", "sateen-asymmetric"];

/// Whether `implementation` is one of ours.
pub(crate) fn is_ours(implementation: &str) -> bool {
    implementation == OURS
        || crate::ours::LOCK_NAMES.contains(&implementation)
        || is_strategy(implementation)
        || implementation.strip_prefix(OURS).is_some_and(|v| v.starts_with('-'))
}

/// The strategy for pools that stands for the others where ours are compared with peers.
pub(crate) const STRATEGY: &str = "magazine";

/// Whether `implementation` is a strategy of our pools, with whatever lock, or the experiment's own yardstick. The
/// system's allocator is a peer.
fn is_strategy(implementation: &str) -> bool {
    let families = ["lock-free-", "locked-", "transport-"];
    implementation == STRATEGY || families.iter().any(|f| implementation.starts_with(f))
}

/// Whether `implementation` is one of ours that is compared with peers: not a stage on the way to the default, nor
/// one strategy of many.
pub(crate) fn is_compared(implementation: &str) -> bool {
    let history = STAGES.iter().take_while(|s| **s != OURS).any(|s| *s == implementation);
    let other_strategy = is_strategy(implementation) && implementation != STRATEGY;
    is_ours(implementation) && !history && !other_strategy
}
