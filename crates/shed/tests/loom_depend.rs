//! Dependencies against everything that may happen to either end of them.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::*;
use sateen_shed::Error;

/// The task that somebody is about to depend on ends, and one that gets its place later has dependents too, maybe already: each has its own.
fn next_task_in_a_place(first_generation: u32, between: usize, already: bool) {
    model(2, move || {
        let shed = builder(3, 2).first_generation(first_generation).build().expect("small");
        let shed = Arc::new(shed);
        let [late, next, child] = shed.create([(); 3]).expect("room");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&[child]).expect("idle");
                assert_eq!(one(&shed), Some(child));
                let ran = 1 + drain(&shed);
                for _ in 0..between {
                    shed.free(&shed.create([()]).expect("the child's place at least"))
                        .expect("idle");
                }
                let [second] = shed.create([()]).expect("the child's place at least");
                if already {
                    shed.depend(&[next], &[second]).expect("idle");
                }
                (ran, second)
            })
        };
        let result = shed.depend(&[late], &[child]);
        let (ran, second) = other.join().unwrap();
        if !already {
            shed.depend(&[next], &[second]).expect("idle");
        }
        shed.ready(&[second]).expect("idle");
        match result {
            Ok(()) => assert_eq!(ran + drain(&shed), 4),
            Err(error) => {
                assert!(
                    [Error::StaleTask(child), Error::AlreadyReady(child), Error::Running(child)]
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
fn the_next_task_in_a_place_has_its_own_dependents() {
    next_task_in_a_place(5, 0, true);
}

/// As above where the words of dependents begin anew.
#[test]
fn the_next_task_has_its_own_dependents_where_words_begin_anew() {
    next_task_in_a_place((1 << 30) - 1, 0, false);
}

/// As above, for who is so late that there was another task in between.
#[test]
fn the_next_but_one_has_its_own_dependents_where_words_begin_anew() {
    next_task_in_a_place((1 << 29) - 2, 1, false);
}

/// As above where generations wrap around.
#[test]
fn the_next_task_has_its_own_dependents_where_generations_wrap() {
    next_task_in_a_place(u32::MAX, 0, true);
}
