//! Types that only give values out stay covariant: such a type can stand for one with a shorter
//! lifetime. (Types that must be invariant are tested in `src/variance.rs`.)
#![cfg(not(loom))]

use sateen_sync::timer::{Timeout, Timer, TimerQueue};
use sateen_sync::wait_queue::Waiter;
use sateen_sync::{
    Acquire, AutoEventWait, BarrierWait, EventWait, MappedReentrantMutexGuard,
    MappedRwLockReadGuard, SemaphoreGuard,
};

/// Declares that each type with `'static` can stand for the same type with `'a`.
macro_rules! shortens {
    ($($name:ident: $long:ty => $short:ty;)*) => { $(
        #[test]
        fn $name() {
            fn shorter<'a>(it: $long) -> $short {
                it
            }
            let _: fn($long) -> $long = shorter;
        }
    )* };
}

shortens! {
    waiter: Waiter<'static> => Waiter<'a>;
    event_wait: EventWait<'static> => EventWait<'a>;
    auto_event_wait: AutoEventWait<'static> => AutoEventWait<'a>;
    barrier_wait: BarrierWait<'static> => BarrierWait<'a>;
    acquire: Acquire<'static> => Acquire<'a>;
    semaphore_guard: SemaphoreGuard<'static> => SemaphoreGuard<'a>;
    timer: Timer<&'static TimerQueue> => Timer<&'a TimerQueue>;
    timeout: Timeout<&'static u8> => Timeout<&'a u8>;
    read_part: MappedRwLockReadGuard<'static, &'static str> => MappedRwLockReadGuard<'a, &'a str>;
    reentrant_part: MappedReentrantMutexGuard<'static, &'static str>
        => MappedReentrantMutexGuard<'a, &'a str>;
}

/// What is shared needs `Sync` where it is read through a shared reference, else `Send` alone.
mod auto_traits {
    use sateen_sync::{
        Lazy, MappedMutexGuard, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard,
        RwLockWriteGuard, oneshot,
    };

    sateen_testkit::auto_traits! {
        Sender<T>: Send if Send, Sync if Send = oneshot::Sender<T>;
        Receiver<T>: Send if Send, Sync if Send = oneshot::Receiver<T>;
        SharedReceiver<T>: Send if Both, Sync if Both = oneshot::SharedReceiver<T>;
        OnceLockOf<T>: Send if Send, Sync if Both = OnceLock<T>;
        LazyOf<T>: Send if Send, Sync if Both = Lazy<T, fn() -> u8>;
        MutexOf<T>: Send if Send, Sync if Send = Mutex<T>;
        MutexGuardOf<T>: Send if Send, Sync if Both = MutexGuard<'static, T>;
        MappedMutexGuardOf<T>: Send if Send, Sync if Sync = MappedMutexGuard<'static, T>;
        RwLockOf<T>: Send if Send, Sync if Both = RwLock<T>;
        RwLockReadGuardOf<T>: Send if Both, Sync if Sync = RwLockReadGuard<'static, T>;
        RwLockWriteGuardOf<T>: Send if Both, Sync if Sync = RwLockWriteGuard<'static, T>;
    }
}
