//! Dependencies are added while anything may happen to either end of them.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::*;
use sateen_shed::{Error, TaskState, Template};
use sateen_testkit::model;

/// A task ends while another thread is about to depend on it. The next task in its slot has
/// dependents too, perhaps already. Each of the two tasks has its own dependents.
fn next_task_in_a_slot(first_generation: u32, between: usize, already: bool) {
    model(2, move || {
        let shed = builder(3, 2).first_generation(first_generation).build().expect("small");
        let shed = Arc::new(shed);
        let [late, next, predecessor] = shed.create([(); 3]).expect("room");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&[predecessor]).expect("idle");
                assert_eq!(one(&shed), Some(predecessor));
                let ran = 1 + drain(&shed);
                for _ in 0..between {
                    shed.free(&shed.create([()]).expect("the predecessor's slot at least"))
                        .expect("idle");
                }
                let [second] = shed.create([()]).expect("the predecessor's slot at least");
                if already {
                    shed.depend(&[next], &[second]).expect("idle");
                }
                (ran, second)
            })
        };
        let result = shed.depend(&[late], &[predecessor]);
        let (ran, second) = other.join().unwrap();
        if !already {
            shed.depend(&[next], &[second]).expect("idle");
        }
        shed.ready(&[second]).expect("idle");
        match result {
            Ok(()) => assert_eq!(ran + drain(&shed), 4),
            Err(error) => {
                assert!(
                    [
                        Error::StaleTask(predecessor),
                        Error::AlreadyReady(predecessor),
                        Error::Running(predecessor)
                    ]
                    .contains(&error)
                );
                assert_eq!(ran + drain(&shed), 3);
                shed.ready(&[late]).expect("as if it had never waited");
                assert_eq!(drain(&shed), 1);
            }
        }
    });
}

#[test]
fn the_next_task_in_a_slot_has_its_own_dependents() {
    next_task_in_a_slot(5, 0, true);
}

/// As above, where the words of dependents wrap around.
#[test]
fn the_next_task_has_its_own_dependents_where_words_begin_anew() {
    next_task_in_a_slot((1 << 30) - 1, 0, false);
}

/// As above, but the thread is so late that the slot had another task in between.
#[test]
fn the_next_but_one_has_its_own_dependents_where_words_begin_anew() {
    next_task_in_a_slot((1 << 29) - 2, 1, false);
}

/// As above, where generations wrap around.
#[test]
fn the_next_task_has_its_own_dependents_where_generations_wrap() {
    next_task_in_a_slot(u32::MAX, 0, true);
}

/// As above, but a template has the slot next and has perhaps given it back. The template's own
/// dependencies stay, and the late one is not taken for one of them.
fn a_template_in_a_slot(gone: bool) {
    model(2, move || {
        let shed = std::sync::Arc::new(builder(3, 2).build().expect("small"));
        let [late, predecessor] = shed.create([(); 2]).expect("room");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&[predecessor]).expect("idle");
                assert_eq!(one(&shed), Some(predecessor));
                let ran = 1 + drain(&shed);
                let mut template = Template::new();
                template.task(());
                let instance = template.install(shed.clone()).ok().expect("room");
                (ran, (!gone).then_some(instance))
            })
        };
        let result = shed.depend(&[late], &[predecessor]);
        let (mut ran, instance) = other.join().unwrap();
        if let Some(instance) = instance {
            instance.start().expect("it does not run");
            // All tasks but the template's own.
            ran += drain(&shed) - 1;
            assert!(instance.is_done());
        }
        ran += drain(&shed);
        if result.is_ok() {
            assert_eq!(ran, 2);
        } else {
            assert_eq!(ran, 1);
            shed.ready(&[late]).expect("as if it had never waited");
            assert_eq!(drain(&shed), 1);
        }
    });
}

#[test]
fn a_template_in_a_slot_keeps_its_dependents() {
    a_template_in_a_slot(false);
}

#[test]
fn a_template_that_was_in_a_slot_has_no_dependents() {
    a_template_in_a_slot(true);
}

/// A predecessor is made ready and ends while a thread adds a dependency on it. Either the
/// successor waits for it, or the dependency is refused.
#[test]
fn a_predecessor_that_ends_meanwhile_has_dependents_or_none() {
    model(3, || {
        let shed = shed(2, 1);
        let [successor, predecessor] = shed.create([(); 2]).expect("room");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&[predecessor]).expect("idle");
                drain(&shed)
            })
        };
        let result = shed.depend(&[successor], &[predecessor]);
        let ran = other.join().unwrap() + drain(&shed);
        if result.is_ok() {
            assert_eq!(ran, 2);
        } else {
            assert_eq!(ran, 1);
            shed.ready(&[successor]).expect("as if it had never waited");
            assert_eq!(drain(&shed), 1);
        }
        let [a, b] = shed.create([(); 2]).expect("both slots are free");
        shed.depend(&[a], &[b]).expect("the dependency is too");
    });
}

/// A predecessor is freed or cancelled while a thread adds a dependency on it.
#[test]
fn a_predecessor_that_goes_meanwhile_has_dependents_or_none() {
    for cancel in [false, true] {
        model(3, move || {
            let dropped = drops();
            let shed = shed(2, 1);
            let [successor, predecessor] =
                shed.create([1, 2].map(|i| Watched::new(i, dropped))).ok().expect("room");
            let other = {
                let shed = shed.clone();
                thread::spawn(move || {
                    if cancel {
                        assert_eq!(shed.cancel(predecessor), Ok(true));
                    } else {
                        shed.free(&[predecessor]).expect("idle");
                    }
                })
            };
            let result = shed.depend(&[successor], &[predecessor]);
            other.join().unwrap();
            if cancel && result.is_ok() {
                assert_eq!(shed.state(successor), Err(Error::StaleTask(successor)));
            } else {
                assert_eq!(shed.state(successor), Ok(TaskState::Idle));
                shed.free(&[successor]).expect("idle");
            }
            assert_eq!(dropped.load(std::sync::atomic::Ordering::Relaxed), 2);
            let [a, b] =
                shed.create([1, 2].map(|i| Watched::new(i, dropped))).ok().expect("both are free");
            shed.depend(&[a], &[b]).expect("the dependency is too");
        });
    }
}

/// A successor is freed or cancelled while a thread adds a dependency to it.
#[test]
fn a_successor_that_goes_meanwhile_waits_or_does_not() {
    for cancel in [false, true] {
        model(3, move || {
            let dropped = drops();
            let shed = shed(2, 1);
            let [successor, predecessor] =
                shed.create([1, 2].map(|i| Watched::new(i, dropped))).ok().expect("room");
            let other = {
                let shed = shed.clone();
                thread::spawn(move || {
                    if cancel { shed.cancel(successor).map(drop) } else { shed.free(&[successor]) }
                })
            };
            let result = shed.depend(&[successor], &[predecessor]);
            let gone = other.join().unwrap();
            // It can be freed only before it waits, and cancelled at any time.
            assert!(result.is_ok() == gone.is_err() || cancel && gone.is_ok());
            shed.ready(&[predecessor]).expect("idle");
            assert_eq!(drain(&shed), if gone.is_ok() { 1 } else { 2 });
            assert_eq!(dropped.load(std::sync::atomic::Ordering::Relaxed), 2);
            let [a, b] =
                shed.create([1, 2].map(|i| Watched::new(i, dropped))).ok().expect("both are free");
            shed.depend(&[a], &[b]).expect("the dependency is too");
        });
    }
}

/// Two threads each give a successor one more predecessor, while the first predecessor ends.
#[test]
fn two_depend_at_once() {
    model(2, || {
        let shed = shed(3, 2);
        let [successor, a, b] = shed.create([(); 3]).expect("room");
        shed.depend(&[successor], &[b]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&[b]).expect("idle");
                drain(&shed)
            })
        };
        let result = shed.depend(&[successor], &[a]);
        let ran = other.join().unwrap();
        shed.ready(&[a]).expect("idle");
        assert_eq!(ran + drain(&shed), 3);
        assert!(
            result.is_ok()
                || result == Err(Error::AlreadyReady(successor))
                || result == Err(Error::Running(successor))
                || result == Err(Error::StaleTask(successor))
        );
    });
}

/// A thread ends a predecessor while another thread adds a dependency on it. The first one reads a
/// whole dependency, which names the successor and no other task.
#[test]
fn a_dependency_is_whole_for_who_ends_the_predecessor() {
    model(2, || {
        let shed = shed(4, 2);
        // This task is in the first slot, which an unwritten dependency names.
        let [decoy, never, successor, predecessor] = shed.create([(); 4]).expect("room");
        shed.depend(&[decoy], &[never]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&[predecessor]).expect("idle");
                drain(&shed)
            })
        };
        let result = shed.depend(&[successor], &[predecessor]);
        assert_eq!(other.join().unwrap() + drain(&shed), 1 + usize::from(result.is_ok()));
        assert_eq!(shed.state(decoy), Ok(TaskState::Waiting(1)));
        assert_eq!(shed.state(successor).is_err(), result.is_ok());
    });
}
