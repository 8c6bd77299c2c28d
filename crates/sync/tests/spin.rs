//! The spinlock family: exclusion, conservation and panics, for every kind alike.
#![cfg(not(loom))]

use lock_api::RawMutex;
use sateen_base::XorShift;
use sateen_sync::spin::{Limits, Mcs, Mutex, NoAtomics, OneCore, Ttas, TtasAdaptiveFutex};
use sateen_testkit::sized;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Two numbers have a sum that never changes if one section runs at a time. Some sections move an
/// amount, put it back and then panic.
fn conserves<K: RawMutex + Send + Sync>(threads: usize, sections: usize) {
    let accounts = Mutex::<K, _>::new((1_000_000usize, 0usize));
    let inside = AtomicUsize::new(0);
    let moved = AtomicUsize::new(0);
    let section = |rng: &mut XorShift, (from, to): &mut (usize, usize)| {
        assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two at a time");
        assert_eq!(*from + *to, 1_000_000);
        *from -= 1;
        for _ in 0..rng.below(8) {
            std::hint::spin_loop();
        }
        *to += 1;
        moved.fetch_add(1, Ordering::Relaxed);
        inside.fetch_sub(1, Ordering::Relaxed);
        if rng.below(256) == 0 {
            std::panic::resume_unwind(Box::new(()));
        }
    };
    std::thread::scope(|s| {
        for thread in 0..threads {
            let (accounts, section) = (&accounts, &section);
            s.spawn(move || {
                let mut rng = XorShift::new(thread as u64);
                for _ in 0..sections / threads {
                    let locked = || {
                        if rng.below(8) != 0 {
                            section(&mut rng, &mut accounts.lock());
                        } else if let Some(mut locked) = accounts.try_lock() {
                            section(&mut rng, &mut locked);
                        }
                    };
                    let _ = catch_unwind(AssertUnwindSafe(locked));
                }
            });
        }
    });
    let (_, to) = *accounts.try_lock().expect("nobody is left");
    assert_eq!(to, moved.load(Ordering::Relaxed));
}

fn holds_and_refuses<K: RawMutex>() {
    let lock = Mutex::<K, _>::new(7);
    let held = lock.lock();
    assert!(lock.is_locked());
    assert!(lock.try_lock().is_none());
    drop(held);
    assert!(!lock.is_locked());
    // Counters wrap around, and nodes are used again.
    for _ in 0..10 {
        drop(lock.try_lock().expect("free"));
        drop(lock.lock());
    }
    // A lock that stays locked can be dropped.
    std::mem::forget(lock.lock());
    assert!(lock.try_lock().is_none());
}

fn all<K: RawMutex + Send + Sync>(sections: usize) {
    holds_and_refuses::<K>();
    for threads in [1, 2, 8] {
        conserves::<K>(threads, sized(sections));
    }
}

macro_rules! kinds {
    ($($name:ident: $kind:ty, $sections:literal;)*) => { $(
        #[test]
        fn $name() {
            all::<$kind>($sections);
        }
    )* };
}

kinds! {
    ttas: Ttas, 100_000;
    ttas_adaptive_futex: TtasAdaptiveFutex, 100_000;
    mcs: Mcs, 10_000;
    one_core_ttas: Ttas<OneCore>, 100_000;
    one_core_adaptive_futex: TtasAdaptiveFutex<OneCore>, 100_000;
    impatient_adaptive_futex: TtasAdaptiveFutex<Limits<0, 16>>, 100_000;
    impatient_mcs: Mcs<Limits<0, 0>>, 10_000;
}

#[test]
fn no_atomics() {
    holds_and_refuses::<NoAtomics>();
    let lock = Mutex::<NoAtomics, _>::new(1);
    let held = lock.lock();
    assert!(lock.try_lock().is_none());
    drop(held);
    *lock.lock() += 1;
    assert_eq!(lock.into_inner(), 2);
}

/// A guard may go to another thread if its kind says so.
#[test]
fn unlocked_by_another_thread() {
    fn travels<K: RawMutex<GuardMarker = lock_api::GuardSend> + Send + Sync>() {
        let lock = Mutex::<K, _>::new(0);
        for _ in 0..10 {
            let guard = lock.lock();
            std::thread::scope(|s| {
                let waiter = s.spawn(|| *lock.lock() += 1);
                s.spawn(move || drop(guard));
                waiter.join().unwrap();
            });
        }
        assert_eq!(lock.into_inner(), 10);
    }
    travels::<Ttas>();
    travels::<TtasAdaptiveFutex>();
    travels::<Mcs>();
}

#[test]
fn const_and_debug() {
    static LOCK: Mutex<TtasAdaptiveFutex, u32> = Mutex::new(1);
    assert_eq!(*LOCK.lock(), 1);
    assert_eq!(format!("{:?}", Ttas::<OneCore>::new()), "Ttas { locked: false, .. }");
}
