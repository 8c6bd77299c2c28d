//! Locks around a value.

use std::collections::LinkedList;

/// The value that the experiments protect by locks.
#[derive(Default)]
pub(crate) struct Counter {
    /// Critical sections so far.
    pub(crate) count: u64,
    /// What the critical sections compute on.
    pub(crate) state: u64,
}

/// A kind of lock.
pub(crate) trait LockKind: 'static {
    /// Third part of the identity.
    const NAME: &'static str;
    /// Whether the lock stays on one thread.
    const LOCAL: bool = false;
    /// The lock around a value of type `T`.
    type Of<T: Send>;

    fn new<T: Send>(value: T) -> Self::Of<T>;

    /// Takes the lock, calls `f`, and releases the lock.
    fn with<T: Send, R>(lock: &Self::Of<T>, f: impl FnOnce(&mut T) -> R) -> R;

    /// As [`with`](Self::with), beside other readers if the kind lets them in.
    #[inline(always)]
    fn read<T: Send + Sync, R>(lock: &Self::Of<T>, f: impl FnOnce(&T) -> R) -> R {
        Self::with(lock, |value| f(value))
    }
}

/// A kind of lock that threads can share.
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
