//! Our locks: the mutexes, and the spinlock family.

use crate::adapter::{LockKind, LockVisitor};
use lock_api::RawMutex;
use sateen::sync::spin::{
    Kernel, Mcs, NoAtomics, OsMutex, SpinConfig, Ticket, Ttas, TtasAdaptive, TtasAdaptiveFutex,
    TtasFutex,
};
use sateen::sync::{self, local};
use std::marker::PhantomData;

/// Names a raw lock in identities.
pub(crate) trait RawKind: RawMutex + 'static {
    const NAME: &'static str;
}

macro_rules! names {
    ($($kind:ident $(<$c:ident>)? = $name:literal;)*) => {
        $(impl$(<$c: SpinConfig>)? RawKind for $kind$(<$c>)? {
            const NAME: &'static str = $name;
        })*
        /// Names of our locks in identities; `lock-free` is the scheduler's queue that needs none.
        pub(crate) const NAMES: &[&str] = &[Mutex::NAME, LocalMutex::NAME, RwLock::NAME, LOCK_FREE, $($name),*];
    };
}

names! {
    Ttas<C> = "ttas";
    TtasAdaptive<C> = "ttas-adaptive";
    TtasFutex<C> = "ttas-futex";
    TtasAdaptiveFutex<C> = "ttas-adaptive-futex";
    Ticket<C> = "ticket";
    Mcs<C> = "mcs";
    OsMutex = "os-mutex";
    Kernel = "kernel";
    NoAtomics = "no-atomics";
}

/// Work sharing as it is by default, in identities.
pub(crate) const LOCK_FREE: &str = "lock-free";

/// Does something with each raw lock that threads can share.
pub(crate) trait RawVisitor {
    fn visit<K: RawKind + Send + Sync>(&mut self);
}

/// Shows `visitor` the family.
pub(crate) fn visit_raw(visitor: &mut impl RawVisitor) {
    visitor.visit::<Ttas>();
    visitor.visit::<TtasAdaptive>();
    visitor.visit::<TtasFutex>();
    visitor.visit::<TtasAdaptiveFutex>();
    visitor.visit::<Ticket>();
    visitor.visit::<Mcs>();
    visitor.visit::<OsMutex>();
    visitor.visit::<Kernel>();
}

/// Shows `visitor` all kinds.
pub(super) fn visit(visitor: &mut impl LockVisitor) {
    struct Raws<'a, V>(&'a mut V);
    impl<V: LockVisitor> RawVisitor for Raws<'_, V> {
        fn visit<K: RawKind + Send + Sync>(&mut self) {
            self.0.visit::<Raw<K>>();
        }
    }
    visitor.visit::<Mutex>();
    visitor.visit_local::<LocalMutex>();
    visit_raw(&mut Raws(visitor));
    visitor.visit_local::<Raw<NoAtomics>>();
}

/// A raw lock of kind `K` around its value.
pub(crate) struct Raw<K>(PhantomData<K>);

impl<K: RawKind> LockKind for Raw<K> {
    const NAME: &'static str = K::NAME;
    type Of<T: Send> = lock_api::Mutex<K, T>;

    fn new<T: Send>(value: T) -> Self::Of<T> {
        lock_api::Mutex::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &Self::Of<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock())
    }
}

/// The mutex for threads, fibers and futures.
struct Mutex;

impl LockKind for Mutex {
    const NAME: &'static str = "mutex";
    type Of<T: Send> = sync::Mutex<T>;

    fn new<T: Send>(value: T) -> Self::Of<T> {
        sync::Mutex::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &Self::Of<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock())
    }
}

/// The reader-writer lock for threads, fibers and futures.
pub(super) struct RwLock;

impl LockKind for RwLock {
    const NAME: &'static str = "rwlock";
    type Of<T: Send> = sync::RwLock<T>;

    fn new<T: Send>(value: T) -> Self::Of<T> {
        sync::RwLock::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &Self::Of<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.write())
    }

    #[inline(always)]
    fn read<T: Send + Sync, R>(lock: &Self::Of<T>, f: impl FnOnce(&T) -> R) -> R {
        f(&lock.read())
    }
}

/// The mutex for the fibers of one thread: no atomics.
struct LocalMutex;

impl LockKind for LocalMutex {
    const NAME: &'static str = "mutex-local";
    type Of<T: Send> = local::Mutex<T>;

    fn new<T: Send>(value: T) -> Self::Of<T> {
        local::Mutex::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &Self::Of<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock())
    }
}
