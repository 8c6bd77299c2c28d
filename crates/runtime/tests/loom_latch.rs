//! Models of the latches: the waiter always wakes, sees the result, and may free the latch at once.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use sateen_runtime::models::latch::{CountLatch, Latch, Waiter};
use sateen_testkit::model;

/// A waiter that parks by a condition variable.
struct Parker {
    token: Mutex<bool>,
    wakeup: Condvar,
    parked: AtomicBool,
}

impl Parker {
    fn new() -> Self {
        Self { token: Mutex::new(false), wakeup: Condvar::new(), parked: AtomicBool::new(false) }
    }
}

impl Waiter for Parker {
    fn park(&self) {
        self.parked.store(true, Ordering::Relaxed);
        let mut token = self.token.lock().unwrap();
        while !*token {
            token = self.wakeup.wait(token).unwrap();
        }
        *token = false;
    }

    fn unpark(&self) {
        *self.token.lock().unwrap() = true;
        self.wakeup.notify_one();
    }
}

struct Shared {
    parker: Parker,
    latch: Latch<Parker>,
    result: UnsafeCell<u32>,
}

// SAFETY: `result` is written before the latch is set, and read afterwards. The model checks this.
unsafe impl Sync for Shared {}
// SAFETY: as above.
unsafe impl Send for Shared {}

#[test]
fn the_waiter_wakes_and_sees_the_result() {
    model(2, || {
        let shared = Arc::new(Shared {
            parker: Parker::new(),
            latch: Latch::new(),
            result: UnsafeCell::new(0),
        });
        let setter = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                // SAFETY: before the latch is set, the result belongs to the setter.
                shared.result.with_mut(|r| unsafe { *r = 7 });
                // SAFETY: the latch is not done yet, and the parker outlives the model's threads.
                unsafe { Latch::set(&shared.latch) };
            })
        };
        shared.latch.wait_helping(&shared.parker, || false);
        assert!(shared.latch.is_done());
        // SAFETY: the latch is done, so the result belongs to the waiter.
        assert_eq!(shared.result.with(|r| unsafe { *r }), 7);
        setter.join().unwrap();
    });
}

struct Counted {
    parker: Parker,
    latch: CountLatch<Parker>,
    results: [UnsafeCell<u32>; 2],
}

// SAFETY: as for `Shared`.
unsafe impl Sync for Counted {}
// SAFETY: as for `Shared`.
unsafe impl Send for Counted {}

#[test]
fn the_last_of_several_sets_it() {
    model(2, || {
        let shared = Arc::new(Counted {
            parker: Parker::new(),
            latch: CountLatch::new(3),
            results: [UnsafeCell::new(0), UnsafeCell::new(0)],
        });
        let setters: Vec<_> = (0..2)
            .map(|i| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    // SAFETY: this result belongs to this setter.
                    shared.results[i].with_mut(|r| unsafe { *r = 1 });
                    // SAFETY: each setter drops one count.
                    unsafe { CountLatch::drop_one(&shared.latch) };
                })
            })
            .collect();
        shared.latch.finish_helping(1, |_| (), || &shared.parker, || false);
        // SAFETY: all counts are dropped.
        let sum: u32 = shared.results.iter().map(|r| r.with(|r| unsafe { *r })).sum();
        assert_eq!(sum, 2);
        setters.into_iter().for_each(|t| t.join().unwrap());
    });
}
