//! Random graphs in a shed that workers execute: no task runs before those that it depends on.

use super::World;
use crate::error::{Error, expect};
use sateen::flow::{Map, RunOn};
use sateen::shed::{Outcome, Shed, TaskId};
use sateen_base::XorShift;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// What a round knows about its tasks, by number.
struct Round {
    /// 0: not yet; 1: blocked once; 2: done; 3: gone without having run.
    states: Vec<AtomicU8>,
    predecessors: Vec<Vec<usize>>,
    early: AtomicU64,
}

/// Counts a task that is dropped without having been completed.
struct Payload {
    number: usize,
    blocks: bool,
    round: Arc<Round>,
}

impl Drop for Payload {
    fn drop(&mut self) {
        let state = &self.round.states[self.number];
        if state.load(Relaxed) != 2 {
            state.store(3, Relaxed);
        }
    }
}

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        round(world, &mut random)?;
    }
    Ok(())
}

fn round(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let tasks = 1 + random.below(1_000);
    let near = 1 + random.below(50);
    let predecessors: Vec<Vec<usize>> = (0..tasks)
        .map(|i| {
            let mut before: Vec<usize> =
                (0..random.below(4).min(i)).map(|_| i - 1 - random.below(near.min(i))).collect();
            before.sort_unstable();
            before.dedup();
            before
        })
        .collect();
    let edges = predecessors.iter().map(Vec::len).sum::<usize>() as u64;
    let states = (0..tasks).map(|_| AtomicU8::new(0)).collect();
    let round = Arc::new(Round { states, predecessors, early: AtomicU64::new(0) });
    let builder = Shed::<Payload>::builder().tasks(tasks as u64).dependencies(edges).channels(2);
    let shed = builder.run_on(world.runtime, Map::new(), |_, _, task: &mut Payload| {
        let round = &task.round;
        let done = |&i: &usize| round.states[i].load(Relaxed) >= 2;
        if !round.predecessors[task.number].iter().all(done) {
            round.early.fetch_add(1, Relaxed);
        }
        if task.blocks {
            task.blocks = false;
            round.states[task.number].store(1, Relaxed);
            return Outcome::Blocked;
        }
        round.states[task.number].store(2, Relaxed);
        Outcome::Complete
    });
    let wrong = |what: &str, e: &dyn std::fmt::Display| Error::Wrong(format!("{what}: {e}"));
    let shed = shed.map_err(|e| wrong("a shed", &e))?;
    let blocking = random.below(2) == 0;
    let ids: Vec<TaskId> = (0..tasks)
        .map(|number| {
            let blocks = blocking && number % 7 == 3;
            let task = Payload { number, blocks, round: Arc::clone(&round) };
            let made = shed.create([task]).map_err(|_| Error::Wrong("a full shed".to_owned()))?;
            Ok(made[0])
        })
        .collect::<Result<_, Error>>()?;
    for (i, before) in round.predecessors.iter().enumerate() {
        let before: Vec<TaskId> = before.iter().map(|&i| ids[i]).collect();
        if !before.is_empty() {
            shed.depend(&[ids[i]], &before).map_err(|e| wrong("a dependency", &e))?;
        }
    }
    let first: Vec<TaskId> =
        (0..tasks).filter(|&i| round.predecessors[i].is_empty()).map(|i| ids[i]).collect();
    shed.ready(&first).map_err(|e| wrong("making tasks ready", &e))?;
    if random.below(4) == 0 {
        // The tasks that depend on it go with it. It may have ended.
        _ = shed.cancel(ids[random.below(tasks)]);
    }
    loop {
        shed.wait().map_err(|e| wrong("waiting for a shed", &e))?;
        let blocked: Vec<usize> =
            (0..tasks).filter(|&i| round.states[i].load(Relaxed) == 1).collect();
        if blocked.is_empty() {
            break;
        }
        for i in blocked {
            // Cancelled tasks cannot be made ready.
            _ = shed.ready(&[ids[i]]);
        }
    }
    let left = round.states.iter().filter(|state| state.load(Relaxed) < 2).count();
    expect("tasks of a shed left", left, 0)?;
    expect("tasks that ran too early", round.early.load(Relaxed), 0)?;
    world.ledger.did(tasks as u64 + edges);
    Ok(())
}
