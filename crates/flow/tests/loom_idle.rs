//! Models of sending without capacity: an item goes to an idle worker.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_flow::idle::Idle;
use sateen_flow::lane::Lane;
use sateen_sync::WaitPoint;
use sateen_testkit::model;

/// A worker queue of one lane, with room for one item for each worker.
struct Flow {
    lane: Lane<Box<u32>>,
    sleepers: WaitPoint,
    idle: Idle,
}

impl Flow {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            lane: Lane::new(1, 0).expect("memory"),
            sleepers: WaitPoint::asymmetric(),
            idle: Idle::new(),
        })
    }

    fn add(&self) {
        self.idle.add();
        self.lane.room.notify_one();
    }

    /// Works as a worker does. Returns the sum of the items that it has handled.
    fn work(&self) -> u32 {
        let (mut handled, mut offered) = (0, false);
        loop {
            if let Ok(item) = self.lane.queue.pop() {
                if !std::mem::take(&mut offered) {
                    self.add();
                }
                handled += *item;
            } else if self.lane.is_drained() {
                return handled;
            } else {
                if !std::mem::replace(&mut offered, true) {
                    self.add();
                }
                self.sleepers.wait(None, || !self.lane.queue.is_empty() || self.lane.is_drained());
            }
        }
    }

    /// Waits for an idle worker and sends. Returns the sum of the items that were accepted.
    fn send(&self, item: u32) -> u32 {
        loop {
            if self.lane.queue.is_closed() {
                return 0;
            }
            if self.idle.try_take() {
                return match self.lane.push(Box::new(item), &self.sleepers) {
                    Ok(()) => item,
                    Err(refused) => {
                        assert!(refused.is_closed(), "no room for an idle worker's item");
                        0
                    }
                };
            }
            self.lane.room.wait(None, || self.idle.is_any() || self.lane.queue.is_closed());
        }
    }

    fn close(&self) {
        self.lane.queue.close();
        self.sleepers.notify_all();
        self.lane.room.notify_all();
    }
}

/// A worker and a sender wait for each other. If one of them is not told, that is a deadlock.
#[test]
fn a_sender_and_a_worker_meet() {
    model(3, || {
        let flow = Flow::new();
        let worker = thread::spawn({
            let flow = Arc::clone(&flow);
            move || flow.work()
        });
        assert_eq!(flow.send(1), 1);
        flow.close();
        assert_eq!(worker.join().unwrap(), 1);
    });
}

/// Two senders that do not wait, and a worker that is idle again after an item. One sender at a
/// time gets the worker and finds room.
#[test]
fn an_idle_worker_is_taken_once() {
    model(3, || {
        let flow = Flow::new();
        flow.idle.add();
        let senders = [1, 10].map(|item| {
            let flow = Arc::clone(&flow);
            thread::spawn(move || {
                if !flow.idle.try_take() {
                    return 0;
                }
                assert!(flow.lane.queue.push(Box::new(item)).is_ok(), "no room");
                item
            })
        });
        let mut handled = 0;
        if let Ok(item) = flow.lane.queue.pop() {
            handled += *item;
            flow.idle.add();
        }
        let accepted: u32 = senders.map(|sender| sender.join().unwrap()).iter().sum();
        while let Ok(item) = flow.lane.queue.pop() {
            handled += *item;
        }
        assert_eq!(accepted, handled);
    });
}
