//! Models of waiting points: with full fences, with asymmetric ones, and told after an exchange.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::Ordering::{Acquire, Relaxed, Release, SeqCst};
use sateen_base::prim::searched::AtomicU32;
use sateen_sync::WaitPoint;
use sateen_sync::wait_queue::Position;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Waker};

fn check(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(f);
}

/// How a change is told.
#[derive(Clone, Copy)]
enum Told {
    /// By a full fence on both sides.
    Fenced,
    /// By a light fence; the waiter's is heavy.
    Lightly,
    /// By a sequentially consistent exchange, which is the change.
    Exchanged,
}
const ALL: [Told; 3] = [Told::Fenced, Told::Lightly, Told::Exchanged];

/// A point, and the items that its waiters want.
struct Items {
    point: WaitPoint,
    told: Told,
    items: AtomicU32,
}

impl Items {
    fn new(told: Told) -> Arc<Self> {
        let point = match told {
            Told::Lightly => WaitPoint::asymmetric(),
            Told::Fenced | Told::Exchanged => WaitPoint::new(),
        };
        Arc::new(Self { point, told, items: AtomicU32::new(0) })
    }

    fn put(&self) {
        if let Told::Exchanged = self.told {
            self.items.fetch_add(1, SeqCst);
            self.point.notify_one_unfenced();
        } else {
            self.items.fetch_add(1, Release);
            self.point.notify_one();
        }
    }

    fn any(&self) -> bool {
        self.items.load(Relaxed) > 0
    }

    fn try_take(&self) -> bool {
        self.items.fetch_update(Acquire, Relaxed, |n| n.checked_sub(1)).is_ok()
    }

    fn take(&self) {
        while !self.try_take() {
            self.point.wait(None, || self.any());
        }
    }
}

/// Runs `f` in a thread of the model.
fn spawn(shared: &Arc<Items>, f: impl FnOnce(&Items) + 'static) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || f(&shared))
}

/// Something changes while a thread begins to wait for it. A lost change shows as a deadlock.
fn what_is_told_is_heard(told: Told) {
    check(3, move || {
        let shared = Items::new(told);
        let notifier = spawn(&shared, Items::put);
        while !shared.any() {
            shared.point.wait(None, || shared.any());
        }
        notifier.join().unwrap();
        // The next notification puts the flag in order.
        shared.point.notify_one();
        assert!(!shared.point.has_waiters());
    });
}

#[test]
fn what_is_told_with_a_fence_is_heard() {
    what_is_told_is_heard(Told::Fenced);
}

#[test]
fn what_is_told_lightly_is_heard() {
    what_is_told_is_heard(Told::Lightly);
}

#[test]
fn what_is_told_by_an_exchange_is_heard() {
    what_is_told_is_heard(Told::Exchanged);
}

/// Two items come for two waiters. Each item is notified once.
#[test]
fn each_item_finds_a_waiter() {
    for told in ALL {
        check(2, move || {
            let shared = Items::new(told);
            let workers = [0, 1].map(|_| spawn(&shared, Items::take));
            for _ in 0..2 {
                shared.put();
            }
            for worker in workers {
                worker.join().unwrap();
            }
        });
    }
}

/// A waiter is woken, has lost the race for the item, and waits again, before the others.
#[test]
fn a_late_waiter_waits_again() {
    check(2, || {
        let shared = Items::new(Told::Exchanged);
        let worker = spawn(&shared, |shared| {
            let mut waiter = pin!(shared.point.waiter());
            let mut position = Position::Back;
            while !shared.try_take() {
                let waker = sateen_sync::park::current_waker();
                if shared.point.enqueue(waiter.as_mut(), position, waker, || shared.any()) {
                    waiter.as_mut().wait();
                    position = Position::Front;
                }
            }
        });
        let other = spawn(&shared, Items::take);
        for _ in 0..2 {
            shared.put();
        }
        worker.join().unwrap();
        other.join().unwrap();
    });
}

fn poll(wait: Pin<&mut impl Future<Output = ()>>) -> bool {
    wait.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// A waiter is notified and stops waiting. It passes the notification on.
#[test]
fn a_dropped_wait_forgets_nothing() {
    for told in ALL {
        check(3, move || {
            let shared = Items::new(told);
            let waiter = spawn(&shared, |shared| {
                while !shared.any() {
                    shared.point.wait(None, || shared.any());
                }
            });
            let notifier = spawn(&shared, Items::put);
            {
                let mut wait = pin!(shared.point.wait_async(|| shared.any()));
                if poll(wait.as_mut()) {
                    // Does what a waiter does that used its notification and left something for
                    // others.
                    shared.point.notify_one();
                }
            }
            waiter.join().unwrap();
            notifier.join().unwrap();
        });
    }
}

/// All waiters are notified of the end.
#[test]
fn the_end_is_heard_by_all() {
    for told in ALL {
        check(2, move || {
            let shared = Items::new(told);
            let workers = [0, 1].map(|_| {
                spawn(&shared, |shared| {
                    while !shared.any() {
                        shared.point.wait(None, || shared.any());
                    }
                })
            });
            shared.items.store(1, Relaxed);
            shared.point.notify_all();
            for worker in workers {
                worker.join().unwrap();
            }
        });
    }
}

/// A waiter that finds the flag up and need not wait leaves it to the other that does.
#[test]
fn a_passer_by_hides_nobody() {
    check(3, || {
        let shared = Items::new(Told::Fenced);
        let worker = spawn(&shared, Items::take);
        let passer = spawn(&shared, |shared| shared.point.wait(None, || true));
        shared.put();
        worker.join().unwrap();
        passer.join().unwrap();
    });
}
