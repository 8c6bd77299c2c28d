//! A worker that moves to another core is not bound to it, and a bound one does not move.

use sateen_base::os::{allowed_cores, current_core, misplaces_threads};
use sateen_runtime::{Runtime, join};
use sateen_testkit::until;
use std::time::{Duration, Instant};

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Short work for two workers, again and again, after pauses in which both sleep.
fn bursts(runtime: &Runtime, count: u32) {
    for _ in 0..count {
        runtime.install(|| {
            let work = || spin(Duration::from_micros(100));
            join(work, work);
        });
        until(|| runtime.metrics().sleeping == 2);
    }
}

fn moves(runtime: &Runtime) -> u64 {
    runtime.metrics().workers.iter().map(|worker| worker.moves).sum()
}

#[test]
fn workers_that_move_are_not_bound() {
    let all = allowed_cores();
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    bursts(&runtime, 300);
    let cores = runtime.broadcast(|_| allowed_cores());
    assert!(cores.iter().all(|cores| *cores == all), "bound: {cores:?} of {all:?}");
    assert!(misplaces_threads() || moves(&runtime) == 0);
}

#[test]
fn pinned_workers_stay() {
    let Ok(runtime) = Runtime::builder().workers(2).pin(true).build() else { return };
    let places = || runtime.broadcast(|_| (allowed_cores(), current_core()));
    let before = places();
    bursts(&runtime, 100);
    assert_eq!(moves(&runtime), 0);
    assert_eq!(places(), before);
}
