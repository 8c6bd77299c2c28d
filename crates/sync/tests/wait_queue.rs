//! The wait queue: order, permits, and wakers that do everything a waker may do.
#![cfg(not(loom))]

mod common;

use common::{InlineTask, block_on};
use sateen_base::XorShift;
use sateen_sync::wait_queue::{CancelOutcome, Permit, Position, Waiter};
use sateen_sync::{WaitQueue, park};
use sateen_testkit::{Counter, poll, poll_with, sized, waker_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn first_come_first_notified() {
    let queue = WaitQueue::new();
    let mut waits: Vec<_> = (0..4).map(|_| Box::pin(queue.wait_unless_async(|| false))).collect();
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_pending());
    }
    // A waiter in the middle leaves.
    drop(waits.remove(1));
    for first in 0..waits.len() {
        assert!(queue.notify_one());
        for (i, wait) in waits.iter_mut().enumerate() {
            assert_eq!(poll(wait.as_mut()).is_ready(), i <= first);
        }
    }
    assert!(!queue.notify_one());
    assert!(queue.is_empty());
}

#[test]
fn ready_means_no_waiting() {
    let queue = WaitQueue::new();
    queue.wait_unless(|| true);
    assert!(poll(pin!(queue.wait_unless_async(|| true))).is_ready());
    assert!(queue.is_empty());
}

#[test]
fn the_front_is_for_those_who_come_back() {
    let queue = WaitQueue::new();
    let mut waiters = [(); 3].map(|()| Box::pin(Waiter::new(&queue)));
    for (waiter, place) in waiters.iter_mut().zip([Position::Back, Position::Back, Position::Front])
    {
        assert!(waiter.as_mut().enqueue(place, Waker::noop().clone(), || false));
    }
    for expected in [2, 0, 1] {
        assert!(queue.notify_one());
        assert_eq!(waiters[expected].as_mut().take_permit(), Some(Permit::One));
    }
    // A waiter can be used again. A notification of all does not pass over a waiter that came back
    // to the front, and that waiter does not hide the others.
    for (waiter, place) in waiters.iter_mut().zip([Position::Back, Position::Front, Position::Back])
    {
        assert!(waiter.as_mut().enqueue(place, Waker::noop().clone(), || false));
    }
    assert_eq!(queue.notify_all(), 3);
    for waiter in &mut waiters {
        assert_eq!(waiter.as_mut().take_permit(), Some(Permit::All));
    }
}

#[test]
fn cancelling_tells_what_it_found() {
    let queue = WaitQueue::new();
    let mut waiter = pin!(Waiter::new(&queue));
    assert_eq!(waiter.as_mut().cancel(), CancelOutcome::Idle);
    waiter.as_mut().enqueue(Position::Back, Waker::noop().clone(), || false);
    assert!(waiter.is_waiting());
    assert_eq!(waiter.as_mut().cancel(), CancelOutcome::Withdrawn);
    assert!(queue.is_empty());
    waiter.as_mut().enqueue(Position::Back, Waker::noop().clone(), || false);
    queue.notify_one();
    assert_eq!(waiter.as_mut().cancel(), CancelOutcome::Notified(Permit::One));
    assert_eq!(waiter.as_mut().cancel(), CancelOutcome::Idle);
    let twice = catch_unwind(AssertUnwindSafe(|| {
        for _ in 0..2 {
            waiter.as_mut().enqueue(Position::Back, Waker::noop().clone(), || false);
        }
    }));
    assert!(twice.is_err(), "a waiter waits once at a time");
}

#[test]
fn a_dropped_waiter_passes_its_permit_on_but_not_one_of_all() {
    let queue = WaitQueue::new();
    let mut waits = [(); 3].map(|()| Box::pin(queue.wait_unless_async(|| false)));
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_pending());
    }
    let [first, second, mut third] = waits;
    queue.notify_one();
    drop(first);
    drop(second);
    assert!(poll(third.as_mut()).is_ready());

    let mut notified = Box::pin(queue.wait_unless_async(|| false));
    assert!(poll(notified.as_mut()).is_pending());
    queue.notify_all();
    let mut late = Box::pin(queue.wait_unless_async(|| false));
    assert!(poll(late.as_mut()).is_pending());
    drop(notified);
    assert!(poll(late.as_mut()).is_pending());
}

#[test]
fn the_last_waker_is_the_one_that_is_woken() {
    let queue = WaitQueue::new();
    let ((old, old_waker), (new, new_waker)) = (Counter::new(), Counter::new());
    let mut wait = pin!(queue.wait_unless_async(|| false));
    assert!(poll_with(wait.as_mut(), &old_waker).is_pending());
    assert!(poll_with(wait.as_mut(), &old_waker).is_pending());
    assert_eq!(Arc::strong_count(&old), 3, "the same waker is cloned once");
    assert!(poll_with(wait.as_mut(), &new_waker).is_pending());
    assert_eq!(Arc::strong_count(&old), 2);
    queue.notify_one();
    assert_eq!((old.get(), new.get()), (0, 1));
    assert!(poll(wait.as_mut()).is_ready());
    assert_eq!(Arc::strong_count(&new), 2, "no waker is kept after the wait");
}

#[test]
fn everybody_is_woken_though_wakers_panic() {
    let queue = WaitQueue::new();
    let woken = Arc::new(AtomicUsize::new(0));
    let mut waits: Vec<_> = (0..100).map(|_| Box::pin(queue.wait_unless_async(|| false))).collect();
    for (i, wait) in waits.iter_mut().enumerate() {
        let woken = woken.clone();
        let waker = waker_fn(move || {
            woken.fetch_add(1, SeqCst);
            assert!(i % 3 != 1, "waker {i} panics");
        });
        assert!(poll_with(wait.as_mut(), &waker).is_pending());
    }
    let panic = catch_unwind(AssertUnwindSafe(|| queue.notify_all())).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some("waker 1 panics"));
    assert_eq!(woken.load(SeqCst), 100);
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_ready()));
    // The queue still works.
    let mut wait = pin!(queue.wait_unless_async(|| false));
    assert!(poll_with(wait.as_mut(), &waker_fn(|| panic!("alone"))).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| queue.notify_one())).is_err());
    assert!(poll(wait.as_mut()).is_ready());
    assert!(queue.is_empty());
}

/// The waker drops the task, and with it the future that is being notified. The permit goes to the
/// next waiter.
#[test]
fn a_waker_that_drops_its_task() {
    let queue: &'static WaitQueue = Box::leak(Box::default());
    type Slot = Arc<Mutex<Option<std::pin::Pin<Box<dyn Future<Output = ()> + Send>>>>>;
    let doomed: Slot = Arc::new(Mutex::new(Some(Box::pin(queue.wait_unless_async(|| false)))));
    let waker = waker_fn({
        let doomed = doomed.clone();
        move || drop(doomed.lock().unwrap().take())
    });
    assert!(poll_with(doomed.lock().unwrap().as_mut().unwrap().as_mut(), &waker).is_pending());
    let (woken, waker) = Counter::new();
    let mut next = Box::pin(queue.wait_unless_async(|| false));
    assert!(poll_with(next.as_mut(), &waker).is_pending());
    assert!(queue.notify_one());
    assert!(doomed.lock().unwrap().is_none());
    assert_eq!(woken.get(), 1);
    assert!(poll(next.as_mut()).is_ready());
    assert!(queue.is_empty());
}

/// Dropping a waker may run any code, here code that notifies the same queue. So no lock may be
/// held meanwhile.
#[test]
fn a_waker_whose_drop_re_enters() {
    struct NotifiesWhenDropped(&'static WaitQueue, Arc<AtomicBool>);
    impl Drop for NotifiesWhenDropped {
        fn drop(&mut self) {
            self.1.store(true, SeqCst);
            self.0.notify_all();
        }
    }
    let queue: &'static WaitQueue = Box::leak(Box::default());
    let dropped = Arc::new(AtomicBool::new(false));
    let waker = || {
        let guard = NotifiesWhenDropped(queue, dropped.clone());
        dropped.store(false, SeqCst);
        waker_fn(move || {
            let _kept_by_the_waker = &guard;
        })
    };
    let gone = || dropped.swap(false, SeqCst);
    // Another waker replaces this one, whose drop then notifies the new one.
    let mut wait = Box::pin(queue.wait_unless_async(|| false));
    assert!(poll_with(wait.as_mut(), &waker()).is_pending());
    assert!(poll(wait.as_mut()).is_pending());
    assert!(gone());
    assert!(poll(wait.as_mut()).is_ready());
    // The wait is withdrawn.
    let mut wait = Box::pin(queue.wait_unless_async(|| false));
    assert!(poll_with(wait.as_mut(), &waker()).is_pending());
    drop(wait);
    assert!(gone());
    // The wait is not needed.
    assert!(!pin!(Waiter::new(queue)).enqueue(Position::Back, waker(), || true));
    assert!(gone());
    // The wait is woken.
    let mut wait = Box::pin(queue.wait_unless_async(|| false));
    assert!(poll_with(wait.as_mut(), &waker()).is_pending());
    assert!(queue.notify_one());
    assert!(gone());
}

/// Tasks are polled inside their wakers while the batch is being woken, and wait again there.
#[test]
fn wakers_that_poll_inline() {
    let queue: &'static WaitQueue = Box::leak(Box::default());
    let rounds = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let rounds = rounds.clone();
            InlineTask::start(async move {
                for _ in 0..3 {
                    queue.wait_unless_async(|| false).await;
                    rounds.fetch_add(1, SeqCst);
                }
            })
        })
        .collect();
    for round in 1..=3 {
        assert_eq!(queue.notify_all(), 50, "those who come meanwhile are not notified");
        assert_eq!(rounds.load(SeqCst), round * 50);
    }
    assert!(tasks.iter().all(|task| task.is_done()));
    assert!(queue.is_empty());
}

#[test]
fn a_timed_wait_ends_in_time_or_with_a_permit() {
    let queue = WaitQueue::new();
    let soon = Instant::now() + Duration::from_millis(5);
    assert!(!queue.wait_unless_until(soon, || false));
    assert!(Instant::now() >= soon);
    assert!(queue.is_empty());
    // The permit came before the time limit, and the waiter finds it after the limit.
    let mut waiter = pin!(Waiter::new(&queue));
    assert!(waiter.as_mut().wait_until(soon), "it does not wait");
    waiter.as_mut().enqueue(Position::Back, Waker::noop().clone(), || false);
    queue.notify_one();
    assert!(waiter.as_mut().wait_until(soon));
    // A left-over token is no notification.
    park::current_waker().wake();
    assert!(!queue.wait_unless_until(soon, || false));
    let far = Instant::now() + Duration::from_secs(1_000);
    thread::scope(|s| {
        let waiting = s.spawn(|| queue.wait_unless_until(far, || false));
        while !queue.notify_one() {
            thread::yield_now();
        }
        assert!(waiting.join().unwrap());
    });
}

/// A semaphore in ten lines. It shows that no permit is lost or doubled.
struct Semaphore {
    permits: AtomicUsize,
    queue: WaitQueue,
}

impl Semaphore {
    fn try_take(&self) -> bool {
        self.permits.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1)).is_ok()
    }

    fn take(&self) {
        while !self.try_take() {
            self.queue.wait_unless(|| self.permits.load(SeqCst) > 0);
        }
    }

    fn take_until(&self, deadline: Instant) -> bool {
        while !self.try_take() {
            if !self.queue.wait_unless_until(deadline, || self.permits.load(SeqCst) > 0) {
                return false;
            }
        }
        true
    }

    async fn take_async(&self) {
        while !self.try_take() {
            self.queue.wait_unless_async(|| self.permits.load(SeqCst) > 0).await;
        }
    }

    fn give(&self) {
        self.permits.fetch_add(1, SeqCst);
        self.queue.notify_one();
    }
}

/// A waiter joins and then waits for something else, which takes the token of its notification.
/// Only then does it wait in the queue.
#[test]
fn a_waiter_that_waited_for_something_else_meanwhile_looks_first() {
    for timed in [false, true] {
        let (done, waited) = std::sync::mpsc::channel();
        thread::spawn(move || {
            let queue = WaitQueue::new();
            let mut waiter = pin!(Waiter::new(&queue));
            waiter.as_mut().enqueue(Position::Back, park::current_waker(), || false);
            queue.notify_one();
            park::park();
            let far = Instant::now() + Duration::from_secs(1000);
            let notified = if timed {
                waiter.wait_until(far)
            } else {
                waiter.wait();
                true
            };
            let _ = done.send(notified);
        });
        let waited = waited.recv_timeout(Duration::from_secs(10));
        assert_eq!(waited, Ok(true), "it sleeps though it was notified");
    }
}

#[test]
fn stress_threads_futures_and_cancelled_futures() {
    stress(sized(3_000));
}

/// Eight threads take and give back in every possible way.
fn stress(rounds: usize) {
    const PERMITS: usize = 2;
    let semaphore = Semaphore { permits: AtomicUsize::new(PERMITS), queue: WaitQueue::default() };
    let inside = AtomicUsize::new(0);
    thread::scope(|s| {
        for seed in 0..8 {
            let (semaphore, inside) = (&semaphore, &inside);
            s.spawn(move || {
                let mut rng = XorShift::new(seed + 1);
                for _ in 0..rounds {
                    match rng.below(4) {
                        3 => {
                            let soon =
                                Instant::now() + Duration::from_micros(rng.below(200) as u64);
                            if !semaphore.take_until(soon) {
                                continue;
                            }
                        }
                        0 => semaphore.take(),
                        1 => block_on(semaphore.take_async()),
                        // A wait is given up while it is queued, or just when it is notified.
                        _ => {
                            let mut take = Box::pin(semaphore.take_async());
                            if poll(take.as_mut()).is_pending() {
                                (0..rng.below(3)).for_each(|_| thread::yield_now());
                                drop(take);
                                continue;
                            }
                        }
                    }
                    assert!(inside.fetch_add(1, SeqCst) < PERMITS);
                    if rng.below(4) == 0 {
                        thread::yield_now();
                    }
                    inside.fetch_sub(1, SeqCst);
                    semaphore.give();
                }
            });
        }
    });
    assert_eq!(semaphore.permits.into_inner(), PERMITS);
    assert!(semaphore.queue.is_empty());
}

#[test]
fn stress_notify_all_against_leaving() {
    let (queue, round) = (WaitQueue::new(), AtomicUsize::new(0));
    const ROUNDS: usize = sized(2_000);
    thread::scope(|s| {
        for seed in 0..7 {
            let (queue, round) = (&queue, &round);
            s.spawn(move || {
                let mut rng = XorShift::new(seed + 1);
                loop {
                    let now = round.load(SeqCst);
                    if now == ROUNDS {
                        return;
                    }
                    let mut wait = Box::pin(queue.wait_unless_async(|| round.load(SeqCst) != now));
                    if poll(wait.as_mut()).is_pending() && rng.below(2) == 0 {
                        block_on(wait);
                        assert!(round.load(SeqCst) > now);
                    }
                }
            });
        }
        for _ in 0..ROUNDS {
            // This happens under the queue's lock, so that no waiter that saw the new round is
            // notified for it.
            queue.notify_all_with(|| {
                round.fetch_add(1, SeqCst);
            });
            thread::yield_now();
        }
    });
    assert!(queue.is_empty());
}

/// Runs in a child process, which a panic under the queue's lock would once have ended.
#[test]
fn closures_that_panic_leave_the_queue_in_order() {
    const INSIDE: &str = "SATEEN_TEST_PANIC_UNDER_LOCK";
    // Miri starts no processes.
    if cfg!(miri) || std::env::var_os(INSIDE).is_some() {
        return panics_under_the_lock();
    }
    let child = std::process::Command::new(std::env::current_exe().expect("its path"))
        .args(["--exact", "closures_that_panic_leave_the_queue_in_order", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("a child");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
}

fn panics_under_the_lock() {
    let panics = |f: &mut dyn FnMut()| {
        assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
    };
    let queue = WaitQueue::new();
    panics(&mut || queue.wait_unless(|| panic!("ready")));
    panics(&mut || _ = queue.wait_unless_until(Instant::now(), || panic!("ready")));
    panics(&mut || _ = poll(pin!(queue.wait_unless_async(|| panic!("ready"))).as_mut()));
    assert!(queue.is_empty());
    let (first, waker) = Counter::new();
    let mut waits = [(); 3].map(|()| Box::pin(queue.wait_unless_async(|| false)));
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &waker).is_pending());
    }
    panics(&mut || _ = queue.notify_one_with(|_| panic!("then")));
    assert!(poll(waits[0].as_mut()).is_ready() && first.get() == 1);
    panics(&mut || _ = queue.notify_all_with(|| panic!("first")));
    assert!(poll_with(waits[1].as_mut(), &waker).is_pending(), "nobody was notified");
    assert_eq!(queue.notify_all(), 2);
    assert_eq!(first.get(), 3);
}
