//! An owner and its thieves.

use super::World;
use crate::error::{Error, expect};
use sateen::deque::{Steal, Worker};
use sateen_base::XorShift;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;

const THIEVES: usize = 2;

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        let items = 1 + random.below(50_000) as u64;
        let worker = if random.below(2) == 0 { Worker::new_lifo() } else { Worker::new_fifo() };
        let (sum, done) = (AtomicU64::new(0), AtomicBool::new(false));
        thread::scope(|s| {
            for i in 0..THIEVES {
                let (stealer, mine, sum, done) =
                    (worker.stealer(), Worker::new_lifo(), &sum, &done);
                s.spawn(move || {
                    loop {
                        let over = done.load(Relaxed);
                        let stolen = if i == 0 {
                            stealer.steal()
                        } else {
                            stealer.steal_batch_and_pop(&mine)
                        };
                        match stolen {
                            Steal::Success(n) => _ = sum.fetch_add(n, Relaxed),
                            Steal::Empty if over => break,
                            _ => thread::yield_now(),
                        }
                        while let Some(n) = mine.pop() {
                            sum.fetch_add(n, Relaxed);
                        }
                    }
                });
            }
            for n in 1..=items {
                worker.push(n);
                if random.below(3) == 0
                    && let Some(n) = worker.pop()
                {
                    sum.fetch_add(n, Relaxed);
                }
            }
            while let Some(n) = worker.pop() {
                sum.fetch_add(n, Relaxed);
            }
            done.store(true, Relaxed);
        });
        expect("sum of a deque's items", sum.into_inner(), items * (items + 1) / 2)?;
        world.ledger.did(2 * items);
    }
    Ok(())
}
