//! Blocks of a pool between threads that end with blocks in their caches.

use super::World;
use crate::error::{Error, expect};
use crate::soak::faults::Kind;
use crate::soak::ledger::Item;
use sateen::pool::{Growth, Pool};
use sateen_base::XorShift;
use std::sync::Arc;
use std::thread;

const THREADS: usize = 3;

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        let capacity = 1 + random.below(2_000);
        let pool = Pool::<Item>::builder(capacity);
        let pool = match random.below(2) {
            0 => pool.build(),
            _ => pool.grow(Growth::Doubling, capacity * 8).build(),
        };
        let pool = match pool {
            Ok(pool) => pool,
            Err(_) if world.may_fail(&[Kind::Memory]) => continue,
            Err(e) => return Err(Error::Wrong(format!("a pool of {capacity}: {e}"))),
        };
        let steps = 1 + random.below(20_000);
        let wrong: usize = thread::scope(|s| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    let (pool, ledger) = (&pool, Arc::clone(world.ledger));
                    let random = XorShift::new(random.next_u64());
                    s.spawn(move || work(pool, steps, random, |n| Item::new(&ledger, n)))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(1)).sum()
        });
        expect("blocks with another's value", wrong, 0)?;
        expect("blocks in use after all were given back", pool.in_use(), 0)?;
    }
    Ok(())
}

/// Takes blocks and gives them back. Returns how many values were not the ones put there.
fn work(
    pool: &Pool<Item>,
    steps: usize,
    mut random: XorShift,
    item: impl Fn(u64) -> Item,
) -> usize {
    let (mut boxes, mut keys, mut wrong) = (Vec::new(), Vec::new(), 0);
    for _ in 0..steps {
        let value = random.next_u64();
        match random.below(4) {
            0 | 1 => {
                if let Ok(block) = pool.try_alloc(item(value)) {
                    boxes.push((block, value));
                }
            }
            2 => {
                if let Ok(key) = pool.insert(item(value)) {
                    keys.push((key, value));
                }
            }
            _ => {
                for _ in 0..random.below(8) {
                    if !boxes.is_empty() {
                        let (block, value) = boxes.swap_remove(random.below(boxes.len()));
                        wrong += usize::from(*block.value != value);
                    }
                    if !keys.is_empty() {
                        let (key, value) = keys.swap_remove(random.below(keys.len()));
                        let right = pool.get(key).is_some_and(|item| *item.value == value);
                        wrong += usize::from(!right) + usize::from(!pool.remove(key));
                    }
                }
            }
        }
    }
    for (key, _) in keys {
        wrong += usize::from(!pool.remove(key));
    }
    wrong
}
