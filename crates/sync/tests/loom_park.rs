//! Models of the parking hook and the thread parker.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicBool, Ordering::Relaxed};
use loom::thread;
use sateen_sync::park::{self, ThreadParker};
use sateen_sync::{Event, block_on};
use sateen_testkit::model;
use std::future::Future as _;
use std::sync::Arc;
use std::time::Duration;

/// What happened before `unpark` is visible after `park`, whichever comes first.
#[test]
fn unpark_publishes() {
    model(3, || {
        let parker = Arc::new(ThreadParker::new());
        let data = Arc::new(UnsafeCell::new(0));
        let other = thread::spawn({
            let (parker, data) = (parker.clone(), data.clone());
            move || {
                // SAFETY: the model checks that no thread reads before this is published.
                data.with_mut(|d| unsafe { *d = 1 });
                parker.unpark();
            }
        });
        parker.park();
        // SAFETY: as above.
        assert_eq!(data.with(|d| unsafe { *d }), 1);
        other.join().unwrap();
    });
}

/// A timed park gives up. It leaves no announcement behind, and it swallows no token, even if the
/// token came at the last moment. The token publishes what came before.
#[test]
fn a_token_survives_a_time_out() {
    model(3, || {
        let parker = Arc::new(ThreadParker::new());
        let cell = loom::sync::Arc::new(UnsafeCell::new(false));
        let other = thread::spawn({
            let (parker, cell) = (parker.clone(), cell.clone());
            move || {
                // SAFETY: the token comes after this write, and the reader has taken the token.
                cell.with_mut(|cell| unsafe { *cell = true });
                parker.unpark();
            }
        });
        if !parker.park_timeout(Duration::from_millis(1)) {
            parker.park();
        }
        // SAFETY: the token was taken before.
        assert!(cell.with(|cell| unsafe { *cell }));
        other.join().unwrap();
        assert!(!parker.park_timeout(Duration::ZERO), "there was one token only");
    });
}

/// The thread's own waker is called twice. The thread gets at least one token and loses none.
#[test]
fn the_threads_own_waker() {
    model(3, || {
        let waker = park::current_waker();
        let other = thread::spawn(move || {
            waker.wake_by_ref();
            waker.wake();
        });
        park::park();
        other.join().unwrap();
    });
}

/// Two threads wake one `block_on`, one of them while the future blocks in its first poll. The
/// future is polled again after each of them.
#[test]
fn block_on_misses_no_waker() {
    model(2, || {
        let events = loom::sync::Arc::new([Event::new(), Event::new()]);
        let others = [0, 1].map(|i| {
            let events = events.clone();
            thread::spawn(move || events[i].set())
        });
        let mut wait = std::pin::pin!(events[0].wait_async());
        block_on(std::future::poll_fn(|cx| {
            let state = wait.as_mut().poll(cx);
            events[1].wait();
            state
        }));
        for other in others {
            other.join().unwrap();
        }
    });
}

/// The next poll sees what happened before the waker was called, even if `block_on` never parked.
#[test]
fn block_on_publishes() {
    model(3, || {
        let cell = loom::sync::Arc::new(UnsafeCell::new(false));
        let mut other = None;
        block_on(std::future::poll_fn(|cx| {
            if other.is_some() {
                // SAFETY: the future is polled again, so it was woken. If that is not enough, the
                // model fails.
                assert!(cell.with(|cell| unsafe { *cell }));
                return std::task::Poll::Ready(());
            }
            let (cell, waker) = (cell.clone(), cx.waker().clone());
            other = Some(thread::spawn(move || {
                // SAFETY: the future looks only after it was woken.
                cell.with_mut(|cell| unsafe { *cell = true });
                waker.wake();
            }));
            std::task::Poll::Pending
        }));
        other.expect("polled twice").join().unwrap();
    });
}

/// One token replaces another while the owner takes that one. The owner takes both, and sees what
/// came before either.
#[test]
fn a_token_that_replaces_another_publishes() {
    model(3, || {
        let parker = Arc::new(ThreadParker::new());
        let shown = Arc::new(AtomicBool::new(false));
        let others = [false, true].map(|shows| {
            let (parker, shown) = (parker.clone(), shown.clone());
            thread::spawn(move || {
                if shows {
                    shown.store(true, Relaxed);
                }
                parker.unpark();
            })
        });
        while !shown.load(Relaxed) {
            parker.park();
        }
        for other in others {
            other.join().unwrap();
        }
    });
}
