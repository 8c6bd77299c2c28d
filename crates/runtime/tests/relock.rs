//! A guard that gives its lock away for a while holds the lock again afterwards, whatever happens
//! in between.

mod common;

use common::with_runtime;
use sateen_runtime::{JoinHandle, Runtime, yield_now};
use sateen_sync::lock_api;
use sateen_sync::{
    Condvar, Event, Mutex, MutexGuard, RawMutex, ReentrantMutex, ReentrantMutexGuard, RwLock,
    RwLockReadGuard, RwLockUpgradableReadGuard, RwLockWriteGuard, park,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// How the task with the guard and the thread that wants its lock talk to each other.
#[derive(Default)]
struct Talk {
    /// The guard's lock is free to take.
    free: Event,
    /// The thread has the lock, or had it.
    taken: Event,
    /// The thread has the lock now.
    held: AtomicBool,
}

impl Talk {
    /// Called in the task. Runs `give`, which gives the lock away and takes it back, until the
    /// thread has had the lock. Returns whether the task came back while the thread still had it.
    fn give_away(&self, mut give: impl FnMut(&dyn Fn())) -> bool {
        loop {
            let meanwhile = || {
                self.free.set();
                park::uninterrupted(|| self.taken.wait());
            };
            drop(catch_unwind(AssertUnwindSafe(|| give(&meanwhile))));
            if self.held.load(SeqCst) {
                return true;
            }
            if self.taken.is_set() {
                return false;
            }
            park::uninterrupted(yield_now);
        }
    }

    /// Called in the thread. Takes the lock, cancels the task, which wants it back, and gives the
    /// lock up again.
    fn take_from<G>(&self, rt: &Runtime, task: &JoinHandle<bool>, lock: impl FnOnce() -> G) {
        self.free.wait();
        let guard = lock();
        self.held.store(true, SeqCst);
        self.taken.set();
        turns(rt);
        task.cancel();
        turns(rt);
        self.held.store(false, SeqCst);
        drop(guard);
    }
}

/// Lets the only worker run all work that can run.
fn turns(rt: &Runtime) {
    rt.install(|| (0..100).for_each(|_| yield_now()));
}

/// A task runs `$give` with its guard and a closure for the time between. A thread takes the lock
/// by `$take`.
macro_rules! keeps_its_lock {
    ($($name:ident: $lock:expr, $guard:ident, $take:ident, $give:expr;)*) => { $(
        #[test]
        fn $name() {
            with_runtime(1, |rt| {
                let (lock, talk) = (Arc::new($lock), Arc::new(Talk::default()));
                let task = rt.spawn({
                    let (lock, talk) = (lock.clone(), talk.clone());
                    move || {
                        let mut guard = lock.$guard();
                        let early = talk.give_away(|meanwhile| ($give)(&mut guard, meanwhile));
                        // A guard without its lock must not give the lock back.
                        if early {
                            std::mem::forget(guard);
                        }
                        early
                    }
                });
                talk.take_from(rt, &task, || lock.$take());
                assert!(!task.join().expect("it ends by itself"), "a guard without its lock");
                drop(lock.try_lock_now().expect("nobody has it any more"));
            });
        }
    )* };
}

/// The strongest lock there is, taken only if it is free at once.
trait TryLockNow {
    type Guard<'a>
    where
        Self: 'a;
    fn try_lock_now(&self) -> Option<Self::Guard<'_>>;
}

impl TryLockNow for Mutex<()> {
    type Guard<'a> = MutexGuard<'a, ()>;
    fn try_lock_now(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl<R: lock_api::RawMutex> TryLockNow for lock_api::Mutex<R, ()> {
    type Guard<'a>
        = lock_api::MutexGuard<'a, R, ()>
    where
        R: 'a;
    fn try_lock_now(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

impl TryLockNow for RwLock<()> {
    type Guard<'a> = RwLockWriteGuard<'a, ()>;
    fn try_lock_now(&self) -> Option<Self::Guard<'_>> {
        self.try_write()
    }
}

impl TryLockNow for ReentrantMutex<()> {
    type Guard<'a> = ReentrantMutexGuard<'a, ()>;
    fn try_lock_now(&self) -> Option<Self::Guard<'_>> {
        self.try_lock()
    }
}

type RawLocked = lock_api::Mutex<RawMutex, ()>;
type RawGuard<'a> = lock_api::MutexGuard<'a, RawMutex, ()>;

keeps_its_lock! {
    mutex_unlocked: Mutex::new(()), lock, lock,
        |guard: &mut MutexGuard<'_, ()>, f: &dyn Fn()| MutexGuard::unlocked(guard, f);
    mutex_unlocked_fair: Mutex::new(()), lock, lock,
        |guard: &mut MutexGuard<'_, ()>, f: &dyn Fn()| MutexGuard::unlocked_fair(guard, f);
    mutex_unlocked_by_a_panic: Mutex::new(()), lock, lock,
        |guard: &mut MutexGuard<'_, ()>, f: &dyn Fn()| MutexGuard::unlocked(guard, || {
            f();
            panic!("while unlocked")
        });
    raw_mutex_unlocked: RawLocked::new(()), lock, lock,
        |guard: &mut RawGuard<'_>, f: &dyn Fn()| RawGuard::unlocked(guard, f);
    raw_mutex_unlocked_fair: RawLocked::new(()), lock, lock,
        |guard: &mut RawGuard<'_>, f: &dyn Fn()| RawGuard::unlocked_fair(guard, f);
    write_unlocked: RwLock::new(()), write, write,
        |guard: &mut RwLockWriteGuard<'_, ()>, f: &dyn Fn()| RwLockWriteGuard::unlocked(guard, f);
    write_unlocked_fair: RwLock::new(()), write, write,
        |guard: &mut RwLockWriteGuard<'_, ()>, f: &dyn Fn()|
            RwLockWriteGuard::unlocked_fair(guard, f);
    write_unlocked_for_a_reader: RwLock::new(()), write, read,
        |guard: &mut RwLockWriteGuard<'_, ()>, f: &dyn Fn()| RwLockWriteGuard::unlocked(guard, f);
    read_unlocked: RwLock::new(()), read, write,
        |guard: &mut RwLockReadGuard<'_, ()>, f: &dyn Fn()| RwLockReadGuard::unlocked(guard, f);
    upgradable_unlocked: RwLock::new(()), upgradable_read, write,
        |guard: &mut RwLockUpgradableReadGuard<'_, ()>, f: &dyn Fn()|
            RwLockUpgradableReadGuard::unlocked(guard, f);
    reentrant_unlocked: ReentrantMutex::new(()), lock, lock,
        |guard: &mut ReentrantMutexGuard<'_, ()>, f: &dyn Fn()|
            ReentrantMutexGuard::unlocked(guard, f);
}

/// As above, where the guard itself decides when the thread gets the lock.
macro_rules! bumps_and_keeps_its_lock {
    ($($name:ident: $lock:expr, $guard:ident, $take:ident, $type:ident;)*) => { $(
        #[test]
        fn $name() {
            with_runtime(1, |rt| {
                let (lock, talk) = (Arc::new($lock), Arc::new(Talk::default()));
                let task = rt.spawn({
                    let (lock, talk) = (lock.clone(), talk.clone());
                    move || {
                        let mut guard = lock.$guard();
                        talk.free.set();
                        let early = talk.give_away(|_| $type::bump(&mut guard));
                        if early {
                            std::mem::forget(guard);
                        }
                        early
                    }
                });
                talk.take_from(rt, &task, || lock.$take());
                assert!(!task.join().expect("it ends by itself"), "a guard without its lock");
                drop(lock.try_lock_now().expect("nobody has it any more"));
            });
        }
    )* };
}

bumps_and_keeps_its_lock! {
    mutex_bump: Mutex::new(()), lock, lock, MutexGuard;
    raw_mutex_bump: RawLocked::new(()), lock, lock, RawGuard;
    write_bump: RwLock::new(()), write, write, RwLockWriteGuard;
    read_bump: RwLock::new(()), read, write, RwLockReadGuard;
    upgradable_bump: RwLock::new(()), upgradable_read, write, RwLockUpgradableReadGuard;
    reentrant_bump: ReentrantMutex::new(()), lock, lock, ReentrantMutexGuard;
}

/// The wait itself is interrupted. Locking again afterwards is not.
#[test]
fn condvar_wait() {
    with_runtime(1, |rt| {
        let (lock, changed) = (Arc::new(Mutex::new(())), Arc::new(Condvar::new()));
        let talk = Arc::new(Talk::default());
        let task = rt.spawn({
            let (lock, changed, talk) = (lock.clone(), changed.clone(), talk.clone());
            move || {
                let mut guard = lock.lock();
                talk.free.set();
                let wait = catch_unwind(AssertUnwindSafe(|| changed.wait(&mut guard)));
                assert!(wait.is_err(), "nobody notifies");
                let early = talk.held.load(SeqCst);
                if early {
                    std::mem::forget(guard);
                }
                early
            }
        });
        talk.take_from(rt, &task, || lock.lock());
        assert!(!task.join().expect("it ends by itself"), "a guard without its lock");
        drop(lock.try_lock().expect("nobody has it any more"));
    });
}

/// A cancelled upgrade leaves the guard as it was.
#[test]
fn upgrade_that_is_cancelled() {
    with_runtime(1, |rt| {
        let lock = Arc::new(RwLock::new(()));
        let (reader, wants) = (lock.read(), Arc::new(Event::new()));
        let task = rt.spawn({
            let (lock, wants) = (lock.clone(), wants.clone());
            move || {
                let guard = lock.upgradable_read();
                wants.set();
                drop(RwLockUpgradableReadGuard::upgrade(guard));
            }
        });
        wants.wait();
        turns(rt);
        task.cancel();
        turns(rt);
        drop(reader);
        drop(task.join());
        drop(lock.try_write().expect("nobody has it any more"));
    });
}
