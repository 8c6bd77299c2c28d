//! Models of sending while a worker queue is closed or aborted.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use sateen_base::prim::AtomicBool;
use sateen_base::prim::Ordering::{Acquire, Release};
use sateen_flow::lane::Lane;
use sateen_sync::WaitPoint;
use sateen_testkit::model;

/// A worker queue of one lane.
struct Flow {
    lane: Lane<Box<u32>>,
    sleepers: WaitPoint,
    aborted: AtomicBool,
}

impl Flow {
    fn new(capacity: usize) -> Arc<Self> {
        let aborted = AtomicBool::new(false);
        Arc::new(Self {
            lane: Lane::new(capacity, 0).expect("memory"),
            sleepers: WaitPoint::asymmetric(),
            aborted,
        })
    }

    /// Works as a worker does. Returns the sum of the items that it has handled.
    fn work(flow: &Arc<Self>) -> JoinHandle<u32> {
        let flow = Arc::clone(flow);
        thread::spawn(move || {
            let Flow { lane, sleepers, aborted } = &*flow;
            let mut handled = 0;
            while !aborted.load(Acquire) {
                if let Ok(item) = lane.queue.pop() {
                    lane.room.notify_one();
                    handled += *item;
                } else if lane.is_drained() {
                    break;
                } else {
                    sleepers.wait(None, || {
                        !lane.queue.is_empty() || lane.is_drained() || aborted.load(Acquire)
                    });
                }
            }
            handled
        })
    }

    /// Sends, and waits for room. Returns the sum of the items that were accepted.
    fn send(flow: &Arc<Self>, items: &'static [u32]) -> JoinHandle<u32> {
        let flow = Arc::clone(flow);
        thread::spawn(move || {
            let Flow { lane, sleepers, .. } = &*flow;
            let mut accepted = 0;
            for &item in items {
                let mut next = Box::new(item);
                loop {
                    match lane.push(next, sleepers) {
                        Ok(()) => {
                            accepted += item;
                            break;
                        }
                        Err(refused) if refused.is_closed() => {
                            assert_eq!(*refused.into_inner(), item, "the item comes back");
                            return accepted;
                        }
                        Err(full) => {
                            next = full.into_inner();
                            lane.room.wait(None, || lane.is_open_to_try());
                        }
                    }
                }
            }
            accepted
        })
    }

    fn close(&self) {
        self.lane.queue.close();
        self.sleepers.notify_all();
        self.lane.room.notify_all();
    }
}

/// An item accepted before the close is handled, whether the worker sleeps, looks, or is about to
/// end.
#[test]
fn a_close_loses_nothing() {
    model(3, || {
        let flow = Flow::new(2);
        let (worker, sender) = (Flow::work(&flow), Flow::send(&flow, &[1]));
        flow.close();
        assert_eq!(sender.join().unwrap(), worker.join().unwrap());
    });
}

/// The same with a sender that waits for room: the queue accepts its item, or the sender gets it
/// back.
#[test]
fn a_close_releases_who_waits_for_room() {
    model(2, || {
        let flow = Flow::new(1);
        let (worker, sender) = (Flow::work(&flow), Flow::send(&flow, &[1, 10]));
        flow.close();
        assert_eq!(sender.join().unwrap(), worker.join().unwrap());
    });
}

/// An item accepted before an abort is handled or comes back.
#[test]
fn an_abort_loses_nothing() {
    model(2, || {
        let flow = Flow::new(2);
        let (worker, sender) = (Flow::work(&flow), Flow::send(&flow, &[1, 10]));
        flow.aborted.store(true, Release);
        let mut returned = 0;
        flow.lane.empty(|item| returned += *item);
        flow.close();
        assert_eq!(sender.join().unwrap(), worker.join().unwrap() + returned);
    });
}
