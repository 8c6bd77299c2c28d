//! Models of the oneshot channel.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_sync::block_on;
use sateen_sync::oneshot::{self, RecvError};
use sateen_testkit::model;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// The receiver gets the value, and sees what came before it.
#[test]
fn a_value_arrives() {
    model(3, || {
        let past = Arc::new(UnsafeCell::new(0));
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn({
            let past = past.clone();
            move || {
                // SAFETY: the model checks that no thread reads before the value has arrived.
                past.with_mut(|n| unsafe { *n = 1 });
                sender.send(2).unwrap();
            }
        });
        assert_eq!(receiver.recv(), Ok(2));
        // SAFETY: as above.
        assert_eq!(past.with(|n| unsafe { *n }), 1);
        thread.join().unwrap();
    });
}

/// The waker is replaced while the value is sent.
#[test]
fn the_newest_waker_is_woken() {
    model(3, || {
        let (sender, mut receiver) = oneshot::channel();
        assert!(poll(&mut receiver).is_pending());
        let thread = thread::spawn(move || sender.send(2).unwrap());
        assert_eq!(block_on(receiver), Ok(2));
        thread.join().unwrap();
    });
}

/// Both halves are dropped at once. The value goes to one side, once.
#[test]
fn the_receiver_leaves() {
    model(3, || {
        let value = std::sync::Arc::new(());
        let (sender, receiver) = oneshot::channel();
        let thread = thread::spawn({
            let value = value.clone();
            move || sender.send(value).is_ok()
        });
        drop(receiver);
        thread.join().unwrap();
        assert_eq!(std::sync::Arc::strong_count(&value), 1);
    });
}

/// The sender is dropped while the receiver begins to wait.
#[test]
fn the_sender_leaves() {
    model(3, || {
        let (sender, receiver) = oneshot::channel::<u8>();
        let thread = thread::spawn(move || drop(sender));
        assert_eq!(receiver.recv(), Err(RecvError));
        thread.join().unwrap();
    });
}

/// Two threads share a receiver. One of them receives, and the other waits for it.
#[test]
fn a_shared_receiver() {
    model(2, || {
        let (sender, receiver) = oneshot::channel();
        let shared = receiver.shared();
        let getter = thread::spawn({
            let shared = shared.clone();
            move || assert_eq!(shared.get(), Ok(&1))
        });
        sender.send(1).unwrap();
        assert_eq!(shared.get(), Ok(&1));
        getter.join().unwrap();
    });
}
