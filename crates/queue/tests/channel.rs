//! What channels say when they cannot: each error, each text, what comes back, and what is dropped.
#![cfg(not(loom))]

#[path = "../../base/tests/common/child.rs"]
mod child;

use child::in_child;
use sateen_queue::channel::{
    ReadyTimeoutError, Receiver, RecvError, RecvTimeoutError, Select, SelectTimeoutError,
    SendError, SendTimeoutError, Sender, TryReadyError, TryRecvError, TrySelectError, TrySendError,
    after, at, bounded, never, select, tick, unbounded,
};
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_millis(1);

#[test]
fn a_full_channel_gives_the_item_back() {
    for capacity in [0, 1] {
        let (tx, rx) = bounded(capacity);
        (0..capacity).for_each(|_| tx.send("first").unwrap());
        let full = tx.try_send("again").unwrap_err();
        assert!(full.is_full() && !full.is_disconnected());
        assert_eq!(full.to_string(), "sending on a full channel");
        assert_eq!(format!("{full:?}"), "Full(..)");
        assert_eq!(full.into_inner(), "again");
        let late = tx.send_timeout("late", SOON).unwrap_err();
        assert!(late.is_timeout() && !late.is_disconnected());
        assert_eq!(late.to_string(), "timed out waiting to send");
        assert_eq!(format!("{late:?}"), "Timeout(..)");
        assert_eq!(late.into_inner(), "late");
        assert_eq!(
            tx.send_deadline("late", Instant::now()),
            Err(SendTimeoutError::Timeout("late"))
        );
        drop(rx);
    }
}

#[test]
fn without_receivers_items_come_back() {
    for (tx, rx) in [bounded(0), bounded(1), unbounded()] {
        drop(rx);
        let error = tx.send(1).unwrap_err();
        assert_eq!(error.to_string(), "sending on a disconnected channel");
        assert_eq!(format!("{error:?}"), "SendError(..)");
        assert_eq!(error, SendError(1));
        assert_eq!(tx.try_send(2), Err(TrySendError::Disconnected(2)));
        assert_eq!(tx.send_timeout(3, SOON), Err(SendTimeoutError::Disconnected(3)));
        assert_eq!(tx.send_all([4, 5]).unwrap_err().into_inner().collect::<Vec<_>>(), [4, 5]);
        assert_eq!(TrySendError::from(error), TrySendError::Disconnected(1));
        assert_eq!(SendTimeoutError::from(error), SendTimeoutError::Disconnected(1));
        select! { send(tx, 6) -> sent => assert_eq!(sent, Err(SendError(6))) }
    }
}

#[test]
fn an_empty_channel_says_so() {
    for (tx, rx) in [bounded::<u8>(0), bounded(1), unbounded()] {
        let empty = rx.try_recv().unwrap_err();
        assert!(empty.is_empty() && !empty.is_disconnected());
        assert_eq!(empty.to_string(), "receiving on an empty channel");
        let late = rx.recv_timeout(SOON).unwrap_err();
        assert!(late.is_timeout() && !late.is_disconnected());
        assert_eq!(late.to_string(), "timed out waiting to receive");
        assert_eq!(rx.recv_deadline(Instant::now()), Err(RecvTimeoutError::Timeout));
        assert_eq!(rx.try_recv_into(&mut Vec::new(), 1), Err(TryRecvError::Empty));
        assert_eq!(rx.recv_into(&mut Vec::new(), 0), Ok(0));
        drop(tx);
        assert_eq!(rx.recv(), Err(RecvError));
        assert_eq!(RecvError.to_string(), "receiving on an empty and disconnected channel");
        assert_eq!(rx.try_recv(), Err(TryRecvError::from(RecvError)));
        assert_eq!(rx.recv_timeout(SOON), Err(RecvTimeoutError::from(RecvError)));
        assert_eq!(rx.recv_into(&mut Vec::new(), 1), Err(RecvError));
        assert!(rx.recv_timeout(SOON).unwrap_err().is_disconnected());
    }
}

#[test]
fn a_selection_of_nothing_possible_says_so() {
    let (_tx, rx) = bounded::<u8>(0);
    let mut select = Select::new();
    select.recv(&rx);
    assert_eq!(select.try_select().unwrap_err(), TrySelectError);
    assert_eq!(select.select_timeout(SOON).unwrap_err(), SelectTimeoutError);
    assert_eq!(select.try_ready(), Err(TryReadyError));
    assert_eq!(select.ready_timeout(SOON), Err(ReadyTimeoutError));
    for text in [
        TrySelectError.to_string(),
        SelectTimeoutError.to_string(),
        TryReadyError.to_string(),
        ReadyTimeoutError.to_string(),
    ] {
        assert!(text.contains("selection"));
    }
    assert!(catch_unwind(|| Select::new().select().index()).is_err());
    assert!(catch_unwind(|| Select::new().ready()).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| select.remove(7))).is_err());
}

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

/// A place that was promised first does not hold up what comes behind it. Its item comes later, then.
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

/// Who waits for room is woken by a receiver that passes over a promised place.
#[test]
fn passing_over_a_promise_wakes_a_sender() {
    struct Woken(AtomicUsize);
    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let (tx, rx) = bounded(1);
    let mut selection = Select::new();
    selection.send(&tx);
    let selected = selection.select();
    let woken = Arc::new(Woken(AtomicUsize::new(0)));
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    let mut send = pin!(tx.send_async(2));
    assert!(send.as_mut().poll(&mut cx).is_pending());
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(woken.0.load(Relaxed), 1);
    assert_eq!(send.poll(&mut cx), Poll::Ready(Ok(())));
    assert_eq!(rx.try_recv(), Ok(2));
    selected.send(&tx, 1).unwrap();
    assert_eq!(rx.try_recv(), Ok(1));
}

/// A promised place hides nothing afterwards either, however often the ring has been gone round since.
#[test]
fn a_promise_that_was_passed_over_is_kept_elsewhere() {
    for laps in [1, 2, 63, 64, 65, 127, 128, 129, 256] {
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

/// The same if it is given up then.
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

#[test]
fn an_operation_is_completed_by_its_own_half() {
    let (tx, rx) = unbounded::<u8>();
    let (other, _rx) = unbounded::<u8>();
    let mut selection = Select::new();
    selection.send(&tx);
    let selected = selection.select();
    assert!(catch_unwind(AssertUnwindSafe(|| selected.send(&other, 1))).is_err());
    assert!(rx.is_empty());
}

/// A clone of the sender or receiver that was added is as good.
#[test]
fn an_operation_is_completed_by_a_clone() {
    for (tx, rx) in [bounded(1), unbounded()] {
        let mut sending = Select::new();
        sending.send(&tx);
        assert_eq!(sending.select().send(&tx.clone(), 1), Ok(()));
        let mut receiving = Select::new();
        receiving.recv(&rx);
        assert_eq!(receiving.select().recv(&rx.clone()), Ok(1));
    }
    let (tx, rx) = bounded(0);
    thread::scope(|s| {
        s.spawn(|| {
            let mut sending = Select::new();
            sending.send(&tx);
            assert_eq!(sending.select().send(&tx.clone(), 1), Ok(()));
        });
        let mut receiving = Select::new();
        receiving.recv(&rx);
        assert_eq!(receiving.select().recv(&rx.clone()), Ok(1));
    });
    let clock = after(Duration::ZERO);
    let mut receiving = Select::new();
    receiving.recv(&clock);
    assert!(receiving.select().recv(&clock.clone()).is_ok());
}

/// The other half of the same channel is not, nor is another clock.
#[test]
fn an_operation_is_not_completed_by_another() {
    let (tx, rx) = unbounded();
    tx.send(1).unwrap();
    let mut both = Select::new_biased();
    both.recv(&rx);
    let selected = both.select();
    assert!(catch_unwind(AssertUnwindSafe(|| selected.send(&tx, 2))).is_err());
    let (clock, other) = (after(Duration::ZERO), after(Duration::ZERO));
    let mut receiving = Select::new();
    receiving.recv(&clock);
    let selected = receiving.select();
    assert!(catch_unwind(AssertUnwindSafe(|| selected.recv(&other))).is_err());
    receiving = Select::new();
    receiving.recv(&other);
    let selected = receiving.select();
    assert!(catch_unwind(AssertUnwindSafe(|| selected.recv(&never::<Instant>()))).is_err());
}

#[test]
fn what_nobody_receives_is_dropped_with_the_last_receiver() {
    for (tx, rx) in [bounded(2), unbounded()] {
        let item = Arc::new(());
        tx.send(item.clone()).unwrap();
        let other = rx.clone();
        drop(rx);
        assert_eq!(Arc::strong_count(&item), 2);
        drop(other);
        assert_eq!(Arc::strong_count(&item), 1);
    }
}

#[test]
fn a_future_that_was_woken_and_dropped_wakes_another() {
    let (tx, rx) = bounded(1);
    let mut cx = Context::from_waker(Waker::noop());
    let mut second = pin!(rx.recv_async());
    {
        let mut first = pin!(rx.recv_async());
        assert!(first.as_mut().poll(&mut cx).is_pending());
        assert!(second.as_mut().poll(&mut cx).is_pending());
        tx.send(1).unwrap();
    }
    assert_eq!(second.as_mut().poll(&mut cx), Poll::Ready(Ok(1)));
}

#[test]
fn an_item_handed_to_a_dropped_future_goes_to_the_next() {
    let (tx, rx) = bounded(0);
    let mut cx = Context::from_waker(Waker::noop());
    {
        let mut future = pin!(rx.recv_async());
        assert!(future.as_mut().poll(&mut cx).is_pending());
        tx.try_send(1).unwrap();
    }
    drop(tx);
    assert_eq!((rx.try_recv(), rx.try_recv()), (Ok(1), Err(TryRecvError::Disconnected)));
}

#[test]
fn a_dropped_send_has_sent_nothing() {
    for capacity in [0, 1] {
        let (tx, rx) = bounded(capacity);
        (0..capacity).for_each(|_| tx.send(Arc::new(())).unwrap());
        let item = Arc::new(());
        {
            let mut future = pin!(tx.send_async(item.clone()));
            assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(Arc::strong_count(&item), 1);
        assert_eq!(rx.try_iter().count(), capacity);
    }
}

#[test]
fn streams_and_sinks() {
    use futures_core::{FusedStream, Stream};
    use futures_sink::Sink;
    use std::future::poll_fn;

    for capacity in [0, 1, 3] {
        let (tx, rx) = bounded(capacity);
        let sending = std::thread::spawn(move || {
            let mut sink = pin!(tx.into_sink());
            sateen_sync::block_on(async {
                for i in 0..10 {
                    poll_fn(|cx| sink.as_mut().poll_ready(cx)).await.unwrap();
                    sink.as_mut().start_send(i).unwrap();
                }
                poll_fn(|cx| sink.as_mut().poll_close(cx)).await.unwrap();
            });
        });
        let mut stream = pin!(rx.into_stream());
        let mut sum = 0;
        sateen_sync::block_on(async {
            while let Some(i) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
                sum += i;
            }
        });
        assert!(stream.is_terminated());
        assert_eq!(sum, 45);
        sending.join().unwrap();
    }
}

#[test]
fn the_clock_sends() {
    let start = Instant::now();
    assert_eq!(at(start).try_recv(), Ok(start));
    let ticker = tick(SOON);
    assert_eq!((ticker.capacity(), ticker.len()), (Some(1), 0));
    sateen_sync::block_on(async {
        for _ in 0..3 {
            ticker.recv_async().await.unwrap();
        }
    });
    assert!(start.elapsed() >= 3 * SOON);
    let once = after(SOON);
    assert!(once.recv().is_ok());
    assert_eq!(once.recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
    assert_eq!(after(Duration::MAX).try_recv(), Err(TryRecvError::Empty));
    assert_eq!(tick(Duration::MAX).try_recv(), Err(TryRecvError::Empty));
    assert_eq!(never::<u8>().recv_timeout(SOON), Err(RecvTimeoutError::Timeout));
}

#[test]
fn select_takes_all_forms() {
    let (tx, rx) = bounded(1);
    let some = [&rx].into_iter().next();
    let none = loop {
        select! {
            recv(rx) -> item => unreachable!("{item:?}"),
            recv(some.unwrap_or(&never())) -> _ => {}
            default => break "none",
        }
    };
    assert_eq!(none, "none");
    let text = String::from("moved only if sent");
    let sent = select! {
        send(tx, text) -> sent => sent,
        default() => unreachable!(),
    };
    assert_eq!(sent, Ok(()));
    let text = String::from("kept");
    select! {
        send(tx, text) -> _ => unreachable!(),
        default(SOON) => drop(text),
    }
    for _ in 0..1 {
        select! {
            recv(Arc::new(rx.clone())) -> item => {
                assert_eq!(item.as_deref(), Ok("moved only if sent"));
                continue;
            },
            send(tx, String::new()) -> _ => {}
        }
        unreachable!("the channel is full");
    }
    fn early(rx: &sateen_queue::channel::Receiver<String>) -> Result<usize, RecvError> {
        let text =
            select! { recv(rx) -> item => item?, recv(after(SOON)) -> _ => return Err(RecvError) };
        Ok(text.len())
    }
    assert_eq!(early(&rx), Err(RecvError));
}

#[test]
fn items_need_be_neither_copy_nor_shared() {
    let (tx, rx) = bounded(1);
    tx.send(Cell::new(Box::new(1))).unwrap();
    let item = std::thread::spawn(move || rx.recv().unwrap()).join().unwrap();
    assert_eq!(*item.into_inner(), 1);
}

/// An item that must stay on its thread; says where it was dropped.
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

/// A selection may be sent to threads to which its items may not: an operation that is dropped there drops none of them.
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

/// The same for a promised item with others behind it, which nobody will receive: they went with the last receiver.
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

/// What is behind a promised place is received, or dropped with the channel, even if the promise was forgotten.
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

/// Promises that were forgotten take all the room there is: it is room again as soon as somebody receives, whether they
/// come before the senders or after.
#[test]
fn forgotten_promises_take_no_room_for_ever() {
    if !in_child("forgotten_promises_take_no_room_for_ever") {
        return;
    }
    for receiver_first in [true, false] {
        let (sender, receiver) = bounded(2);
        thread::scope(|s| {
            let receive = || s.spawn(|| receiver.recv());
            let early = receiver_first.then(|| {
                let early = receive();
                // It may sleep by now, or not: both must do.
                thread::sleep(SOON);
                early
            });
            forget_a_promise(&sender);
            forget_a_promise(&sender);
            assert_eq!(sender.try_send(0), Err(TrySendError::Full(0)));
            let sent = s.spawn(|| sender.send(1));
            let received = early.unwrap_or_else(receive).join().unwrap();
            assert_eq!((sent.join().unwrap(), received), (Ok(()), Ok(1)));
        });
    }
}

/// A receiver that was chosen for an operation which nobody completes waits no longer than it wanted to.
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

/// A sink or a future that has sent all it had says so again.
#[test]
fn sending_nothing_is_done_at_once() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        let mut sending = pin!(sender.send_async(1));
        let mut cx = Context::from_waker(Waker::noop());
        let first = sending.as_mut().poll(&mut cx);
        assert_eq!(first.is_pending(), capacity == 0);
        assert_eq!(receiver.recv(), Ok(1));
        for _ in 0..2 {
            assert_eq!(sending.as_mut().poll(&mut cx), Poll::Ready(Ok(())));
        }
    }
}
