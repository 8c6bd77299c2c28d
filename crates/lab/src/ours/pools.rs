//! The strategies of `sateen-pool`.

use crate::adapter::{LonePoolVisitor, PoolVisitor};
use crate::blocks::Raw;
use sateen_pool::{
    Count, Global, LockFreeFlags, LockFreeTree, LockedBits, LockedFlags, LockedTree, Magazine,
};
use sateen_sync::spin::{NoAtomics, OsMutex, Ttas, TtasAdaptiveFutex};

/// Shows `visitor` every strategy, those with a lock with some of our locks.
pub(crate) fn visit_pools(visitor: &mut impl PoolVisitor) {
    visitor.visit::<Raw<Global>>("global");
    visitor.visit::<Raw<LockFreeFlags>>("lock-free-flags");
    visitor.visit::<Raw<LockedFlags<TtasAdaptiveFutex>>>("locked-flags-ttas-adaptive-futex");
    visitor.visit::<Raw<LockedBits<TtasAdaptiveFutex>>>("locked-bits-ttas-adaptive-futex");
    visitor.visit::<Raw<LockedTree<TtasAdaptiveFutex>>>("locked-tree-ttas-adaptive-futex");
    // The lock matters alike to the three: the others with one of them.
    visitor.visit::<Raw<LockedBits<Ttas>>>("locked-bits-ttas");
    visitor.visit::<Raw<LockedBits<OsMutex>>>("locked-bits-os-mutex");
    visitor.visit::<Raw<LockFreeTree>>("lock-free-tree");
    visitor.visit::<Raw<Magazine>>("magazine");
}

/// The same strategies with a probe that counts. What is counted does not depend on the lock.
pub(crate) fn visit_counting_pools(visitor: &mut impl PoolVisitor) {
    visitor.visit::<Raw<LockFreeFlags<Count>>>("lock-free-flags");
    visitor.visit::<Raw<LockedFlags<TtasAdaptiveFutex, Count>>>("locked-flags");
    visitor.visit::<Raw<LockedBits<TtasAdaptiveFutex, Count>>>("locked-bits");
    visitor.visit::<Raw<LockedTree<TtasAdaptiveFutex, Count>>>("locked-tree");
    visitor.visit::<Raw<LockFreeTree<Count>>>("lock-free-tree");
    visitor.visit::<Raw<Magazine<Count>>>("magazine");
}

/// Shows `visitor` every strategy for one thread: without atomics where there is such a form.
pub(crate) fn visit_lone_pools(visitor: &mut impl LonePoolVisitor) {
    visitor.visit::<Raw<Global>>("global");
    visitor.visit::<Raw<LockFreeFlags>>("lock-free-flags");
    visitor.visit::<Raw<LockedFlags<NoAtomics>>>("locked-flags-no-atomics");
    visitor.visit::<Raw<LockedBits<NoAtomics>>>("locked-bits-no-atomics");
    visitor.visit::<Raw<LockedTree<NoAtomics>>>("locked-tree-no-atomics");
    visitor.visit::<Raw<LockFreeTree>>("lock-free-tree");
    visitor.visit::<Raw<Magazine>>("magazine");
}
