//! Execution beside everything that other threads may do to the task meanwhile.
#![cfg(loom)]

mod loom_common;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use loom_common::*;
use sateen_shed::{Error, Outcome, TaskId, TaskState};
use sateen_testkit::model;
use std::sync::atomic::Ordering::Relaxed;

/// The name of the task that will have that task's slot after it.
fn next(task: TaskId) -> TaskId {
    TaskId::from_bits(task.to_bits() + (1 << 32))
}

/// Two threads create, ready, execute and free in the same slots.
#[test]
fn slots_go_round() {
    model(2, || {
        let dropped = drops();
        let shed = shed(2, 0);
        let round = |shed: &Model<Watched>| {
            let [run, freed] =
                [1, 1].map(|i| shed.create([Watched::new(i, dropped)]).ok().map(|[task]| task));
            if let Some(task) = run {
                shed.ready(&[task]).expect("idle");
            }
            let mut ran = 0;
            let add = |_: TaskId, payload: &mut Watched| {
                ran += payload.add();
                Outcome::Complete
            };
            shed.execute_one(0, add).expect("channel 0");
            if let Some(task) = freed {
                shed.free(&[task]).expect("idle");
            }
            (usize::from(run.is_some()), ran as usize, usize::from(freed.is_some()))
        };
        let other = {
            let shed = shed.clone();
            thread::spawn(move || round(&shed))
        };
        let mine = round(&shed);
        let others = other.join().unwrap();
        let (readied, ran) = (mine.0 + others.0, mine.1 + others.1);
        assert_eq!(ran + drain(&shed), readied);
        drop(shed);
        // Payloads for which there was no slot were dropped too.
        assert_eq!(dropped.load(Relaxed), 4);
    });
}

/// Two predecessors end at once. One end makes the successor ready, and the thread that executes it
/// sees what both did.
#[test]
fn two_completions_make_a_successor_ready() {
    model(3, || {
        let shed = shed(3, 2);
        // The predecessors write these cells, and the successor reads them.
        let cells = Arc::new([(); 2].map(|()| loom::cell::UnsafeCell::new(0)));
        let [successor, a, b] = shed.create([2, 0, 1]).expect("room");
        shed.depend(&[successor], &[a, b]).expect("idle");
        shed.ready(&[a, b]).expect("idle");
        let run = |shed: &Model<usize>, cells: &[loom::cell::UnsafeCell<u32>; 2]| {
            let one = |_: TaskId, i: &mut usize| {
                // SAFETY: the successor runs after both predecessors. Otherwise the model fails.
                match cells.get(*i) {
                    Some(cell) => cell.with_mut(|cell| unsafe { *cell = 1 }),
                    None => cells.iter().for_each(|c| assert_eq!(c.with(|c| unsafe { *c }), 1)),
                }
                Outcome::Complete
            };
            usize::from(shed.execute_one(0, one).expect("channel 0").is_some())
        };
        let other = {
            let (shed, cells) = (shed.clone(), cells.clone());
            thread::spawn(move || run(&shed, &cells) + run(&shed, &cells))
        };
        let mine = run(&shed, &cells);
        let others = other.join().unwrap();
        let rest = run(&shed, &cells) + run(&shed, &cells);
        assert_eq!(mine + others + rest, 3);
    });
}

/// A task blocks while another thread makes it ready. The task runs again once, and finds its
/// payload as it left it.
#[test]
fn a_task_that_blocks_is_never_lost() {
    model(3, || {
        let dropped = drops();
        let shed = shed(1, 0);
        let tasks = shed.create([Watched::new(0, dropped)]).ok().expect("room");
        shed.ready(&tasks).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                // This is refused if the task has not begun to run.
                let woken = shed.ready(&tasks).is_ok();
                (woken, step(&shed))
            })
        };
        let mine = step(&shed) + step(&shed);
        let (woken, others) = other.join().unwrap();
        if !woken {
            shed.ready(&tasks).expect("blocked by now");
        }
        assert_eq!(mine + others + step(&shed), 2);
        assert_eq!(
            (dropped.load(Relaxed), shed.state(tasks[0])),
            (1, Err(Error::StaleTask(tasks[0])))
        );
    });
}

/// Executes one task, which blocks the first time.
fn step(shed: &Model<Watched>) -> usize {
    let once = |_: TaskId, payload: &mut Watched| match payload.add() {
        0 => Outcome::Blocked,
        1 => Outcome::Complete,
        _ => panic!("ran again"),
    };
    usize::from(shed.execute_one(0, once).expect("channel 0").is_some())
}

/// A task is cancelled while it runs, blocks, or waits to be executed.
#[test]
fn it_blocks_or_is_cancelled() {
    model(3, || {
        let dropped = drops();
        let shed = shed(2, 1);
        let [successor, task] =
            shed.create([1, 0].map(|i| Watched::new(i, dropped))).ok().expect("room");
        shed.depend(&[successor], &[task]).expect("idle");
        shed.ready(&[task]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.cancel(task))
        };
        let ran = step(&shed);
        match other.join().unwrap().expect("it has not ended") {
            true => assert_eq!(dropped.load(Relaxed), 2),
            false => {
                assert_eq!((ran, shed.state(task)), (1, Ok(TaskState::Blocked)));
                shed.ready(&[task]).expect("blocked");
                assert_eq!(step(&shed), 1);
                assert_eq!(step(&shed), 0);
            }
        }
        assert_eq!(step(&shed), 0);
        assert_eq!(
            (dropped.load(Relaxed), shed.state(successor)),
            (2, Err(Error::StaleTask(successor)))
        );
    });
}

/// Either the task runs, or it is cancelled together with its successor. Each payload is dropped
/// once.
#[test]
fn it_runs_or_is_cancelled() {
    model(3, || {
        let dropped = drops();
        let shed = shed(2, 1);
        let [successor, task] =
            shed.create([1, 1].map(|i| Watched::new(i, dropped))).ok().expect("room");
        shed.depend(&[successor], &[task]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.cancel(task))
        };
        let readied = shed.ready(&[task]);
        let ran = drain(&shed);
        let cancelled = other.join().unwrap();
        let ran = ran + drain(&shed);
        match cancelled {
            Ok(true) => assert_eq!(ran, 0),
            // The task was running, so its successor is cancelled.
            Ok(false) => assert_eq!((readied, ran), (Ok(()), 1)),
            Err(error) => {
                assert_eq!((readied, ran, error), (Ok(()), 2, Error::StaleTask(task)));
            }
        }
        assert_eq!(dropped.load(Relaxed), 2);
        shed.create([1, 1].map(|i| Watched::new(i, dropped))).ok().expect("both slots are free");
    });
}

/// Two threads cancel while the predecessor runs: one the predecessor, the other the successor.
#[test]
fn successor_and_predecessor_are_cancelled_at_once() {
    model(2, || {
        let dropped = drops();
        let shed = shed(2, 1);
        let [successor, predecessor] =
            shed.create([1, 1].map(|i| Watched::new(i, dropped))).ok().expect("room");
        shed.depend(&[successor], &[predecessor]).expect("idle");
        shed.ready(&[predecessor]).expect("idle");
        let others = [successor, predecessor].map(|task| {
            let shed = shed.clone();
            thread::spawn(move || shed.cancel(task))
        });
        drain(&shed);
        let _ = others.map(|other| other.join().unwrap());
        drain(&shed);
        assert_eq!(dropped.load(Relaxed), 2);
        shed.create([1, 1].map(|i| Watched::new(i, dropped))).ok().expect("both slots are free");
    });
}

/// A thread that knows a task's name finds the task whole, however it learned the name.
#[test]
fn a_new_task_is_whole_for_who_knows_its_name() {
    model(3, || {
        let dropped = drops();
        let shed = shed(1, 0);
        let tasks = shed.create([Watched::new(0, dropped)]).ok().expect("room");
        shed.free(&tasks).expect("idle");
        let name = next(tasks[0]);
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.cancel(name).is_ok())
        };
        let [task] = shed.create([Watched::new(0, dropped)]).ok().expect("room");
        assert_eq!(task, name);
        let cancelled = other.join().unwrap();
        assert_eq!(dropped.load(Relaxed), 1 + usize::from(cancelled));
    });
}

/// The ready callback comes after the tasks are in their list. A thread that it tells finds them.
#[test]
fn who_is_told_finds_what_is_ready() {
    model(3, || {
        let told = Arc::new(AtomicUsize::new(0));
        let tell = told.clone();
        let count = move |_: u16, count: u32| _ = tell.fetch_add(count as usize, Ordering::Release);
        let shed = Arc::new(builder(2, 1).on_ready(count).build().expect("small"));
        let [successor, predecessor] = shed.create([(); 2]).expect("room");
        shed.depend(&[successor], &[predecessor]).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || {
                shed.ready(&[predecessor]).expect("idle");
                one(&shed);
            })
        };
        let seen = told.load(Ordering::Acquire);
        let mine = usize::from(seen > 0 && one(&shed).is_some());
        assert!(seen < 2 || mine == 1);
        other.join().unwrap();
        assert_eq!(shed.state(predecessor).is_err(), seen < 2 || mine == 1);
    });
}

/// The slot of a cancelled task becomes free only after its payload is dropped.
#[test]
fn a_cancelled_tasks_slot_is_clean() {
    model(2, || {
        let dropped = drops();
        let shed = shed(1, 0);
        let [task] = shed.create([Watched::new(0, dropped)]).ok().expect("room");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.cancel(task))
        };
        drop(shed.create([Watched::new(0, dropped)]));
        assert_eq!(other.join().unwrap(), Ok(true));
        drop(shed);
        assert_eq!(dropped.load(Relaxed), 2);
    });
}

/// As above for a thread that makes the task ready. The thread that executes the task has it whole.
#[test]
fn a_new_task_is_whole_for_who_readies_it_by_its_name() {
    model(3, || {
        let dropped = drops();
        let shed = shed(1, 0);
        let tasks = shed.create([Watched::new(0, dropped)]).ok().expect("room");
        shed.free(&tasks).expect("idle");
        let name = next(tasks[0]);
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.ready(&[name]).map(|()| step(&shed) + step(&shed)))
        };
        let [task] = shed.create([Watched::new(1, dropped)]).ok().expect("room");
        assert_eq!(task, name);
        let ran = other.join().unwrap();
        assert!(ran.is_err() || ran == Ok(1));
    });
}

/// As above for the task's channel, which differs from that of the slot's previous task.
#[test]
fn a_new_task_is_ready_on_its_own_channel() {
    model(3, || {
        let shed = Arc::new(builder(1, 0).channels(2).build().expect("small"));
        let tasks = shed.create([()]).expect("room");
        shed.set_channel(&tasks, 1).expect("idle");
        shed.free(&tasks).expect("idle");
        let name = next(tasks[0]);
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.ready(&[name]).is_ok())
        };
        assert_eq!(shed.create([()]).expect("room"), [name]);
        let readied = other.join().unwrap();
        assert_eq!((shed.has_ready(0), shed.has_ready(1)), (Ok(readied), Ok(false)));
    });
}

/// As above for a task whose freeing was refused, because another one in the same call could not be
/// freed.
#[test]
fn a_task_that_was_not_freed_is_whole_for_who_knows_its_name() {
    model(3, || {
        let dropped = drops();
        let shed = shed(1, 0);
        let tasks = shed.create([Watched::new(0, dropped)]).ok().expect("room");
        shed.free(&tasks).expect("idle");
        let name = next(tasks[0]);
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.cancel(name).is_ok())
        };
        let [task] = shed.create([Watched::new(0, dropped)]).ok().expect("room");
        // This is refused because the task is named twice, or because it was cancelled.
        assert!(shed.free(&[task, task]).is_err());
        let cancelled = other.join().unwrap();
        assert_eq!(dropped.load(Relaxed), 1 + usize::from(cancelled));
    });
}

/// A task blocks twice and looks the same each time to a thread that cancels it. The payload that
/// is dropped is as the last execution left it.
#[test]
fn a_task_that_blocks_again_is_cancelled() {
    model(3, || {
        let dropped = drops();
        let shed = shed(1, 0);
        let tasks = shed.create([Watched::new(0, dropped)]).ok().expect("room");
        let block = |_: TaskId, payload: &mut Watched| {
            payload.add();
            Outcome::Blocked
        };
        shed.ready(&tasks).expect("idle");
        let other = {
            let shed = shed.clone();
            thread::spawn(move || shed.cancel(tasks[0]))
        };
        for _ in 0..2 {
            shed.execute_one(0, block).expect("channel 0");
            let _ = shed.ready(&tasks);
        }
        let cancelled = other.join().unwrap().expect("it has not ended");
        // This takes the task out of its list, if it lies there.
        shed.execute_one(0, block).expect("channel 0");
        assert!(cancelled || shed.cancel(tasks[0]) == Ok(true));
        assert_eq!(dropped.load(Relaxed), 1);
    });
}

/// A thread makes a running task ready. The next execution sees what that thread did before.
#[test]
fn what_the_waker_did_is_seen() {
    model(3, || {
        let shed = shed(1, 0);
        let cell = Arc::new(loom::cell::UnsafeCell::new(false));
        let tasks = shed.create([0]).expect("room");
        shed.ready(&tasks).expect("idle");
        let other = {
            let (shed, cell) = (shed.clone(), cell.clone());
            thread::spawn(move || {
                // SAFETY: the task looks only after it was woken, which happens below.
                cell.with_mut(|cell| unsafe { *cell = true });
                shed.ready(&tasks).is_ok()
            })
        };
        let step = |_: TaskId, runs: &mut u32| {
            *runs += 1;
            if *runs == 1 {
                return Outcome::Blocked;
            }
            // SAFETY: the task was woken. If that is not enough, the model fails.
            assert!(cell.with(|cell| unsafe { *cell }));
            Outcome::Complete
        };
        shed.execute_one(0, step).expect("channel 0");
        shed.execute_one(0, step).expect("channel 0");
        if !other.join().unwrap() {
            shed.ready(&tasks).expect("blocked");
        }
        shed.execute_one(0, step).expect("channel 0");
        assert!(shed.state(tasks[0]).is_err());
    });
}
