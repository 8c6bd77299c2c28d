//! Many threads at once. No item is lost, and no item comes twice. Each producer's items come in
//! order to each consumer. A consumer that is told "closed" has missed no item.
#![cfg(not(loom))]

use sateen_queue::mpmc::{Bounded, Unbounded};
use sateen_queue::{PopError, PushError};
use std::thread;

/// Items of a producer.
const EACH: usize = if cfg!(miri) { 6 } else { 1_000 };

/// Producers and consumers.
const CREWS: &[(usize, usize)] =
    if cfg!(miri) { &[(2, 2)] } else { &[(1, 1), (1, 4), (4, 1), (2, 2), (4, 4), (8, 8)] };

type Item = Box<(usize, usize)>;

/// The operations of both queues.
trait Queue: Sync {
    fn push(&self, item: Item) -> Result<(), PushError<Item>>;
    fn push_from(&self, items: &mut std::vec::IntoIter<Item>) -> Result<usize, PushError<()>>;
    fn pop(&self) -> Result<Item, PopError>;
    fn pop_into(&self, buf: &mut Vec<Item>, max: usize) -> Result<usize, PopError>;
    fn close(&self) -> bool;
}

macro_rules! queue {
    ($($of:ty)*) => { $(
        impl Queue for $of {
            fn push(&self, item: Item) -> Result<(), PushError<Item>> {
                self.push(item)
            }
            fn push_from(
                &self,
                items: &mut std::vec::IntoIter<Item>,
            ) -> Result<usize, PushError<()>> {
                self.push_from(items)
            }
            fn pop(&self) -> Result<Item, PopError> {
                self.pop()
            }
            fn pop_into(&self, buf: &mut Vec<Item>, max: usize) -> Result<usize, PopError> {
                self.pop_into(buf, max)
            }
            fn close(&self) -> bool {
                self.close()
            }
        }
    )* };
}
queue!(Bounded<Item> Unbounded<Item>);

fn put(queue: &impl Queue, producer: usize, batch: usize) {
    for start in (0..EACH).step_by(batch) {
        let items = (start..EACH.min(start + batch)).map(|i| Box::new((producer, i)));
        let mut items = items.collect::<Vec<_>>().into_iter();
        while items.len() > 0 {
            let done = if items.len() == 1 {
                queue.push(items.next().unwrap()).map_err(|error| {
                    assert!(error.is_full(), "closed too early");
                    items = vec![error.into_inner()].into_iter();
                })
            } else {
                queue.push_from(&mut items).map(|_| ()).map_err(|error| assert!(error.is_full()))
            };
            if done.is_err() {
                thread::yield_now();
            }
        }
    }
}

fn take(queue: &impl Queue, batch: usize) -> Vec<Item> {
    let mut got = Vec::new();
    loop {
        let taken = if batch == 1 {
            queue.pop().map(|item| got.push(item))
        } else {
            queue.pop_into(&mut got, batch).map(|_| ())
        };
        match taken {
            Ok(()) => {}
            Err(PopError::Closed) => return got,
            Err(_) => thread::yield_now(),
        }
    }
}

fn check(got: Vec<Vec<Item>>, producers: usize) {
    let mut seen = vec![vec![false; EACH]; producers];
    for mine in got {
        let mut last = vec![None; producers];
        for (producer, i) in mine.into_iter().map(|item| *item) {
            assert!(last[producer] < Some(i), "out of order");
            last[producer] = Some(i);
            assert!(!std::mem::replace(&mut seen[producer][i], true), "twice");
        }
    }
    assert!(seen.iter().flatten().all(|&s| s), "lost");
}

fn conserve(queue: &impl Queue, producers: usize, consumers: usize, batch: usize) {
    let got = thread::scope(|s| {
        let takers: Vec<_> = (0..consumers).map(|_| s.spawn(move || take(queue, batch))).collect();
        let putters: Vec<_> =
            (0..producers).map(|p| s.spawn(move || put(queue, p, batch))).collect();
        putters.into_iter().for_each(|p| p.join().unwrap());
        queue.close();
        takers.into_iter().map(|t| t.join().unwrap()).collect()
    });
    check(got, producers);
}

#[test]
fn bounded() {
    for &(producers, consumers) in CREWS {
        for (capacity, batch) in [(1, 1), (2, 1), (7, 1), (64, 1), (1, 5), (64, 16)] {
            conserve(&Bounded::starting_at(capacity, u64::MAX - 9), producers, consumers, batch);
        }
    }
}

#[test]
fn unbounded() {
    for &(producers, consumers) in CREWS {
        for batch in [1, 5, 100] {
            conserve(&Unbounded::starting_at((1 << 63) - 66), producers, consumers, batch);
        }
    }
}
