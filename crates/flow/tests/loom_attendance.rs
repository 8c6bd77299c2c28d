//! Models of closing a worker queue with a time limit. Only workers that hang are reported as
//! hanging, and all workers have left at the end.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_flow::attendance::{Calls, LiveWorkers};
use sateen_sync::Event;
use sateen_testkit::model;

/// A worker ends each of its calls, and the closing thread looks twice meanwhile. The worker is
/// never reported as hanging.
#[test]
fn nobody_hangs_who_does_not() {
    model(3, || {
        let calls = Arc::new(Calls::new());
        let worker = thread::spawn({
            let calls = Arc::clone(&calls);
            move || {
                for _ in 0..2 {
                    calls.begin();
                    calls.end();
                }
            }
        });
        let before = calls.running();
        // Calls are numbered 1 and 2.
        assert!(before.is_none_or(|call| (1..=2).contains(&call)), "{before:?}");
        let ended = calls.ended();
        if calls.still_runs(before) {
            assert!(before.is_some_and(|call| call > ended), "{before:?} had ended");
        }
        worker.join().unwrap();
        assert_eq!(calls.running(), None);
        assert!(!calls.still_runs(before));
    });
}

/// What the two workers did.
struct Team {
    live: LiveWorkers,
    finished: Event,
    did: [UnsafeCell<u32>; 2],
}

// SAFETY: the cells are what the model watches.
unsafe impl Sync for Team {}
// SAFETY: as above.
unsafe impl Send for Team {}

/// A closing thread waits for the last worker to leave, and sees what all workers did.
#[test]
fn the_end_shows_what_all_did() {
    model(3, || {
        let did = [UnsafeCell::new(0), UnsafeCell::new(0)];
        let team = Arc::new(Team { live: LiveWorkers::new(2), finished: Event::new(), did });
        let workers = [0, 1].map(|index| {
            let team = Arc::clone(&team);
            thread::spawn(move || {
                // SAFETY: each worker has its own cell, and the other thread reads it when all have
                // left.
                team.did[index].with_mut(|did| unsafe { *did = 1 });
                if team.live.leave() {
                    team.finished.set();
                }
            })
        });
        team.finished.wait();
        for did in &team.did {
            // SAFETY: all workers have left.
            assert_eq!(did.with(|did| unsafe { *did }), 1);
        }
        for worker in workers {
            worker.join().unwrap();
        }
    });
}
