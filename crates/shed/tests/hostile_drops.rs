//! Payloads whose destructors panic: all payloads are dropped, the caller sees one panic, and no
//! slot is lost.
//!
//! Without std nothing can catch a panic, and a second one ends the process.
#![cfg(feature = "std")]
#![cfg(not(loom))]

use sateen_shed::{Outcome, Shed, TaskId, Template};
use sateen_testkit::{in_child, print_no_panics_under_miri};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Counts its drop, and panics if it is armed.
#[derive(Clone)]
struct Bomb(Arc<AtomicU32>, bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
        assert!(!self.1, "a bomb");
    }
}

fn bombs() -> (Arc<AtomicU32>, [Bomb; 4]) {
    let dropped = Arc::new(AtomicU32::new(0));
    (dropped.clone(), [(); 4].map(|()| Bomb(dropped.clone(), true)))
}

/// Checks that the shed has all its room, and lets it end without a panic.
fn is_whole(shed: Shed<Bomb>) {
    let quiet = [(); 4].map(|()| Bomb(Arc::default(), false));
    let tasks = shed.create(quiet).expect("all slots are free");
    shed.depend(&tasks[..1], &tasks[1..]).expect("all dependencies are free");
}

fn shed() -> Shed<Bomb> {
    Shed::builder().tasks(4).dependencies(3).build().expect("small")
}

#[track_caller]
fn panics(f: impl FnOnce()) {
    print_no_panics_under_miri();
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
}

#[test]
fn a_shed() {
    if in_child("a_shed") {
        let (dropped, bombs) = bombs();
        let shed = shed();
        shed.create(bombs).expect("room");
        panics(|| drop(shed));
        assert_eq!(dropped.load(Relaxed), 4);
    }
}

#[test]
fn freed_tasks() {
    if in_child("freed_tasks") {
        let (dropped, bombs) = bombs();
        let shed = shed();
        let tasks = shed.create(bombs).expect("room");
        panics(|| _ = shed.free(&tasks));
        assert_eq!(dropped.load(Relaxed), 4);
        is_whole(shed);
    }
}

/// One task is cancelled, and with it all that wait for it. The callback that reports each of them
/// panics, too.
#[test]
fn cancelled_tasks() {
    if in_child("cancelled_tasks") {
        let (dropped, bombs) = bombs();
        let told = Arc::new(AtomicU32::new(0));
        let count = told.clone();
        let shed = Shed::builder().tasks(4).dependencies(3).on_cancel(move |_, _: &mut Bomb| {
            count.fetch_add(1, Relaxed);
            panic!("told");
        });
        let shed = shed.build().expect("small");
        let tasks = shed.create(bombs).expect("room");
        shed.depend(&tasks[1..], &tasks[..1]).expect("idle");
        panics(|| _ = shed.cancel(tasks[0]));
        assert_eq!((dropped.load(Relaxed), told.load(Relaxed)), (4, 1));
        is_whole(shed);
    }
}

/// The closure panics, and then the payload of its task and those of all tasks that wait for it.
#[test]
fn a_task_that_panics() {
    if in_child("a_task_that_panics") {
        let (dropped, bombs) = bombs();
        let shed = shed();
        let tasks = shed.create(bombs).expect("room");
        shed.depend(&tasks[1..], &tasks[..1]).expect("idle");
        shed.ready(&tasks[..1]).expect("idle");
        panics(|| _ = shed.execute_one(0, |_, _| panic!("the reason")));
        assert_eq!(dropped.load(Relaxed), 4);
        is_whole(shed);
    }
}

#[test]
fn executed_tasks() {
    if in_child("executed_tasks") {
        let (dropped, bombs) = bombs();
        let shed = shed();
        let tasks = shed.create(bombs).expect("room");
        shed.depend(&tasks[3..], &tasks[2..3]).expect("idle");
        shed.ready(&tasks[..3]).expect("idle");
        for _ in 0..4 {
            panics(|| _ = shed.execute_batch(0, 4, |_, _| Outcome::Complete));
        }
        assert_eq!(shed.execute_batch(0, 4, |_, _| Outcome::Complete), Ok(0));
        assert_eq!(dropped.load(Relaxed), 4);
        is_whole(shed);
    }
}

#[test]
fn an_instance() {
    if in_child("an_instance") {
        let (dropped, bombs) = bombs();
        let shed = Shed::builder().tasks(5).dependencies(4).build().expect("small");
        let mut template = Template::new();
        for bomb in bombs {
            template.task(bomb);
        }
        let instance = template.install(&shed).expect("room");
        panics(|| drop(instance));
        assert_eq!(dropped.load(Relaxed), 4);
        is_whole(shed);
    }
}

/// The user's iterator guesses the names of the tasks being created, frees, readies or cancels
/// them, and panics. Tasks that are still as they were created are removed. The others keep the
/// state that they have reached.
#[test]
fn tasks_of_an_iterator_that_meddles() {
    if in_child("tasks_of_an_iterator_that_meddles") {
        for meddle in 0..4 {
            let (dropped, bombs) = bombs();
            let shed = Shed::builder().tasks(4).dependencies(3).first_generation(7).build();
            let shed = shed.expect("small");
            let mut ids = [TaskId::NONE; 4];
            let mut bombs = bombs.into_iter();
            let mut made = 0;
            let mut payloads = std::iter::from_fn(|| {
                if made == 3 {
                    let named = |slot: u64| TaskId::from_bits(7 << 32 | slot);
                    let done = (0..4).map(named).filter(|task| match meddle {
                        0 => shed.ready(&[*task]).is_ok(),
                        1 => catch_unwind(AssertUnwindSafe(|| shed.free(&[*task]))).is_err(),
                        2 => catch_unwind(AssertUnwindSafe(|| shed.cancel(*task))).is_err(),
                        _ => false,
                    });
                    assert_eq!(done.take(1).count(), usize::from(meddle < 3));
                    panic!("no more");
                }
                made += 1;
                bombs.next()
            });
            panics(|| _ = shed.create_all(&mut payloads, &mut ids));
            assert_eq!(ids, [TaskId::NONE; 4]);
            let left = u32::from(meddle == 0);
            assert_eq!(dropped.load(Relaxed), 3 - left);
            if left > 0 {
                panics(|| _ = shed.execute_one(0, |_, _| Outcome::Complete));
            }
            std::mem::forget(bombs.next());
            is_whole(shed);
        }
    }
}
