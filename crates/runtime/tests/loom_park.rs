//! Models of the park word: no wake-up is lost, what the waker did is visible, and a parked fiber
//! is handed over by exactly one.
#![cfg(loom)]

mod loom_common;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::Notify;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use loom_common::check;
use sateen_base::prim::searched::AtomicBool;
use sateen_runtime::models::park_word::ParkWord;

/// A fiber that waits for one flag or two.
struct Fiber {
    word: ParkWord,
    flags: [AtomicBool; 2],
    /// What each waker leaves; the flags themselves order nothing.
    left: [UnsafeCell<bool>; 2],
    /// Times it is on its way from a waker to its worker.
    handed: AtomicUsize,
    worker: Notify,
}

// SAFETY: `left` is used as the flags allow; that is what is modelled.
unsafe impl Sync for Fiber {}
// SAFETY: as above.
unsafe impl Send for Fiber {}

impl Fiber {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            word: ParkWord::new(),
            flags: [AtomicBool::new(false), AtomicBool::new(false)],
            left: [UnsafeCell::new(false), UnsafeCell::new(false)],
            handed: AtomicUsize::new(0),
            worker: Notify::new(),
        })
    }

    fn wake(&self, i: usize) {
        // SAFETY: the flag is not up yet.
        self.left[i].with_mut(|left| unsafe { *left = true });
        self.flags[i].store(true, Relaxed);
        if self.word.unpark() {
            assert_eq!(self.handed.fetch_add(1, Relaxed), 0, "handed over twice");
            self.worker.notify();
        }
    }

    /// Its worker goes on with something else, until it finds the fiber in its inbox.
    fn be_away(&self) {
        while self.handed.load(Relaxed) == 0 {
            self.worker.wait();
        }
        self.handed.store(0, Relaxed);
    }

    fn wait(&self, wanted: usize) {
        while !self.flags[..wanted].iter().all(|flag| flag.load(Relaxed)) {
            if self.word.begin() {
                self.be_away();
            }
            self.word.resumed();
        }
    }

    /// After a wait that ended with a wake-up; a fiber that found the flag up at once knows
    /// nothing.
    fn look(&self, i: usize) {
        // SAFETY: the flag is up, and the wake-up that raised it was received.
        assert!(self.left[i].with(|left| unsafe { *left }));
    }
}

#[test]
fn a_wake_up_is_not_lost_and_publishes() {
    check(3, || {
        let fiber = Fiber::new();
        let waker = thread::spawn({
            let fiber = Arc::clone(&fiber);
            move || fiber.wake(0)
        });
        // A wake-up always comes, before or after: its receiver sees what was left. (The flag alone
        // would not show it.)
        if fiber.word.begin() {
            fiber.be_away();
        }
        fiber.word.resumed();
        fiber.look(0);
        waker.join().unwrap();
    });
}

/// Two wakers at once: one hands over, the other's wake-up counts for this wait or for the next.
#[test]
fn two_wakers_hand_over_once() {
    check(3, || {
        let fiber = Fiber::new();
        let wakers = [0, 1].map(|i| {
            let fiber = Arc::clone(&fiber);
            thread::spawn(move || fiber.wake(i))
        });
        fiber.wait(2);
        wakers.map(|waker| waker.join().unwrap());
    });
}

/// The fiber is woken, goes on and parks again, while the second wake-up comes.
#[test]
fn a_wake_up_between_two_parks_counts_for_the_second() {
    check(3, || {
        let fiber = Fiber::new();
        let waker = thread::spawn({
            let fiber = Arc::clone(&fiber);
            move || {
                fiber.wake(0);
                fiber.wake(1);
            }
        });
        fiber.wait(1);
        fiber.wait(2);
        waker.join().unwrap();
    });
}
