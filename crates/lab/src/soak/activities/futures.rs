//! Futures on workers: sleeps, limits, channels, joins, cancels.

use super::World;
use crate::error::{Error, expect};
use crate::soak::ledger::Item;
use crate::soak::world::unwind;
use sateen::channel::{Receiver, Sender, bounded};
use sateen::{JoinHandle, sleep_async, spawn_async, timeout_async};
use sateen_base::XorShift;
use std::sync::Arc;
use std::time::Duration;

const FUTURES: usize = 40;

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        round(world, &mut random)?;
    }
    Ok(())
}

fn round(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let (sender, receiver) = bounded::<Item>(4);
    let tasks: Vec<JoinHandle<usize>> = world.runtime.install(|| {
        (0..FUTURES)
            .map(|i| {
                let item = world.item(i as u64);
                let ends = (sender.clone(), receiver.clone());
                spawn_async(work(item, ends, XorShift::new(random.next_u64())))
            })
            .collect()
    });
    drop((sender, receiver));
    for task in &tasks {
        if random.below(6) == 0 {
            task.cancel();
        }
    }
    let mut ended = 0;
    for task in tasks {
        // Half of them as futures, half of them blocking.
        let result = match random.below(2) {
            0 => sateen::block_on(task),
            _ => task.join(),
        };
        ended += usize::from(world.ended(result)?.is_some());
    }
    expect("futures that ended, at most as many as there were", ended <= FUTURES, true)?;
    world.ledger.did(FUTURES as u64);
    Ok(())
}

async fn work(item: Item, ends: (Sender<Item>, Receiver<Item>), mut random: XorShift) -> usize {
    let short = Duration::from_micros(random.below(300) as u64);
    for _ in 0..random.below(5) {
        match random.below(6) {
            0 => sleep_async(short).await,
            1 => _ = timeout_async(short, ends.1.recv_async()).await,
            2 => {
                let other = Arc::new(*item.value);
                _ = spawn_async(async move { *other }).await;
            }
            3 => _ = timeout_async(short, std::future::pending::<()>()).await,
            4 if random.below(20) == 0 => unwind(),
            _ => sateen::yield_now(),
        }
    }
    // Half of the items go through the channel.
    if random.below(2) == 0 {
        _ = timeout_async(short, ends.0.send_async(item)).await;
    }
    1
}
