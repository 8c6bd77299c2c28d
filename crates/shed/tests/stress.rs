//! Conservation: threads build graphs, execute, block, cancel and free at the same time. Each task
//! ends once, after its predecessors.
#![cfg(not(loom))]

mod common;
mod stress_common;

use sateen_shed::{Central, Packed, Padded, Sharded};
use stress_common::{Large, Owned, Zero, stress};

/// The number of tasks in one case.
const TASKS: u32 = 12_000;

#[test]
fn payloads_that_own_memory() {
    for threads in [1, 2, 4, 8] {
        stress::<Owned, Packed>(threads, TASKS);
        stress::<Owned, Padded>(threads, TASKS);
        stress::<Owned, Central>(threads, TASKS);
        stress::<Owned, Sharded>(threads, TASKS);
    }
}

#[test]
fn payloads_without_size() {
    for threads in [1, 2, 4, 8] {
        stress::<Zero, Packed>(threads, TASKS);
        stress::<Zero, Central>(threads, TASKS);
        stress::<Zero, Sharded<2>>(threads, TASKS);
    }
}

#[test]
fn large_payloads() {
    for threads in [1, 2, 4, 8] {
        stress::<Large, Padded>(threads, TASKS);
        stress::<Large, Central>(threads, TASKS);
        stress::<Large, Sharded<4>>(threads, TASKS);
    }
}

/// Runs as many tasks as `SATEEN_STRESS_TASKS` says, with the layouts that users take. 100,000,000
/// tasks take some minutes in release.
#[test]
fn as_many_tasks_as_wanted() {
    let Ok(tasks) = std::env::var("SATEEN_STRESS_TASKS") else { return };
    let tasks = tasks.parse().expect("SATEEN_STRESS_TASKS is a number of tasks below 2^32");
    for run in [stress::<Owned, Central>, stress::<Owned, Sharded>] {
        let began = std::time::Instant::now();
        let counts = run(8, tasks);
        println!("{counts:?} in {:?}", began.elapsed());
    }
}
