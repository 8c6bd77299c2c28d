//! Each operation on its own.

use sateen_shed::{Error, Outcome, Shed, TaskState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

fn drain<T: Clone>(shed: &Shed<T>) -> Vec<T> {
    let mut done = vec![];
    let run = |shed: &Shed<T>, done: &mut Vec<T>| {
        shed.execute_one(0, |_, payload| {
            done.push(payload.clone());
            Outcome::Complete
        })
    };
    while run(shed, &mut done).expect("a channel").is_some() {}
    done
}

#[test]
fn a_diamond_runs_in_order_and_its_slots_are_used_again() {
    let shed = Shed::builder().tasks(4).dependencies(4).build().expect("small");
    for _ in 0..if cfg!(miri) { 3 } else { 100 } {
        let [end, left, right, begin] = shed.create(["end", "l", "r", "begin"]).expect("room");
        shed.depend(&[left, right], &[begin]).expect("idle");
        shed.depend(&[end], &[left, right]).expect("idle");
        assert_eq!(shed.state(end), Ok(TaskState::Waiting(2)));
        shed.ready(&[begin]).expect("idle");
        let order = drain(&shed);
        assert_eq!((order[0], order[3], order.len()), ("begin", "end", 4));
        assert_eq!(shed.state(end), Err(Error::StaleTask(end)));
    }
}

#[test]
fn a_blocked_task_runs_again_once_it_is_ready() {
    let shed = Shed::builder().tasks(1).build().expect("small");
    let [task] = shed.create([0]).expect("room");
    shed.ready(&[task]).expect("idle");
    let step = |outcome| {
        shed.execute_one(0, |name, count| {
            // Without std the shed cannot tell which task calls.
            if cfg!(feature = "std") {
                assert_eq!(shed.ready(&[name]), Err(Error::Running(name)));
            }
            *count += 1;
            assert!(*count <= 2);
            outcome
        })
    };
    assert_eq!(step(Outcome::Blocked), Ok(Some(task)));
    assert_eq!(shed.state(task), Ok(TaskState::Blocked));
    assert_eq!(step(Outcome::Complete), Ok(None));
    shed.ready(&[task]).expect("blocked");
    assert_eq!(step(Outcome::Complete), Ok(Some(task)));
    assert_eq!(shed.state(task), Err(Error::StaleTask(task)));
}

#[test]
fn cancelling_takes_what_depends_on_it_along() {
    let seen = Arc::new(Mutex::new(vec![]));
    let tell = Arc::clone(&seen);
    let shed = Shed::builder()
        .tasks(8)
        .dependencies(8)
        .on_cancel(move |_, name: &mut &str| tell.lock().expect("no panic").push(*name))
        .build()
        .expect("small");
    let [a, b, c, d] = shed.create(["a", "b", "c", "d"]).expect("room");
    shed.depend(&[b], &[a]).expect("idle");
    shed.depend(&[c], &[b, d]).expect("idle");
    shed.ready(&[a, d]).expect("idle");
    assert_eq!(shed.cancel(a), Ok(true));
    assert_eq!(drain(&shed), ["d"]);
    assert_eq!(*seen.lock().expect("no panic"), ["a", "b", "c"]);
    shed.create([""; 8]).expect("all slots are free again");
}

#[test]
fn a_panic_reaches_the_caller_and_cancels_what_depends_on_it() {
    let shed = Shed::builder().tasks(2).dependencies(1).build().expect("small");
    let [successor, predecessor] = shed.create([Box::new(1), Box::new(2)]).expect("room");
    shed.depend(&[successor], &[predecessor]).expect("idle");
    shed.ready(&[predecessor]).expect("idle");
    let caught = catch_unwind(AssertUnwindSafe(|| shed.execute_one(0, |_, _| panic!("boom"))));
    assert!(caught.is_err());
    assert_eq!(shed.state(successor), Err(Error::StaleTask(successor)));
    shed.create([Box::new(1), Box::new(2)]).expect("all slots are free again");
}
