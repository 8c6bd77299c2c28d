//! The bounded queue under the model checker. There a slot's turn has three bits.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use sateen_queue::mpmc::Bounded;
use sateen_queue::{PopError, PushError};
use sateen_testkit::model;

type Item = Box<usize>;

/// Pops until the queue reports that it is closed.
fn drain(queue: &Bounded<Item>) -> Vec<usize> {
    let mut got = Vec::new();
    loop {
        match queue.pop() {
            Ok(item) => got.push(*item),
            Err(PopError::Closed) => return got,
            Err(_) => thread::yield_now(),
        }
    }
}

/// Two producers fill a queue. A consumer takes the items that it finds, and the rest is there in
/// the end.
#[test]
fn two_producers_one_consumer() {
    model(2, || {
        let queue = Arc::new(Bounded::starting_at(2, u64::MAX));
        let producers: Vec<_> = [1, 10]
            .into_iter()
            .map(|item| {
                let queue = queue.clone();
                thread::spawn(move || queue.push(Box::new(item)).unwrap())
            })
            .collect();
        let mut got: Vec<usize> = queue.pop().into_iter().map(|item| *item).collect();
        producers.into_iter().for_each(|p| p.join().unwrap());
        queue.close();
        got.extend(drain(&queue));
        got.sort_unstable();
        assert_eq!(got, [1, 10]);
    });
}

/// Two consumers take the items, and a producer goes round the ring behind them.
#[test]
fn round_the_ring() {
    model(2, || {
        let queue = Arc::new(Bounded::starting_at(2, 1));
        queue.push(Box::new(0)).unwrap();
        queue.push(Box::new(1)).unwrap();
        let other = {
            let queue = queue.clone();
            thread::spawn(move || queue.pop().map(|item| *item).unwrap())
        };
        let third = {
            let queue = queue.clone();
            thread::spawn(move || queue.push(Box::new(2)).is_ok())
        };
        let mine = *queue.pop().unwrap();
        let mut got = vec![mine, other.join().unwrap()];
        let pushed = third.join().unwrap();
        queue.close();
        got.extend(drain(&queue));
        got.sort_unstable();
        assert!(got == if pushed { vec![0, 1, 2] } else { vec![0, 1] });
    });
}

/// One thread goes round the ring four times, so that a turn of the first lap looks like one of the
/// fifth. Then the other thread comes.
#[test]
fn a_turn_of_long_ago() {
    model(2, || {
        let queue = Arc::new(Bounded::new(1));
        let other = {
            let queue = queue.clone();
            thread::spawn(move || queue.push(Box::new(5)).is_ok())
        };
        let mut got = Vec::new();
        for item in 1..=4 {
            queue.push(Box::new(item)).unwrap_or_else(|item| got.push(*item.into_inner()));
            if item < 4 {
                got.extend(queue.pop().map(|item| *item));
            }
        }
        let pushed = other.join().unwrap();
        queue.close();
        got.extend(drain(&queue));
        got.sort_unstable();
        assert!(got == if pushed { vec![1, 2, 3, 4, 5] } else { vec![1, 2, 3, 4] });
    });
}

/// Items that are pushed before the queue closes come out before it reports that it is closed.
#[test]
fn close_against_push() {
    model(3, || {
        let queue = Arc::new(Bounded::new(2));
        let producer = {
            let queue = queue.clone();
            thread::spawn(move || match queue.push(Box::new(1)) {
                Ok(()) => vec![1],
                Err(PushError::Closed(item)) => {
                    assert_eq!(*item, 1);
                    vec![]
                }
                Err(_) => unreachable!("there is room"),
            })
        };
        let closer = {
            let queue = queue.clone();
            thread::spawn(move || assert!(queue.close()))
        };
        let got = drain(&queue);
        closer.join().unwrap();
        assert_eq!(got, producer.join().unwrap());
    });
}

/// Two forced pushes into a full queue. One item leaves for each of them.
#[test]
fn two_forced_pushes() {
    for capacity in [1, 2] {
        model(3, move || {
            let queue = Arc::new(Bounded::starting_at(capacity, 1));
            (0..capacity).for_each(|i| queue.push(Box::new(i)).unwrap());
            let other = {
                let queue = queue.clone();
                thread::spawn(move || queue.force_push(Box::new(10)).unwrap().map(|b| *b))
            };
            let mut got = Vec::from_iter(queue.force_push(Box::new(11)).unwrap().map(|b| *b));
            got.extend(other.join().unwrap());
            assert_eq!((got.len(), queue.len()), (2, capacity));
            queue.close();
            got.extend(drain(&queue));
            got.sort_unstable();
            assert_eq!(got, if capacity == 1 { vec![0, 10, 11] } else { vec![0, 1, 10, 11] });
        });
    }
}

/// A forced push and a pop at a full queue. One of them gets the item at the front.
#[test]
fn forced_push_against_pop() {
    for capacity in [1, 2] {
        model(3, move || {
            let queue = Arc::new(Bounded::starting_at(capacity, 1));
            (0..capacity).for_each(|i| queue.push(Box::new(i)).unwrap());
            let other = {
                let queue = queue.clone();
                thread::spawn(move || queue.force_push(Box::new(10)).unwrap().map(|b| *b))
            };
            let mut got = Vec::from_iter(queue.pop().ok().map(|b| *b));
            got.extend(other.join().unwrap());
            queue.close();
            got.extend(drain(&queue));
            got.sort_unstable();
            assert_eq!(got, if capacity == 1 { vec![0, 10] } else { vec![0, 1, 10] });
        });
    }
}

/// If closing overtakes a forced push, the push gives its item back. If the push comes first, its
/// item goes in.
#[test]
fn close_against_forced_push() {
    model(3, || {
        let queue = Arc::new(Bounded::new(1));
        queue.push(Box::new(0)).unwrap();
        let forcer = {
            let queue = queue.clone();
            thread::spawn(move || match queue.force_push(Box::new(1)) {
                Ok(before) => before.into_iter().map(|b| *b).collect(),
                Err(back) => vec![*back.into_inner()],
            })
        };
        queue.close();
        let mut got = drain(&queue);
        got.extend::<Vec<usize>>(forcer.join().unwrap());
        got.sort_unstable();
        assert_eq!(got, [0, 1]);
        assert_eq!(queue.pop(), Err(PopError::Closed));
    });
}

/// Batches beside single operations, at both ends.
#[test]
fn batches() {
    model(2, || {
        let queue = Arc::new(Bounded::starting_at(3, 1));
        queue.push(Box::new(0)).unwrap();
        queue.push(Box::new(1)).unwrap();
        let producer = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut items = [Box::new(2), Box::new(3)].into_iter();
                let _ = queue.push_from(&mut items);
                items.len()
            })
        };
        let other = {
            let queue = queue.clone();
            thread::spawn(move || queue.pop().ok().map(|item| *item))
        };
        let mut buf = Vec::new();
        let taken = queue.pop_into(&mut buf, 2).unwrap();
        assert!(taken == buf.len() && taken > 0);
        let mut got: Vec<usize> = buf.into_iter().map(|item| *item).collect();
        let rest = producer.join().unwrap();
        got.extend(other.join().unwrap());
        queue.close();
        got.extend(drain(&queue));
        got.sort_unstable();
        assert_eq!(got, (0..4 - rest).collect::<Vec<_>>());
    });
}
