//! The strategies under a lock. They use the checker's own lock and need no other ordering.
#![cfg(loom)]

mod loom_common;

use lock_api::{GuardSend, RawMutex};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use loom_common::Watched;
use sateen_pool::{LockedBits, LockedFlags, LockedTree, Strategy};
use sateen_testkit::model;
use std::sync::OnceLock;

/// The checker's mutex is made at its first use, because no constant can hold one.
struct Checked(OnceLock<(Mutex<bool>, Condvar)>);

impl Checked {
    fn parts(&self) -> &(Mutex<bool>, Condvar) {
        self.0.get_or_init(|| (Mutex::new(false), Condvar::new()))
    }
}

// SAFETY: the thread that finds the flag clear, under the checker's mutex, holds the lock.
unsafe impl RawMutex for Checked {
    const INIT: Self = Self(OnceLock::new());
    type GuardMarker = GuardSend;

    fn lock(&self) {
        let (held, given) = self.parts();
        let mut held = held.lock().unwrap();
        while *held {
            held = given.wait(held).unwrap();
        }
        *held = true;
    }

    fn try_lock(&self) -> bool {
        !std::mem::replace(&mut *self.parts().0.lock().unwrap(), true)
    }

    unsafe fn unlock(&self) {
        let (held, given) = self.parts();
        *held.lock().unwrap() = false;
        given.notify_one();
    }
}

/// Two threads take the last two blocks, which lie a leaf apart.
fn two_take_and_give<S: Strategy + Send + Sync + 'static>() {
    let pool = Arc::new(Watched::<S>::new(4));
    assert_eq!(pool.rest().len(), 4);
    [0, 2].into_iter().for_each(|block| pool.give(block));
    let other = {
        let pool = pool.clone();
        thread::spawn(move || {
            let block = pool.take().expect("one for each");
            pool.give(block);
        })
    };
    let mine = pool.take().expect("one for each");
    other.join().unwrap();
    pool.give(mine);
    assert_eq!(pool.rest(), [0, 2]);
}

#[test]
fn flags() {
    model(2, two_take_and_give::<LockedFlags<Checked>>);
}

#[test]
fn bits() {
    model(2, two_take_and_give::<LockedBits<Checked>>);
}

#[test]
fn tree() {
    model(2, two_take_and_give::<LockedTree<Checked>>);
}
