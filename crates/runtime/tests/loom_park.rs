//! Models of the park word. No wake-up is lost, what the waker did is visible, and exactly one
//! waker hands over a parked fiber.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::Notify;
use loom::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use loom::thread;
use sateen_base::prim::searched::AtomicBool;
use sateen_runtime::models::park_word::ParkWord;
use sateen_testkit::model;

/// A fiber that waits for one flag or for two.
struct Fiber {
    word: ParkWord,
    flags: [AtomicBool; 2],
    /// What each waker leaves for the fiber. The flags themselves order nothing.
    left: [UnsafeCell<bool>; 2],
    /// How often the fiber is on its way from a waker to its worker.
    handed: AtomicUsize,
    worker: Notify,
}

// SAFETY: `left` is used only as the flags allow. The model checks this.
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
        // SAFETY: the flag is not raised yet.
        self.left[i].with_mut(|left| unsafe { *left = true });
        self.flags[i].store(true, Relaxed);
        if self.word.unpark() {
            assert_eq!(self.handed.fetch_add(1, Release), 0, "handed over twice");
            self.worker.notify();
        }
    }

    /// The fiber's worker does something else until it finds the fiber in its inbox, which orders
    /// this after the waker's `unpark`.
    fn be_away(&self) {
        while self.handed.load(Acquire) == 0 {
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

    /// Checks after a wait that ended with a wake-up. A fiber that found the flag raised at once
    /// may not see what was left.
    fn look(&self, i: usize) {
        // SAFETY: the flag is raised, and the wake-up that raised it was received.
        assert!(self.left[i].with(|left| unsafe { *left }));
    }
}

#[test]
fn a_wake_up_is_not_lost_and_publishes() {
    model(3, || {
        let fiber = Fiber::new();
        let waker = thread::spawn({
            let fiber = Arc::clone(&fiber);
            move || fiber.wake(0)
        });
        // A wake-up always comes, before or after. Its receiver sees what was left. (The flag alone
        // would not show that.)
        if fiber.word.begin() {
            fiber.be_away();
        }
        fiber.word.resumed();
        fiber.look(0);
        waker.join().unwrap();
    });
}

/// Two wakers come at once. One hands the fiber over. The other's wake-up counts for this wait or
/// for the next.
#[test]
fn two_wakers_hand_over_once() {
    model(3, || {
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
    model(3, || {
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
