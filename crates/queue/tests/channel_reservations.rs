//! Operations that a selection has chosen and that are not completed yet. A reserved slot holds up
//! no item and does not take room for ever.
#![cfg(not(loom))]

use sateen_queue::channel::{
    Receiver, RecvTimeoutError, Select, Sender, TryRecvError, TrySendError, bounded, select,
    unbounded,
};
use sateen_sync::block_on;
use sateen_testkit::{Counter, in_child, poll};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::task::Poll;
use std::thread;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(1);

#[test]
fn an_item_whose_expression_panics_leaves_no_gap() {
    let (tx, rx) = bounded(2);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let item = || -> u8 { panic!("no item") };
        select! { send(tx, item()) -> _ => {} }
    }));
    assert!(panicked.is_err());
    tx.send(1).unwrap();
    assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
    assert_eq!(rx.recv(), Ok(1));
    tx.send(3).unwrap();
    tx.send(4).unwrap();
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn a_place_that_is_given_up_is_room_again() {
    let (tx, rx) = bounded(1);
    let other = std::thread::scope(|s| {
        let mut selection = Select::new();
        selection.send(&tx);
        let selected = selection.select();
        let other = s.spawn(|| tx.send(1));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(selected))).is_err());
        assert_eq!(rx.recv(), Ok(1));
        other.join().unwrap()
    });
    assert_eq!(other, Ok(()));
}

/// A slot that was reserved first does not hold up the item behind it. The reserved slot's own item
/// comes later.
#[test]
fn a_promised_item_hides_nothing() {
    let (tx, rx) = bounded(2);
    let mut selection = Select::new();
    selection.send(&tx);
    let selected = selection.select();
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    tx.send(2).unwrap();
    assert_eq!(rx.try_recv(), Ok(2));
    selected.send(&tx, 1).unwrap();
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), [1]);
}

/// A receiver that passes over a reserved slot wakes a sender that waits for room.
#[test]
fn passing_over_a_promise_wakes_a_sender() {
    let (tx, rx) = bounded(1);
    let mut selection = Select::new();
    selection.send(&tx);
    let selected = selection.select();
    let woken = Arc::new(Counter::default());
    let mut send = pin!(tx.send_async(2));
    assert!(woken.poll(send.as_mut()).is_pending());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(woken.get(), 1);
    assert_eq!(woken.poll(send), Poll::Ready(Ok(())));
    assert_eq!(rx.try_recv(), Ok(2));
    selected.send(&tx, 1).unwrap();
    assert_eq!(rx.try_recv(), Ok(1));
}

/// A slot that was passed over hides no later item, however often the ring has gone round.
#[test]
fn a_promise_that_was_passed_over_is_kept_elsewhere() {
    let many = [1, 2, 63, 64, 65, 127, 128, 129, 256];
    for &laps in if cfg!(miri) { &many[1..4] } else { &many } {
        let (tx, rx) = bounded(2);
        let mut selection = Select::new();
        selection.send(&tx);
        let selected = selection.select();
        for i in 0..2 * laps {
            tx.send(i).unwrap();
            assert_eq!(rx.recv(), Ok(i));
        }
        tx.send(7).unwrap();
        selected.send(&tx, 8).unwrap();
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), [7, 8]);
    }
}

/// The same if the reservation is aborted after that.
#[test]
fn a_promise_that_was_passed_over_is_given_up_quietly() {
    let (tx, rx) = bounded(2);
    let mut selection = Select::new();
    selection.send(&tx);
    let selected = selection.select();
    for i in 0..128 {
        tx.send(i).unwrap();
        assert_eq!(rx.recv(), Ok(i));
    }
    assert!(catch_unwind(AssertUnwindSafe(|| drop(selected))).is_err());
    tx.send(1).unwrap();
    tx.send(2).unwrap();
    assert_eq!(rx.try_iter().collect::<Vec<_>>(), [1, 2]);
}

/// An item that must stay on its thread. It counts where it was dropped.
struct Here<'a>(&'a Dropped, std::marker::PhantomData<*const ()>);

#[derive(Default)]
struct Dropped {
    here: AtomicUsize,
    elsewhere: AtomicUsize,
}

thread_local! {
    static HOME: Cell<bool> = const { Cell::new(false) };
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        let counter = if HOME.get() { &self.0.here } else { &self.0.elsewhere };
        counter.fetch_add(1, Relaxed);
    }
}

impl Dropped {
    fn item(&self) -> Here<'_> {
        HOME.set(true);
        Here(self, std::marker::PhantomData)
    }

    fn counts(&self) -> (usize, usize) {
        (self.here.load(Relaxed), self.elsewhere.load(Relaxed))
    }
}

/// A selection may go to threads to which its items may not. If an operation is dropped there, no
/// item is dropped with it.
#[test]
fn a_selection_elsewhere_drops_no_items() {
    for capacity in [Some(2), None] {
        let dropped = Dropped::default();
        let (sender, receiver) = capacity.map_or_else(unbounded, bounded);
        sender.send(dropped.item()).unwrap_or_else(|_| unreachable!());
        let mut receiving = Select::new();
        receiving.recv(&receiver);
        thread::scope(|s| {
            let other = s.spawn(move || drop(receiving.select()));
            assert!(other.join().is_err(), "an operation was not completed");
        });
        drop((sender, receiver));
        assert_eq!(dropped.counts(), (0, 0), "the chosen item is forgotten");
    }
}

/// The same for a reservation with items behind it that no receiver will take. Those items went
/// with the last receiver.
#[test]
fn a_promise_broken_elsewhere_drops_no_items() {
    let dropped = Dropped::default();
    let (sender, receiver) = bounded(2);
    let (chosen, sent) = (Barrier::new(2), Barrier::new(2));
    let mut sending = Select::new();
    sending.send(&sender);
    thread::scope(|s| {
        let (chosen, sent) = (&chosen, &sent);
        let other = s.spawn(move || {
            let operation = sending.select();
            chosen.wait();
            sent.wait();
            drop(operation);
        });
        chosen.wait();
        sender.send(dropped.item()).unwrap_or_else(|_| unreachable!());
        drop(receiver);
        sent.wait();
        assert!(other.join().is_err(), "an operation was not completed");
    });
    assert_eq!(dropped.counts(), (1, 0));
}

/// An item behind a reserved slot is received or dropped with the channel, even if the reservation
/// was forgotten.
#[test]
fn a_forgotten_promise_keeps_no_items() {
    if !in_child("a_forgotten_promise_keeps_no_items") {
        return;
    }
    let item = Arc::new(());
    for received in [true, false] {
        let (sender, receiver) = bounded(4);
        sender.send(item.clone()).unwrap();
        for _ in 0..2 {
            forget_a_promise(&sender);
        }
        sender.send(item.clone()).unwrap();
        if received {
            assert!(receiver.recv().is_ok() && receiver.recv().is_ok());
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        }
        drop((sender, receiver));
        assert_eq!(Arc::strong_count(&item), 1);
    }
}

fn forget_a_promise<T>(sender: &Sender<T>) {
    let mut sending = Select::new();
    sending.send(sender);
    std::mem::forget(sending.select());
}

/// Forgotten reservations take all the room there is. The room comes back as soon as a receiver
/// comes, before the senders or after them.
#[test]
fn forgotten_promises_take_no_room_for_ever() {
    if !in_child("forgotten_promises_take_no_room_for_ever") {
        return;
    }
    for receiver_first in [true, false] {
        let (sender, receiver) = bounded(2);
        thread::scope(|s| {
            let receive = || {
                let mut receive = Box::pin(receiver.recv_async());
                let first = poll(receive.as_mut());
                assert!(first.is_pending() || !receiver_first);
                s.spawn(move || match first {
                    Poll::Ready(received) => received,
                    Poll::Pending => block_on(receive),
                })
            };
            let early = receiver_first.then(receive);
            forget_a_promise(&sender);
            forget_a_promise(&sender);
            assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
            let sent = s.spawn(|| sender.send(1));
            let received = early.unwrap_or_else(receive).join().unwrap();
            assert_eq!((sent.join().unwrap(), received), (Ok(()), Ok(1)));
        });
    }
}

/// A selection chooses a receiver and never completes the operation. The receiver waits no longer
/// than it wanted.
#[test]
fn a_forgotten_rendezvous_ends_in_time() {
    if !in_child("a_forgotten_rendezvous_ends_in_time") {
        return;
    }
    let (sender, receiver) = bounded::<u8>(0);
    thread::scope(|s| {
        // The receiver waits, and a selection chooses it.
        let waiting = s.spawn(|| receiver.recv_timeout(20 * SOON));
        let mut sending = Select::new();
        sending.send(&sender);
        if let Ok(chosen) = sending.select_timeout(20 * SOON) {
            std::mem::forget(chosen);
        }
        assert_eq!(waiting.join().unwrap(), Err(RecvTimeoutError::Timeout));
        // The selection waits, and the receiver chooses it.
        for receive in [
            |rx: &Receiver<u8>| rx.recv_timeout(20 * SOON).is_ok(),
            |rx: &Receiver<u8>| rx.try_recv().is_ok(),
        ] {
            let chosen = Arc::new(AtomicUsize::new(0));
            let done = chosen.clone();
            let sender = &sender;
            let forgetful = s.spawn(move || {
                let mut sending = Select::new();
                sending.send(sender);
                std::mem::forget(sending.select());
                done.store(1, Relaxed);
            });
            while chosen.load(Relaxed) == 0 {
                assert!(!receive(&receiver));
            }
            forgetful.join().unwrap();
        }
    });
}
