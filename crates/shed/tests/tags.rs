//! Tags: which tasks have them, and which tasks cancelling by tag reaches.
#![cfg(not(loom))]

use sateen_shed::{Error, Outcome, Shed, TaskState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

fn run_all(shed: &Shed<u32>) -> u32 {
    shed.execute_batch(0, u32::MAX, |_, _| Outcome::Complete).expect("a channel")
}

#[test]
fn a_tag_ends_with_its_task() {
    let shed = Shed::builder().tasks(1).build().expect("small");
    for round in 0..3 {
        let [task] = shed.create([round]).expect("room");
        assert_eq!(shed.tag(task), Ok(None));
        shed.set_tag(&[task], u64::MAX).expect("idle");
        shed.set_tag(&[task], round.into()).expect("idle");
        shed.ready(&[task]).expect("idle");
        assert_eq!((shed.tag(task), shed.count_tag(round.into())), (Ok(Some(round.into())), 1));
        assert_eq!(run_all(&shed), 1);
        assert_eq!(shed.tag(task), Err(Error::StaleTask(task)));
        assert_eq!(shed.set_tag(&[task], 1), Err(Error::StaleTask(task)));
        assert_eq!(shed.count_tag(round.into()), 0);
    }
}

#[test]
fn all_or_none_are_tagged() {
    let shed = Shed::builder().tasks(3).build().expect("small");
    let [a, b, gone] = shed.create([0, 1, 2]).expect("room");
    shed.free(&[gone]).expect("idle");
    assert_eq!(shed.set_tag(&[a, b, gone], 5), Err(Error::StaleTask(gone)));
    assert_eq!(shed.count_tag(5), 0);
    shed.cancel(b).expect("known");
    assert!(shed.set_tag(&[a, b], 5).is_err());
    assert_eq!(shed.tag(a), Ok(None));
}

#[test]
fn a_task_tags_itself_and_nobody_else_does_meanwhile() {
    let shed = Shed::builder().tasks(1).build().expect("small");
    let [task] = shed.create([0]).expect("room");
    shed.ready(&[task]).expect("idle");
    let ran = shed.execute_one(0, |task, _| {
        thread::scope(|s| {
            let other = s.spawn(|| shed.set_tag(&[task], 1)).join().expect("no panic");
            assert_eq!(other, Err(Error::Running(task)));
        });
        // Without std the shed cannot tell which task calls.
        let own = if cfg!(feature = "std") { Ok(()) } else { Err(Error::Running(task)) };
        assert_eq!(shed.set_tag(&[task], 2), own);
        assert_eq!(shed.cancel_tag(2), 0);
        Outcome::Blocked
    });
    assert_eq!(ran, Ok(Some(task)));
    if cfg!(feature = "std") {
        assert_eq!((shed.tag(task), shed.cancel_tag(2)), (Ok(Some(2)), 1));
    }
}

#[test]
fn what_depends_on_a_cancelled_tag_goes_along_uncounted() {
    let shed = Shed::builder().tasks(4).dependencies(4).build().expect("small");
    let [successor, predecessor, other, both] = shed.create([0, 1, 2, 3]).expect("room");
    shed.depend(&[successor, both], &[predecessor]).expect("idle");
    shed.set_tag(&[predecessor], 9).expect("idle");
    shed.ready(&[other]).expect("idle");
    assert_eq!(shed.cancel_tag(8), 0);
    assert_eq!(shed.cancel_tag(9), 1);
    assert_eq!(shed.state(successor), Err(Error::StaleTask(successor)));
    assert_eq!(shed.state(both), Err(Error::StaleTask(both)));
    assert_eq!(shed.state(other), Ok(TaskState::Ready));
    assert_eq!(run_all(&shed), 1);
}

/// Tasks use one slot, one after another. Its owner gives even tags. Another thread gives odd tags,
/// and only to tasks that are marked odd.
#[test]
fn no_task_gets_a_tag_that_was_meant_for_an_earlier_one() {
    let rounds = if cfg!(miri) { 15 } else { 20_000 };
    let shed = Shed::builder().tasks(1).build().expect("small");
    let (latest, over) = (AtomicU64::new(u64::MAX), AtomicBool::new(false));
    thread::scope(|s| {
        s.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let task = sateen_shed::TaskId::from_bits(latest.load(Ordering::Acquire));
                let _ = shed.set_tag(&[task], task.to_bits());
                thread::yield_now();
            }
        });
        for round in 0..rounds {
            let [task] = shed.create([round]).expect("room");
            if round % 2 == 0 {
                latest.store(task.to_bits(), Ordering::Release);
            } else {
                shed.set_tag(&[task], 1).expect("nobody else knows it");
            }
            shed.ready(&[task]).expect("idle");
            let tag = shed.tag(task).expect("alive");
            if round % 2 == 0 {
                assert!(tag.is_none_or(|tag| tag == task.to_bits()));
            } else {
                assert_eq!(tag, Some(1));
            }
            assert_eq!(shed.cancel_tag(u64::MAX), 0);
            assert_eq!(run_all(&shed), 1);
        }
        over.store(true, Ordering::Relaxed);
    });
}
