//! A thread tags a task while another ends it and gives its slot to a new one.
#![cfg(loom)]

use loom::thread;
use sateen_shed::{Outcome, Shed};
use sateen_testkit::model;
use std::sync::Arc;

fn small() -> Arc<Shed<u32>> {
    Arc::new(Shed::builder().tasks(1).dependencies(0).build().unwrap())
}

/// A late tag reaches the task that was meant, or none.
#[test]
fn a_late_tag_is_no_later_tasks() {
    model(2, || {
        let shed = small();
        let [first] = shed.create([1]).unwrap();
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.set_tag(&[first], 1).is_ok())
        };
        shed.ready(&[first]).unwrap();
        shed.execute_one(0, |_, _| Outcome::Complete).unwrap();
        let [second] = shed.create([2]).unwrap();
        shed.set_tag(&[second], 2).unwrap();
        other.join().unwrap();
        assert_eq!(shed.tag(second), Ok(Some(2)));
        assert_eq!(shed.cancel_tag(1), 0);
    });
}

/// Cancelling by tag reaches no task that was never tagged, and counts right.
#[test]
fn cancelling_a_tag_against_the_end() {
    model(2, || {
        let shed = small();
        let [first] = shed.create([1]).unwrap();
        shed.set_tag(&[first], 1).unwrap();
        shed.ready(&[first]).unwrap();
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.cancel_tag(1))
        };
        let ran = shed.execute_one(0, |_, _| Outcome::Complete).unwrap();
        let second = shed.create([2]).ok();
        let cancelled = other.join().unwrap();
        assert_eq!(cancelled, u32::from(ran.is_none()));
        if let Some([second]) = second {
            shed.ready(&[second]).unwrap();
        }
    });
}

/// A thread that finds a task tagged also finds the tag.
#[test]
fn a_tag_is_there_with_its_flag() {
    model(2, || {
        let shed = small();
        let [task] = shed.create([1]).unwrap();
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.tag(task))
        };
        shed.set_tag(&[task], 7).unwrap();
        assert!([Ok(None), Ok(Some(7))].contains(&other.join().unwrap()));
    });
}

/// A thread that asks for a task's tag never gets that of the next task in the slot.
#[test]
fn a_tag_is_of_the_task_that_was_asked_for() {
    model(2, || {
        let shed = small();
        let [first] = shed.create([1]).unwrap();
        shed.set_tag(&[first], 1).unwrap();
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.tag(first))
        };
        shed.free(&[first]).unwrap();
        let [second] = shed.create([2]).unwrap();
        shed.set_tag(&[second], 2).unwrap();
        let tag = other.join().unwrap();
        assert!(tag == Ok(Some(1)) || tag.is_err(), "{tag:?}");
    });
}
