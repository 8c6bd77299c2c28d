//! The mutex: time-outs, fairness, guards of parts, and the worst wakers and guards.
#![cfg(not(loom))]

mod common;

use common::{InlineTask, block_on};
use lock_api::{RawMutex as _, RawMutexFair as _, RawMutexTimed as _};
use sateen_base::XorShift;
use sateen_sync::park::{self, Awaited, Blocker, ThreadParker};
use sateen_sync::{MappedMutexGuard, Mutex, MutexGuard, RawMutex};
use sateen_testkit::{Counter, poll, poll_with, sized, waker_fn};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(3);
const LONG: Duration = Duration::from_secs(1_000);

#[test]
fn a_timed_lock_gives_up_in_time() {
    let mutex = Mutex::new(0);
    let guard = mutex.lock();
    let start = Instant::now();
    assert!(mutex.try_lock_for(SHORT).is_none());
    assert!(start.elapsed() >= SHORT);
    assert!(mutex.try_lock_until(start).is_none());
    drop(guard);
    *mutex.try_lock_until(start).expect("free") += 1;
    *mutex.try_lock_for(Duration::MAX).expect("free") += 1;
    // A locker that gave up leaves nothing behind.
    thread::scope(|s| {
        let guard = mutex.lock();
        s.spawn(|| assert!(mutex.try_lock_for(SHORT).is_none())).join().unwrap();
        let waiting = s.spawn(|| *mutex.try_lock_for(LONG).expect("in time") += 1);
        let forever = s.spawn(|| *mutex.try_lock_for(Duration::MAX).expect("in time") += 1);
        drop(guard);
        waiting.join().unwrap();
        forever.join().unwrap();
    });
    assert_eq!(mutex.into_inner(), 4);
}

#[test]
fn the_raw_lock_keeps_the_conventions() {
    let raw = RawMutex::new();
    assert!(raw.try_lock_for(SHORT) && raw.is_locked());
    assert!(!raw.try_lock_until(Instant::now()));
    // SAFETY: the mutex was locked above, and `bump` locks it again.
    unsafe {
        raw.bump();
        raw.unlock_fair();
    }
    assert!(!raw.is_locked());
    let fair = lock_api::Mutex::<RawMutex, u32>::from_raw(RawMutex::fair(), 1);
    *fair.lock() += 1;
    lock_api::MutexGuard::unlock_fair(fair.lock());
    assert_eq!(fair.into_inner(), 2);
}

/// After a fair unlock the first waiter is next. Newcomers queue behind it.
#[test]
fn a_fair_unlock_keeps_the_lock_for_the_first_waiter() {
    for fair in [false, true] {
        let mutex = if fair { Mutex::fair(0) } else { Mutex::new(0) };
        let guard = mutex.lock();
        let mut first = Box::pin(mutex.lock_async());
        let mut second = Box::pin(mutex.lock_async());
        assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
        if fair {
            drop(guard)
        } else {
            MutexGuard::unlock_fair(guard)
        }
        let mut late = Box::pin(mutex.lock_async());
        assert!(poll(late.as_mut()).is_pending(), "a newcomer waits");
        assert_eq!(mutex.try_lock().is_some(), !fair, "trying is barred on fair ones only");
        assert!(poll(second.as_mut()).is_pending());
        // The turn is passed on. The next waiter then bars newcomers.
        drop(first);
        assert_eq!(mutex.try_lock().is_some(), !fair);
        let std::task::Poll::Ready(guard) = poll(second.as_mut()) else { panic!("its turn") };
        drop(guard);
        assert!(poll(late.as_mut()).is_ready());
        assert!(mutex.try_lock().is_some(), "as new");
    }
}

#[test]
fn turns_on_a_fair_mutex_are_in_order() {
    let mutex = Mutex::fair(Vec::new());
    let guard = mutex.lock();
    let mut locks: Vec<_> = (0..20).map(|_| Box::pin(mutex.lock_async())).collect();
    for lock in &mut locks {
        assert!(poll(lock.as_mut()).is_pending());
    }
    drop(guard);
    for (i, lock) in locks.iter_mut().enumerate() {
        block_on(lock.as_mut()).push(i);
    }
    assert!(mutex.lock().iter().copied().eq(0..20));
}

#[test]
fn guards_of_parts() {
    let mutex = Mutex::new((1, [2, 3]));
    assert!(std::ptr::eq(MutexGuard::mutex(&mutex.lock()), &mutex));
    let pair = MutexGuard::map(mutex.lock(), |value| &mut value.1);
    let mut last = MappedMutexGuard::map(pair, |pair| &mut pair[1]);
    *last += 1;
    assert_eq!(format!("{last} {last:?}"), "4 4");
    assert!(mutex.try_lock().is_none());
    let same = MappedMutexGuard::try_map(last, |_| None::<&mut i32>).expect_err("no part");
    assert_eq!(*MappedMutexGuard::try_map(same, |n| Some(n)).expect("a part"), 4);
    assert!(MutexGuard::try_map(mutex.lock(), |_| None::<&mut i32>).is_err());
    let part = MutexGuard::try_map(mutex.lock(), |value| Some(&mut value.0));
    MappedMutexGuard::unlock_fair(part.expect("a part"));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let _ = MutexGuard::map(mutex.lock(), |_| -> &mut i32 { panic!("no part") });
    }));
    assert!(panic.is_err());
    let mut guard = mutex.try_lock().expect("unlocked by the unwinding");
    MutexGuard::unlocked(&mut guard, || mutex.lock().0 += 1);
    MutexGuard::unlocked_fair(&mut guard, || mutex.lock().0 += 1);
    MutexGuard::bump(&mut guard);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        MutexGuard::unlocked(&mut guard, || panic!("while unlocked"));
    }));
    assert!(panic.is_err() && mutex.is_locked(), "locked again");
    assert_eq!(*MutexGuard::leak(guard), (3, [2, 4]));
    assert!(mutex.try_lock().is_none());
    // SAFETY: the guard was leaked, and the reference it gave is no longer used.
    unsafe { mutex.force_unlock() };
    // SAFETY: no thread holds the lock.
    assert_eq!(unsafe { *mutex.data_ptr() }, mutex.into_inner());
}

/// A forgotten guard keeps the mutex locked. A forgotten future costs its memory and, if it is
/// woken, its turn.
#[test]
fn forgotten_guards_and_futures() {
    let mutex: &'static Mutex<i32> = Box::leak(Box::new(Mutex::new(0)));
    let guard = mutex.lock();
    let mut forgotten = Box::pin(mutex.lock_async());
    assert!(poll(forgotten.as_mut()).is_pending());
    std::mem::forget(forgotten);
    drop(guard);
    // The forgotten future waits for ever. Others barge past it, and timed lockers come back.
    *mutex.lock() += 1;
    std::mem::forget(mutex.lock());
    assert!(mutex.try_lock_for(SHORT).is_none());
    assert!(poll(Box::pin(mutex.lock_async()).as_mut()).is_pending());
}

/// Whatever a waker does inside an unlock, the lock is then free or has a rightful holder.
#[test]
fn wakers_that_panic_or_poll_inline_or_drop_their_task() {
    let mutex: &'static Mutex<i32> = Box::leak(Box::new(Mutex::new(0)));
    // The waker panics.
    let guard = mutex.lock();
    let mut lock = Box::pin(mutex.lock_async());
    assert!(poll_with(lock.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(guard))).is_err());
    assert!(poll(lock.as_mut()).is_ready());
    // The waker panics inside `unlocked`. The guard still stands for a lock that is held.
    let mut guard = mutex.lock();
    let mut lock = Box::pin(mutex.lock_async());
    assert!(poll_with(lock.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    let unlocked = catch_unwind(AssertUnwindSafe(|| MutexGuard::unlocked(&mut guard, || ())));
    assert!(unlocked.is_err() && mutex.is_locked());
    drop(lock);
    // The waker polls inline, so the task has its turn within the unlock.
    let task = InlineTask::start(async move { *mutex.lock_async().await += 1 });
    drop(guard);
    assert!(task.is_done());
    assert_eq!(*mutex.lock(), 1);
    // The waker drops the future that was just notified. The turn goes on to the next one.
    type Slot = Arc<std::sync::Mutex<Option<Pin<Box<sateen_sync::Lock<'static, i32>>>>>>;
    let guard = mutex.lock();
    let doomed: Slot = Arc::new(std::sync::Mutex::new(Some(Box::pin(mutex.lock_async()))));
    let waker = waker_fn({
        let doomed = doomed.clone();
        move || drop(doomed.lock().unwrap().take())
    });
    assert!(poll_with(doomed.lock().unwrap().as_mut().unwrap().as_mut(), &waker).is_pending());
    let (next, next_waker) = Counter::new();
    let mut lock = Box::pin(mutex.lock_async());
    assert!(poll_with(lock.as_mut(), &next_waker).is_pending());
    drop(guard);
    assert_eq!(next.get(), 1);
    assert!(poll(lock.as_mut()).is_ready());
}

/// Records what a wait reports about itself, and which context owns it.
struct Reporting {
    parker: Arc<ThreadParker>,
    seen: Cell<Option<(&'static str, usize, u64)>>,
}

// SAFETY: this one context stays on its thread, and nothing unwinds.
unsafe impl Blocker for Reporting {
    fn waker(&self) -> Waker {
        self.parker.clone().into()
    }

    fn park(&self) {
        self.parker.park();
    }

    fn park_until(&self, deadline: Instant) {
        self.parker.park_timeout(deadline.saturating_duration_since(Instant::now()));
    }

    fn waits_for(&self, what: Option<Awaited>) {
        if let Some(what) = what {
            // SAFETY: this is called while the thread waits, on that thread.
            let owner = what.owner().map_or(0, |owner| unsafe { owner(what.place()) });
            self.seen.set(Some((what.kind(), what.address(), owner)));
        }
    }
}

#[test]
fn a_wait_names_the_mutex_and_its_owner() {
    let mutex = Mutex::new(());
    thread::scope(|s| {
        // SAFETY: here and below, this thread has one context.
        let before = unsafe { park::set_context_id(42) };
        let guard = mutex.lock();
        // SAFETY: as above.
        unsafe { park::set_context_id(before) };
        s.spawn(|| {
            let seen = Cell::new(None);
            let blocker: &'static Reporting =
                Box::leak(Box::new(Reporting { parker: Arc::default(), seen }));
            // SAFETY: here and below, no wait is in progress. The previous blocker is put back.
            unsafe { park::install(Some(blocker)) };
            assert!(mutex.try_lock_for(SHORT).is_none());
            // SAFETY: as above.
            unsafe { park::install(None) };
            let (kind, address, owner) = blocker.seen.get().expect("it waited");
            assert_eq!((kind, owner), ("mutex", 42));
            let from = std::ptr::from_ref(&mutex).addr();
            assert!((from..from + size_of_val(&mutex)).contains(&address));
        });
        // The lock is held until the other thread has ended: the scope joins that thread before the
        // guard goes.
        std::mem::forget(guard);
    });
}

/// Lockers give up, poll and drop at random. All sections are counted.
#[test]
fn stress_of_all_kinds() {
    for fair in [false, true] {
        let mutex = if fair { Mutex::fair(0) } else { Mutex::new(0) };
        let done = AtomicUsize::new(0);
        thread::scope(|s| {
            for seed in 1..=8 {
                let (mutex, done) = (&mutex, &done);
                s.spawn(move || {
                    let mut rng = XorShift::new(seed);
                    for _ in 0..sized(1_500) {
                        let guard = match rng.below(6) {
                            0 => Some(mutex.lock()),
                            1 => mutex.try_lock(),
                            2 => mutex.try_lock_for(Duration::from_micros(rng.below(100) as u64)),
                            3 => Some(block_on(mutex.lock_async())),
                            4 => {
                                let mut lock = Box::pin(mutex.lock_async());
                                match poll(lock.as_mut()) {
                                    std::task::Poll::Ready(guard) => Some(guard),
                                    std::task::Poll::Pending => None,
                                }
                            }
                            _ => {
                                let mut guard = mutex.lock();
                                *guard += 1;
                                MutexGuard::bump(&mut guard);
                                MutexGuard::unlock_fair(guard);
                                done.fetch_add(1, SeqCst);
                                None
                            }
                        };
                        if let Some(mut guard) = guard {
                            *guard += 1;
                            done.fetch_add(1, SeqCst);
                        }
                    }
                });
            }
        });
        assert_eq!(mutex.into_inner(), done.into_inner());
    }
}
