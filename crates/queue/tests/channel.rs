//! Channels beyond the plain path: each error and its text, which items come back or are dropped,
//! and how futures, clocks and selections behave.
#![cfg(not(loom))]

use sateen_queue::channel::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, Select, SelectTimeoutError, SendError,
    SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError, after, at,
    bounded, never, select, tick, unbounded,
};
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
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
fn an_operation_is_completed_by_its_own_half() {
    let (tx, rx) = unbounded::<u8>();
    let (other, _rx) = unbounded::<u8>();
    let mut selection = Select::new();
    selection.send(&tx);
    let selected = selection.select();
    assert!(catch_unwind(AssertUnwindSafe(|| selected.send(&other, 1))).is_err());
    assert!(rx.is_empty());
}

/// A clone of the selected sender or receiver completes the operation too.
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

/// Neither the other half of the same channel nor another clock completes the operation.
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
#[cfg_attr(miri, ignore = "Miri's clock goes on with each of its slow steps")]
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

/// A future that has sent its item is ready again at each later poll.
#[test]
fn sending_nothing_is_done_at_once() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        let mut sending = pin!(sender.send_async(1));
        let mut cx = Context::from_waker(Waker::noop());
        let first = sending.as_mut().poll(&mut cx);
        assert_eq!(first.is_pending(), capacity == 0);
        if capacity == 0 {
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        }
        for _ in 0..2 {
            assert_eq!(sending.as_mut().poll(&mut cx), Poll::Ready(Ok(())));
        }
        assert_eq!(receiver.recv(), Ok(1));
    }
}
