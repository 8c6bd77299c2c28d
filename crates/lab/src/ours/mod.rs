//! Adapters of Sateen itself, the same kind as those of the peers.

use crate::adapter::{DequeVisitor, ForkJoinVisitor, SubmitVisitor, TasksVisitor};

/// Shows `visitor` our deques, stage by stage.
pub(crate) fn visit_deques(visitor: &mut impl DequeVisitor) {
    let _ = visitor;
}

/// Shows `visitor` our fork-join runtime.
pub(crate) fn visit_fork_joins(visitor: &mut impl ForkJoinVisitor) {
    let _ = visitor;
}

/// Shows `visitor` our pools.
pub(crate) fn visit_submits(visitor: &mut impl SubmitVisitor) {
    let _ = visitor;
}

/// Shows `visitor` our runtime's tasks.
pub(crate) fn visit_tasks(visitor: &mut impl TasksVisitor) {
    let _ = visitor;
}
