//! Lists: slots are given back and taken again, alone and several at a time.
#![cfg(loom)]

mod loom_common;

use loom::thread;
use loom_common::*;
use sateen_shed::{Outcome, TaskId, TaskState};
use sateen_testkit::model;

/// One thread drops a slot's payload, and another writes the next payload there.
#[test]
fn a_slot_that_was_given_back_is_clean() {
    model(2, || {
        let dropped = drops();
        let shed = shed(2, 0);
        let tasks = shed.create([1, 2].map(|i| Watched::new(i, dropped))).ok().expect("room");
        shed.ready(&tasks).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || drain(&shed))
        };
        let created = shed.create([Watched::new(3, dropped)]);
        assert!(other.join().unwrap() == 2);
        drop(created);
        drop(shed);
        assert_eq!(dropped.load(std::sync::atomic::Ordering::Relaxed), 3);
    });
}

/// A thread is about to take slots. Another thread takes the same ones and gives the first back, so
/// that the list begins with it again. Each slot that is taken still has one owner.
fn a_list_that_looks_as_before<const N: usize>() {
    model(2, || {
        // Some slots are fresh. A thread that finds the list empty, because another moves it, takes
        // those.
        let shed = shed(12, 0);
        let [z, a, b, c] = shed.create([(); 4]).expect("room");
        shed.free(&[z, a, b]).expect("idle");
        // Takes the first of the three slots. The others lie in the outbox.
        let mut names = shed.create([()]).expect("room").to_vec();
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                let [first] = shed.create([()]).expect("room");
                let [second] = shed.create([()]).expect("room");
                shed.free(&[first]).expect("idle");
                shed.free(&[c]).expect("idle");
                let [third] = shed.create([()]).expect("room");
                [second, third]
            })
        };
        names.extend(shed.create([(); N]).expect("room"));
        names.extend(other.join().unwrap());
        for _ in 0..2 {
            names.extend(shed.create([()]).expect("room"));
        }
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|&task| shed.state(task) == Ok(TaskState::Idle)));
    });
}

#[test]
fn a_list_that_looks_as_before_is_noticed_by_who_takes_one() {
    a_list_that_looks_as_before::<1>();
}

#[test]
fn a_list_that_looks_as_before_is_noticed_by_who_takes_two() {
    a_list_that_looks_as_before::<2>();
}

/// Two threads execute ready tasks, one of them several at once, while another task is made ready.
/// Each task runs once.
#[test]
fn what_is_ready_is_taken_once() {
    model(2, || {
        let dropped = drops();
        let shed = shed(3, 0);
        let [a, b, c] =
            shed.create([1, 2, 3].map(|i| Watched::new(i, dropped))).ok().expect("room");
        shed.ready(&[a, b]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&[c]).expect("idle");
                drain(&shed)
            })
        };
        let mut sum = 0;
        let add = |_: TaskId, payload: &mut Watched| {
            sum += payload.add();
            Outcome::Complete
        };
        let mine = shed.execute_batch(0, 2, add).expect("channel 0");
        let others = other.join().unwrap();
        assert_eq!(mine as usize + others + drain(&shed), 3);
        assert_eq!(dropped.load(std::sync::atomic::Ordering::Relaxed), 3);
    });
}

/// There are never more tasks than slots, so a free slot always exists.
#[test]
fn a_slot_that_is_free_is_found() {
    model(2, || {
        let shed = shed(3, 0);
        let all = shed.create([(); 3]).expect("room");
        shed.free(&all).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                let [first] = shed.create([()]).expect("room");
                shed.create([()]).expect("room");
                shed.free(&[first]).expect("idle");
            })
        };
        shed.create([()]).expect("room");
        other.join().unwrap();
    });
}

/// As above. The other thread has one slot free at each moment, but not always the same.
#[test]
fn a_slot_that_is_free_is_found_though_it_changes() {
    model(3, || {
        let shed = shed(2, 0);
        let all = shed.create([(); 2]).expect("room");
        shed.free(&all).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                let [first] = shed.create([()]).expect("room");
                shed.free(&[first]).expect("idle");
                shed.create([()]).expect("room");
            })
        };
        shed.create([()]).expect("room");
        other.join().unwrap();
    });
}

/// A thread is about to take a single slot and is overtaken. The slot comes back with another
/// behind it, and each has one owner.
#[test]
fn a_single_slot_that_has_become_two_is_noticed() {
    model(3, || {
        let shed = shed(2, 0);
        shed.free(&shed.create([()]).expect("room")).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                if let Ok(both) = shed.create([(); 2]) {
                    shed.free(&both).expect("idle");
                    shed.create([()]).expect("the other thread has one of them at most");
                }
            })
        };
        let _ = shed.create([()]);
        other.join().unwrap();
    });
}

/// Two threads take a fresh slot each. One takes both, and is about to put the second one where the
/// other looks.
#[test]
fn a_fresh_slot_that_is_moved_is_found() {
    model(3, || {
        let shed = shed(2, 0);
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.create([()]).expect("room")[0])
        };
        let [mine] = shed.create([()]).expect("room");
        assert_ne!(mine, other.join().unwrap());
    });
}

/// A slot comes back from another thread, alone or with another. It is clean, because its payload
/// was dropped before.
#[test]
fn a_slot_that_came_back_is_clean() {
    model(3, || {
        let dropped = drops();
        let shed = shed(2, 0);
        let watched = || Watched::new(0, dropped);
        let [a] = shed.create([watched()]).ok().expect("room");
        shed.free(&[a]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                let watched = || Watched::new(0, dropped);
                if let Ok([a]) = shed.create([watched()]) {
                    shed.free(&[a]).expect("idle");
                }
            })
        };
        let _ = shed.create([watched()]);
        let _ = shed.create([watched()]);
        other.join().unwrap();
    });
}

/// As above for a slot that a third thread has moved to the outbox.
#[test]
fn a_slot_that_was_moved_is_clean() {
    model(2, || {
        let dropped = drops();
        let shed = shed(2, 0);
        let tasks = shed.create([(); 2].map(|()| Watched::new(0, dropped))).ok().expect("room");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.free(&tasks).expect("idle");
                // Moves one of the slots.
                drop(shed.create([Watched::new(0, dropped)]));
            })
        };
        drop(shed.create([Watched::new(0, dropped)]));
        other.join().unwrap();
    });
}
