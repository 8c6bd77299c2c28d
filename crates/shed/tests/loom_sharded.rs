//! Lists with two stripes: threads steal tasks from each other, and take free slots from each
//! other's reserves.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::thread;
use loom_common::{Watched, drops};
use sateen_shed::{Outcome, Sharded, Shed, TaskId};
use sateen_testkit::model;
use std::sync::atomic::Ordering::Relaxed;

/// The main thread's stripe is the first, the other's the second.
type Two<T> = Shed<T, Sharded<2>>;

fn two<T>(tasks: u64, dependencies: u64) -> Arc<Two<T>> {
    Arc::new(
        Shed::builder().tasks(tasks).dependencies(dependencies).layout().build().expect("small"),
    )
}

/// Takes up to `most` tasks at once, executes them and touches each payload. Returns how many it
/// executed.
fn work(shed: &Two<Watched>, most: u32) -> u32 {
    let touch = |_: TaskId, payload: &mut Watched| {
        assert_eq!(payload.add(), 0, "ran twice");
        Outcome::Complete
    };
    shed.execute_batch(0, most, touch).expect("channel 0")
}

/// One thread steals from the other, keeps one task and puts the rest into its own stripe. The
/// other thread steals from there.
#[test]
fn what_is_stolen_is_executed_once() {
    model(3, || {
        let (shed, dropped) = (two(3, 0), drops());
        let tasks = shed.create([0; 3].map(|n| Watched::new(n, dropped))).ok().expect("room");
        shed.ready(&tasks).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || work(&shed, 1))
        };
        let mine = work(&shed, 1);
        let others = other.join().unwrap();
        assert!(others == 1 || mine == 1);
        assert_eq!(mine + others + work(&shed, 3), 3);
        assert_eq!((dropped.load(Relaxed), shed.has_ready(0)), (3, Ok(false)));
    });
}

/// Two threads steal from a stripe to which its own thread pushes meanwhile.
#[test]
fn a_stripe_is_pushed_to_while_it_is_stolen_from() {
    model(2, || {
        let (shed, dropped) = (two(3, 0), drops());
        let [a, b, c] = shed.create([0; 3].map(|n| Watched::new(n, dropped))).ok().expect("room");
        shed.ready(&[a, b]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || work(&shed, 1) + work(&shed, 2))
        };
        shed.ready(&[c]).expect("idle");
        let mine = work(&shed, 1);
        let others = other.join().unwrap();
        assert_eq!(mine + others + work(&shed, 3), 3);
        assert_eq!(dropped.load(Relaxed), 3);
    });
}

/// Both threads take slots that one of them has freed. Each slot belongs to one task.
#[test]
fn free_slots_are_taken_from_each_other() {
    model(2, || {
        let (shed, dropped) = (two(3, 0), drops());
        let watched = || Watched::new(0, dropped);
        let tasks = shed.create([(); 3].map(|()| watched())).ok().expect("room");
        shed.free(&tasks).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                let first = shed.create([Watched::new(0, dropped)]).ok().map(|[task]| task);
                shed.free(&first.into_iter().collect::<Vec<_>>()).expect("idle");
                shed.create([Watched::new(0, dropped)]).ok().map(|[task]| task)
            })
        };
        let mine = shed.create([watched()]).ok().map(|[task]| task);
        let others = other.join().unwrap();
        assert!(mine.is_some() && others.is_some());
        assert_ne!(mine, others);
        shed.create([watched()]).ok().expect("the third is free");
        assert_eq!(shed.create([watched()]).map_err(|full| full.asked).unwrap_err(), 1);
    });
}

/// The other thread has one slot free at each moment, but not always the same.
#[test]
fn a_slot_that_is_free_is_found() {
    model(3, || {
        let shed = two(2, 0);
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
