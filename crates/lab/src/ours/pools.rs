//! The strategies of `sateen-pool`.

use crate::adapter::{LonePoolVisitor, PoolVisitor};
use crate::blocks::Raw;
use sateen_base::RawSpinLock;
use sateen_pool::{
    Count, Global, LockFreeFlags, LockFreeTree, LockedBits, LockedFlags, LockedTree, Magazine,
};

/// Shows `visitor` every strategy, those with a lock with some of our locks.
pub(crate) fn visit_pools(visitor: &mut impl PoolVisitor) {
    visitor.visit::<Raw<Global>>("global");
    visitor.visit::<Raw<LockFreeFlags>>("lock-free-flags");
    visitor.visit::<Raw<LockedFlags<RawSpinLock>>>("locked-flags-spin");
    visitor.visit::<Raw<LockedBits<RawSpinLock>>>("locked-bits-spin");
    visitor.visit::<Raw<LockedTree<RawSpinLock>>>("locked-tree-spin");
    visitor.visit::<Raw<LockFreeTree>>("lock-free-tree");
    visitor.visit::<Raw<Magazine>>("magazine");
}

/// The same strategies with a probe that counts. What is counted does not depend on the lock.
pub(crate) fn visit_counting_pools(visitor: &mut impl PoolVisitor) {
    visitor.visit::<Raw<LockFreeFlags<Count>>>("lock-free-flags");
    visitor.visit::<Raw<LockedFlags<RawSpinLock, Count>>>("locked-flags");
    visitor.visit::<Raw<LockedBits<RawSpinLock, Count>>>("locked-bits");
    visitor.visit::<Raw<LockedTree<RawSpinLock, Count>>>("locked-tree");
    visitor.visit::<Raw<LockFreeTree<Count>>>("lock-free-tree");
    visitor.visit::<Raw<Magazine<Count>>>("magazine");
}

/// Shows `visitor` every strategy for one thread: without atomics where there is such a form.
pub(crate) fn visit_lone_pools(visitor: &mut impl LonePoolVisitor) {
    visitor.visit::<Raw<Global>>("global");
    visitor.visit::<Raw<LockFreeFlags>>("lock-free-flags");
    visitor.visit::<Raw<LockFreeTree>>("lock-free-tree");
    visitor.visit::<Raw<Magazine>>("magazine");
}
