//! The parking hook.
#![cfg(not(loom))]

use sateen_sync::park::{self, Blocker, ThreadParker};
use sateen_sync::{Event, Mutex, WaitQueue};
use sateen_testkit::until;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};

/// Counts how often it parks, and unwinds out of `park` when told to.
#[derive(Default)]
struct TestBlocker {
    parker: Arc<ThreadParker>,
    parked: AtomicUsize,
    cancel: AtomicBool,
}

struct CancelledHere;

// SAFETY: this one context stays on its thread, and nothing here is masked.
unsafe impl Blocker for TestBlocker {
    fn waker(&self) -> Waker {
        self.parker.clone().into()
    }

    fn park_until(&self, deadline: std::time::Instant) {
        self.parker.park_timeout(deadline.saturating_duration_since(std::time::Instant::now()));
    }

    fn park(&self) {
        self.parked.fetch_add(1, SeqCst);
        self.parker.park();
        if self.cancel.load(SeqCst) {
            resume_unwind(Box::new(CancelledHere));
        }
    }
}

/// Installs a leaked blocker on this thread while `f` runs.
fn with_blocker<R>(f: impl FnOnce(&'static TestBlocker) -> R) -> R {
    let blocker: &'static TestBlocker = Box::leak(Box::default());
    // SAFETY: here and below, no wait is in progress. The previous blocker is put back.
    let before = unsafe { park::install(Some(blocker)) };
    let result = f(blocker);
    // SAFETY: as above.
    let was = unsafe { park::install(before) }.expect("ours");
    assert!(std::ptr::addr_eq(was, blocker));
    result
}

#[test]
fn a_blocker_holds_for_its_thread_only() {
    with_blocker(|blocker| {
        park::current_waker().wake();
        park::park();
        assert_eq!(blocker.parked.load(SeqCst), 1);
        thread::spawn(|| {
            park::current_waker().wake();
            park::park();
        })
        .join()
        .unwrap();
        assert_eq!(blocker.parked.load(SeqCst), 1);
    });
    park::current_waker().wake();
    park::park();
}

#[test]
fn primitives_block_through_the_blocker() {
    let event = Arc::new(Event::new());
    let (send, receive) = mpsc::channel();
    let other = event.clone();
    let waiter = thread::spawn(move || {
        with_blocker(|blocker| {
            send.send(blocker).unwrap();
            other.wait();
            blocker.parked.load(SeqCst)
        })
    });
    let blocker: &TestBlocker = receive.recv().unwrap();
    until(|| blocker.parked.load(SeqCst) > 0);
    event.set();
    assert_eq!(waiter.join().unwrap(), 1);
}

/// A wait is cancelled by unwinding out of `park`, and is withdrawn. If it had just been notified,
/// the next waiter gets its turn.
#[test]
fn unwinding_out_of_park_withdraws_the_wait() {
    for notified_first in [false, true] {
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.lock();
        let (send, receive) = mpsc::channel();
        let waiter = thread::spawn({
            let mutex = mutex.clone();
            move || {
                with_blocker(|blocker| {
                    send.send(blocker).unwrap();
                    let unwound = catch_unwind(AssertUnwindSafe(|| drop(mutex.lock())));
                    assert!(unwound.unwrap_err().is::<CancelledHere>());
                })
            }
        });
        let blocker: &TestBlocker = receive.recv().unwrap();
        until(|| blocker.parked.load(SeqCst) > 0);
        let (woken, waker) = sateen_testkit::Counter::new();
        let mut next = Box::pin(mutex.lock_async());
        assert!(sateen_testkit::poll_with(next.as_mut(), &waker).is_pending());
        blocker.cancel.store(true, SeqCst);
        if notified_first {
            drop(guard);
            waiter.join().unwrap();
        } else {
            blocker.parker.unpark();
            waiter.join().unwrap();
            assert_eq!(woken.get(), 0);
            drop(guard);
        }
        assert_eq!(woken.get(), 1);
        assert!(sateen_testkit::poll(next.as_mut()).is_ready());
    }
}

#[test]
fn a_token_is_kept_and_only_one() {
    let parker = ThreadParker::new();
    parker.unpark();
    parker.unpark();
    parker.park();
    assert!(!parker.park_timeout(Duration::ZERO));
    let start = Instant::now();
    assert!(!parker.park_timeout(Duration::from_millis(5)));
    assert!(start.elapsed() >= Duration::from_millis(5));
    parker.unpark();
    assert!(parker.park_timeout(Duration::ZERO));
}

#[test]
fn ping_pong() {
    const ROUNDS: usize = sateen_testkit::sized(2_000);
    let parkers = [(); 2].map(|()| Arc::new(ThreadParker::new()));
    let turns = Arc::new(AtomicUsize::new(0));
    let players = [0, 1].map(|me| {
        let (parkers, turns) = (parkers.clone(), turns.clone());
        thread::spawn(move || {
            for _ in 0..ROUNDS {
                parkers[me].park();
                assert_eq!(turns.fetch_add(1, SeqCst) % 2, me);
                parkers[1 - me].unpark();
            }
        })
    });
    parkers[0].unpark();
    for player in players {
        player.join().unwrap();
    }
    assert_eq!(turns.load(SeqCst), 2 * ROUNDS);
}

/// A primitive waits in the destructor of a thread-local, after the thread's parker was destroyed.
#[test]
fn waiting_while_thread_locals_are_destroyed() {
    struct WaitsAtTheEnd(Option<Arc<WaitQueue>>);
    impl Drop for WaitsAtTheEnd {
        fn drop(&mut self) {
            if let Some(queue) = self.0.take() {
                queue.wait_unless(|| false);
            }
        }
    }
    thread_local! {
        static BEFORE: RefCell<WaitsAtTheEnd> = const { RefCell::new(WaitsAtTheEnd(None)) };
        static AFTER: RefCell<WaitsAtTheEnd> = const { RefCell::new(WaitsAtTheEnd(None)) };
    }
    let queue = Arc::new(WaitQueue::new());
    let waiter = thread::spawn({
        let queue = queue.clone();
        move || {
            // One local is registered before the parker and one after it. Whatever the order of
            // destruction, one of them waits without the parker.
            BEFORE.with(|local| local.borrow_mut().0 = Some(queue.clone()));
            park::current_waker().wake();
            park::park();
            AFTER.with(|local| local.borrow_mut().0 = Some(queue));
        }
    });
    for _ in 0..2 {
        until(|| queue.notify_one());
    }
    waiter.join().unwrap();
}
