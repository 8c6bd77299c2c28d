//! Models of the right to handle a queue whose order counts.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::Ordering::{Acquire, Relaxed, Release};
use sateen_base::prim::searched::{AtomicBool, AtomicU32};
use sateen_flow::hold::Hold;
use sateen_sync::WaitPoint;

struct Lane {
    items: AtomicU32,
    hold: Hold,
    sleepers: WaitPoint,
    done: AtomicBool,
    /// Only the holder may touch it.
    handled: UnsafeCell<u32>,
}

// SAFETY: the cell is what the model watches.
unsafe impl Sync for Lane {}
// SAFETY: as above.
unsafe impl Send for Lane {}

impl Lane {
    fn new() -> Self {
        Self {
            items: AtomicU32::new(0),
            hold: Hold::new(),
            sleepers: WaitPoint::asymmetric(),
            done: AtomicBool::new(false),
            handled: UnsafeCell::new(0),
        }
    }

    /// The caller has the hold. Handles the items that are there.
    fn handle(&self) {
        if self.items.swap(0, Acquire) > 0 {
            self.handled.with_mut(|handled| {
                // SAFETY: this thread has the hold.
                unsafe { *handled += 1 }
            });
            self.done.store(true, Release);
        }
    }

    /// Takes the hold and handles items, as a worker does.
    fn release(&self) {
        self.hold.give();
        if self.items.load(Relaxed) > 0 || self.done.load(Relaxed) {
            self.sleepers.notify_one();
        }
    }
}

/// An item comes while the holder is about to leave for other work and the other worker is about to
/// sleep. A lost item shows as a deadlock.
#[test]
fn what_comes_at_the_end_is_not_forgotten() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 20_000;
    builder.check(|| {
        let lane = Arc::new(Lane::new());
        assert!(lane.hold.try_take());
        let holder = thread::spawn({
            let lane = Arc::clone(&lane);
            move || {
                lane.handle();
                lane.handled.with_mut(|handled| {
                    // SAFETY: this thread has the hold.
                    unsafe { *handled += 1 }
                });
                lane.release();
            }
        });
        let other = thread::spawn({
            let lane = Arc::clone(&lane);
            move || {
                while !lane.done.load(Acquire) {
                    if lane.items.load(Relaxed) > 0 && lane.hold.try_take() {
                        lane.handle();
                        lane.release();
                    } else {
                        lane.sleepers.wait(None, || {
                            lane.done.load(Relaxed)
                                || lane.items.load(Relaxed) > 0 && !lane.hold.is_held()
                        });
                    }
                }
            }
        });
        lane.items.fetch_add(1, Release);
        lane.sleepers.notify_one();
        holder.join().unwrap();
        other.join().unwrap();
    });
}
