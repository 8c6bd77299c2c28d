//! Runtimes of every kind, made, used and dropped.

use super::World;
use crate::error::{Error, expect};
use crate::soak::faults::Kind;
use crate::soak::ledger::Item;
use sateen::sync::Event;
use sateen::{BuildError, Runtime, ShutdownError, policy, sleep, spawn, yield_now};
use sateen_base::XorShift;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        match random.below(5) {
            0 => current_thread(world, &mut random)?,
            _ => several_workers(world, &mut random)?,
        }
        world.ledger.did(1);
    }
    Ok(())
}

/// Returns the runtime, or none because of an injected fault.
fn built<T>(world: &World<'_>, result: Result<T, BuildError>) -> Result<Option<T>, Error> {
    match result {
        Ok(runtime) => Ok(Some(runtime)),
        Err(_) if world.may_fail(&[Kind::Memory, Kind::Threads]) => Ok(None),
        Err(e) => Err(Error::Wrong(format!("a runtime: {e}"))),
    }
}

fn several_workers(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let policies = [policy::work_stealing, policy::work_sharing, policy::round_robin];
    let workers = 1 + random.below(4);
    let strict = random.below(4) == 0;
    let builder = Runtime::builder()
        .workers(workers)
        .policy(policies[random.below(3)]())
        .strict(strict)
        .stack_size(64 * 1024)
        .report_blocked(false);
    let Some(runtime) = built(world, builder.build())? else { return Ok(()) };
    let never = Arc::new(Event::new());
    let tasks: Vec<_> = (0..random.below(20))
        .map(|i| {
            let (item, never) = (world.item(i as u64), Arc::clone(&never));
            let mut random = XorShift::new(random.next_u64());
            runtime.spawn(move || {
                let item = item;
                match random.below(4) {
                    0 => sleep(Duration::from_micros(random.below(500) as u64)),
                    1 => _ = spawn(yield_now).join(),
                    2 if i % 5 == 4 => never.wait(),
                    _ => yield_now(),
                }
                drop(item);
            })
        })
        .collect();
    let limit = Duration::from_millis(random.below(5) as u64);
    match runtime.shutdown_timeout(limit) {
        // On a busy machine a cancelled task may not have run yet. The check below sees that it
        // ends.
        Ok(()) | Err(ShutdownError::TimedOut { .. }) => {}
        Err(e) => return Err(Error::Wrong(format!("the end of a runtime: {e}"))),
    }
    for task in tasks {
        world.ended(task.join())?;
    }
    Ok(())
}

fn current_thread(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let Some(runtime) = built(world, Runtime::current_thread())? else { return Ok(()) };
    let item: Item = world.item(7);
    let task = runtime.spawn_local(move || {
        yield_now();
        sleep(Duration::from_micros(100));
        item
    });
    // Sometimes the runtime is dropped with a task that waits.
    if random.below(4) != 0 {
        let ended = world.ended(runtime.run_until(task))?;
        expect("an item of this thread", ended.is_none_or(|item| *item.value == 7), true)?;
    } else {
        runtime.run_until_idle();
    }
    drop(runtime);
    Ok(())
}
