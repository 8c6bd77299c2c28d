//! A guard stands for a lock that is held, even if a waker panics while the guard unlocks or locks
//! again.
#![cfg(not(loom))]

use sateen_sync::lock_api;
use sateen_sync::spin::NoAtomics;
use sateen_sync::{
    Mutex, MutexGuard, RawMutex, RwLock, RwLockAsync, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};
use sateen_testkit::{poll, poll_with, waker_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::process::Command;
use std::task::Waker;

fn bomb() -> Waker {
    waker_fn(|| panic!("a waker"))
}

fn quietly(f: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(f)));
}

/// A waiter whose waker panics is waiting while `$give` runs with the guard.
macro_rules! still_locked_after {
    ($($name:ident: $guard:ident, $wait:ident, $give:expr;)*) => { $(
        #[test]
        fn $name() {
            let lock = RwLock::new(());
            let mut guard = lock.$guard();
            let mut waiter = pin!(lock.$wait());
            assert!(poll_with(waiter.as_mut(), &bomb()).is_pending());
            quietly(|| ($give)(&mut guard));
            assert!(lock.is_locked() && lock.try_write().is_none(), "a guard without its lock");
            drop(guard);
            let theirs = poll(waiter.as_mut());
            assert!(theirs.is_ready() && lock.is_locked());
            drop(theirs);
            assert!(lock.try_write().is_some());
        }
    )* };
}

still_locked_after! {
    write_unlocked_before_a_writer: write, write_async,
        |guard: &mut RwLockWriteGuard<'_, ()>| RwLockWriteGuard::unlocked(guard, || ());
    write_unlocked_before_a_reader: write, read_async,
        |guard: &mut RwLockWriteGuard<'_, ()>| RwLockWriteGuard::unlocked(guard, || ());
    upgradable_unlocked: upgradable_read, upgradable_read_async,
        |guard: &mut RwLockUpgradableReadGuard<'_, ()>|
            RwLockUpgradableReadGuard::unlocked(guard, || ());
}

/// The waiter bars readers, so it goes first.
#[test]
fn read_unlocked() {
    let lock = RwLock::new(());
    let mut guard = lock.read();
    let mut waiter = Box::pin(lock.write_async());
    assert!(poll_with(waiter.as_mut(), &bomb()).is_pending());
    quietly(|| {
        RwLockReadGuard::unlocked(&mut guard, || assert!(poll(waiter.as_mut()).is_ready()));
    });
    assert!(lock.try_write().is_none(), "a guard without its lock");
    drop(guard);
    assert!(lock.try_write().is_some());
}

#[test]
fn a_downgraded_guard_is_a_readers() {
    let lock = RwLock::new(());
    let guard = lock.write();
    let mut waiter = pin!(lock.write_async());
    assert!(poll_with(waiter.as_mut(), &bomb()).is_pending());
    let guard = RwLockWriteGuard::downgrade(guard);
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    drop(guard);
    assert!(poll(waiter.as_mut()).is_ready());
    assert!(lock.try_write().is_some());
}

#[test]
fn a_guard_downgraded_to_upgradable_is_that() {
    let lock = RwLock::new(());
    let guard = lock.write();
    let mut waiter = pin!(lock.write_async());
    assert!(poll_with(waiter.as_mut(), &bomb()).is_pending());
    let guard = RwLockWriteGuard::downgrade_to_upgradable(guard);
    let guard = RwLockUpgradableReadGuard::downgrade(guard);
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    drop(guard);
    assert!(poll(waiter.as_mut()).is_ready());
    assert!(lock.try_write().is_some());
}

#[test]
fn the_mutexes() {
    let mutex = Mutex::new(());
    let mut guard = mutex.lock();
    let mut waiter = pin!(mutex.lock_async());
    assert!(poll_with(waiter.as_mut(), &bomb()).is_pending());
    quietly(|| MutexGuard::unlocked(&mut guard, || ()));
    assert!(mutex.try_lock().is_none(), "a guard without its lock");
    drop(guard);
    assert!(poll(waiter.as_mut()).is_ready());

    let mutex = lock_api::Mutex::<RawMutex, _>::new(());
    drop(mutex.lock());
    let mut guard = mutex.lock();
    lock_api::MutexGuard::unlocked(&mut guard, || drop(mutex.lock()));
    lock_api::MutexGuard::bump(&mut guard);
    assert!(mutex.try_lock().is_none());
}

/// While the guard is unlocked, another one takes its lock for good. The process cannot go on.
#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn no_atomics_has_no_second_guard() {
    if std::env::var_os("SATEEN_TEST_SECOND_GUARD").is_some() {
        let lock = lock_api::Mutex::<NoAtomics, _>::new(());
        let (mut guard, mut second) = (lock.lock(), None);
        quietly(|| lock_api::MutexGuard::unlocked(&mut guard, || second = Some(lock.lock())));
        println!("two guards: {}", second.is_some());
        return;
    }
    let child = Command::new(std::env::current_exe().expect("its path"))
        .args(["--exact", "no_atomics_has_no_second_guard", "--nocapture"])
        .env("SATEEN_TEST_SECOND_GUARD", "1")
        .output()
        .expect("a child");
    let output = String::from_utf8_lossy(&child.stdout);
    assert!(!child.status.success() && !output.contains("two guards"), "{output}");
}
