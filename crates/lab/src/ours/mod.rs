//! Adapters of Sateen itself, the same kind as those of the peers.

mod channels;
mod crowds;
mod deques;
mod locks;
mod pipes;
mod pools;
mod queue;
mod runtime;
mod skynet;
mod tasks;
mod turns;

use crate::adapter::{
    ChannelsVisitor, CrowdsVisitor, DequeVisitor, FibersVisitor, ForkJoinVisitor, LockVisitor,
    PipeKind, PipeVisitor, QueueVisitor, ScopesVisitor, SubmitVisitor, TasksVisitor, TurnsVisitor,
};
pub(crate) use channels::ChannelFibers;
pub(crate) use locks::{LOCK_FREE, NAMES as LOCK_NAMES, Raw, RawKind, RawVisitor, visit_raw};
#[cfg(test)]
pub(crate) use runtime::Sateen;
pub(crate) use runtime::scheduled;
pub(crate) use skynet::join as skynet_join;

/// Shows `visitor` our locks.
pub(crate) fn visit_locks(visitor: &mut impl LockVisitor) {
    locks::visit(visitor);
}

/// Shows `visitor` our reader-writer lock.
pub(crate) fn visit_read_write(visitor: &mut impl LockVisitor) {
    visitor.visit::<locks::RwLock>();
}

pub(crate) use pools::{visit_counting_pools, visit_lone_pools, visit_pools};

/// Shows `visitor` our deques, stage by stage.
pub(crate) fn visit_deques(visitor: &mut impl DequeVisitor) {
    visitor.visit::<deques::Plain>();
    visitor.visit::<deques::Padded>();
    visitor.visit::<deques::Cached>();
    visitor.visit::<deques::Asymmetric>();
}

/// Shows `visitor` our fork-join runtime.
pub(crate) fn visit_fork_joins(visitor: &mut impl ForkJoinVisitor) {
    visitor.visit::<runtime::Sateen>();
}

/// Shows `visitor` our runtime's scopes.
pub(crate) fn visit_scopes(visitor: &mut impl ScopesVisitor) {
    visitor.visit::<runtime::Sateen>();
}

/// Shows `visitor` our pools.
pub(crate) fn visit_submits(visitor: &mut impl SubmitVisitor) {
    visitor.visit::<runtime::Sateen>();
}

/// Shows `visitor` our runtime's tasks.
pub(crate) fn visit_tasks(visitor: &mut impl TasksVisitor) {
    visitor.visit::<runtime::Sateen>();
}

/// Shows `visitor` our runtime's blocking tasks.
pub(crate) fn visit_fibers(visitor: &mut impl FibersVisitor) {
    visitor.visit::<runtime::Sateen>();
}

/// Shows `visitor` our runtime's tasks under each scheduling policy.
pub(crate) fn visit_policies(visitor: &mut impl TasksVisitor) {
    visitor.visit::<tasks::Stealing>();
    visitor.visit::<tasks::Sharing>();
    visitor.visit::<tasks::RoundRobin>();
}

/// Shows `visitor` our runtime with two tasks.
pub(crate) fn visit_turns(visitor: &mut impl TurnsVisitor) {
    visitor.visit::<runtime::Sateen>();
    visitor.visit::<turns::Local>();
}

/// Shows `visitor` our runtime with many tasks, and with many futures.
pub(crate) fn visit_crowds(visitor: &mut impl CrowdsVisitor) {
    visitor.visit::<runtime::Sateen>();
    visitor.visit::<crowds::Futures>();
}

/// Shows `visitor` our queue for many producers and consumers.
pub(crate) fn visit_queues(visitor: &mut impl QueueVisitor) {
    visitor.visit::<queue::Sateen>();
}

/// Shows `visitor` our queue of a kind.
pub(crate) fn visit_pipes(kind: PipeKind, batches: bool, visitor: &mut impl PipeVisitor) {
    pipes::visit(kind, batches, visitor);
}

/// Shows `visitor` our channels.
pub(crate) fn visit_channels(visitor: &mut impl ChannelsVisitor) {
    visitor.visit::<channels::Sateen>();
}
