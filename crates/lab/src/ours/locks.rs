//! Our locks: the mutexes, and the spinlock family.

use crate::adapter::LockKind;
use lock_api::RawMutex;
use sateen::sync::spin::SpinConfig;
use sateen::sync::{self, local};
use std::marker::PhantomData;

/// The spinlocks, those too that no user would choose.
pub(crate) mod spin {
    pub(crate) use crate::exhibits::spin::{Kernel, OsMutex, Ticket, TtasAdaptive, TtasFutex};
    pub(crate) use sateen::sync::spin::{Mcs, NoAtomics, Ttas, TtasAdaptiveFutex};
}

/// Names a raw lock in identities.
pub(crate) trait RawKind: RawMutex + 'static {
    const NAME: &'static str;
    /// Whether the lock stays on one thread.
    const LOCAL: bool = false;
}

/// For each raw lock: its name, and the kind of lock that it makes.
macro_rules! names {
    ($($kind:ident $(<$c:ident>)? = $name:literal $(LOCAL = $local:literal)?;)*) => {
        $(
            impl$(<$c: SpinConfig>)? RawKind for spin::$kind$(<$c>)? {
                const NAME: &'static str = $name;
                $(const LOCAL: bool = $local;)?
            }

            pub(crate) type $kind = Raw<spin::$kind>;
        )*

        /// Names of our locks in identities. `lock-free` is the scheduler's queue, which needs no
        /// lock.
        pub(super) const NAMES: &[&str] =
            &[Mutex::NAME, LocalMutex::NAME, RwLock::NAME, LOCK_FREE, $($name),*];
    };
}

names! {
    Ttas<C> = "ttas";
    TtasAdaptive = "ttas-adaptive";
    TtasFutex = "ttas-futex";
    TtasAdaptiveFutex<C> = "ttas-adaptive-futex";
    Ticket = "ticket";
    Mcs<C> = "mcs";
    OsMutex = "os-mutex";
    Kernel = "kernel";
    NoAtomics = "no-atomics" LOCAL = true;
}

/// Name of work sharing as it is by default, in identities.
pub(crate) const LOCK_FREE: &str = "lock-free";

/// A raw lock of kind `K` around its value.
pub(crate) struct Raw<K>(PhantomData<K>);

impl<K: RawKind> LockKind for Raw<K> {
    const NAME: &'static str = K::NAME;
    const LOCAL: bool = K::LOCAL;
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
pub(crate) struct Mutex;

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
pub(crate) struct RwLock;

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
pub(crate) struct LocalMutex;

impl LockKind for LocalMutex {
    const NAME: &'static str = "mutex-local";
    const LOCAL: bool = true;
    type Of<T: Send> = local::Mutex<T>;

    fn new<T: Send>(value: T) -> Self::Of<T> {
        local::Mutex::new(value)
    }

    #[inline(always)]
    fn with<T: Send, R>(lock: &Self::Of<T>, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut lock.lock())
    }
}
