//! The strategies of `sateen-pool`.

use crate::adapter::{LonePoolVisitor, PoolVisitor};
use crate::blocks::Raw;
use sateen_pool::Global;

/// Shows `visitor` every strategy, those with a lock with some of our locks.
pub(crate) fn visit_pools(visitor: &mut impl PoolVisitor) {
    visitor.visit::<Raw<Global>>("global");
}

/// The same strategies with a probe that counts.
pub(crate) fn visit_counting_pools(visitor: &mut impl PoolVisitor) {
    let _ = visitor;
}

/// Shows `visitor` every strategy for one thread: without atomics where there is such a form.
pub(crate) fn visit_lone_pools(visitor: &mut impl LonePoolVisitor) {
    visitor.visit::<Raw<Global>>("global");
}
