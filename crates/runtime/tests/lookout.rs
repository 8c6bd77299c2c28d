//! More workers than cores: work is run though as many workers as there are cores do not take it.

use sateen_runtime::{Runtime, join};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

const WORKERS: usize = 8;

fn runtime() -> Runtime {
    Runtime::builder().workers(WORKERS).build().unwrap()
}

/// Spins until `count` tasks have come.
fn meet(come: &AtomicUsize, count: usize) {
    come.fetch_add(1, Ordering::Relaxed);
    while come.load(Ordering::Relaxed) < count {
        std::hint::spin_loop();
    }
}

/// Each of the tasks keeps a worker busy until all have begun.
#[test]
fn a_task_that_others_spin_for_is_run() {
    let runtime = runtime();
    for _ in 0..20 {
        let come = Arc::new(AtomicUsize::new(0));
        let tasks = (0..WORKERS).map(|_| {
            let come = Arc::clone(&come);
            runtime.spawn(move || meet(&come, WORKERS))
        });
        tasks.collect::<Vec<_>>().into_iter().for_each(|task| task.join().unwrap());
    }
}

/// The same for branches, which their workers have kept private.
#[test]
fn a_branch_that_others_spin_for_is_run() {
    fn fan_out(come: &AtomicUsize, count: usize) {
        match count {
            1 => meet(come, WORKERS),
            _ => _ = join(|| meet(come, WORKERS), || fan_out(come, count - 1)),
        }
    }
    let runtime = runtime();
    for _ in 0..20 {
        let come = AtomicUsize::new(0);
        runtime.install(|| fan_out(&come, WORKERS));
    }
}

/// Tasks that block their workers in the system, until all have begun.
#[test]
fn a_task_that_others_block_for_is_run() {
    let runtime = runtime();
    let start = Instant::now();
    for _ in 0..20 {
        let barrier = Arc::new(Barrier::new(WORKERS));
        let tasks = (0..WORKERS).map(|_| {
            let barrier = Arc::clone(&barrier);
            runtime.spawn(move || _ = barrier.wait())
        });
        tasks.collect::<Vec<_>>().into_iter().for_each(|task| task.join().unwrap());
    }
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
