//! Channels that hand out the oldest task first. A consumer reverses the inbox, beside producers
//! and other consumers. A failure needs two preemptions: a consumer stops between two heads while
//! another one passes.
#![cfg(loom)]

mod loom_common;

use loom::thread::{self, JoinHandle};
use sateen_shed::{Outcome, Packed, Shed};
use sateen_testkit::model;
use std::sync::Arc;

type Small = Arc<Shed<u32, Packed>>;

fn small() -> Small {
    Arc::new(Shed::builder().tasks(3).dependencies(0).layout().fifo_all().build().unwrap())
}

fn ready(shed: &Small, number: u32) {
    shed.ready(&shed.create([number]).unwrap()).unwrap();
}

fn take(shed: &Small, most: u32) -> Vec<u32> {
    let mut got = vec![];
    shed.execute_batch(0, most, |_, number| {
        got.push(*number);
        Outcome::Complete
    })
    .unwrap();
    got
}

fn taker(shed: &Small, most: u32) -> JoinHandle<Vec<u32>> {
    let shed = shed.clone();
    thread::spawn(move || take(&shed, most))
}

/// As many tasks are ready as the consumers ask for. No consumer leaves with nothing.
#[test]
fn who_comes_while_the_inbox_is_turned_gets_a_task() {
    model(2, || {
        let shed = small();
        (1..=3).for_each(|number| ready(&shed, number));
        let other = taker(&shed, 1);
        let mut mine = take(&shed, 1);
        assert_eq!(mine.len(), 1);
        let theirs = other.join().unwrap();
        assert_eq!(theirs.len(), 1);
        mine.extend(theirs);
        mine.sort_unstable();
        assert_eq!(mine, [1, 2]);
        assert_eq!(take(&shed, 2), [3]);
    });
}

/// A producer goes on meanwhile.
#[test]
fn the_order_holds_while_tasks_come() {
    model(2, || {
        let shed = small();
        ready(&shed, 1);
        let producer = {
            let shed = shed.clone();
            thread::spawn(move || (2..=3).for_each(|number| ready(&shed, number)))
        };
        let mut got = take(&shed, 1);
        assert_eq!(got, [1]);
        got.extend(take(&shed, 2));
        producer.join().unwrap();
        got.extend(take(&shed, 3));
        assert_eq!(got, [1, 2, 3]);
        assert_eq!(shed.has_ready(0), Ok(false));
    });
}

/// Two consumers and a producer. Each consumer sees its tasks in order, and all tasks are taken.
#[test]
fn two_consumers_and_a_producer() {
    model(2, || {
        let shed = small();
        ready(&shed, 1);
        ready(&shed, 2);
        let other = taker(&shed, 2);
        ready(&shed, 3);
        let mine = take(&shed, 2);
        let theirs = other.join().unwrap();
        assert!(mine.is_sorted() && theirs.is_sorted());
        let mut all = [mine, theirs, take(&shed, 3)].concat();
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3]);
    });
}

/// A task is there at each moment, even while it is moved.
#[test]
fn a_channel_that_is_turned_round_does_not_look_empty() {
    model(2, || {
        let shed = small();
        (1..=2).for_each(|number| ready(&shed, number));
        let other = taker(&shed, 1);
        assert_eq!(shed.has_ready(0), Ok(true));
        assert_eq!(other.join().unwrap(), [1]);
    });
}

/// A thread that takes a task has it whole.
#[test]
fn a_task_is_handed_over() {
    model(2, || {
        let shed = std::sync::Arc::new(loom_common::builder(2, 0).fifo_all().build().unwrap());
        let dropped = loom_common::drops();
        let other = {
            let shed = shed.clone();
            thread::spawn(move || loom_common::drain(&shed))
        };
        let tasks = [1, 2].map(|n| loom_common::Watched::new(n, dropped));
        shed.ready(&shed.create(tasks).ok().unwrap()).unwrap();
        assert_eq!(loom_common::drain(&shed) + other.join().unwrap(), 2);
    });
}
