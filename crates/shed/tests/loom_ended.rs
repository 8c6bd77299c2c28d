//! A thread that learns that a task has ended sees what the task did.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_shed::{Error, Outcome, Shed};
use sateen_testkit::model;

struct Watched {
    shed: Shed<()>,
    done: UnsafeCell<bool>,
}

// SAFETY: the cell must be read after it was written. The model checks this.
unsafe impl Sync for Watched {}
// SAFETY: as above.
unsafe impl Send for Watched {}

#[test]
fn what_a_task_did_is_visible_once_its_name_is_stale() {
    model(2, || {
        let shed = Shed::builder().tasks(1).dependencies(0).build().expect("small");
        let shared = Arc::new(Watched { shed, done: UnsafeCell::new(false) });
        let [task] = shared.shed.create([()]).expect("room");
        let worker = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.shed.ready(&[task]).expect("idle");
                let ran = shared.shed.execute_one(0, |_, ()| {
                    // SAFETY: no thread reads before the task has ended.
                    shared.done.with_mut(|done| unsafe { *done = true });
                    Outcome::Complete
                });
                assert_eq!(ran, Ok(Some(task)));
            })
        };
        if shared.shed.state(task) == Err(Error::StaleTask(task)) {
            // SAFETY: the task has ended.
            assert!(shared.done.with(|done| unsafe { *done }));
        }
        worker.join().unwrap();
    });
}

/// As above for a thread that learns it from `cancel`, for a task with dependents and for one
/// without.
#[test]
fn what_a_task_did_is_visible_to_who_comes_too_late_to_cancel_it() {
    for dependents in [0, 1] {
        model(3, move || {
            let shed = Shed::builder().tasks(2).dependencies(1).build().expect("small");
            let shared = Arc::new(Watched { shed, done: UnsafeCell::new(false) });
            let [task, successor] = shared.shed.create([(); 2]).expect("room");
            shared.shed.depend(&[successor][..dependents], &[task]).expect("idle");
            shared.shed.ready(&[task]).expect("idle");
            let worker = {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    shared.shed.execute_one(0, |_, ()| {
                        // SAFETY: no thread reads before the task has ended.
                        shared.done.with_mut(|done| unsafe { *done = true });
                        Outcome::Complete
                    })
                })
            };
            if shared.shed.cancel(task) == Err(Error::StaleTask(task)) {
                // SAFETY: the task has ended.
                assert!(shared.done.with(|done| unsafe { *done }));
            }
            worker.join().unwrap().expect("channel 0");
        });
    }
}
