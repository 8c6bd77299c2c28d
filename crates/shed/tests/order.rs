//! The order in which ready tasks are executed.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_shed::{BuildError, Central, Error, Layout, Outcome, Packed, Sharded, Shed};
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

#[test]
fn the_first_channel_that_has_a_task_is_served() {
    let shed = Shed::builder().tasks(8).channels(3).build().expect("small");
    let tasks = shed.create([2, 0, 1, 2, 0]).expect("room");
    for (task, channel) in tasks.iter().zip([2, 0, 1, 2, 0]) {
        shed.set_channel(&[*task], channel).expect("idle");
    }
    shed.ready(&tasks).expect("idle");
    let mut order = vec![];
    let mut step = |channels: &[u16]| {
        shed.execute_any(channels.iter().copied(), |_, channel| {
            order.push(*channel);
            Outcome::Complete
        })
    };
    assert_eq!(step(&[]), Ok(None));
    assert_eq!(step(&[3, 0]), Err(Error::NoChannel { channel: 3, channels: 3 }));
    while step(&[0, 1, 2]) != Ok(None) {}
    assert_eq!(order, [0, 0, 1, 2, 2]);
    // The shed does not look at the second channel if the first has a task.
    let [task] = shed.create([0]).expect("room");
    shed.ready(&[task]).expect("idle");
    assert_eq!(shed.execute_any([0, 9], |_, _| Outcome::Complete), Ok(Some(task)));
}

/// Executes up to `most` tasks of a channel. Returns their payloads, in order.
fn taken<L: Layout>(shed: &Shed<u32, L>, channel: u16, most: u32) -> Vec<u32> {
    let mut order = vec![];
    let ran = shed.execute_batch(channel, most, |_, number| {
        order.push(*number);
        Outcome::Complete
    });
    assert_eq!(ran.map(|n| n as usize), Ok(order.len()));
    order
}

#[test]
fn only_the_named_channels_hand_out_the_oldest_first() {
    let shed = Shed::builder().tasks(16).channels(3).fifo(1).build().expect("small");
    for number in 0..9 {
        let task = shed.create([number]).expect("room");
        shed.set_channel(&task, number as u16 % 3).expect("idle");
        shed.ready(&task).expect("idle");
    }
    assert_eq!(shed.has_ready(1), Ok(true));
    assert_eq!(taken(&shed, 0, 9), [6, 3, 0]);
    assert_eq!(taken(&shed, 1, 1), [1]);
    assert_eq!(shed.has_ready(1), Ok(true));
    assert_eq!(taken(&shed, 1, 9), [4, 7]);
    assert_eq!((shed.has_ready(1), taken(&shed, 1, 0)), (Ok(false), vec![]));
    assert_eq!(taken(&shed, 2, 9), [8, 5, 2]);
}

#[test]
fn a_channel_that_is_not_there_cannot_be_first_in_first_out() {
    let built = Shed::<u32>::builder().channels(2).fifo(1).fifo(2).build();
    assert_eq!(built.err(), Some(BuildError::NoChannel { channel: 2, channels: 2 }));
}

#[test]
fn inboxes_lie_in_the_same_block() {
    let builder = || Shed::<u32>::builder().tasks(4).channels(2);
    let usual = Shed::<u32>::required_size(4, 1024, 2).expect("small");
    assert_eq!(builder().required_size(), Ok(usual));
    let size = builder().fifo_all().required_size().expect("small");
    let mut room = vec![MaybeUninit::uninit(); size + Shed::<u32>::ALIGN];
    let skip = room.as_ptr().align_offset(Shed::<u32>::ALIGN);
    let short = builder().fifo(0).build_in(&mut room[skip..][..size - 1]);
    let wrong = BuildError::BufferTooSmall { needed: size, given: size - 1 };
    assert_eq!(short.err(), Some(wrong));
    let shed = builder().fifo(0).build_in(&mut room[skip..][..size]).expect("enough");
    shed.ready(&shed.create([1]).expect("room")).expect("idle");
    shed.ready(&shed.create([2]).expect("room")).expect("idle");
    assert_eq!(taken(&shed, 0, 9), [1, 2]);
}

#[test]
fn what_was_blocked_comes_last_and_what_is_put_back_first() {
    let shed = Shed::builder().tasks(8).fifo_all().build().expect("small");
    let [a, b, c, d] = shed.create([0, 1, 2, 3]).expect("room");
    shed.ready(&[a, b]).expect("idle");
    assert_eq!(shed.execute_one(0, |_, _| Outcome::Blocked), Ok(Some(a)));
    shed.ready(&[c]).expect("idle");
    shed.ready(&[a, d]).expect("blocked, and idle");
    assert_eq!(taken(&shed, 0, 1), [1]);
    let batch =
        catch_unwind(AssertUnwindSafe(|| shed.execute_batch(0, 3, |_, number| panic!("{number}"))));
    assert!(batch.is_err(), "2 panics; 0 and 3 are put back");
    assert_eq!(shed.state(c), Err(Error::StaleTask(c)));
    assert_eq!(taken(&shed, 0, 9), [0, 3]);
}

/// Executes the task that comes first.
fn next<L: Layout>(shed: &Shed<u32, L>) -> Option<u32> {
    let mut number = None;
    let ran = shed.execute_one(0, |_, n| {
        number = Some(*n);
        Outcome::Complete
    });
    assert_eq!(ran.map(|task| task.is_some()), Ok(number.is_some()));
    number
}

fn beside_a_queue<L: Layout>(seed: u64) {
    let builder = Shed::builder().tasks(64).dependencies(64).layout::<L>();
    let shed = builder.fifo_all().build().expect("small");
    let (mut twin, mut random, mut number) = (VecDeque::new(), XorShift::new(seed), 0);
    for _ in 0..if cfg!(miri) { 20 } else { 5_000 } {
        let count = (random.next_u64() % 6) as usize;
        match random.next_u64() % 4 {
            0 | 1 => {
                let mut tasks = vec![];
                for _ in 0..count {
                    number += 1;
                    tasks.extend(shed.create([number]).map(|[task]| (task, number)));
                }
                let names: Vec<_> = tasks.iter().map(|(task, _)| *task).collect();
                shed.ready(&names).expect("idle");
                twin.extend(tasks);
            }
            2 if !twin.is_empty() => {
                let (task, _) = twin[count % twin.len()];
                assert_eq!(shed.cancel(task), Ok(true));
                twin.retain(|(other, _)| *other != task);
                assert_eq!(next(&shed), twin.pop_front().map(|(_, n)| n));
            }
            _ => {
                for _ in 0..count {
                    assert_eq!(next(&shed), twin.pop_front().map(|(_, n)| n));
                }
            }
        }
    }
}

#[test]
fn first_in_first_out_beside_a_queue() {
    beside_a_queue::<Packed>(1);
    beside_a_queue::<Central>(2);
    beside_a_queue::<Sharded>(3);
}

/// Each consumer sees the tasks of each producer in order, and all tasks are executed.
#[test]
fn the_order_holds_with_many_threads() {
    const PRODUCERS: u32 = 2;
    const EACH: u32 = if cfg!(miri) { 12 } else { 20_000 };
    let shed = Shed::builder().tasks(500).fifo_all().build().expect("small");
    let left = AtomicU32::new(PRODUCERS * EACH);
    thread::scope(|s| {
        for producer in 0..PRODUCERS {
            let shed = &shed;
            s.spawn(move || {
                let mut number = 0;
                while number < EACH {
                    match shed.create([(producer, number)]) {
                        Ok(task) => {
                            shed.ready(&task).expect("idle");
                            number += 1;
                        }
                        Err(_) => thread::yield_now(),
                    }
                }
            });
        }
        for consumer in 0..3 {
            let (shed, left) = (&shed, &left);
            s.spawn(move || {
                let mut last = [None; PRODUCERS as usize];
                while left.load(Ordering::Relaxed) > 0 {
                    let mut run = |(producer, number): &(u32, u32)| {
                        left.fetch_sub(1, Ordering::Relaxed);
                        let last = &mut last[*producer as usize];
                        assert!(last.is_none_or(|last| last < *number), "{last:?} {number}");
                        *last = Some(*number);
                    };
                    let ran = if consumer == 0 {
                        shed.execute_one(0, |_, task| {
                            run(task);
                            Outcome::Complete
                        })
                        .map(|task| u32::from(task.is_some()))
                    } else {
                        shed.execute_batch(0, 5, |_, task| {
                            run(task);
                            Outcome::Complete
                        })
                    };
                    if ran == Ok(0) {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    assert_eq!(left.into_inner(), 0);
    assert_eq!(shed.has_ready(0), Ok(false));
}

#[test]
fn a_copy_hands_out_in_the_same_order() {
    let builder = Shed::builder().tasks(8).channels(2).fifo(0).progress(true);
    let mut shed = builder.build().expect("small");
    for number in 0..8 {
        let task = shed.create([number]).expect("room");
        shed.set_channel(&task, number as u16 % 2).expect("idle");
        shed.ready(&task).expect("idle");
    }
    assert_eq!(taken(&shed, 0, 1), [0]);
    let before = shed.snapshot();
    let copy = before.to_shed().expect("small");
    for shed in [&shed, &copy] {
        assert_eq!((taken(shed, 0, 9), taken(shed, 1, 9)), (vec![2, 4, 6], vec![7, 5, 3, 1]));
        let progress = shed.progress(0).expect("a channel").expect("counted");
        assert_eq!((progress.readied, progress.completed), (4, 4));
    }
    shed.restore(&before).expect("the same sizes");
    assert_eq!(taken(&shed, 0, 1), [2]);
}
