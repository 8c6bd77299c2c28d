//! Locks around a value.

use crate::experiments::lock::Counter;
use std::collections::LinkedList;

/// A kind of lock.
pub(crate) trait LockKind: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// The lock around a value.
    type Of<T: Send>;

    fn new<T: Send>(value: T) -> Self::Of<T>;

    /// Takes the lock, calls `f`, gives it back.
    fn with<T: Send, R>(lock: &Self::Of<T>, f: impl FnOnce(&mut T) -> R) -> R;

    /// The same, beside other readers if the kind lets them in.
    #[inline(always)]
    fn read<T: Send + Sync, R>(lock: &Self::Of<T>, f: impl FnOnce(&T) -> R) -> R {
        Self::with(lock, |value| f(value))
    }
}

/// A kind that threads can share.
pub(crate) trait SharedLockKind:
    LockKind<Of<Counter>: Send + Sync>
    + LockKind<Of<LinkedList<u64>>: Send + Sync>
    + LockKind<Of<u64>: Send + Sync>
{
}

impl<L: LockKind> SharedLockKind for L where
    L: LockKind<Of<Counter>: Send + Sync>
        + LockKind<Of<LinkedList<u64>>: Send + Sync>
        + LockKind<Of<u64>: Send + Sync>
{
}

/// Shows `visitor` our reader-writer lock and, if asked, the peers.
pub(crate) fn visit_read_write(peers: bool, visitor: &mut impl LockVisitor) {
    crate::ours::visit_read_write(visitor);
    if peers {
        crate::peers::visit_read_write(visitor);
    }
}

/// Does something with each kind of lock.
pub(crate) trait LockVisitor {
    fn visit<L: SharedLockKind>(&mut self);

    /// For kinds without atomics, which stay on their thread.
    fn visit_local<L: LockKind>(&mut self) {}
}

/// Shows `visitor` our kinds and, if asked, the peers.
pub(crate) fn visit_locks(peers: bool, visitor: &mut impl LockVisitor) {
    crate::ours::visit_locks(visitor);
    if peers {
        crate::peers::visit_locks(visitor);
    }
}
