//! Channels without a buffer under the model checker. No side sleeps while the other is there, and
//! no item is lost between them.
#![cfg(loom)]

use loom::thread;
use sateen_queue::channel::{
    Receiver, RecvError, Select, SendError, SendTimeoutError, Sender, bounded,
};
use sateen_sync::block_on;
use sateen_testkit::model;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

fn look<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

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

/// A send future that waits is polled once more, and dropped. Receivers have its item if it was
/// ready, and only then.
fn gives_up(receive: fn(&Receiver<Box<u8>>) -> Option<Box<u8>>) {
    model(3, move || {
        let (sender, receiver) = bounded(0);
        let theirs = receiver.clone();
        let (sent, other) = {
            let mut sending = pin!(sender.send_async(Box::new(1)));
            assert!(look(sending.as_mut()).is_pending());
            let other = thread::spawn(move || receive(&theirs));
            (look(sending.as_mut()).is_ready(), other)
        };
        let received = other.join().unwrap().or_else(|| receiver.try_recv().ok());
        assert_eq!(received.is_some(), sent);
    });
}

#[test]
fn a_send_given_up_after_a_look_has_sent_nothing() {
    gives_up(|receiver| receiver.try_recv().ok());
}

#[test]
fn a_send_given_up_before_a_limit_has_sent_nothing() {
    gives_up(|receiver| receiver.recv_timeout(Duration::from_secs(1)).ok());
}

#[test]
fn a_send_given_up_beside_a_future_has_sent_nothing() {
    gives_up(|receiver| {
        let mut receiving = pin!(receiver.recv_async());
        match look(receiving.as_mut()) {
            Poll::Pending => None,
            Poll::Ready(item) => item.ok(),
        }
    });
}

#[test]
fn a_send_given_up_beside_a_selection_has_sent_nothing() {
    gives_up(|receiver| {
        let mut select = Select::new();
        select.recv(receiver);
        let selected = select.select_timeout(Duration::from_secs(1)).ok()?;
        selected.recv(receiver).ok()
    });
}

/// Two futures wait, and a third receiver blocks behind them. An item comes, the senders go, and
/// both futures are dropped.
#[test]
fn who_waits_behind_dropped_futures_is_told() {
    model(3, || {
        let (sender, receiver) = bounded(0);
        let third = receiver.clone();
        let other = {
            let (mut first, mut second) =
                (pin!(receiver.recv_async()), pin!(receiver.recv_async()));
            assert!(look(first.as_mut()).is_pending());
            assert!(look(second.as_mut()).is_pending());
            let other = thread::spawn(move || third.recv());
            sender.send(Box::new(1)).unwrap();
            other
        };
        assert_eq!(other.join().unwrap(), Ok(Box::new(1)));
        drop(sender);
    });
}

/// The last sender goes before the receiver that was handed the item does.
#[test]
fn an_item_comes_before_the_disconnection() {
    model(3, || {
        let (sender, receiver) = bounded(0);
        let second = receiver.clone();
        let mut first = Box::pin(receiver.recv_async());
        assert!(look(first.as_mut()).is_pending());
        let other = thread::spawn(move || second.recv());
        sender.send(Box::new(1)).unwrap();
        drop(sender);
        assert_eq!(other.join().unwrap(), Ok(Box::new(1)));
        assert_eq!(look(first.as_mut()), Poll::Ready(Err(RecvError)));
    });
}

/// A sender sends to two futures, one of which is dropped.
#[test]
fn a_dropped_receiver_changes_no_order() {
    model(3, || {
        let (sender, receiver) = bounded(0);
        let mut second = pin!(receiver.recv_async());
        let mut received = Vec::new();
        let other = {
            let mut first = pin!(receiver.recv_async());
            assert!(look(first.as_mut()).is_pending());
            assert!(look(second.as_mut()).is_pending());
            thread::spawn(move || [1, 2].map(|i| sender.try_send(i).is_ok()))
        };
        if let Poll::Ready(item) = look(second) {
            received.extend(item);
        }
        received.extend(receiver.try_recv());
        let sent = other.join().unwrap();
        received.extend(receiver.try_iter());
        let expected: Vec<_> = [1, 2].into_iter().filter(|i| sent[*i - 1]).collect();
        assert_eq!(received, expected);
    });
}

/// A future that was called is dropped while another waits.
#[test]
fn a_call_is_passed_on() {
    model(2, || {
        let (sender, receiver) = bounded(0);
        let other = sender.clone();
        let (sending, receiving) = {
            let mut first = pin!(sender.send_async(1));
            assert!(look(first.as_mut()).is_pending());
            let sending = thread::spawn(move || block_on(other.send_async(2)));
            (sending, thread::spawn(move || receiver.recv()))
        };
        assert_eq!(receiving.join().unwrap(), Ok(2));
        assert_eq!(sending.join().unwrap(), Ok(()));
    });
}

type Receive = fn(&Receiver<Box<u8>>) -> Option<Box<u8>>;

/// A future sends two items to a receiver. No side sleeps while the other is there.
fn meet(send: fn(&Sender<Box<u8>>, Box<u8>), receive: Receive) {
    model(2, move || {
        let (sender, receiver) = bounded(0);
        let other = thread::spawn(move || (1..3).for_each(|i| send(&sender, Box::new(i))));
        assert_eq!(receive(&receiver), Some(Box::new(1)));
        assert_eq!(receive(&receiver), Some(Box::new(2)));
        other.join().unwrap();
    });
}

#[test]
fn a_future_meets_a_thread() {
    meet(|sender, i| block_on(sender.send_async(i)).unwrap(), |receiver| receiver.recv().ok());
}

#[test]
fn two_futures_meet() {
    meet(
        |sender, i| block_on(sender.send_async(i)).unwrap(),
        |receiver| block_on(receiver.recv_async()).ok(),
    );
}

#[test]
fn a_thread_meets_a_future() {
    meet(|sender, i| sender.send(i).unwrap(), |receiver| block_on(receiver.recv_async()).ok());
}

#[test]
fn a_future_meets_one_that_is_told_when_to_look() {
    meet(
        |sender, i| block_on(sender.send_async(i)).unwrap(),
        |receiver| {
            let mut select = Select::new();
            select.recv(receiver);
            select.ready();
            receiver.try_recv().ok()
        },
    );
}
