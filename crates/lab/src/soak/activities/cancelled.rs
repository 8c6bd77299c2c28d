//! What is given up, cancelled, or runs behind a substitute: work of destructors, sends that are
//! tried again, timers.

use super::World;
use crate::error::{Error, expect};
use sateen::channel::bounded;
use sateen::sync::Event;
use sateen::{
    JoinError, block_on, join, no_suspend, scope, sleep, sleep_async, timeout_async, yield_now,
};
use sateen_base::XorShift;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        let operations = match random.below(3) {
            0 => in_destructors(world, random.below(20) as u64)?,
            1 => sent_again(world, &mut random)?,
            _ => behind_substitutes(world, random.below(500) as u64)?,
        };
        world.ledger.did(operations);
    }
    Ok(())
}

/// Calls a closure when it is dropped.
struct OnDrop<F: FnMut()>(F);
impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A cancelled task unwinds. Its destructor's branches all end, wherever they run.
fn in_destructors(world: &World<'_>, yields: u64) -> Result<u64, Error> {
    let (ended, begun) = (Arc::new(AtomicU64::new(0)), Arc::new(Event::new()));
    let (counts, begins) = (ended.clone(), begun.clone());
    let task = world.runtime.spawn(move || {
        let branch = || {
            (0..yields).for_each(|_| yield_now());
            counts.fetch_add(1, Relaxed);
        };
        let _on_drop = OnDrop(|| {
            join(branch, branch);
            scope(|s| (0..3).for_each(|_| s.spawn(|_| branch())));
        });
        begins.set();
        Event::new().wait();
    });
    task.cancel();
    match task.join() {
        // Cancelled before it began, or for want of a stack.
        Err(_) if !begun.is_set() => Ok(1),
        Err(JoinError::Cancelled) => {
            expect("branches of a destructor", ended.load(Relaxed), 5)?;
            Ok(5)
        }
        other => world.ended(other).map(|_| 1),
    }
}

/// Sends at a channel without a buffer are given up and tried again. Items come once, in order.
fn sent_again(world: &World<'_>, random: &mut XorShift) -> Result<u64, Error> {
    let items = 1 + random.below(200) as u64;
    let short = Duration::from_micros(random.below(100) as u64);
    let (sender, receiver) = bounded(0);
    let sends = world.runtime.spawn(move || {
        for item in 0..items {
            while block_on(timeout_async(short, sender.send_async(item))).is_err() {
                yield_now();
            }
        }
    });
    let mut got = Vec::new();
    loop {
        // A receiver that waits lets the first send through that is polled.
        match receiver.recv_timeout(Duration::from_micros(50)) {
            Ok(item) => got.push(item),
            Err(error) if error.is_timeout() => {}
            Err(_) => break,
        }
    }
    let sent = sends.join();
    let whole = sent.is_ok();
    world.ended(sent)?;
    if whole {
        expect("items that were tried again", got, (0..items).collect())?;
    }
    Ok(items)
}

/// A worker is blocked, and a future sleeps on its substitute. It wakes whatever the worker does.
fn behind_substitutes(world: &World<'_>, micros: u64) -> Result<u64, Error> {
    let nap = Duration::from_micros(micros);
    let sleeper = world.runtime.spawn_async(sleep_async(nap));
    let blocked = world.runtime.spawn(move || {
        no_suspend(|| sleep(nap));
        sleep(nap);
    });
    world.ended(sleeper.join())?;
    world.ended(blocked.join())?;
    Ok(2)
}
