//! The condition variable: one notification ends one wait. Time-outs, drops and panics lose
//! nothing.
#![cfg(not(loom))]

mod common;

use common::{InlineTask, block_on};
use sateen_base::XorShift;
use sateen_sync::park::{self, Blocker, ThreadParker};
use sateen_sync::{Condvar, Mutex};
use sateen_testkit::{poll, poll_with, sized, waker_fn};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(3);
const LONG: Duration = Duration::from_secs(1_000);

#[test]
fn one_notification_one_wait() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::default());
    assert!(!condvar.notify_one());
    assert_eq!(condvar.notify_all(), 0);
    let mut waits: Vec<_> = (0..3)
        .map(|_| Box::pin(condvar.wait_async(mutex.lock())))
        .map(|mut wait| {
            assert!(poll(wait.as_mut()).is_pending(), "unlocks and waits");
            wait
        })
        .collect();
    assert!(condvar.notify_one());
    assert!(poll(waits[1].as_mut()).is_pending(), "first come, first notified");
    assert!(poll(waits[0].as_mut()).is_ready());
    assert_eq!(condvar.notify_all(), 2);
    // The wait was notified, but the mutex is taken.
    let guard = mutex.lock();
    assert!(poll(waits[1].as_mut()).is_pending());
    drop(guard);
    assert!(poll(waits[1].as_mut()).is_ready() && poll(waits[2].as_mut()).is_ready());
    assert_eq!(format!("{condvar:?}"), "Condvar { .. }");
}

#[test]
fn a_token_is_no_notification() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    park::current_waker().wake();
    let start = Instant::now();
    assert!(condvar.wait_for(&mut mutex.lock(), SHORT).timed_out());
    assert!(start.elapsed() >= SHORT);
    assert!(condvar.wait_until(&mut mutex.lock(), start).timed_out());
    assert!(!condvar.notify_one(), "who gave up has left");
}

#[test]
fn waiting_while() {
    let (mutex, condvar) = (Mutex::new(0), Condvar::new());
    thread::scope(|s| {
        s.spawn(|| {
            for _ in 0..3 {
                *mutex.lock() += 1;
                condvar.notify_all();
            }
        });
        let mut guard = mutex.lock();
        condvar.wait_while(&mut guard, |n| *n < 2);
        assert!(!condvar.wait_while_for(&mut guard, |n| *n < 3, LONG).timed_out());
        assert!(!condvar.wait_while_for(&mut guard, |n| *n < 3, Duration::MAX).timed_out());
        assert!(condvar.wait_while_for(&mut guard, |_| true, SHORT).timed_out());
        assert!(!condvar.wait_while_until(&mut guard, |_| false, Instant::now()).timed_out());
        assert!(condvar.wait_while_until(&mut guard, |_| true, Instant::now()).timed_out());
    });
}

#[test]
fn two_mutexes_at_once_are_refused_one_after_another_are_not() {
    let (first, second, condvar) = (Mutex::new(()), Mutex::new(()), Condvar::new());
    assert!(condvar.wait_for(&mut first.lock(), SHORT).timed_out());
    let mut wait = Box::pin(condvar.wait_async(second.lock()));
    assert!(poll(wait.as_mut()).is_pending());
    let panic = catch_unwind(AssertUnwindSafe(|| condvar.wait(&mut first.lock()))).unwrap_err();
    assert!(
        panic.downcast_ref::<&str>().is_some_and(|text| text.contains("two different mutexes"))
    );
    let refused = catch_unwind(AssertUnwindSafe(|| {
        let _ = poll(Box::pin(condvar.wait_async(first.lock())).as_mut());
    }));
    assert!(refused.is_err() && first.try_lock().is_some());
    drop(wait);
    assert!(condvar.wait_for(&mut first.lock(), SHORT).timed_out());
}

/// A future that is dropped at any stage leaves nothing behind, and its notification goes to the
/// next waiter.
#[test]
fn a_dropped_wait_passes_its_notification_on() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    drop(condvar.wait_async(mutex.lock()));
    assert!(mutex.try_lock().is_some(), "never polled: the guard went with it");
    for stage in 0..2 {
        let mut first = Box::pin(condvar.wait_async(mutex.lock()));
        assert!(poll(first.as_mut()).is_pending());
        let mut second = Box::pin(condvar.wait_async(mutex.lock()));
        assert!(poll(second.as_mut()).is_pending());
        condvar.notify_one();
        let guard = mutex.lock();
        if stage == 1 {
            assert!(poll(first.as_mut()).is_pending(), "notified, waits for the mutex");
        }
        drop(guard);
        drop(first);
        assert!(poll(second.as_mut()).is_ready());
    }
    // The notification was for all waiters, so this one is not passed on.
    let mut notified = Box::pin(condvar.wait_async(mutex.lock()));
    assert!(poll(notified.as_mut()).is_pending());
    condvar.notify_all();
    let mut late = Box::pin(condvar.wait_async(mutex.lock()));
    assert!(poll(late.as_mut()).is_pending());
    drop(notified);
    assert!(poll(late.as_mut()).is_pending());
    // A forgotten wait takes a notification with it, and harms no other waiter.
    std::mem::forget(late);
    assert!(condvar.notify_one());
    assert!(mutex.try_lock().is_some());
}

#[test]
fn wakers_that_panic_poll_inline_or_block() {
    let (mutex, condvar): (&'static Mutex<i32>, &'static Condvar) =
        (Box::leak(Box::default()), Box::leak(Box::default()));
    // The notified waker panics.
    let mut wait = Box::pin(condvar.wait_async(mutex.lock()));
    assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| condvar.notify_one())).is_err());
    assert!(poll(wait.as_mut()).is_ready());
    // A waker of the mutex panics in the unlock. After that the mutex is locked again, and the
    // thread no longer waits.
    let mut guard = mutex.lock();
    let mut lock = Box::pin(mutex.lock_async());
    assert!(poll_with(lock.as_mut(), &waker_fn(|| panic!("waker"))).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| condvar.wait(&mut guard))).is_err());
    assert!(mutex.is_locked() && !condvar.notify_one());
    drop(lock);
    drop(guard);
    // The notification polls a task inside its waker.
    let task =
        InlineTask::start(async move { *condvar.wait_async(mutex.lock_async().await).await += 1 });
    assert!(condvar.notify_one() && task.is_done());
    // A waker of the mutex notifies, and then takes the token of the waiting thread.
    let mut guard = mutex.lock();
    let mut lock = Box::pin(mutex.lock_async());
    let waker = waker_fn(|| {
        condvar.notify_one();
        park::park();
    });
    assert!(poll_with(lock.as_mut(), &waker).is_pending());
    condvar.wait(&mut guard);
    assert_eq!(*guard, 1);
}

/// Unwinds out of `park` when told to.
struct Cancelling(Arc<ThreadParker>, AtomicUsize);

struct CancelledHere;

// SAFETY: this one context stays on its thread, and does not unwind while it is masked.
unsafe impl Blocker for Cancelling {
    fn waker(&self) -> Waker {
        self.0.clone().into()
    }
    fn park(&self) {
        self.0.park();
        if self.1.load(SeqCst) == 0 {
            resume_unwind(Box::new(CancelledHere));
        }
    }
    fn park_until(&self, _: Instant) {
        self.park();
    }
    fn mask(&self) {
        self.1.fetch_add(1, SeqCst);
    }
    unsafe fn unmask(&self) {
        self.1.fetch_sub(1, SeqCst);
    }
}

/// A wait is notified and cancelled at the same time. It locks the mutex again and notifies the
/// next waiter.
#[test]
fn a_cancelled_wait_passes_its_notification_on() {
    let (mutex, condvar) = (Mutex::new(()), Condvar::new());
    let begun = AtomicUsize::new(0);
    thread::scope(|s| {
        let cancelled = s.spawn(|| {
            let blocker: &'static Cancelling =
                Box::leak(Box::new(Cancelling(Arc::default(), AtomicUsize::new(0))));
            // SAFETY: here and below, no wait is in progress. The previous blocker is put back.
            unsafe { park::install(Some(blocker)) };
            let mut guard = mutex.lock();
            begun.store(1, SeqCst);
            let unwound = catch_unwind(AssertUnwindSafe(|| condvar.wait(&mut guard)));
            assert!(mutex.is_locked());
            drop(guard);
            // SAFETY: as above.
            unsafe { park::install(None) };
            unwound.is_err()
        });
        while begun.load(SeqCst) == 0 {
            thread::yield_now();
        }
        let mut next = Box::pin(condvar.wait_async(mutex.lock()));
        assert!(poll(next.as_mut()).is_pending());
        assert!(condvar.notify_one());
        assert!(cancelled.join().unwrap(), "it unwound");
        assert!(poll(next.as_mut()).is_ready());
    });
}

/// A bounded buffer with two conditions. Every item comes out once, although callers give up
/// meanwhile.
#[test]
fn stress_a_bounded_buffer() {
    const ITEMS: usize = sized(2_000);
    const ROOM: usize = 3;
    let buffer = Mutex::new(VecDeque::new());
    let (not_full, not_empty) = (Condvar::new(), Condvar::new());
    let (sum, left) = (AtomicUsize::new(0), AtomicUsize::new(4 * ITEMS));
    thread::scope(|s| {
        for seed in 1..=4 {
            let (buffer, not_full, not_empty) = (&buffer, &not_full, &not_empty);
            s.spawn(move || {
                for item in 1..=ITEMS {
                    let mut guard = buffer.lock();
                    if (item + seed) % 2 == 0 {
                        not_full.wait_while(&mut guard, |items| items.len() == ROOM);
                    } else {
                        while guard.len() == ROOM {
                            guard = block_on(not_full.wait_async(guard));
                        }
                    }
                    guard.push_back(item);
                    not_empty.notify_one();
                }
            });
        }
        for seed in 1..=4 {
            let (buffer, not_full, not_empty) = (&buffer, &not_full, &not_empty);
            let (sum, left) = (&sum, &left);
            s.spawn(move || {
                let mut rng = XorShift::new(seed);
                loop {
                    let mut guard = buffer.lock();
                    while guard.is_empty() {
                        if left.load(SeqCst) == 0 {
                            return;
                        }
                        match rng.below(3) {
                            0 => not_empty.wait(&mut guard),
                            1 => {
                                not_empty.wait_for(
                                    &mut guard,
                                    Duration::from_micros(rng.below(99) as u64),
                                );
                            }
                            _ => {
                                let mut wait = Box::pin(not_empty.wait_async(guard));
                                guard = match poll(wait.as_mut()) {
                                    Poll::Ready(guard) => guard,
                                    Poll::Pending => {
                                        drop(wait);
                                        buffer.lock()
                                    }
                                };
                            }
                        }
                    }
                    sum.fetch_add(guard.pop_front().expect("an item"), SeqCst);
                    drop(guard);
                    not_full.notify_one();
                    if left.fetch_sub(1, SeqCst) == 1 {
                        let _guard = buffer.lock();
                        not_empty.notify_all();
                    }
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 4 * ITEMS * (ITEMS + 1) / 2);
}
