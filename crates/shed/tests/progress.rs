//! The counts of each channel.
#![cfg(not(loom))]

use sateen_shed::{Error, Outcome, Progress, Shed};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

fn counts<T>(shed: &Shed<T>, channel: u16) -> [u64; 4] {
    let progress = shed.progress(channel).expect("a channel").expect("counted");
    let Progress { readied, completed, blocked, cancelled, .. } = progress;
    [readied, completed, blocked, cancelled]
}

#[test]
fn nothing_is_counted_unless_asked_for() {
    let shed = Shed::builder().build().expect("small");
    shed.ready(&shed.create([1]).expect("room")).expect("idle");
    assert_eq!(shed.progress(0), Ok(None));
    assert_eq!(shed.progress(1), Err(Error::NoChannel { channel: 1, channels: 1 }));
}

#[test]
fn each_way_of_ending_is_counted_once() {
    let builder = Shed::builder().tasks(16).channels(2).fifo(1);
    let shed = builder.progress(true).build().expect("small");
    let [a, b, c, d, e, f] = shed.create([0, 1, 2, 3, 4, 5]).expect("room");
    shed.set_channel(&[e, f], 1).expect("idle");
    shed.depend(&[d], &[c]).expect("idle");
    shed.depend(&[f], &[e]).expect("idle");
    shed.ready(&[a, b, c, e]).expect("idle");
    assert_eq!((counts(&shed, 0), counts(&shed, 1)), ([3, 0, 0, 0], [1, 0, 0, 0]));

    let first = shed.execute_one(0, |_, _| Outcome::Blocked);
    assert_eq!((first, counts(&shed, 0)), (Ok(Some(a)), [3, 0, 1, 0]));
    // `c` panics, and `d` is cancelled with it. `b` is put back, which is not counted.
    shed.ready(&[a]).expect("blocked");
    let batch = catch_unwind(AssertUnwindSafe(|| {
        shed.execute_batch(0, 3, |_, n| {
            assert!(*n != 1, "boom");
            Outcome::Complete
        })
    }));
    assert!(batch.is_err());
    assert_eq!(counts(&shed, 0), [4, 1, 1, 1]);
    assert_eq!(shed.cancel(c), Ok(true));
    assert_eq!(counts(&shed, 0), [4, 1, 1, 2]);
    assert_eq!(shed.execute_batch(0, 9, |_, _| Outcome::Complete), Ok(0));
    assert_eq!(counts(&shed, 0), [4, 1, 1, 3], "d, which depended on c");

    assert_eq!(shed.execute_any([0, 1], |_, _| Outcome::Complete), Ok(Some(e)));
    assert_eq!(shed.execute_batch(1, 9, |_, _| Outcome::Complete), Ok(1));
    assert_eq!(counts(&shed, 1), [2, 2, 0, 0]);
}

#[test]
fn no_more_ends_are_counted_than_tasks_that_became_ready() {
    const TASKS: u64 = if cfg!(miri) { 20 } else { 20_000 };
    let shed = Shed::builder().tasks(100).progress(true).build().expect("small");
    thread::scope(|s| {
        s.spawn(|| {
            let mut left = TASKS;
            while left > 0 {
                match shed.create([()]) {
                    Ok(task) => {
                        shed.ready(&task).expect("idle");
                        left -= 1;
                    }
                    Err(_) => thread::yield_now(),
                }
            }
        });
        s.spawn(|| {
            let mut left = TASKS;
            while left > 0 {
                let ran = shed.execute_batch(0, 7, |_, ()| Outcome::Complete).expect("a channel");
                left -= u64::from(ran);
                if ran == 0 {
                    thread::yield_now();
                }
            }
        });
        let mut seen = [0; 4];
        while seen[1] < TASKS {
            let now = counts(&shed, 0);
            assert!(now[0] >= now[1] && now[0] >= seen[0] && now[1] >= seen[1], "{seen:?} {now:?}");
            seen = now;
            thread::yield_now();
        }
    });
    assert_eq!(counts(&shed, 0), [TASKS, TASKS, 0, 0]);
}
