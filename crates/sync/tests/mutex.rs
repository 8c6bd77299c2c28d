//! The mutex: exclusion, waiting in every way, fairness, and foreign code in wakers.
#![cfg(not(loom))]

mod common;

use common::{InlineTask, block_on};
use sateen_base::XorShift;
use sateen_sync::{Lock, Mutex, MutexGuard, RawMutex};
use sateen_testkit::{Counter, Hooks, poll, poll_with, sized, waker_fn};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

#[test]
fn the_usual_traits() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Mutex<Cell<u8>>>();
    sync::<Mutex<Cell<u8>>>();
    send::<MutexGuard<'_, Cell<u8>>>();
    sync::<MutexGuard<'_, u8>>();
    send::<Lock<'_, Cell<u8>>>();

    let mutex = Mutex::from(1);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 1 }");
    let guard = mutex.lock();
    assert_eq!(format!("{guard:?} {guard} {mutex:?}"), "1 1 Mutex { data: <locked> }");
    assert!(mutex.is_locked());
    drop(guard);
    assert!(!mutex.is_locked());
    assert_eq!(Mutex::<String>::default().into_inner(), "");

    let unsized_value: Box<Mutex<[i32]>> = Box::new(Mutex::new([1, 2, 3]));
    unsized_value.lock()[1] = 5;
    assert_eq!(unsized_value.lock().iter().sum::<i32>(), 9);
}

#[test]
fn a_panic_unlocks_and_does_not_poison() {
    let mutex = Mutex::new(1);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut guard = mutex.lock();
        *guard = 2;
        panic!("under the lock");
    }));
    assert!(panicked.is_err());
    assert_eq!(*mutex.lock(), 2);
}

#[test]
fn a_guard_may_be_dropped_elsewhere() {
    let mutex = Mutex::new(0);
    let guard = mutex.lock();
    thread::scope(|s| {
        s.spawn(move || drop(guard));
        *mutex.lock() += 1;
    });
    assert_eq!(mutex.into_inner(), 1);
}

#[test]
fn works_as_a_raw_mutex() {
    let mutex = lock_api::Mutex::<RawMutex, _>::new(0);
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| (0..sized(1_000)).for_each(|_| *mutex.lock() += 1));
        }
    });
    assert!(!mutex.is_locked());
    assert_eq!(mutex.into_inner(), 4 * sized(1_000));
}

#[test]
fn stress_all_ways_to_lock() {
    const TURNS: usize = sized(5_000);
    let mutex = Mutex::new(0usize);
    let turns = AtomicUsize::new(0);
    thread::scope(|s| {
        for seed in 0..8 {
            let (mutex, turns) = (&mutex, &turns);
            s.spawn(move || {
                let mut rng = XorShift::new(seed + 1);
                for _ in 0..TURNS {
                    let mut guard = match rng.below(4) {
                        0 => mutex.lock(),
                        1 => block_on(mutex.lock_async()),
                        2 => match mutex.try_lock() {
                            Some(guard) => guard,
                            None => continue,
                        },
                        // A future is given up while it is queued, or just when it is woken.
                        _ => {
                            let mut lock = Box::pin(mutex.lock_async());
                            if poll(lock.as_mut()).is_pending() {
                                (0..rng.below(3)).for_each(|_| thread::yield_now());
                            }
                            continue;
                        }
                    };
                    let before = *guard;
                    if rng.below(16) == 0 {
                        thread::yield_now();
                    }
                    *guard = before + 1;
                    turns.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(*mutex.try_lock().expect("free"), turns.into_inner());
}

/// One woken waiter is on its way at a time. Until it arrives, further unlocks wake no other.
#[test]
fn one_waiter_is_woken_at_a_time() {
    let mutex = Mutex::new(());
    let ((a, a_waker), (b, b_waker)) = (Counter::new(), Counter::new());
    let guard = mutex.lock();
    let (mut first, mut second) = (Box::pin(mutex.lock_async()), Box::pin(mutex.lock_async()));
    assert!(poll_with(first.as_mut(), &a_waker).is_pending());
    assert!(poll_with(second.as_mut(), &b_waker).is_pending());
    drop(guard);
    for _ in 0..3 {
        drop(mutex.lock());
    }
    assert_eq!((a.get(), b.get()), (1, 0));
    // The woken waiter arrives, and its unlock wakes the next one.
    assert!(poll_with(first.as_mut(), &a_waker).is_ready());
    assert_eq!((a.get(), b.get()), (1, 1));
    assert!(poll_with(second.as_mut(), &b_waker).is_ready());
}

/// A waiter that keeps losing races in the end bars newcomers, although the lock is free.
#[test]
fn barging_has_an_end() {
    let mutex = Mutex::new(());
    let mut waiter = Box::pin(mutex.lock_async());
    let mut guard = mutex.lock();
    assert!(poll(waiter.as_mut()).is_pending());
    for _ in 0..16 {
        drop(guard);
        guard = mutex.lock();
        assert!(poll(waiter.as_mut()).is_pending());
    }
    drop(guard);
    assert!(!mutex.is_locked());
    let mut newcomer = Box::pin(mutex.lock_async());
    assert!(poll(newcomer.as_mut()).is_pending(), "a newcomer overtook a starved waiter");
    let turn = poll(waiter.as_mut());
    assert!(turn.is_ready(), "the starved waiter may take the lock");
    drop(turn);
    assert!(poll(newcomer.as_mut()).is_ready(), "the bar is lifted");
    assert!(mutex.try_lock().is_some());
}

/// A thread locks again at once, for as long as the test takes. It does not keep another thread
/// out.
#[test]
fn a_hog_does_not_starve_a_thread() {
    let (mutex, served) = (Mutex::new(0u64), AtomicBool::new(false));
    thread::scope(|s| {
        s.spawn(|| {
            while !served.load(SeqCst) {
                let mut guard = mutex.lock();
                for _ in 0..100 {
                    *guard = std::hint::black_box(*guard + 1);
                }
            }
        });
        s.spawn(|| {
            for _ in 0..50 {
                drop(mutex.lock());
            }
            served.store(true, SeqCst);
        });
    });
}

#[test]
fn a_panicking_waker_leaves_the_lock_usable() {
    let mutex = Mutex::new(0);
    let mut waiter = Box::pin(mutex.lock_async());
    let guard = mutex.lock();
    assert!(poll_with(waiter.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(guard))).is_err());
    *mutex.lock() += 1;
    assert!(poll(waiter.as_mut()).is_ready(), "it was notified all the same");
    assert!(mutex.try_lock().is_some());
}

/// A woken waiter joins again, and the clone of its waker panics. Dropping the future lets others
/// in.
#[test]
fn a_panic_while_joining_passes_the_turn_on() {
    let asked = Cell::new(false);
    let hooks = Hooks { on_clone: || assert!(!asked.get(), "clone"), on_drop: || () };
    // SAFETY: the futures that keep clones are dropped before it, on this thread.
    let waker = unsafe { hooks.waker() };
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    let (woken, good) = Counter::new();
    let (mut first, mut second) = (Box::pin(mutex.lock_async()), Box::pin(mutex.lock_async()));
    assert!(poll_with(first.as_mut(), &waker).is_pending());
    assert!(poll_with(second.as_mut(), &good).is_pending());
    drop(guard);
    let guard = mutex.lock();
    asked.set(true);
    let joined = catch_unwind(AssertUnwindSafe(|| poll_with(first.as_mut(), &waker).is_ready()));
    assert!(joined.is_err());
    drop(first);
    assert_eq!(woken.get(), 1);
    drop(guard);
    assert!(poll_with(second.as_mut(), &good).is_ready());
}

/// The unlock polls the tasks that it wakes. They lock, unlock and wait again there.
#[test]
fn wakers_that_poll_inline() {
    let mutex: &'static Mutex<usize> = Box::leak(Box::new(Mutex::new(0)));
    let guard = mutex.lock();
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            InlineTask::start(async move {
                for _ in 0..5 {
                    *mutex.lock_async().await += 1;
                }
            })
        })
        .collect();
    drop(guard);
    assert!(tasks.iter().all(|task| task.is_done()));
    assert_eq!(*mutex.try_lock().expect("free"), 100);
}

/// A waker drops the task whose lock future is being woken. The next waiter is woken instead.
#[test]
fn a_waker_that_drops_its_task() {
    let mutex: &'static Mutex<()> = Box::leak(Box::default());
    let doomed = Arc::new(std::sync::Mutex::new(Some(Box::pin(mutex.lock_async()))));
    let guard = mutex.lock();
    let waker = waker_fn({
        let doomed = doomed.clone();
        move || drop(doomed.lock().unwrap().take())
    });
    assert!(poll_with(doomed.lock().unwrap().as_mut().unwrap().as_mut(), &waker).is_pending());
    let (woken, waker) = Counter::new();
    let mut next = Box::pin(mutex.lock_async());
    assert!(poll_with(next.as_mut(), &waker).is_pending());
    drop(guard);
    assert_eq!(woken.get(), 1);
    assert!(poll(next.as_mut()).is_ready());
    assert!(mutex.try_lock().is_some());
}

/// A thread takes the lock as its last user and frees it, while the previous holder may still be
/// inside its unlock. (This is for checkers of memory errors. Without one, the test must merely not
/// crash.)
#[test]
fn the_last_user_frees_it() {
    struct Shared {
        users: Mutex<usize>,
    }
    struct User(*const Shared);
    // SAFETY: the count under the lock decides which thread frees it.
    unsafe impl Send for User {}
    impl Drop for User {
        fn drop(&mut self) {
            // SAFETY: this user is still counted.
            let mut users = unsafe { (*self.0).users.lock() };
            *users -= 1;
            let last = *users == 0;
            drop(users);
            if last {
                // SAFETY: it was allocated as a box. All others have uncounted themselves under the
                // lock. They touch nothing of it once another thread may have the lock.
                drop(unsafe { Box::from_raw(self.0.cast_mut()) });
            }
        }
    }
    for _ in 0..sized(500) {
        let shared = Box::into_raw(Box::new(Shared { users: Mutex::new(4) }));
        thread::scope(|s| {
            for user in [(); 4].map(|()| User(shared)) {
                s.spawn(move || drop(user));
            }
        });
    }
}
