//! Items through worker queues whose handlers wait, ask for another try, and panic.

use super::World;
use crate::error::{Error, expect};
use crate::soak::faults::Kind;
use crate::soak::ledger::Item;
use crate::soak::world::unwind;
use sateen::flow::{Clock, Overflow, Rate, RealClock, Retry, StartError, WorkerQueue};
use sateen_base::XorShift;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// A clock that jumps: forwards by up to a second, and back again.
#[derive(Clone, Debug)]
struct Jumping {
    real: RealClock,
    calls: Arc<AtomicU64>,
    jumps: bool,
}

impl Clock for Jumping {
    fn elapsed(&self) -> Duration {
        let now = self.real.elapsed();
        let call = self.calls.fetch_add(1, Relaxed);
        let jump = if self.jumps { call.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 34 } else { 0 };
        now + Duration::from_nanos(jump)
    }

    fn delay(&self, interval: Duration) {
        // The clock says that a second has passed when none has.
        self.real.delay(if self.jumps { interval.min(Duration::from_millis(1)) } else { interval });
    }
}

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        round(world, &mut random)?;
    }
    Ok(())
}

fn round(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let [handled, dead, refused] = [(); 3].map(|()| Arc::new(AtomicU64::new(0)));
    let overflow = [Overflow::Block, Overflow::Error, Overflow::DropOldest, Overflow::DropNewest];
    let jumps = world.may_fail(&[Kind::Clock]);
    let clock = Jumping { real: RealClock::new(), calls: Arc::default(), jumps };
    let mut builder = WorkerQueue::builder::<Item>()
        .workers(1 + random.below(4))
        .queues(1 + random.below(4))
        .capacity(1 + random.below(100))
        .steal(random.below(2) == 0)
        .keyed(random.below(3) == 0)
        .overflow(overflow[random.below(4)])
        .dead_letter({
            let dead = Arc::clone(&dead);
            move |_letter| _ = dead.fetch_add(1, Relaxed)
        });
    if random.below(2) == 0 {
        builder = builder.on(world.runtime);
    }
    if random.below(2) == 0 {
        let rate = Rate::per_second(1_000.0 + random.below(1_000_000) as f64);
        builder = builder.receive_rate(rate.map_err(|e| Error::Wrong(e.to_string()))?);
    }
    let queue = builder.clock(clock).start({
        let handled = Arc::clone(&handled);
        move |_, item: &mut Item| {
            *item.value = item.value.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
            match *item.value >> 56 {
                0 => unwind(),
                1 => return Some(Retry(Duration::from_micros(50))),
                2 => sateen::sleep(Duration::from_micros(100)),
                _ => {}
            }
            handled.fetch_add(1, Relaxed);
            None
        }
    });
    let queue = match queue {
        Ok(queue) => queue,
        Err(_) if world.may_fail(&[Kind::Threads, Kind::Memory]) => return Ok(()),
        Err(e) => return Err(wrong(&e)),
    };
    let items = 1 + random.below(2_000) as u64;
    let sent = AtomicU64::new(0);
    thread::scope(|s| {
        for _ in 0..2 {
            let (queue, refused, sent) = (queue.sender(), Arc::clone(&refused), &sent);
            let ledger = world.ledger;
            let mut random = XorShift::new(random.next_u64());
            s.spawn(move || {
                for _ in 0..items {
                    sent.fetch_add(1, Relaxed);
                    let item = Item::new(ledger, random.next_u64());
                    let result = match random.below(3) {
                        0 => queue.try_send(item),
                        _ => queue.send(item),
                    };
                    refused.fetch_add(u64::from(result.is_err()), Relaxed);
                }
            });
        }
    });
    let dropped = if random.below(4) == 0 { queue.abort().len() as u64 } else { 0 };
    queue.close();
    let stats = queue.stats();
    drop(queue);
    let [handled, dead, refused] = [handled, dead, refused].map(|count| count.load(Relaxed));
    let all = handled + dead + refused + dropped + stats.dropped;
    expect("items of a worker queue, all accounted for", all, sent.into_inner())?;
    world.ledger.did(all);
    Ok(())
}

fn wrong(e: &StartError) -> Error {
    Error::Wrong(format!("a worker queue: {e}"))
}
