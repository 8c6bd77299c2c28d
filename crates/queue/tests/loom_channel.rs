//! Channels with a buffer under the model checker: no thread sleeps while it could go on.
#![cfg(loom)]

use loom::thread;
use sateen_queue::channel::{RecvError, Select, SendError, bounded, unbounded};
use sateen_testkit::{Counter, model, poll_with};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

/// Either the receiver finds the item in its last look, or the sender finds the receiver.
#[test]
fn a_receiver_is_woken() {
    model(3, || {
        let (sender, receiver) = bounded(1);
        let other = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        other.join().unwrap();
    });
}

#[test]
fn a_receiver_is_woken_without_a_limit() {
    model(3, || {
        let (sender, receiver) = unbounded();
        let other = thread::spawn(move || sender.send(1).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        other.join().unwrap();
    });
}

/// The same for a sender at a full channel.
#[test]
fn a_sender_is_woken() {
    model(3, || {
        let (sender, receiver) = bounded(1);
        sender.send(1).unwrap();
        let other = thread::spawn(move || sender.send(2).unwrap());
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(receiver.recv(), Ok(2));
        other.join().unwrap();
    });
}

/// Two items, two receivers: each gets one, whichever sleeps. One preemption is enough here:
/// another model checks with three that a receiver is woken. This model adds the order in which
/// they sleep.
#[test]
fn each_receiver_is_woken() {
    model(1, || {
        let (sender, receiver) = bounded(2);
        let others = [0; 2].map(|_| {
            let receiver = receiver.clone();
            thread::spawn(move || receiver.recv().unwrap())
        });
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        assert_eq!(others.map(|other| other.join().unwrap()).iter().sum::<i32>(), 3);
    });
}

/// Two items, a receiver that sleeps, and one that spins: the sender may leave both items to the
/// latter, which leaves one to the other. (One preemption, as above.)
#[test]
fn a_spinner_leaves_nothing_behind() {
    model(1, || {
        let (sender, receiver) = bounded(2);
        let sleeper = {
            let receiver = receiver.clone();
            thread::spawn(move || receiver.recv().unwrap())
        };
        let other = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            // Its end would wake the sleeper.
            sender
        });
        let first = receiver.recv().unwrap();
        assert_eq!(first + sleeper.join().unwrap(), 3);
        other.join().unwrap();
    });
}

/// Three items, a receiver that spins, and two futures, which pass nothing on: the sender may leave
/// all items to the spinner, which takes one and wakes both futures.
#[test]
fn a_spinner_leaves_as_many_as_there_are() {
    model(2, || {
        let (sender, receiver) = bounded(3);
        let woken = [0; 2].map(|_| Counter::new());
        let mut futures = [0; 2].map(|_| Box::pin(receiver.recv_async()));
        for (future, (_, waker)) in futures.iter_mut().zip(&woken) {
            assert!(poll_with(future.as_mut(), waker).is_pending());
        }
        let other = thread::spawn(move || {
            (1..4).for_each(|item| sender.send(item).unwrap());
            sender
        });
        assert_eq!(receiver.recv(), Ok(1));
        let _sender = other.join().unwrap();
        assert!(woken.iter().all(|(count, _)| count.get() > 0));
    });
}

/// A batch wakes as many receivers as it has items. (One preemption, as above.)
#[test]
fn a_batch_wakes_all_it_serves() {
    model(1, || {
        let (sender, receiver) = bounded(2);
        let others = [0; 2].map(|_| {
            let receiver = receiver.clone();
            thread::spawn(move || receiver.recv().unwrap())
        });
        sender.send_all([1, 2]).unwrap();
        assert_eq!(others.map(|other| other.join().unwrap()).iter().sum::<i32>(), 3);
    });
}

/// The last sender is dropped while a receiver falls asleep.
#[test]
fn the_end_of_the_senders_wakes() {
    model(3, || {
        let (sender, receiver) = bounded::<u8>(1);
        let other = thread::spawn(move || drop(sender));
        assert_eq!(receiver.recv(), Err(RecvError));
        other.join().unwrap();
    });
}

/// The last receiver is dropped while a sender falls asleep. The items in the channel are dropped.
#[test]
fn the_end_of_the_receivers_wakes() {
    model(3, || {
        let (sender, receiver) = bounded(1);
        sender.send(Box::new(1)).unwrap();
        let other = thread::spawn(move || drop(receiver));
        assert_eq!(sender.send(Box::new(2)), Err(SendError(Box::new(2))));
        other.join().unwrap();
    });
}

/// Both halves are dropped at once. The channel is freed once, after both.
#[test]
fn both_halves_go() {
    model(3, || {
        let (sender, receiver) = unbounded();
        sender.send(Box::new(1)).unwrap();
        let other = thread::spawn(move || drop(receiver));
        drop(sender);
        other.join().unwrap();
    });
}

/// If a future is dropped after it was woken, it wakes the next waiter.
#[test]
fn a_cancelled_receive_passes_its_permit_on() {
    model(2, || {
        let (sender, receiver) = bounded(1);
        let other = {
            let receiver = receiver.clone();
            thread::spawn(move || receiver.recv().unwrap())
        };
        {
            let mut future = pin!(receiver.recv_async());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(future.as_mut().poll(&mut cx).is_pending());
            sender.send(1).unwrap();
        }
        assert_eq!(other.join().unwrap(), 1);
    });
}

/// Two channels wake a selection, which takes one item. The other channel's receiver is woken for
/// the other item.
#[test]
fn a_selection_passes_on_what_it_does_not_take() {
    model(2, || {
        let (to_a, a) = bounded(1);
        let (to_b, b) = bounded(1);
        let other = {
            let b = b.clone();
            thread::spawn(move || b.recv().unwrap())
        };
        let sending = {
            let to_b = to_b.clone();
            thread::spawn(move || {
                to_a.send(1).unwrap();
                to_b.send(2).unwrap();
            })
        };
        let mut select = Select::new_biased();
        select.recv(&a);
        select.recv(&b);
        let selected = select.select();
        if selected.index() == 0 {
            assert_eq!(selected.recv(&a), Ok(1));
        } else {
            assert_eq!(selected.recv(&b), Ok(2));
            to_b.send(2).unwrap();
        }
        assert_eq!(other.join().unwrap(), 2);
        sending.join().unwrap();
    });
}

/// A reserved slot is filled later. A waiting receiver is woken then.
#[test]
fn a_promised_item_wakes() {
    model(2, || {
        let (sender, receiver) = bounded(2);
        let other = thread::spawn(move || receiver.recv());
        let mut select = Select::new();
        select.send(&sender);
        select.select().send(&sender, 1).unwrap();
        assert_eq!(other.join().unwrap(), Ok(1));
    });
}

/// A reserved slot is filled first, or a receiver passes over it to the item behind it. Both items
/// come out once.
#[test]
fn a_promise_is_kept_or_passed_over() {
    model(2, || {
        let (sender, receiver) = bounded(2);
        let mut select = Select::new();
        select.send(&sender);
        let selected = select.try_select().unwrap();
        let behind = sender.clone();
        let other = thread::spawn(move || {
            behind.send(Box::new(2)).unwrap();
            drop(behind);
            let first = *receiver.recv().unwrap();
            first + *receiver.recv().unwrap()
        });
        selected.send(&sender, Box::new(1)).unwrap();
        assert_eq!(other.join().unwrap(), 3);
    });
}

/// An item behind a forgotten reservation is received.
#[test]
fn a_forgotten_promise_hides_nothing() {
    model(2, || {
        let (sender, receiver) = bounded(3);
        let other = thread::spawn(move || receiver.recv());
        let mut select = Select::new();
        select.send(&sender);
        std::mem::forget(select.try_select().unwrap());
        sender.send(1).unwrap();
        assert_eq!(other.join().unwrap(), Ok(1));
    });
}

/// The item of a reservation comes behind a forgotten one, where a receiver has looked already.
#[test]
fn a_promise_is_kept_behind_a_look() {
    model(2, || {
        let (sender, receiver) = bounded(3);
        let other = thread::spawn(move || receiver.recv());
        let mut select = Select::new();
        select.send(&sender);
        std::mem::forget(select.try_select().unwrap());
        select.try_select().unwrap().send(&sender, 1).unwrap();
        assert_eq!(other.join().unwrap(), Ok(1));
    });
}

/// A forgotten reservation takes the only slot. A receiver passes over it, whether it sleeps or
/// not, and the sender gets the slot.
#[test]
fn a_forgotten_promise_holds_up_nobody() {
    model(2, || {
        let (sender, receiver) = bounded(1);
        let other = thread::spawn(move || receiver.recv());
        let mut select = Select::new();
        select.send(&sender);
        std::mem::forget(select.try_select().unwrap());
        sender.send(1).unwrap();
        assert_eq!(other.join().unwrap(), Ok(1));
    });
}

/// A receiver passes over a reserved slot while the owner of the reservation comes with the item.
/// The ring goes round until a free slot's turn looks like that of the reserved one. The owner must
/// not put its item there.
#[test]
fn a_promise_comes_laps_too_late() {
    model(2, || {
        let (sender, receiver) = bounded(1);
        let mut select = Select::new();
        select.send(&sender);
        let selected = select.try_select().unwrap();
        let other = {
            let (sender, receiver) = (sender.clone(), receiver.clone());
            thread::spawn(move || {
                let mut got = Vec::from_iter(receiver.try_recv());
                sender.try_send(2).unwrap_or_else(|_| got.push(2));
                got.extend(receiver.try_recv());
                got
            })
        };
        selected.send(&sender, 1).unwrap();
        let mut got = other.join().unwrap();
        got.extend(receiver.try_recv());
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
    });
}
