//! Oneshot channels, shared receivers, packaged closures.
#![cfg(not(loom))]

mod common;

use common::InlineTask;
use sateen_base::XorShift;
use sateen_sync::block_on;
use sateen_sync::oneshot::{self, RecvError, TryRecvError};
use sateen_testkit::{Counter, poll, poll_with, sized, waker_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn send_and_receive() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(!sender.is_closed());
    assert!(poll(Pin::new(&mut receiver)).is_pending());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(receiver.recv_timeout(SHORT), Err(TryRecvError::Empty));
    sender.send(1).unwrap();
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    assert_eq!(receiver.recv_timeout(SHORT), Err(TryRecvError::Closed));
    assert_eq!(receiver.recv(), Err(RecvError));
    let (sender, receiver) = oneshot::channel();
    sender.send(2).unwrap();
    assert_eq!(block_on(receiver), Ok(2));
}

#[test]
fn leaving() {
    let (sender, receiver) = oneshot::channel::<u8>();
    drop(sender);
    assert_eq!(receiver.recv(), Err(RecvError));
    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    assert!(sender.is_closed());
    assert_eq!(sender.send(1), Err(1));
    // The value is sent and never received. It is dropped with the receiver, once.
    let value = Arc::new(());
    let (sender, receiver) = oneshot::channel();
    sender.send(value.clone()).unwrap();
    drop(receiver);
    assert_eq!(Arc::strong_count(&value), 1);
    // A receiver that is dropped takes its waker with it.
    let (counter, waker) = Counter::new();
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll_with(Pin::new(&mut receiver), &waker).is_pending());
    drop((waker, receiver));
    assert_eq!(Arc::strong_count(&counter), 1);
    assert_eq!(sender.send(1), Err(1));
    // Forgetting either half is safe. The other one waits, or sends to no receiver.
    let (sender, mut receiver) = oneshot::channel::<u8>();
    std::mem::forget(sender);
    assert_eq!(receiver.recv_timeout(SHORT), Err(TryRecvError::Empty));
    let (sender, receiver) = oneshot::channel();
    std::mem::forget(receiver);
    assert_eq!(sender.send(1), Ok(()));
}

#[test]
fn wakers_of_a_receiver() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll_with(Pin::new(&mut receiver), &waker_fn(|| panic!("waker"))).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| sender.send(1))).is_err());
    assert_eq!(receiver.recv(), Ok(1));
    // The task is polled inside the waker.
    let (sender, receiver) = oneshot::channel();
    let task = InlineTask::start(async { assert_eq!(receiver.await, Ok(2)) });
    sender.send(2).unwrap();
    assert!(task.is_done());
    // The waker drops the receiver.
    let (sender, mut receiver) = oneshot::channel();
    let slot: Arc<Mutex<Option<oneshot::Receiver<u8>>>> = Arc::default();
    let waker = waker_fn({
        let slot = slot.clone();
        move || drop(slot.lock().unwrap().take())
    });
    assert!(poll_with(Pin::new(&mut receiver), &waker).is_pending());
    *slot.lock().unwrap() = Some(receiver);
    sender.send(3).unwrap();
    assert!(slot.lock().unwrap().is_none());
}

#[test]
fn many_share_a_receiver() {
    let (sender, receiver) = oneshot::channel();
    let shared = receiver.shared();
    assert!(shared.get_timeout(SHORT).is_none());
    assert_eq!(format!("{shared:?}"), "SharedReceiver { received: false, .. }");
    let mut waits: Vec<_> = (0..40).map(|_| Box::pin(shared.get_async())).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    let blocked = thread::spawn({
        let shared = shared.clone();
        move || shared.get().map(String::len)
    });
    sender.send("value".to_owned()).unwrap();
    assert_eq!(blocked.join().unwrap(), Ok(5));
    for mut wait in waits {
        assert_eq!(poll(wait.as_mut()), Poll::Ready(Ok(&"value".to_owned())));
    }
    assert!(std::ptr::eq(shared.get().unwrap(), shared.clone().get().unwrap()));
    assert_eq!(format!("{shared:?}"), "SharedReceiver { received: true, .. }");

    let (sender, receiver) = oneshot::channel::<u8>();
    let shared = receiver.shared();
    drop(sender);
    assert_eq!(block_on(shared.get_async()), Err(RecvError));
    assert_eq!(shared.get_timeout(SHORT), Some(Err(RecvError)));
}

#[test]
fn a_getter_that_is_not_polled_holds_up_nobody() {
    for forget in [false, true] {
        let (sender, receiver) = oneshot::channel();
        let shared = receiver.shared();
        let mut idle = Box::pin(shared.get_async());
        assert!(poll(idle.as_mut()).is_pending());
        if forget {
            std::mem::forget(idle);
        }
        sender.send(1).unwrap();
        assert_eq!(shared.get_timeout(SHORT), Some(Ok(&1)));
        assert_eq!(block_on(shared.clone().get_async()), Ok(&1));
    }
}

#[test]
fn a_receiver_that_has_received_says_so() {
    let (sender, mut receiver) = oneshot::channel();
    sender.send(1).unwrap();
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.shared().get(), Err(RecvError));
    let (sender, mut receiver) = oneshot::channel();
    sender.send(1).unwrap();
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(receiver.recv(), Err(RecvError));
}

#[test]
fn packages() {
    let (task, result) = oneshot::package(|| 1);
    task();
    assert_eq!(result.recv().unwrap().unwrap(), 1);
    let (task, result) = oneshot::package(|| -> u8 { panic!("inside") });
    task();
    let panic = result.recv().unwrap().unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"inside"));
    let (task, result) = oneshot::package(|| 1);
    drop(task);
    assert_eq!(result.recv().err(), Some(RecvError));
    let (task, result) = oneshot::package(|| 1);
    drop(result);
    task();
}

/// Everything is `Send` if the value is, even if the value is not `Sync`.
#[test]
fn they_travel() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    let (sender, receiver) = oneshot::channel::<std::cell::Cell<u8>>();
    drop(send((sender, receiver)));
    let (task, result) = oneshot::package(|| std::cell::Cell::new(1));
    send(task)();
    assert_eq!(send(result).recv().unwrap().unwrap().get(), 1);
    let (_sender, receiver) = oneshot::channel::<u8>();
    let shared = send(receiver.shared());
    drop(send(shared.get_async()));
}

/// Eight threads send to eight others that block, await, give up or leave. Each value arrives or
/// comes back.
#[test]
fn stress_conserves_values() {
    let (sent, received, back) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let value = Arc::new(());
    thread::scope(|s| {
        for seed in 0..4 {
            let (sent, received, back, value) = (&sent, &received, &back, &value);
            let (to, from) = std::sync::mpsc::sync_channel::<oneshot::Receiver<Arc<()>>>(16);
            s.spawn(move || {
                for _ in 0..sized(5_000) {
                    let (sender, receiver) = oneshot::channel();
                    to.send(receiver).unwrap();
                    match sender.send(value.clone()) {
                        Ok(()) => sent.fetch_add(1, SeqCst),
                        Err(_) => back.fetch_add(1, SeqCst),
                    };
                }
            });
            s.spawn(move || {
                let mut rng = XorShift::new(seed + 1);
                for mut receiver in from {
                    let got = match rng.below(4) {
                        0 => receiver.recv().is_ok(),
                        1 => block_on(receiver).is_ok(),
                        2 => receiver.recv_timeout(Duration::from_micros(10)).is_ok(),
                        _ => poll(Pin::new(&mut receiver)).is_ready(),
                    };
                    received.fetch_add(usize::from(got), SeqCst);
                }
            });
        }
    });
    assert_eq!(sent.load(SeqCst) + back.load(SeqCst), 4 * sized(5_000));
    assert!(received.load(SeqCst) <= sent.load(SeqCst));
    assert_eq!(Arc::strong_count(&value), 1, "none is lost, none is there twice");
}
