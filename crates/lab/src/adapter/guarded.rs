//! Locks around a value: mutexes of any kind, and reader-writer locks.

use lock_api::RawMutex;

/// A value that threads take turns at.
pub(crate) trait Guarded<T>: Send + Sync + 'static {
    /// Third part of the identity.
    const NAME: &'static str;

    /// A lock around `value`.
    fn new(value: T) -> Self;

    /// Calls `f` with the value, alone.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;

    /// Calls `f` with the value, beside others that only read if the lock can do that.
    #[inline(always)]
    fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        self.with(|value| f(value))
    }
}

/// A kind of raw lock; [`lock_api::Mutex`] makes it [`Guarded`].
pub(crate) trait Kind: RawMutex + Send + Sync + 'static {
    /// Third part of the identity.
    const NAME: &'static str;
}

impl<K: Kind, T: Send + 'static> Guarded<T> for lock_api::Mutex<K, T> {
    const NAME: &'static str = K::NAME;

    fn new(value: T) -> Self {
        Self::new(value)
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock())
    }
}

/// Does something with each lock.
pub(crate) trait GuardedVisitor<T> {
    fn visit<G: Guarded<T>>(&mut self);
}

/// What the locks of a visit have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// They spin and never sleep.
    Spinning,
    /// They spin a while, then sleep in the kernel.
    Adaptive,
    /// They sleep in the kernel at once.
    Kernel,
    /// Readers share them.
    ReadWrite,
}

/// Shows `visitor` our locks of `family` and, if asked, the peers'.
pub(crate) fn visit_guarded<T: Send + Sync + 'static>(
    family: Family,
    peers: bool,
    visitor: &mut impl GuardedVisitor<T>,
) {
    crate::ours::visit_guarded(family, visitor);
    if peers {
        crate::peers::visit_guarded(family, visitor);
    }
}
