//! Lists: places given back and taken again, alone and several at a time.
#![cfg(loom)]

mod loom_common;

use loom::thread;
use loom_common::*;
use sateen_shed::{Outcome, TaskId, TaskState};

/// A place's payload is dropped by one thread, and the next one written there by another.
#[test]
fn a_place_that_was_given_back_is_clean() {
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

/// Who pops is overtaken by one that pops the same, and the next, and pushes the first again: all that is taken is still
/// somebody's alone.
#[test]
fn a_list_that_looks_as_before_is_noticed() {
    model(3, || {
        let shed = shed(3, 0);
        let all = shed.create([(); 3]).expect("room");
        shed.free(&all).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                let [first] = shed.create([()]).expect("room");
                let [second] = shed.create([()]).expect("room");
                shed.free(&[first]).expect("idle");
                second
            })
        };
        let [mine] = shed.create([()]).expect("room");
        let others = other.join().unwrap();
        let [last] = shed.create([()]).expect("room");
        for task in [mine, others, last] {
            assert_eq!(shed.state(task), Ok(TaskState::Idle));
        }
        assert!(shed.create([()]).is_err());
    });
}

/// The same for who pops two at a time.
#[test]
fn a_longer_list_that_looks_as_before_is_noticed() {
    model(2, || {
        let shed = shed(4, 0);
        let all = shed.create([(); 4]).expect("room");
        shed.free(&all).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                let [first] = shed.create([()]).expect("room");
                let [second] = shed.create([()]).expect("room");
                shed.free(&[first]).expect("idle");
                second
            })
        };
        let [a, b] = shed.create([(); 2]).expect("room");
        let others = other.join().unwrap();
        let [last] = shed.create([()]).expect("room");
        for task in [a, b, others, last] {
            assert_eq!(shed.state(task), Ok(TaskState::Idle));
        }
        assert!(shed.create([()]).is_err());
    });
}

/// Two execute what is ready, one of them several at once, while another is made ready: each task once.
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
