//! Items through channels of every kind, by every operation, from tasks and threads, some of them
//! cancelled.

use super::World;
use crate::error::{Error, expect};
use crate::soak::faults::Kind;
use crate::soak::ledger::Item;
use sateen::channel::{Receiver, RecvTimeoutError, Sender, bounded, select, unbounded};
use sateen::{JoinHandle, block_on, timeout_async, yield_now};
use sateen_base::XorShift;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        round(world, &mut random)?;
    }
    Ok(())
}

fn channel(random: &mut XorShift) -> (Sender<Item>, Receiver<Item>) {
    match random.below(4) {
        0 => bounded(0),
        1 => bounded(1),
        2 => bounded(1 + random.below(64)),
        _ => unbounded(),
    }
}

/// Two channels, senders and receivers on both.
fn round(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let [first, second] = [channel(random), channel(random)];
    let items = 1 + random.below(2_000) as u64;
    let (sent, received) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (mut tasks, mut threads): (Vec<JoinHandle<()>>, Vec<_>) = (Vec::new(), Vec::new());
    let mut start = |on_thread: bool, work: Box<dyn FnOnce() + Send>| {
        if on_thread {
            threads.push(thread::spawn(work));
        } else {
            tasks.push(world.runtime.spawn(work));
        }
    };
    for i in 0..1 + random.below(4) {
        let channels = [first.0.clone(), second.0.clone()];
        let (ledger, sent) = (Arc::clone(world.ledger), Arc::clone(&sent));
        let mut own = XorShift::new(random.next_u64());
        let work = move || {
            for n in 0..items {
                if !send(&channels, Item::new(&ledger, n), &mut own, &sent) {
                    return;
                }
            }
        };
        start(i == 3, Box::new(work));
    }
    for i in 0..1 + random.below(4) {
        let channels = [first.1.clone(), second.1.clone()];
        let received = Arc::clone(&received);
        let mut own = XorShift::new(random.next_u64());
        start(i == 3, Box::new(move || while receive(&channels, &mut own, &received) {}));
    }
    let cancelled = random.below(4) == 0;
    if cancelled {
        tasks[random.below(tasks.len())].cancel();
    }
    drop((first, second));
    for task in tasks {
        world.ended(task.join())?;
    }
    for thread in threads {
        thread.join().map_err(|_| Error::Wrong("a thread at a channel panicked".to_owned()))?;
    }
    let (sent, received) = (sent.load(Relaxed), received.load(Relaxed));
    if !cancelled && !world.may_fail(&[Kind::Memory]) {
        // Otherwise items may be left when the last receiver goes.
        expect("items received", received, sent)?;
    }
    Ok(())
}

/// Sends `item` in one of the ways. Returns false if no receiver is left.
fn send(to: &[Sender<Item>; 2], item: Item, random: &mut XorShift, sent: &AtomicU64) -> bool {
    let a = &to[0];
    let to = &to[random.below(2)];
    let short = Duration::from_micros(random.below(200) as u64);
    let (done, open) = match random.below(6) {
        0 => match to.try_send(item) {
            Ok(()) => (true, true),
            Err(e) => (false, e.is_full()),
        },
        1 => match to.send_timeout(item, short) {
            Ok(()) => (true, true),
            Err(e) => (false, e.is_timeout()),
        },
        2 => {
            let done = select! {
                send(a, item) -> result => Some(result.is_ok()),
                default(short) => None,
            };
            (done == Some(true), done != Some(false))
        }
        3 => {
            let done = block_on(to.send_async(item)).is_ok();
            (done, done)
        }
        _ => {
            let done = to.send(item).is_ok();
            (done, done)
        }
    };
    sent.fetch_add(u64::from(done), Relaxed);
    open
}

/// Receives in one of the ways. Returns false if no sender is left on one of the channels.
fn receive(from: &[Receiver<Item>; 2], random: &mut XorShift, received: &AtomicU64) -> bool {
    let [a, b] = from;
    let from = &from[random.below(2)];
    let short = Duration::from_micros(random.below(200) as u64);
    let item = match random.below(6) {
        0 => from.try_recv().map_err(|e| e.is_empty()),
        1 => from.recv_timeout(short).map_err(|e| e == RecvTimeoutError::Timeout),
        // With a limit: a receiver that waits at one channel alone keeps the other's senders
        // waiting.
        2 => match block_on(timeout_async(short, from.recv_async())) {
            Ok(result) => result.map_err(|_| false),
            Err(_) => Err(true),
        },
        _ => select! {
            recv(a) -> item => item.map_err(|_| false),
            recv(b) -> item => item.map_err(|_| false),
        },
    };
    match item {
        Ok(_item) => {
            received.fetch_add(1, Relaxed);
            true
        }
        Err(true) => {
            yield_now();
            true
        }
        // The other channel may have items: take them.
        Err(false) => {
            let rest = a.iter().chain(b.iter()).count();
            received.fetch_add(rest as u64, Relaxed);
            false
        }
    }
}
