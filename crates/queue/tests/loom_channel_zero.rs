//! Channels without a buffer under the model checker. No side sleeps while the other is there, and
//! no item is lost between them.
#![cfg(loom)]

use loom::thread;
use sateen_base::model;
use sateen_queue::channel::{RecvError, Select, SendError, SendTimeoutError, bounded};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

#[test]
fn from_hand_to_hand() {
    model(3, || {
        let (sender, receiver) = bounded(0);
        let other = thread::spawn(move || {
            sender.send(Box::new(1)).unwrap();
            sender.send(Box::new(2)).unwrap();
        });
        assert_eq!(receiver.recv(), Ok(Box::new(1)));
        assert_eq!(receiver.recv(), Ok(Box::new(2)));
        other.join().unwrap();
    });
}

#[test]
fn two_senders() {
    model(2, || {
        let (sender, receiver) = bounded(0);
        let others = [1, 2].map(|item| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(item).unwrap())
        });
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn the_end_of_the_senders_wakes() {
    model(3, || {
        let (sender, receiver) = bounded::<u8>(0);
        let other = thread::spawn(move || drop(sender));
        assert_eq!(receiver.recv(), Err(RecvError));
        other.join().unwrap();
    });
}

#[test]
fn the_end_of_the_receivers_wakes() {
    model(3, || {
        let (sender, receiver) = bounded(0);
        let other = thread::spawn(move || drop(receiver));
        assert_eq!(sender.send(1), Err(SendError(1)));
        other.join().unwrap();
    });
}

/// A sender's time limit passes while a receiver comes. One of them has the item afterwards.
#[test]
fn a_send_that_times_out() {
    model(3, || {
        let (sender, receiver) = bounded(0);
        let other = thread::spawn(move || receiver.try_recv().ok());
        let sent = sender.send_timeout(Box::new(1), Duration::from_secs(1));
        let received = other.join().unwrap();
        match sent {
            Ok(()) => assert_eq!(received, Some(Box::new(1))),
            Err(SendTimeoutError::Timeout(item) | SendTimeoutError::Disconnected(item)) => {
                assert_eq!((received, item), (None, Box::new(1)));
            }
        }
    });
}

/// A future that was handed an item is dropped, and gives the item to the next receiver.
#[test]
fn a_cancelled_receive_gives_its_item_back() {
    model(3, || {
        let (sender, receiver) = bounded(0);
        let other = thread::spawn(move || sender.try_send(Box::new(1)).is_ok());
        {
            let mut future = pin!(receiver.recv_async());
            let mut cx = Context::from_waker(Waker::noop());
            match future.as_mut().poll(&mut cx) {
                std::task::Poll::Pending => {}
                ready => assert_eq!(ready, std::task::Poll::Ready(Err(RecvError))),
            }
        }
        let sent = other.join().unwrap();
        assert_eq!(receiver.try_recv().is_ok(), sent);
    });
}

/// The same while another waits until the channel is ready. The item wakes it.
#[test]
fn an_item_given_back_wakes_those_who_watch() {
    model(2, || {
        let (sender, receiver) = bounded(0);
        let mut future = Box::pin(receiver.recv_async());
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        sender.try_send(Box::new(1)).unwrap();
        let other = thread::spawn({
            let receiver = receiver.clone();
            move || {
                let mut select = Select::new();
                select.recv(&receiver);
                select.ready();
                receiver.try_recv()
            }
        });
        drop(future);
        assert_eq!(other.join().unwrap(), Ok(Box::new(1)));
    });
}

/// Both sides select. One of them finds the other, and the item comes afterwards.
#[test]
fn two_selections_meet() {
    model(2, || {
        let (sender, receiver) = bounded(0);
        let other = thread::spawn(move || {
            let mut select = Select::new();
            select.send(&sender);
            select.select().send(&sender, Box::new(1)).unwrap();
        });
        let mut select = Select::new();
        select.recv(&receiver);
        assert_eq!(select.select().recv(&receiver), Ok(Box::new(1)));
        other.join().unwrap();
    });
}

/// A selection on two channels meets a sender on each. One sender is chosen, and the other keeps
/// its item.
#[test]
fn a_selection_takes_one_of_two() {
    model(2, || {
        let (to_a, a) = bounded(0);
        let (to_b, b) = bounded(0);
        let others = [(to_a, 1), (to_b, 2)]
            .map(|(sender, item)| thread::spawn(move || sender.send(item).unwrap()));
        let mut select = Select::new_biased();
        select.recv(&a);
        select.recv(&b);
        let selected = select.select();
        let both = match selected.index() {
            0 => (selected.recv(&a), b.recv()),
            _ => {
                let item = selected.recv(&b);
                (a.recv(), item)
            }
        };
        assert_eq!(both, (Ok(1), Ok(2)));
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

/// A sender was selected before it has its item, and the receiver gives up. The next receiver gets
/// the item.
#[test]
fn a_receiver_leaves_while_the_item_is_to_come() {
    model(2, || {
        let (sender, receiver) = bounded(0);
        let other = thread::spawn(move || {
            let mut select = Select::new();
            select.send(&sender);
            select.select().send(&sender, Box::new(1)).unwrap();
        });
        let early = {
            let mut future = pin!(receiver.recv_async());
            let mut cx = Context::from_waker(Waker::noop());
            match future.as_mut().poll(&mut cx) {
                std::task::Poll::Ready(item) => item.ok(),
                std::task::Poll::Pending => None,
            }
        };
        let item = early.or_else(|| receiver.recv().ok());
        assert_eq!(item, Some(Box::new(1)));
        other.join().unwrap();
    });
}

/// Once all senders are gone, a forgotten reservation holds up no receiver.
#[test]
fn a_forgotten_promise_ends_with_the_senders() {
    model(3, || {
        let (sender, receiver) = bounded::<u8>(0);
        let other = thread::spawn(move || receiver.recv());
        let mut select = Select::new();
        select.send(&sender);
        std::mem::forget(select.try_select());
        drop(sender);
        assert_eq!(other.join().unwrap(), Err(RecvError));
    });
}
