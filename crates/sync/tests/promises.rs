//! Oneshot channels, promises, shared futures, packaged tasks.
#![cfg(not(loom))]

mod common;

use common::{Counter, InlineTask, Rng, poll, poll_with, sized, waker_fn};
use sateen_sync::oneshot::{self, BrokenPromise, TryRecvError};
use sateen_sync::{PackagedTask, Promise, block_on};
use std::future::IntoFuture;
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
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Broken));
    assert_eq!(receiver.recv_timeout(SHORT), Err(TryRecvError::Broken));
    assert!(catch_unwind(AssertUnwindSafe(|| receiver.recv())).is_err());
    let (sender, receiver) = oneshot::channel();
    sender.send(2).unwrap();
    assert_eq!(block_on(receiver), Ok(2));
}

#[test]
fn leaving() {
    let (sender, receiver) = oneshot::channel::<u8>();
    drop(sender);
    assert_eq!(receiver.recv(), Err(BrokenPromise));
    let (sender, receiver) = oneshot::channel();
    drop(receiver);
    assert!(sender.is_closed());
    assert_eq!(sender.send(1), Err(1));
    // Sent and never received: dropped with the receiver, once.
    let value = Arc::new(());
    let (sender, receiver) = oneshot::channel();
    sender.send(value.clone()).unwrap();
    drop(receiver);
    assert_eq!(Arc::strong_count(&value), 1);
    // A receiver that leaves takes its waker with it.
    let (counter, waker) = Counter::new();
    let (sender, mut receiver) = oneshot::channel();
    assert!(poll_with(Pin::new(&mut receiver), &waker).is_pending());
    drop((waker, receiver));
    assert_eq!(Arc::strong_count(&counter), 1);
    assert_eq!(sender.send(1), Err(1));
    // Forgetting either is safe, and the other waits or sends in vain.
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
    // Polled inside the waker.
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
fn a_promise_and_its_future() {
    let mut promise = Promise::default();
    let future = promise.future().unwrap();
    assert!(promise.future().is_none(), "once");
    assert!(!future.is_ready() && !future.wait_timeout(SHORT));
    assert_eq!(format!("{future:?}"), "PromiseFuture { ready: false, .. }");
    promise.set_result(Ok("value"));
    future.wait();
    assert_eq!(block_on(future), Ok("value"));

    let mut promise = Promise::<u8>::new();
    let (future, waiting) = (promise.future().unwrap(), Promise::<u8>::new().future().unwrap());
    drop(promise);
    assert_eq!((future.get(), block_on(waiting)), (Err(BrokenPromise), Err(BrokenPromise)));

    let mut promise = Promise::<u8>::new();
    let mut wait = Box::pin(promise.future().unwrap().into_future());
    assert!(poll(wait.as_mut()).is_pending());
    promise.set_panic(Box::new("panic"));
    let panic = catch_unwind(AssertUnwindSafe(|| poll(wait.as_mut()).is_ready())).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"panic"));

    // Nobody listens: the value goes with the promise's state.
    let value = Arc::new(());
    let mut promise = Promise::new();
    drop(promise.future());
    promise.set_value(value.clone());
    assert_eq!(Arc::strong_count(&value), 1);
    let mut promise = Promise::<u8>::new();
    let future = promise.future().unwrap();
    std::mem::forget(promise);
    assert!(!future.wait_timeout(SHORT));
}

#[test]
fn many_share_a_future() {
    let mut promise = Promise::new();
    let shared = promise.future().unwrap().share();
    assert!(shared.try_get().is_none() && shared.get_timeout(SHORT).is_none());
    let mut waits: Vec<_> = (0..40).map(|_| Box::pin((&shared).into_future())).collect();
    assert!(waits.iter_mut().all(|wait| poll(wait.as_mut()).is_pending()));
    let blocked = thread::spawn({
        let shared = shared.clone();
        move || shared.get().map(String::len)
    });
    promise.set_value("value".to_owned());
    assert_eq!(blocked.join().unwrap(), Ok(5));
    for mut wait in waits {
        assert_eq!(poll(wait.as_mut()), Poll::Ready(Ok("value".to_owned())));
    }
    assert!(shared.is_ready());
    assert!(std::ptr::eq(shared.get().unwrap(), shared.clone().get().unwrap()));
    assert_eq!(format!("{shared:?}"), "SharedFuture { ready: true, .. }");

    let mut promise = Promise::<u8>::new();
    let shared = promise.future().unwrap().share();
    promise.set_panic(Box::new("why".to_owned()));
    for _ in 0..2 {
        let panic = catch_unwind(AssertUnwindSafe(|| shared.get().copied())).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().contains("why"));
    }
    let shared = Promise::<u8>::new().future().unwrap().share();
    assert_eq!(block_on(shared), Err(BrokenPromise));
}

#[test]
fn packaged_tasks() {
    let mut task = PackagedTask::new(|| 1);
    let future = task.future().unwrap();
    assert!(task.future().is_none(), "once");
    task.run();
    assert_eq!(future.get(), Ok(1));
    let mut task = PackagedTask::new(|| -> u8 { panic!("inside") });
    let future = task.future().unwrap();
    task.run();
    assert!(catch_unwind(AssertUnwindSafe(|| future.get())).is_err());
    let mut task = PackagedTask::new(|| 1);
    let future = task.future().unwrap();
    drop(task);
    assert_eq!(future.get(), Err(BrokenPromise));
    PackagedTask::new(|| 1).run();
}

/// Everything is `Send` when the value is, without being `Sync`.
#[test]
fn they_travel() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    let mut promise = send(Promise::<std::cell::Cell<u8>>::new());
    let future = send(promise.future().unwrap());
    let wait = send(future.into_future());
    promise.set_value(1.into());
    assert_eq!(block_on(send(wait)).unwrap().get(), 1);
    let (sender, receiver) = oneshot::channel::<std::cell::Cell<u8>>();
    drop(send((sender, receiver)));
}

/// Eight threads send to eight that block, await, give up or leave: each value arrives or comes back.
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
                let mut rng = Rng::new(seed + 1);
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
