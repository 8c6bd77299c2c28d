//! Models of the lock of a lane whose order counts.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::Ordering::{Acquire, Relaxed, Release};
use sateen_base::prim::searched::{AtomicBool, AtomicU32};
use sateen_flow::lane_lock::LaneLock;
use sateen_sync::WaitPoint;
use sateen_testkit::model;

struct Lane {
    items: AtomicU32,
    lock: LaneLock,
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
            lock: LaneLock::new(),
            sleepers: WaitPoint::asymmetric(),
            done: AtomicBool::new(false),
            handled: UnsafeCell::new(0),
        }
    }

    /// The caller has the lock. Handles the items that are there.
    fn handle(&self) {
        if self.items.swap(0, Acquire) > 0 {
            self.handled.with_mut(|handled| {
                // SAFETY: this thread has the lock.
                unsafe { *handled += 1 }
            });
            self.done.store(true, Release);
        }
    }

    /// Unlocks the lane, as a worker does.
    fn release(&self) {
        self.lock.unlock();
        if self.items.load(Relaxed) > 0 || self.done.load(Relaxed) {
            self.sleepers.notify_one();
        }
    }
}

/// An item comes while the holder is about to leave for other work and the other worker is about to
/// sleep. A lost item shows as a deadlock.
#[test]
fn what_comes_at_the_end_is_not_forgotten() {
    model(2, || {
        let lane = Arc::new(Lane::new());
        assert!(lane.lock.try_lock());
        let holder = thread::spawn({
            let lane = Arc::clone(&lane);
            move || {
                lane.handle();
                lane.handled.with_mut(|handled| {
                    // SAFETY: this thread has the lock.
                    unsafe { *handled += 1 }
                });
                lane.release();
            }
        });
        let other = thread::spawn({
            let lane = Arc::clone(&lane);
            move || {
                while !lane.done.load(Acquire) {
                    if lane.items.load(Relaxed) > 0 && lane.lock.try_lock() {
                        lane.handle();
                        lane.release();
                    } else {
                        lane.sleepers.wait(None, || {
                            lane.done.load(Relaxed)
                                || lane.items.load(Relaxed) > 0 && !lane.lock.is_locked()
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
