//! What a channel without a buffer promises to those who give up: an item belongs to its sender
//! until the send is done, and from then on to the next receiver that looks.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_queue::channel::{
    Receiver, RecvError, Select, SendError, SendTimeoutError, Sender, TryRecvError, TrySendError,
    bounded, select,
};
use sateen_sync::block_on;
use sateen_testkit::Counter;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

/// How often to do something: under Miri, in a debug build, or else.
const fn rounds(miri: usize, debug: usize, release: usize) -> usize {
    match miri {
        _ if cfg!(miri) => miri,
        _ if cfg!(debug_assertions) => debug,
        _ => release,
    }
}

const SOON: Duration = Duration::from_micros(50);
const NONE: Duration = Duration::ZERO;

fn look<F: Future>(future: &mut Pin<&mut F>) -> Poll<F::Output> {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls the future so often; `None` if it is dropped before it is ready.
fn within<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..polls {
        if let Poll::Ready(result) = look(&mut future) {
            return Some(result);
        }
        thread::yield_now();
    }
    None
}

/// A receiver comes while a send future waits. No way to receive takes the item before the future
/// is polled, so the future can be dropped and its item sent anew.
#[test]
fn a_send_that_is_dropped_before_it_is_ready_has_sent_nothing() {
    type Receive = fn(&Receiver<Arc<()>>) -> bool;
    let ways: [Receive; 7] = [
        |rx| rx.try_recv().is_ok(),
        |rx| rx.recv_timeout(SOON).is_ok(),
        |rx| rx.recv_timeout(NONE).is_ok(),
        |rx| within(2, rx.recv_async()).is_some(),
        |rx| rx.try_iter().count() > 0,
        |rx| select! { recv(rx) -> item => item.is_ok(), default => false },
        |rx| select! { recv(rx) -> item => item.is_ok(), default(SOON) => false },
    ];
    for receive in ways {
        let (tx, rx) = bounded(0);
        let item = Arc::new(());
        {
            let mut sending = pin!(tx.send_async(item.clone()));
            assert!(look(&mut sending).is_pending());
            assert!(!receive(&rx), "the future has not been polled again");
        }
        assert_eq!(Arc::strong_count(&item), 1);
        assert!(!receive(&rx), "the item came although its send was given up");

        // Polled once a receiver has looked, the future is ready. The item is there for the next.
        let mut sending = pin!(tx.send_async(item.clone()));
        assert!(look(&mut sending).is_pending());
        assert!(!receive(&rx));
        assert_eq!(look(&mut sending), Poll::Ready(Ok(())));
        assert!(receive(&rx));
        assert_eq!(Arc::strong_count(&item), 1);
    }
}

/// The receiver that asked for an item is woken when the future sends it.
#[test]
fn a_future_sends_to_a_receiver_that_waits() {
    let (tx, rx) = bounded(0);
    let (sends, receives) = (Arc::new(Counter::default()), Arc::new(Counter::default()));
    let mut sending = pin!(tx.send_async(1));
    let mut receiving = pin!(rx.recv_async());
    assert!(sends.poll(sending.as_mut()).is_pending());
    assert!(receives.poll(receiving.as_mut()).is_pending());
    assert_eq!((sends.take(), receives.take()), (1, 0));
    assert_eq!(sends.poll(sending.as_mut()), Poll::Ready(Ok(())));
    assert_eq!((sends.take(), receives.take()), (0, 1));
    assert_eq!(receives.poll(receiving.as_mut()), Poll::Ready(Ok(1)));
}

/// A future that was called and is dropped passes the call on; so does one that is dropped after a
/// receiver only looked.
#[test]
fn a_send_that_was_called_and_dropped_calls_the_next() {
    for waits in [true, false] {
        let (tx, rx) = bounded(0);
        let count = Arc::new(Counter::default());
        let mut receiving = pin!(rx.recv_async());
        let mut second = pin!(tx.send_async(2));
        {
            let mut first = pin!(tx.send_async(1));
            assert!(look(&mut first).is_pending());
            assert!(count.poll(second.as_mut()).is_pending());
            if waits {
                assert!(look(&mut receiving).is_pending());
            } else {
                assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
            }
            assert_eq!(count.take(), 0);
        }
        assert_eq!(count.take(), 1);
        assert_eq!(count.poll(second.as_mut()), Poll::Ready(Ok(())));
        assert_eq!(rx.try_recv(), Ok(2));
    }
}

/// A receiver has looked, and the future that it called is gone: a later future waits for another.
#[test]
fn a_look_calls_none_that_come_later() {
    let (tx, rx) = bounded(0);
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    assert!(within(2, tx.send_async(1)).is_none());
    {
        let mut sending = pin!(tx.send_async(2));
        assert!(look(&mut sending).is_pending());
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
    }
    assert!(within(2, tx.send_async(3)).is_none());
    assert_eq!(tx.try_send(4), Err(TrySendError::Full(4)));
    assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
}

/// The receiver that an item was handed to is dropped. The next receives it before later items.
#[test]
fn items_keep_their_order_when_a_receiver_is_dropped() {
    let (tx, rx) = bounded(0);
    let mut second = pin!(rx.recv_async());
    let mut third = pin!(rx.recv_async());
    {
        let mut first = pin!(rx.recv_async());
        assert!(look(&mut first).is_pending());
        assert!(look(&mut second).is_pending());
        assert!(look(&mut third).is_pending());
        assert_eq!(tx.try_send(1), Ok(()));
        assert_eq!(tx.send(2), Ok(()));
        assert_eq!(tx.send_timeout(3, SOON), Ok(()));
    }
    assert_eq!(look(&mut third), Poll::Ready(Ok(1)));
    assert_eq!(look(&mut second), Poll::Ready(Ok(2)));
    assert_eq!(rx.try_recv(), Ok(3));
}

/// A receiver that comes first takes the item that another was woken for. That one waits on, before
/// those that came after it.
#[test]
fn a_receiver_whose_item_was_taken_is_first_in_line() {
    let (tx, rx) = bounded(0);
    let mut first = pin!(rx.recv_async());
    let mut second = pin!(rx.recv_async());
    assert!(look(&mut first).is_pending());
    assert_eq!(tx.try_send(1), Ok(()));
    assert_eq!(rx.try_recv(), Ok(1));
    assert!(look(&mut second).is_pending());
    assert!(look(&mut first).is_pending());
    let count = Arc::new(Counter::default());
    assert!(count.poll(first.as_mut()).is_pending());
    assert_eq!(tx.try_send(2), Ok(()));
    assert_eq!(count.take(), 1);
    assert_eq!(look(&mut first), Poll::Ready(Ok(2)));
}

/// An item that was handed to a receiver is received before the end of the channel is told.
#[test]
fn an_item_comes_before_the_disconnection() {
    let (tx, rx) = bounded(0);
    let other = rx.clone();
    let mut handed = pin!(rx.recv_async());
    let mut waiting = pin!(other.recv_async());
    assert!(look(&mut handed).is_pending());
    assert!(look(&mut waiting).is_pending());
    tx.try_send(1).unwrap();
    drop(tx);
    assert_eq!(look(&mut waiting), Poll::Ready(Ok(1)));
    assert_eq!(look(&mut handed), Poll::Ready(Err(RecvError)));
}

/// Without receivers, what was handed over is dropped, and what was not comes back.
#[test]
fn without_receivers_nothing_stays() {
    let (tx, rx) = bounded(0);
    let items = [(); 3].map(|()| Arc::new(()));
    let mut waiting = pin!(tx.send_async(items[1].clone()));
    {
        let mut receiving = pin!(rx.recv_async());
        assert!(look(&mut receiving).is_pending());
        assert_eq!(tx.try_send(items[0].clone()), Ok(()));
        assert!(look(&mut waiting).is_pending());
    }
    let count = Arc::new(Counter::default());
    assert!(count.poll(waiting.as_mut()).is_pending());
    drop(rx);
    assert_eq!(count.take(), 1);
    assert_eq!(look(&mut waiting), Poll::Ready(Err(SendError(items[1].clone()))));
    assert_eq!(tx.try_send(items[2].clone()), Err(TrySendError::Disconnected(items[2].clone())));
    assert!(items.iter().all(|item| Arc::strong_count(item) == 1));
}

/// `ready` waits for a send future, too.
#[test]
fn ready_calls_a_future() {
    let (tx, rx) = bounded(0);
    let mut sending = pin!(tx.send_async(1));
    assert!(look(&mut sending).is_pending());
    let mut ready = Select::new();
    ready.recv(&rx);
    assert!(ready.try_ready().is_err());
    assert_eq!(look(&mut sending), Poll::Ready(Ok(())));
    assert_eq!(ready.try_ready(), Ok(0));
    assert_eq!(rx.try_recv(), Ok(1));
    thread::scope(|s| {
        s.spawn(|| block_on(tx.send_async(2)));
        while rx.try_recv().is_err() {
            ready.ready();
        }
    });
}

/// Threads that send all the time do not keep a future from sending.
#[test]
fn a_future_has_its_turn_beside_threads() {
    let (tx, rx) = bounded(0);
    thread::scope(|s| {
        s.spawn(|| {
            let mut i = 0;
            while tx.send(i).is_ok() {
                i += 1;
            }
        });
        s.spawn(|| block_on(tx.send_async(-1)));
        assert!(rx.iter().any(|item| item == -1));
        drop(rx);
    });
}

/// A future that waits, with the item that it sends.
struct Begun<'a> {
    future: Pin<Box<dyn Future<Output = Option<usize>> + 'a>>,
    sends: Option<usize>,
    woken: Arc<Counter>,
}

/// One thread begins, polls and drops futures in any order. Receivers get what was sent, in that
/// order. At the end only futures that were woken are polled, until none is: no sender and receiver
/// are left that wait for each other.
#[test]
fn futures_do_what_a_queue_does() {
    for seed in 0..rounds(5, 500, 10_000) as u64 {
        let mut random = XorShift::new(seed);
        let (tx, rx) = bounded(0);
        let mut begun: Vec<Begun<'_>> = Vec::new();
        let mut sent = VecDeque::new();
        let step = |begun: &mut Vec<Begun<'_>>, at: usize, sent: &mut VecDeque<usize>| {
            let Begun { future, sends, woken } = &mut begun[at];
            woken.take();
            if let Poll::Ready(item) = woken.poll(future.as_mut()) {
                match *sends {
                    Some(item) => sent.push_back(item),
                    None => assert_eq!(item, sent.pop_front(), "seed {seed}"),
                }
                begun.remove(at);
            }
        };
        for next in 0..60 {
            let at = random.below(begun.len().max(1));
            match random.below(9) {
                kind @ 0..4 => {
                    let (tx, rx) = (&tx, &rx);
                    let sends = (kind < 2).then_some(next);
                    let future = async move {
                        match sends {
                            Some(item) => tx.send_async(item).await.ok().map(|()| item),
                            None => rx.recv_async().await.ok(),
                        }
                    };
                    begun.push(Begun { future: Box::pin(future), sends, woken: Arc::default() });
                    let last = begun.len() - 1;
                    step(&mut begun, last, &mut sent);
                }
                4 if !begun.is_empty() => drop(begun.swap_remove(at)),
                5 if tx.try_send(next).is_ok() => sent.push_back(next),
                6 if random.below(4) == 0 => assert_eq!(rx.try_recv().ok(), sent.pop_front()),
                7 if random.below(4) == 0 => {
                    let mut select = Select::new();
                    select.recv(&rx);
                    select.send(&tx);
                    if let Ok(selected) = select.try_select() {
                        if selected.index() == 0 {
                            assert_eq!(selected.recv(&rx).ok(), sent.pop_front());
                        } else {
                            selected.send(&tx, next).unwrap();
                            sent.push_back(next);
                        }
                    }
                }
                _ if !begun.is_empty() => step(&mut begun, at, &mut sent),
                _ => {}
            }
        }
        while let Some(at) = begun.iter().position(|begun| begun.woken.get() > 0) {
            step(&mut begun, at, &mut sent);
        }
        let (senders, receivers): (Vec<_>, Vec<_>) =
            begun.iter().partition(|begun| begun.sends.is_some());
        assert!(receivers.is_empty() || senders.is_empty() && sent.is_empty(), "seed {seed}");
        drop(begun);
        assert_eq!(rx.try_iter().collect::<Vec<_>>(), Vec::from(sent), "seed {seed}");
    }
}

#[derive(Clone, Copy, Debug)]
enum Way {
    /// A future is polled a few times and dropped.
    Future,
    /// A call with a time limit.
    Limit,
    /// A call that does not wait.
    Try,
    /// A selection with a time limit.
    Select,
    /// A call that waits on.
    Block,
    /// A future that is polled until it is ready.
    Await,
}
use Way::{Await, Block, Future as Fut, Limit, Select as Sel, Try};

/// Sends `item`; false if it has given up, and the item is still the caller's.
fn send(way: Way, tx: &Sender<usize>, item: usize, random: &mut XorShift) -> bool {
    let sent = match way {
        Fut => within(1 + random.below(3), tx.send_async(item)),
        Limit => match tx.send_timeout(item, SOON) {
            Err(SendTimeoutError::Timeout(back)) => {
                assert_eq!(back, item);
                None
            }
            sent => Some(sent.map_err(|error| SendError(error.into_inner()))),
        },
        Try => match tx.try_send(item) {
            Err(TrySendError::Full(back)) => {
                assert_eq!(back, item);
                None
            }
            sent => Some(sent.map_err(|error| SendError(error.into_inner()))),
        },
        Sel => select! {
            send(tx, item) -> sent => Some(sent),
            default(SOON) => None,
        },
        Block => Some(tx.send(item)),
        Await => Some(block_on(tx.send_async(item))),
    };
    sent.is_some_and(|sent| {
        assert_eq!(sent, Ok(()), "a receiver is there");
        true
    })
}

/// An item, or why there is none.
fn receive(way: Way, rx: &Receiver<usize>, random: &mut XorShift) -> Result<usize, TryRecvError> {
    let ended = |_| TryRecvError::Disconnected;
    match way {
        Fut => within(1 + random.below(3), rx.recv_async())
            .map_or(Err(TryRecvError::Empty), |item| item.map_err(ended)),
        Limit => rx.recv_timeout(SOON).map_err(|error| {
            if error.is_timeout() { TryRecvError::Empty } else { TryRecvError::Disconnected }
        }),
        Try => rx.try_recv(),
        Sel => select! {
            recv(rx) -> item => item.map_err(ended),
            default(SOON) => Err(TryRecvError::Empty),
        },
        Block => rx.recv().map_err(ended),
        Await => block_on(rx.recv_async()).map_err(ended),
    }
}

/// Two senders and two receivers, each in its way. Those that give up try again.
/// All items come, once, and those of each sender in order.
fn conserve(sends: [Way; 2], receives: [Way; 2], count: usize) {
    let (tx, rx) = bounded(0);
    let seen: Vec<AtomicUsize> = (0..2 * count).map(|_| AtomicUsize::new(0)).collect();
    thread::scope(|s| {
        for (who, way) in sends.into_iter().enumerate() {
            let tx = tx.clone();
            s.spawn(move || {
                let mut random = XorShift::new(who as u64 + 1);
                for i in 0..count {
                    while !send(way, &tx, 2 * i + who, &mut random) {
                        thread::yield_now();
                    }
                }
            });
        }
        drop(tx);
        for (who, way) in receives.into_iter().enumerate() {
            let (rx, seen) = (rx.clone(), &seen);
            s.spawn(move || {
                let mut random = XorShift::new(who as u64 + 3);
                let mut last = [None; 2];
                loop {
                    match receive(way, &rx, &mut random) {
                        Ok(item) => {
                            assert!(last[item % 2] < Some(item), "{sends:?} {receives:?}");
                            last[item % 2] = Some(item);
                            seen[item].fetch_add(1, Ordering::Relaxed);
                        }
                        Err(TryRecvError::Empty) => thread::yield_now(),
                        Err(TryRecvError::Disconnected) => break,
                    }
                }
            });
        }
        drop(rx);
    });
    let wrong: Vec<usize> =
        (0..2 * count).filter(|i| seen[*i].load(Ordering::Relaxed) != 1).collect();
    assert!(wrong.is_empty(), "{sends:?} {receives:?}: lost or doubled {wrong:?}");
}

/// Sends that are given up after a limit and tried again.
#[test]
fn sends_that_are_tried_again_do_not_come_twice() {
    let count = rounds(5, 3_000, 30_000);
    conserve([Fut, Fut], [Block, Fut], count);
    conserve([Fut, Limit], [Await, Limit], count);
}

#[test]
fn all_ways_to_give_up_with_each_other() {
    let count = rounds(1, 100, 1_000);
    const WAYS: [Way; 6] = [Fut, Limit, Try, Sel, Block, Await];
    for a in WAYS {
        for b in WAYS {
            // Two that only try never meet.
            if !matches!((a, b), (Try, Try)) {
                if cfg!(not(miri)) {
                    conserve([a, a], [b, b], count);
                }
                conserve([a, Block], [b, Await], count);
            }
        }
    }
}

/// Two receive futures wait, a third receiver blocks behind them. An item comes, and both futures
/// are dropped: the third receives the item.
#[test]
fn who_waits_behind_dropped_futures_is_told() {
    let rounds = rounds(2, 500, 5_000);
    for way in [Block, Await, Sel] {
        for keep in [true, false] {
            for round in 0..rounds {
                let (tx, rx) = bounded(0);
                let mut futures: Vec<_> = (0..2).map(|_| Box::pin(rx.recv_async())).collect();
                for future in &mut futures {
                    assert!(look(&mut future.as_mut()).is_pending());
                }
                let start = Barrier::new(3);
                thread::scope(|s| {
                    let (third, start) = (rx.clone(), &start);
                    s.spawn(move || {
                        start.wait();
                        let item = match way {
                            Block => third.recv(),
                            Await => block_on(third.recv_async()),
                            _ => select! { recv(third) -> item => item },
                        };
                        assert_eq!(item, Ok(round));
                    });
                    s.spawn(move || {
                        start.wait();
                        futures.into_iter().for_each(drop);
                    });
                    start.wait();
                    tx.send(round).unwrap();
                    // The last sender may go before the third has its item.
                    if !keep {
                        drop(tx);
                    }
                });
            }
        }
    }
}
