//! No item is lost, no item comes twice, and the items of one sender come in order. Up to 16
//! threads send and receive in all ways.
#![cfg(not(loom))]

use sateen_queue::channel::{Receiver, Sender, bounded, select, unbounded};
use sateen_sync::block_on;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const ITEMS: usize = if cfg!(miri) {
    10
} else if cfg!(debug_assertions) {
    3_000
} else {
    60_000
};

/// An item that owns memory and counts itself.
struct Item<'a> {
    sender: usize,
    number: Box<usize>,
    alive: &'a AtomicUsize,
}

impl<'a> Item<'a> {
    fn new(sender: usize, number: usize, alive: &'a AtomicUsize) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { sender, number: Box::new(number), alive }
    }
}

impl Drop for Item<'_> {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy)]
enum Way {
    Plain,
    Async,
    Batch,
    Select,
}
use Way::{Async, Batch, Plain};

fn send_all<'a>(way: Way, tx: &Sender<Item<'a>>, who: usize, count: usize, alive: &'a AtomicUsize) {
    let item = |number| Item::new(who, number, alive);
    match way {
        Plain => (0..count).for_each(|i| assert!(tx.send(item(i)).is_ok())),
        Async => {
            block_on(async {
                for i in 0..count {
                    assert!(tx.send_async(item(i)).await.is_ok());
                }
            });
        }
        Batch => {
            for start in (0..count).step_by(7) {
                let items: Vec<_> = (start..count.min(start + 7)).map(item).collect();
                assert!(tx.send_all(items).is_ok());
            }
        }
        Way::Select => {
            for i in 0..count {
                select! { send(tx, item(i)) -> sent => assert!(sent.is_ok()) }
            }
        }
    }
}

fn receive_all<'a>(way: Way, rx: &Receiver<Item<'a>>, mut got: impl FnMut(Item<'a>)) {
    match way {
        Plain => rx.iter().for_each(got),
        Async => block_on(async {
            while let Ok(item) = rx.recv_async().await {
                got(item);
            }
        }),
        Batch => {
            let mut buf = Vec::new();
            while rx.recv_into(&mut buf, 5).is_ok() {
                buf.drain(..).for_each(&mut got);
            }
        }
        Way::Select => {
            let never = sateen_queue::channel::never::<u8>();
            loop {
                select! {
                    recv(rx) -> item => match item {
                        Ok(item) => got(item),
                        Err(_) => break,
                    },
                    recv(never) -> _ => unreachable!("never"),
                }
            }
        }
    }
}

fn conserve(capacity: Option<usize>, threads: usize, ways: (Way, Way)) {
    let alive = AtomicUsize::new(0);
    // Without a buffer, each item takes a switch of threads.
    let count = if capacity == Some(0) { ITEMS / 10 } else { ITEMS } / threads;
    let (tx, rx) = capacity.map_or_else(unbounded, bounded);
    let received: usize = thread::scope(|s| {
        let receivers: Vec<_> = (0..threads)
            .map(|_| {
                let rx = rx.clone();
                s.spawn(move || {
                    let (mut last, mut received) = (vec![None; threads], 0);
                    receive_all(ways.1, &rx, |item| {
                        assert!(last[item.sender] < Some(*item.number), "out of order");
                        last[item.sender] = Some(*item.number);
                        received += 1;
                    });
                    received
                })
            })
            .collect();
        drop(rx);
        for who in 0..threads {
            let (tx, alive) = (tx.clone(), &alive);
            s.spawn(move || send_all(ways.0, &tx, who, count, alive));
        }
        drop(tx);
        receivers.into_iter().map(|receiver| receiver.join().unwrap()).sum()
    });
    assert_eq!(received, count * threads);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

const CAPACITIES: [Option<usize>; 4] = [Some(0), Some(1), Some(100), None];
const THREADS: &[usize] = if cfg!(miri) { &[2] } else { &[1, 2, 4, 8] };

#[test]
fn blocking() {
    for capacity in CAPACITIES {
        for &threads in THREADS {
            conserve(capacity, threads, (Plain, Plain));
        }
    }
}

#[test]
fn awaited() {
    for capacity in CAPACITIES {
        conserve(capacity, 2, (Async, Async));
        conserve(capacity, 3, (Plain, Async));
        conserve(capacity, 3, (Async, Plain));
    }
}

#[test]
fn in_batches() {
    for capacity in CAPACITIES {
        conserve(capacity, 1, (Batch, Batch));
        conserve(capacity, 4, (Batch, Plain));
        conserve(capacity, 4, (Plain, Batch));
    }
}

#[test]
fn selected() {
    for capacity in CAPACITIES {
        conserve(capacity, 1, (Way::Select, Way::Select));
        conserve(capacity, 3, (Way::Select, Way::Select));
        conserve(capacity, 3, (Plain, Way::Select));
        conserve(capacity, 3, (Way::Select, Async));
    }
}

/// Futures are dropped half-way, again and again. The item that such a future was woken for goes to
/// another.
#[test]
fn dropped_futures_lose_nothing() {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    for capacity in CAPACITIES {
        let (tx, rx) = capacity.map_or_else(unbounded, bounded);
        let count = ITEMS / 10;
        let sum: usize = thread::scope(|s| {
            s.spawn(move || (0..count).for_each(|i| tx.send(i).unwrap()));
            let hasty = rx.clone();
            let hasty = s.spawn(move || {
                let (mut sum, mut cx) = (0, Context::from_waker(Waker::noop()));
                for _ in 0..count {
                    let mut future = pin!(hasty.recv_async());
                    if let Poll::Ready(Ok(i)) = future.as_mut().poll(&mut cx) {
                        sum += i;
                    } else {
                        thread::yield_now();
                    }
                }
                // The last future may have left the last item when others had been told that no
                // sender is left.
                sum + hasty.try_iter().sum::<usize>()
            });
            let patient = s.spawn(move || rx.iter().sum::<usize>());
            patient.join().unwrap() + hasty.join().unwrap()
        });
        assert_eq!(sum, count * (count - 1) / 2);
    }
}

/// Items of size zero, and large items.
#[test]
fn small_and_large_items() {
    const EACH: usize = if cfg!(miri) { 20 } else { 500 };
    fn through<T: Send + Copy>(item: T, capacity: Option<usize>) -> usize {
        let (tx, rx) = capacity.map_or_else(unbounded, bounded);
        thread::scope(|s| {
            s.spawn(move || (0..EACH).for_each(|_| tx.send(item).ok().unwrap()));
            let mut count = 0;
            loop {
                select! {
                    recv(rx) -> item => if item.is_err() { return count } else { count += 1 }
                }
                count += rx.try_iter().count();
            }
        })
    }
    for capacity in CAPACITIES {
        assert_eq!(through((), capacity), EACH);
        assert_eq!(through([1u64; 100], capacity), EACH);
    }
}
