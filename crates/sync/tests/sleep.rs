//! Sleeping, time-outs and `block_on`, on plain threads and under a blocker that fires its timers
//! itself.
#![cfg(not(loom))]

use sateen_sync::park::{self, Blocker, ThreadParker};
use sateen_sync::timer::{
    self, Elapsed, TimerQueue, sleep_async, sleep_until_async, timeout_async,
};
use sateen_sync::{Event, block_on};
use sateen_testkit::{Counter, poll, poll_with, sized, until, waker_fn};
use std::cell::Cell;
use std::future::{pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(3);
const LONG: Duration = Duration::from_secs(1_000);

#[test]
fn sleeping_takes_its_time() {
    let start = Instant::now();
    timer::sleep(SHORT);
    assert!(start.elapsed() >= SHORT);
    timer::sleep_until(start);
    let start = Instant::now();
    block_on(sleep_async(SHORT));
    assert!(start.elapsed() >= SHORT);
    block_on(sleep_until_async(start));
    // Left-over tokens do not end a sleep.
    park::current_waker().wake();
    let start = Instant::now();
    timer::sleep(SHORT);
    assert!(start.elapsed() >= SHORT);
}

/// Times beyond the clock's range never come.
#[test]
fn for_ever() {
    let mut sleep = pin!(sleep_async(Duration::MAX));
    assert_eq!(sleep.deadline(), None);
    assert!(poll(sleep.as_mut()).is_pending());
    assert_eq!(block_on(timeout_async(Duration::MAX, ready(1))), Ok(1));
    assert!(poll(pin!(sleep_async(LONG * 1_000_000))).is_pending());
}

#[test]
fn time_outs() {
    let event = Event::new();
    let mut wait = pin!(timeout_async(SHORT, event.wait_async()));
    assert!(poll(wait.as_mut()).is_pending());
    assert_eq!(block_on(wait), Err(Elapsed));
    assert_eq!(Elapsed.to_string(), "the time was over");
    assert_eq!(block_on(timeout_async(SHORT, pending::<()>())), Err(Elapsed));
    assert_eq!(block_on(timeout_async(LONG, ready(5))), Ok(5));
    assert_eq!(block_on(timeout_async(Duration::ZERO, ready(5))), Ok(5), "ready wins");
}

/// A sleep is polled here, then on another thread, and dropped on a third.
#[test]
fn a_sleep_that_moves() {
    let ((first, first_waker), (second, second_waker)) = (Counter::new(), Counter::new());
    let mut sleep = Box::pin(sleep_async(SHORT));
    // It may be ready already, if this thread was kept waiting.
    let _ = poll_with(sleep.as_mut(), &first_waker);
    let sleep = thread::spawn(move || {
        let done = poll_with(sleep.as_mut(), &second_waker).is_ready();
        while !done && second.get() == 0 {
            thread::yield_now();
        }
        assert!(poll_with(sleep.as_mut(), &second_waker).is_ready());
        sleep
    });
    let sleep = sleep.join().unwrap();
    thread::spawn(move || drop(sleep)).join().unwrap();
    // The timer wakes it once at most. The poll itself may wake it once if another test was just
    // starting the timer thread.
    assert!(first.get() <= 2);
}

/// A waker that panics on the timer thread harms no other sleeper.
#[test]
fn a_waker_that_panics() {
    // While another test starts the timer thread, a poll wakes its own waker.
    until(|| {
        let (counter, waker) = Counter::new();
        _ = poll_with(pin!(sleep_async(LONG)), &waker);
        counter.get() == 0
    });
    let waker = waker_fn(|| panic!("meant to be seen"));
    let mut bad = Box::pin(sleep_async(SHORT));
    while poll_with(bad.as_mut(), &waker).is_ready() {
        bad.set(sleep_async(SHORT));
    }
    let start = Instant::now();
    for _ in 0..3 {
        block_on(sleep_async(SHORT));
    }
    assert!(start.elapsed() >= 3 * SHORT);
    assert!(poll(bad.as_mut()).is_ready());
}

/// A forgotten sleep still fires, and nothing breaks.
#[test]
fn a_forgotten_sleep() {
    let (counter, waker) = Counter::new();
    let mut sleep = Box::pin(sleep_async(SHORT));
    assert!(poll_with(sleep.as_mut(), &waker).is_pending());
    std::mem::forget(sleep);
    while counter.get() == 0 {
        thread::yield_now();
    }
}

#[test]
fn many_sleeps_that_are_given_up() {
    thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for i in 0..sized(2_000) as u64 {
                    let mut sleep = Box::pin(sleep_async(Duration::from_micros(i % 50)));
                    let _ = poll(sleep.as_mut());
                    if i % 100 == 0 {
                        block_on(sleep);
                    }
                }
            });
        }
    });
}

/// A thread that fires its timers itself while it parks.
#[derive(Default)]
struct Firing {
    parker: Arc<ThreadParker>,
    queue: Arc<TimerQueue>,
    earlier: AtomicUsize,
}

// SAFETY: this one context stays on its thread, and nothing unwinds.
unsafe impl Blocker for Firing {
    fn waker(&self) -> Waker {
        self.parker.clone().into()
    }

    fn park(&self) {
        self.park_until(Instant::now() + LONG);
    }

    fn park_until(&self, deadline: Instant) {
        let until = self.queue.earliest().map_or(deadline, |at| at.min(deadline));
        self.parker.park_timeout(until.saturating_duration_since(Instant::now()));
        self.queue.fire(Instant::now());
    }

    fn timers(&self) -> Option<Arc<TimerQueue>> {
        Some(self.queue.clone())
    }

    fn earlier_timer(&self) {
        self.earlier.fetch_add(1, SeqCst);
    }
}

#[test]
fn futures_arm_their_timers_with_the_runner() {
    thread::spawn(|| {
        let blocker: &'static Firing = Box::leak(Box::default());
        // SAFETY: here and below, no wait is in progress. The previous blocker is put back.
        unsafe { park::install(Some(blocker)) };
        let mut late = Box::pin(sleep_async(LONG));
        assert!(poll(late.as_mut()).is_pending());
        assert_eq!((blocker.queue.len(), blocker.earlier.load(SeqCst)), (1, 1));
        let start = Instant::now();
        block_on(sleep_async(SHORT));
        assert!(start.elapsed() >= SHORT);
        assert_eq!((blocker.queue.len(), blocker.earlier.load(SeqCst)), (1, 2));
        // The thread stops firing timers. The sleep is woken, and finds another queue at its next
        // poll.
        let (counter, waker) = Counter::new();
        assert!(poll_with(late.as_mut(), &waker).is_pending());
        let mut soon = Box::pin(sleep_async(SHORT));
        assert!(poll_with(soon.as_mut(), &waker).is_pending());
        blocker.queue.close();
        assert_eq!(counter.get(), 2);
        block_on(soon);
        assert!(poll(late.as_mut()).is_pending());
        assert!(blocker.queue.is_empty());
        // SAFETY: as above.
        unsafe { park::install(None) };
    })
    .join()
    .unwrap();
}

/// The system gives no thread, and the futures wake themselves. This runs in a child process, whose
/// threads would need impossible stacks.
#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn sleeping_though_no_thread_can_be_started() {
    const CHILD: &str = "SATEEN_TEST_NO_THREADS";
    if std::env::var_os(CHILD).is_none() {
        let me = std::env::current_exe().expect("a test binary has a path");
        let mut child = Command::new(me);
        child.args(["--exact", "sleeping_though_no_thread_can_be_started", "--test-threads=1"]);
        let impossible = (usize::MAX / 4 * 3).to_string();
        let status = child.env(CHILD, "1").env("RUST_MIN_STACK", impossible).status();
        assert!(status.expect("started").success());
        return;
    }
    if cfg!(miri) {
        return;
    }
    assert!(thread::Builder::new().spawn(|| ()).is_err(), "the premise");
    let start = Instant::now();
    block_on(sleep_async(SHORT));
    assert!(start.elapsed() >= SHORT);
    assert_eq!(block_on(timeout_async(SHORT, pending::<()>())), Err(Elapsed));
}

#[test]
fn block_on_waits_for_what_is_woken_elsewhere() {
    let event = Event::new();
    thread::scope(|s| {
        let waiting = s.spawn(|| block_on(async { event.wait_async().await }));
        event.set();
        waiting.join().unwrap();
    });
}

/// Code that blocks inside the future may take the context's token. The outer wait does not miss
/// its own.
#[test]
fn block_on_inside_block_on() {
    for _ in 0..sized(200) {
        let (outer, inner) = (Event::new(), Event::new());
        let (polls, begun) = (Cell::new(0), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                while !begun.load(SeqCst) {
                    thread::yield_now();
                }
                outer.set();
                inner.set();
            });
            let mut wait = pin!(outer.wait_async());
            block_on(poll_fn(|cx| {
                let state = wait.as_mut().poll(cx);
                polls.set(polls.get() + 1);
                if polls.get() == 1 {
                    // The future blocks in the middle of a poll, in two ways.
                    begun.store(true, SeqCst);
                    block_on(inner.wait_async());
                    inner.wait();
                    park::current_waker().wake();
                    park::park();
                }
                state
            }));
        });
    }
}

#[test]
fn block_on_lets_panics_through() {
    let panic = catch_unwind(AssertUnwindSafe(|| block_on(async { panic!("inside") })));
    assert!(panic.is_err());
    // A future that is woken while it runs is polled again.
    let mut polls = 0;
    block_on(poll_fn(|cx| {
        polls += 1;
        cx.waker().wake_by_ref();
        if polls < 3 { Poll::Pending } else { Poll::Ready(()) }
    }));
}
