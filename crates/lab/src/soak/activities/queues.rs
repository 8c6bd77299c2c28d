//! Numbers through the queues, between tasks and threads that come and go.

use super::World;
use crate::error::{Error, expect};
use sateen::queue::{ArrayQueue, PopError, SegQueue, spsc};
use sateen::yield_now;
use sateen_base::XorShift;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

/// How many producers, and how many consumers.
const ENDS: u64 = 2;

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        let items = 1 + random.below(20_000) as u64;
        match random.below(3) {
            0 => {
                let queue = SegQueue::new();
                shared(
                    world,
                    &queue,
                    items,
                    |q, n| {
                        q.push(n);
                        true
                    },
                    SegQueue::pop,
                )?;
            }
            1 => {
                let queue = ArrayQueue::new(1 + random.below(256));
                shared(world, &queue, items, |q, n| q.push(n).is_ok(), ArrayQueue::pop)?;
            }
            _ => single(world, 1 + random.below(256), items)?,
        }
    }
    Ok(())
}

/// Runs producers and consumers on threads and in tasks, all of which end.
fn shared<Q: Sync>(
    world: &World<'_>,
    queue: &Q,
    items: u64,
    push: impl Fn(&Q, u64) -> bool + Sync,
    pop: impl Fn(&Q) -> Option<u64> + Sync,
) -> Result<(), Error> {
    let (count, sum) = (AtomicU64::new(0), AtomicU64::new(0));
    let all = items * ENDS;
    let produce = || {
        for n in 1..=items {
            while !push(queue, n) {
                yield_now();
            }
        }
    };
    let consume = || {
        while count.load(Relaxed) < all {
            match pop(queue) {
                Some(n) => {
                    sum.fetch_add(n, Relaxed);
                    count.fetch_add(1, Relaxed);
                    // Counts a number as pushed and popped at once: on a busy machine a round may
                    // take minutes.
                    world.ledger.did(2);
                }
                None => yield_now(),
            }
        }
    };
    thread::scope(|s| {
        s.spawn(produce);
        s.spawn(consume);
        world.runtime.scope(|s| {
            s.spawn(|_| produce());
            s.spawn(|_| consume());
        });
    });
    expect("items popped", count.into_inner(), all)?;
    expect("their sum", sum.into_inner(), items * (items + 1) / 2 * ENDS)
}

/// One producer, one consumer: order is kept.
fn single(world: &World<'_>, capacity: usize, items: u64) -> Result<(), Error> {
    let (mut producer, mut consumer) = spsc::bounded(capacity);
    let producing = thread::spawn(move || {
        for n in 0..items {
            let mut item = n;
            while let Err(refused) = producer.push(item) {
                item = refused.into_inner();
                thread::yield_now();
            }
        }
    });
    let mut next = 0;
    loop {
        match consumer.pop() {
            Ok(n) => {
                expect("the next item of a single producer", n, next)?;
                next += 1;
                world.ledger.did(2);
            }
            Err(PopError::Closed) => break,
            Err(_) => thread::yield_now(),
        }
    }
    expect("items of a single producer", next, items)?;
    producing.join().map_err(|_| Error::Wrong("a producer panicked".to_owned()))
}
