//! The semaphore: order, closing, overflow, giving up, and conservation.
#![cfg(not(loom))]

mod common;

use common::{InlineTask, block_on};
use sateen_base::XorShift;
use sateen_sync::{AcquireError, Semaphore};
use sateen_testkit::{Counter, poll, poll_with, sized, waker_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::Duration;

#[test]
fn take_and_give_back() {
    let semaphore = Semaphore::new(3);
    let two = semaphore.acquire(2).unwrap();
    assert_eq!((two.permits(), semaphore.available_permits()), (2, 1));
    assert_eq!(semaphore.try_acquire(2).unwrap_err(), AcquireError::NoPermits);
    drop(two);
    assert_eq!(semaphore.available_permits(), 3);
    semaphore.try_acquire(3).unwrap().forget();
    assert_eq!(semaphore.available_permits(), 0);
    semaphore.add_permits(1);
    assert_eq!(block_on(semaphore.acquire_async(1)).unwrap().permits(), 1);
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available: 1, closed: false, .. }");
}

#[test]
fn zero_and_too_many() {
    let none = Semaphore::new(0);
    assert_eq!(none.acquire(0).unwrap().permits(), 0);
    let mut waits = Box::pin(none.acquire_async(1));
    assert!(poll(waits.as_mut()).is_pending());
    // No permit is taken, so no waiter is overtaken.
    assert!(none.try_acquire(0).is_ok());
    none.add_permits(0);
    assert!(poll(waits.as_mut()).is_pending());
    let error = AcquireError::TooMany(usize::MAX);
    assert_eq!(none.acquire(usize::MAX).unwrap_err(), error);
    assert_eq!(none.acquire_timeout(usize::MAX, Duration::MAX).unwrap_err(), error);
    assert_eq!(block_on(none.acquire_async(usize::MAX)).unwrap_err(), error);
    assert!(error.to_string().contains(&usize::MAX.to_string()));
}

#[test]
fn overflow_changes_nothing() {
    const MORE: usize = Semaphore::MAX_PERMITS.saturating_add(1);
    let full = Semaphore::new(Semaphore::MAX_PERMITS);
    assert!(catch_unwind(AssertUnwindSafe(|| full.add_permits(1))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| full.add_permits(usize::MAX))).is_err());
    assert_eq!(full.available_permits(), Semaphore::MAX_PERMITS);
    let one = full.acquire(1).unwrap();
    full.add_permits(1);
    drop(one); // There is no room: the semaphore stays full.
    assert_eq!(full.available_permits(), Semaphore::MAX_PERMITS);
    assert!(catch_unwind(|| Semaphore::new(MORE)).is_err());
    full.acquire(Semaphore::MAX_PERMITS).unwrap().forget();
    assert_eq!(full.available_permits(), 0);
}

/// With 32-bit addresses too, where the word has room for more permits than a count can tell.
#[test]
fn no_sum_of_additions_passes_the_maximum() {
    const MAX: usize = Semaphore::MAX_PERMITS;
    assert_eq!(MAX as u64, if usize::BITS < 64 { (1 << 31) - 1 } else { (1 << 44) - 1 });
    let semaphore = Semaphore::new(0);
    semaphore.add_permits(MAX / 2);
    semaphore.add_permits(MAX - MAX / 2);
    for n in [1, MAX / 2, MAX, usize::MAX] {
        assert!(catch_unwind(AssertUnwindSafe(|| semaphore.add_permits(n))).is_err(), "{n}");
        assert_eq!(semaphore.available_permits(), MAX, "after adding {n}");
    }
    semaphore.try_acquire(MAX).unwrap().forget();
    assert_eq!(semaphore.available_permits(), 0);
}

#[test]
fn first_come_first_served() {
    let semaphore = Semaphore::new(2);
    let mut many = Box::pin(semaphore.acquire_async(5));
    let mut few = Box::pin(semaphore.acquire_async(1));
    assert!(poll(many.as_mut()).is_pending() && poll(few.as_mut()).is_pending());
    assert!(semaphore.try_acquire(1).is_err(), "overtakes those who wait");
    semaphore.add_permits(2);
    assert!(poll(few.as_mut()).is_pending(), "overtakes the first");
    semaphore.add_permits(2);
    let Poll::Ready(Ok(many)) = poll(many.as_mut()) else { panic!("five of six") };
    assert!(poll(few.as_mut()).is_ready());
    drop(many);
}

/// Too few permits wake no waiter.
#[test]
fn the_front_is_woken_when_there_is_enough() {
    let semaphore = Semaphore::new(0);
    let (counter, waker) = Counter::new();
    let mut many = Box::pin(semaphore.acquire_async(100));
    assert!(poll_with(many.as_mut(), &waker).is_pending());
    for _ in 0..99 {
        semaphore.add_permits(1);
    }
    assert_eq!(counter.get(), 0);
    semaphore.add_permits(1);
    assert_eq!(counter.get(), 1);
    assert!(poll(many.as_mut()).is_ready());
}

#[test]
fn a_front_that_leaves_lets_the_next_look() {
    let semaphore = Semaphore::new(3);
    let mut many = Box::pin(semaphore.acquire_async(5));
    let mut few = Box::pin(semaphore.acquire_async(2));
    assert!(poll(many.as_mut()).is_pending() && poll(few.as_mut()).is_pending());
    drop(many);
    assert!(poll(few.as_mut()).is_ready());
    // A waiter is notified and then dropped. The turn goes on to the next one.
    let semaphore = Semaphore::new(0);
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(semaphore.acquire_async(1))).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    semaphore.add_permits(1);
    drop(waits.remove(0));
    assert!(poll(waits[1].as_mut()).is_pending());
    drop(waits.remove(0));
    assert!(poll(waits[0].as_mut()).is_ready());
    waits.clear();
    assert_eq!(semaphore.available_permits(), 1);
    assert!(semaphore.try_acquire(1).is_ok(), "nobody waits any more");
}

#[test]
fn closing() {
    let semaphore = Arc::new(Semaphore::new(1));
    let permit = semaphore.acquire(1).unwrap();
    let blocked = thread::spawn({
        let semaphore = semaphore.clone();
        move || semaphore.acquire(1).map(drop)
    });
    let mut waits = Box::pin(semaphore.acquire_async(1));
    assert!(poll(waits.as_mut()).is_pending());
    semaphore.close();
    semaphore.close();
    assert_eq!(blocked.join().unwrap(), Err(AcquireError::Closed));
    assert!(matches!(poll(waits.as_mut()), Poll::Ready(Err(AcquireError::Closed))));
    drop(permit);
    assert_eq!(semaphore.available_permits(), 1);
    assert_eq!(semaphore.try_acquire(1).unwrap_err(), AcquireError::Closed);
    assert_eq!(semaphore.try_acquire(0).unwrap_err(), AcquireError::Closed);
    semaphore.add_permits(1);
    assert!(semaphore.is_closed());
}

#[test]
fn closing_while_one_is_on_its_way() {
    let semaphore = Semaphore::new(0);
    let mut waits: Vec<_> = (0..20).map(|_| Box::pin(semaphore.acquire_async(1))).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    semaphore.add_permits(1);
    semaphore.close();
    waits.truncate(10);
    for wait in &mut waits[1..] {
        assert!(matches!(poll(wait.as_mut()), Poll::Ready(Err(AcquireError::Closed))));
    }
}

#[test]
fn time_limits() {
    let semaphore = Semaphore::new(1);
    let short = Duration::from_millis(2);
    assert!(semaphore.acquire_timeout(1, Duration::ZERO).is_ok());
    assert_eq!(semaphore.acquire_timeout(2, short).unwrap_err(), AcquireError::TimedOut);
    assert!(semaphore.try_acquire(1).is_ok(), "who gave up waits no more");
    thread::scope(|s| {
        s.spawn(|| semaphore.acquire_timeout(2, Duration::MAX).unwrap().forget());
        semaphore.add_permits(1);
    });
    assert_eq!(semaphore.available_permits(), 0);
}

#[test]
fn a_waker_that_panics_loses_no_permit() {
    let semaphore = Semaphore::new(0);
    let bad = waker_fn(|| panic!("waker"));
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(semaphore.acquire_async(1))).collect();
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &bad).is_pending());
    }
    assert!(catch_unwind(AssertUnwindSafe(|| semaphore.add_permits(3))).is_err());
    // Each waiter but the last takes its permit and wakes the next one, whose waker panics. It goes
    // without a permit.
    for mut wait in waits {
        let _ = catch_unwind(AssertUnwindSafe(|| poll(wait.as_mut()).is_ready()));
    }
    assert_eq!(semaphore.available_permits(), 3);
    assert!(semaphore.try_acquire(3).is_ok());
}

#[test]
fn wakers_that_poll_inline_or_drop_the_task() {
    static SEMAPHORE: Semaphore = Semaphore::new(0);
    let tasks: Vec<_> = (0..50)
        .map(|_| InlineTask::start(async { drop(SEMAPHORE.acquire_async(1).await.unwrap()) }))
        .collect();
    SEMAPHORE.add_permits(1);
    assert!(tasks.iter().all(|task| task.is_done()));
    assert_eq!(SEMAPHORE.available_permits(), 1);

    // The waker drops the very future that it wakes.
    SEMAPHORE.acquire(1).unwrap().forget();
    type Slot = std::sync::Mutex<Option<std::pin::Pin<Box<sateen_sync::Acquire<'static>>>>>;
    let slot: Arc<Slot> = Arc::default();
    let mut wait = Box::pin(SEMAPHORE.acquire_async(1));
    let waker = waker_fn({
        let slot = slot.clone();
        move || drop(slot.lock().unwrap().take())
    });
    assert!(poll_with(wait.as_mut(), &waker).is_pending());
    *slot.lock().unwrap() = Some(wait);
    SEMAPHORE.add_permits(1);
    assert!(slot.lock().unwrap().is_none());
    assert!(SEMAPHORE.try_acquire(1).is_ok());
}

#[test]
fn forgotten_guards_and_futures() {
    let semaphore = Semaphore::new(2);
    std::mem::forget(semaphore.acquire(1).unwrap());
    assert_eq!(semaphore.available_permits(), 1);
    // A forgotten waiter keeps its place. Callers behind it wait, and closing still ends their
    // waits.
    let semaphore: &'static Semaphore = Box::leak(Box::new(Semaphore::new(0)));
    let mut wait = Box::pin(semaphore.acquire_async(1));
    assert!(poll(wait.as_mut()).is_pending());
    std::mem::forget(wait);
    semaphore.add_permits(1);
    let mut next = Box::pin(semaphore.acquire_async(1));
    assert!(poll(next.as_mut()).is_pending());
    semaphore.close();
    assert!(poll(next.as_mut()).is_ready());
}

/// Eight threads take one to five of six permits. They block, await or give up. There are never too
/// many permits out at once, and all are back in the end.
#[test]
fn stress_conserves_permits() {
    const PERMITS: usize = 6;
    let semaphore = Semaphore::new(PERMITS);
    let (out, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|s| {
        for seed in 0..8 {
            let (semaphore, out, done) = (&semaphore, &out, &done);
            s.spawn(move || {
                let mut rng = XorShift::new(seed + 1);
                for _ in 0..sized(4_000) {
                    let n = rng.below(5) + 1;
                    let guard = match rng.below(5) {
                        0 => semaphore.acquire(n).ok(),
                        1 => block_on(semaphore.acquire_async(n)).ok(),
                        2 => semaphore.try_acquire(n).ok(),
                        3 => semaphore
                            .acquire_timeout(n, Duration::from_micros(rng.below(50) as u64))
                            .ok(),
                        _ => {
                            let mut wait = Box::pin(semaphore.acquire_async(n));
                            match poll(wait.as_mut()) {
                                Poll::Ready(guard) => guard.ok(),
                                Poll::Pending => None,
                            }
                        }
                    };
                    if let Some(guard) = guard {
                        assert!(out.fetch_add(n, SeqCst) + n <= PERMITS);
                        if rng.below(8) == 0 {
                            thread::yield_now();
                        }
                        out.fetch_sub(n, SeqCst);
                        if rng.below(4) == 0 {
                            guard.forget();
                            semaphore.add_permits(n);
                        }
                    }
                    done.fetch_add(1, SeqCst);
                }
            });
        }
    });
    assert_eq!(done.into_inner(), 8 * sized(4_000));
    assert_eq!(semaphore.available_permits(), PERMITS);
    assert!(semaphore.try_acquire(PERMITS).is_ok());
}
