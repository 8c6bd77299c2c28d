//! Models of waiting points, with asymmetric fences.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_base::prim::Ordering::{Acquire, Relaxed, Release};
use sateen_base::prim::searched::{AtomicBool, AtomicU32};
use sateen_sync::WaitPoint;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

fn check(preemptions: usize, f: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 20_000;
    builder.check(f);
}

/// Something changes while a thread begins to wait for it. A lost change shows as a deadlock.
#[test]
fn what_is_told_is_heard() {
    check(3, || {
        let shared = Arc::new((WaitPoint::asymmetric(), AtomicBool::new(false)));
        let notifier = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.1.store(true, Relaxed);
                shared.0.notify_one();
            }
        });
        while !shared.1.load(Relaxed) {
            shared.0.wait(None, || shared.1.load(Relaxed));
        }
        notifier.join().unwrap();
        assert!(!shared.0.has_waiters());
    });
}

/// Two items come for two waiters. Each item is notified once.
#[test]
fn each_item_finds_somebody() {
    fn take(items: &AtomicU32) -> bool {
        items.fetch_update(Acquire, Relaxed, |n| n.checked_sub(1)).is_ok()
    }
    check(2, || {
        let shared = Arc::new((WaitPoint::asymmetric(), AtomicU32::new(0)));
        let workers = [0, 1].map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                while !take(&shared.1) {
                    shared.0.wait(None, || shared.1.load(Relaxed) > 0);
                }
            })
        });
        for _ in 0..2 {
            shared.1.fetch_add(1, Release);
            shared.0.notify_one();
        }
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(!shared.0.has_waiters());
    });
}

/// A waiter is notified and stops waiting. It passes the notification on.
#[test]
fn a_dropped_wait_forgets_nothing() {
    check(3, || {
        let shared = Arc::new((WaitPoint::asymmetric(), AtomicBool::new(false)));
        let waiter = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                while !shared.1.load(Relaxed) {
                    shared.0.wait(None, || shared.1.load(Relaxed));
                }
            }
        });
        let notifier = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                shared.1.store(true, Relaxed);
                shared.0.notify_one();
            }
        });
        {
            let mut wait = pin!(shared.0.wait_async(|| shared.1.load(Relaxed)));
            if wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                // Does what a waiter does that used its notification and left something for others.
                shared.0.notify_one();
            }
        }
        waiter.join().unwrap();
        notifier.join().unwrap();
        assert!(!shared.0.has_waiters());
    });
}

/// All waiters are notified of the end.
#[test]
fn the_end_is_heard_by_all() {
    check(2, || {
        let shared = Arc::new((WaitPoint::asymmetric(), AtomicBool::new(false)));
        let workers = [0, 1].map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                while !shared.1.load(Relaxed) {
                    shared.0.wait(None, || shared.1.load(Relaxed));
                }
            })
        });
        shared.1.store(true, Relaxed);
        shared.0.notify_all();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(!shared.0.has_waiters());
    });
}
