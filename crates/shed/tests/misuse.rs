//! Wrong input gives an error that names it, and changes nothing.
#![cfg(not(loom))]

mod common;

use common::{each_layout, room, unchanged};
use sateen_shed::{BuildError, Error, Layout, Outcome, Shed, TaskId, TaskState};
use std::mem::MaybeUninit;

#[test]
fn sizes_out_of_range_are_named() {
    type Build = Result<Shed<u8>, BuildError>;
    let cases: [(Build, BuildError, &str); 6] = [
        (Shed::builder().tasks(0).build(), BuildError::Tasks(0), "0 tasks"),
        (
            Shed::builder().tasks((1 << 31) + 1).build(),
            BuildError::Tasks((1 << 31) + 1),
            "2147483649 tasks",
        ),
        (Shed::builder().tasks(u64::MAX).build(), BuildError::Tasks(u64::MAX), "tasks"),
        (
            Shed::builder().dependencies((1 << 31) + 1).build(),
            BuildError::Dependencies((1 << 31) + 1),
            "2147483649 dependencies",
        ),
        (Shed::builder().channels(0).build(), BuildError::Channels(0), "0 channels"),
        (Shed::builder().channels(65_536).build(), BuildError::Channels(65_536), "65536 channels"),
    ];
    for (built, error, named) in cases {
        assert_eq!(built.expect_err(named), error);
        assert!(error.to_string().contains(named), "{error}");
    }
    for (tasks, dependencies, channels) in
        [(0, 1, 1), ((1 << 31) + 1, 1, 1), (1, (1 << 31) + 1, 1), (1, 1, 0), (1, 1, 65_536)]
    {
        assert_eq!(Shed::<u8>::required_size(tasks, dependencies, channels), None);
    }
    Shed::<u8>::builder().tasks(1).dependencies(0).channels(65_535).build().expect("the limits");
}

#[test]
#[cfg_attr(miri, ignore = "Miri ends where memory does")]
fn more_bytes_than_there_are_are_an_error() {
    type Huge = [u8; 1 << (usize::BITS / 2 + 8)];
    let error = Shed::<Huge>::builder().tasks(1 << 31).dependencies(7).build().unwrap_err();
    assert_eq!(error, BuildError::TooLarge { tasks: 1 << 31, dependencies: 7 });
    assert!(error.to_string().contains("2147483648 tasks with 7 dependencies"), "{error}");
    assert_eq!(Shed::<Huge>::required_size(1 << 31, 7, 1), None);
    // A pointer of 64 bits can address this, but no process has so much memory.
    type Large = [u8; 1 << 30];
    let error = Shed::<Large>::builder().tasks(1 << 31).dependencies(7).build().unwrap_err();
    if usize::BITS < 64 {
        assert_eq!(error, BuildError::TooLarge { tasks: 1 << 31, dependencies: 7 });
        return;
    }
    let BuildError::OutOfMemory { bytes } = error else { panic!("{error}") };
    assert_eq!(Some(bytes), Shed::<Large>::required_size(1 << 31, 7, 1));
    assert!(error.to_string().contains(&bytes.to_string()), "{error}");
}

#[test]
fn a_buffer_that_does_not_fit_is_refused() {
    const NEEDED: usize = Shed::<u64>::required_size(5, 5, 1).expect("small");
    const ALIGN: usize = Shed::<u64>::ALIGN;
    let mut room = vec![MaybeUninit::uninit(); NEEDED + 2 * ALIGN];
    let begin = room.as_ptr().align_offset(ALIGN);
    let room = &mut room[begin..];
    let builder = || Shed::<u64>::builder().tasks(5).dependencies(5);

    let error = builder().build_in(&mut room[..NEEDED - 1]).unwrap_err();
    assert_eq!(error, BuildError::BufferTooSmall { needed: NEEDED, given: NEEDED - 1 });
    assert!(error.to_string().contains(&format!("{} bytes, {NEEDED}", NEEDED - 1)), "{error}");

    for off in [1, 8, ALIGN / 2] {
        let misaligned = &mut room[off..];
        let address = misaligned.as_ptr().addr();
        let error = builder().build_in(misaligned).unwrap_err();
        assert_eq!(error, BuildError::BufferMisaligned { address, align: ALIGN });
        assert!(error.to_string().contains(&format!("{address:#x}")), "{error}");
    }
    let error = builder().build_in(&mut []).unwrap_err();
    assert!(matches!(
        error,
        BuildError::BufferTooSmall { given: 0, .. } | BuildError::BufferMisaligned { .. }
    ));

    let shed = builder().build_in(&mut room[..NEEDED]).expect("it fits exactly");
    assert_eq!(common::room(&shed), (5, 5));
}

fn named(error: Error, value: impl ToString) {
    assert!(error.to_string().contains(&value.to_string()), "{error}");
}

/// Tasks in states in which they cannot be changed, each with the error that names its state.
fn refused_names<L: Layout>(shed: &Shed<u64, L>) -> Vec<(TaskId, Error)> {
    let elsewhere = Shed::<u64>::builder().tasks(8).build().expect("small");
    let [foreign] = elsewhere.create([0]).expect("room");
    let [stale, again] = shed.create([0; 2]).expect("room");
    shed.free(&[stale, again]).expect("idle");
    let [ready, cancelled, open] = shed.create([0; 3]).expect("room");
    shed.depend(&[cancelled], &[open]).expect("idle");
    assert_eq!(shed.cancel(cancelled), Ok(true));
    shed.ready(&[ready]).expect("idle");
    let outside = TaskId::from_bits(u64::from(shed.capacity()));
    vec![
        (foreign, Error::StaleTask(foreign)),
        (stale, Error::StaleTask(stale)),
        (TaskId::NONE, Error::UnknownTask(TaskId::NONE)),
        (outside, Error::UnknownTask(outside)),
        (ready, Error::AlreadyReady(ready)),
        (cancelled, Error::Cancelled(cancelled)),
    ]
}

each_layout!(a_name_that_is_wrong_is_named_and_nothing_is_done_to_the_others);
fn a_name_that_is_wrong_is_named_and_nothing_is_done_to_the_others<L: Layout>() {
    let shed = Shed::builder().tasks(8).dependencies(6).channels(2).layout::<L>().build();
    let shed = shed.expect("small");
    let refused = refused_names(&shed);
    let [a, b, c] = shed.create([1, 2, 3]).expect("room");
    let all = [a, b, c];
    for (task, error) in refused.into_iter().step_by(if cfg!(miri) { 3 } else { 1 }) {
        assert_eq!(unchanged(&shed, &all, || shed.ready(&[a, b, task, c])), Err(error));
        assert_eq!(unchanged(&shed, &all, || shed.free(&[a, b, task, c])), Err(error));
        assert_eq!(unchanged(&shed, &all, || shed.set_channel(&[a, task, b], 1)), Err(error));
        assert_eq!(unchanged(&shed, &all, || shed.depend(&[a, task], &[b, c])), Err(error));
        assert_eq!(unchanged(&shed, &all, || shed.depend(&[a, b], &[c, task])), Err(error));
        named(error, task);
        match error {
            Error::AlreadyReady(_) => assert_eq!(shed.state(task), Ok(TaskState::Ready)),
            Error::Cancelled(_) => {
                assert_eq!(shed.state(task), Ok(TaskState::Cancelled));
                assert_eq!(unchanged(&shed, &all, || shed.cancel(task)), Err(error));
            }
            _ => {
                assert_eq!(shed.state(task), Err(error));
                assert_eq!(shed.channel(task), Err(error));
                assert_eq!(unchanged(&shed, &all, || shed.cancel(task)), Err(error));
            }
        }
    }
    shed.depend(&[c], &[a, b]).expect("still idle");
    shed.ready(&[a, b]).expect("still idle");
}

each_layout!(a_channel_out_of_range_is_named);
fn a_channel_out_of_range_is_named<L: Layout>() {
    let shed =
        Shed::builder().tasks(4).dependencies(8).channels(3).layout::<L>().build().expect("small");
    let tasks = shed.create([1u64, 2]).expect("room");
    for channel in [3, u16::MAX] {
        let error = Error::NoChannel { channel, channels: 3 };
        assert_eq!(unchanged(&shed, &tasks, || shed.set_channel(&tasks, channel)), Err(error));
        let never = |task, _: &mut u64| -> Outcome { panic!("{task}") };
        assert_eq!(unchanged(&shed, &tasks, || shed.execute_one(channel, never)), Err(error));
        assert_eq!(unchanged(&shed, &tasks, || shed.execute_batch(channel, 9, never)), Err(error));
        named(error, channel);
    }
    shed.set_channel(&tasks, 2).expect("below 3");
}

each_layout!(ready_twice_is_refused);
fn ready_twice_is_refused<L: Layout>() {
    let shed = Shed::builder().tasks(4).dependencies(8).layout::<L>().build().expect("small");
    let [a, b] = shed.create([1u64, 2]).expect("room");
    assert_eq!(unchanged(&shed, &[a, b], || shed.ready(&[a, b, a])), Err(Error::AlreadyReady(a)));
    shed.ready(&[a, b]).expect("idle");
    assert_eq!(unchanged(&shed, &[a, b], || shed.ready(&[a])), Err(Error::AlreadyReady(a)));
    assert_eq!(shed.execute_batch(0, 9, |_, _| Outcome::Complete), Ok(2));
}

each_layout!(open_dependencies_are_counted);
fn open_dependencies_are_counted<L: Layout>() {
    let shed = Shed::builder().tasks(6).dependencies(8).layout::<L>().build().expect("small");
    let all @ [a, b, c, d] = shed.create([1u64, 2, 3, 4]).expect("room");
    shed.depend(&[a], &[b, c, d]).expect("idle");
    let waiting = Error::Waiting { task: a, in_degree: 3 };
    assert_eq!(unchanged(&shed, &all, || shed.free(&[b, a])), Err(waiting));
    assert_eq!(unchanged(&shed, &all, || shed.ready(&[b, a])), Err(waiting));
    named(waiting, a);
    named(waiting, "3 others");
    // The task is freed twice in one call.
    assert_eq!(unchanged(&shed, &all, || shed.free(&[b, b])), Err(Error::StaleTask(b)));
    shed.free(&[b, c, d]).expect("they wait for nothing");
    shed.free(&[a]).expect("nor does this now");
    assert_eq!(room(&shed), (6, 8));
}

each_layout!(nothing_depends_on_itself);
fn nothing_depends_on_itself<L: Layout>() {
    let shed = Shed::builder().tasks(4).dependencies(8).layout::<L>().build().expect("small");
    let all @ [a, b] = shed.create([1u64, 2]).expect("room");
    let error = Error::SelfDependency(a);
    assert_eq!(unchanged(&shed, &all, || shed.depend(&[a], &[a])), Err(error));
    assert_eq!(unchanged(&shed, &all, || shed.depend(&[b, a], &[a])), Err(error));
    named(error, a);
}

each_layout!(a_full_shed_gives_all_back);
fn a_full_shed_gives_all_back<L: Layout>() {
    let shed = Shed::builder().tasks(5).dependencies(8).layout::<L>().build().expect("small");
    let there = shed.create([1u64, 2]).expect("room");
    let full = unchanged(&shed, &there, || shed.create([3, 4, 5, 6]).unwrap_err());
    assert_eq!((full.payloads, full.asked, full.capacity), ([3, 4, 5, 6], 4, 5));
    assert_eq!(full.to_string(), "no place for 4 more tasks, of 5 in all");
    let (mut payloads, mut ids) = (7.., [TaskId::NONE; 4]);
    let full = unchanged(&shed, &there, || shed.create_all(&mut payloads, &mut ids).unwrap_err());
    assert_eq!((full.asked, full.capacity), (4, 5));
    assert_eq!((payloads.start, ids), (7, [TaskId::NONE; 4]));
    assert_eq!(shed.create_some(&mut payloads, &mut ids), 3);
    assert_eq!((payloads.start, ids[3]), (10, TaskId::NONE));
    let mut ids = [TaskId::NONE; 4];
    assert_eq!(shed.create_some(&mut payloads, &mut ids), 0);
    assert_eq!((payloads.start, ids), (10, [TaskId::NONE; 4]));
    let [third, ..] = shed.create([]).map(|[]: [TaskId; 0]| there).expect("nothing asked for");
    shed.free(&[third]).expect("idle");
    shed.create([11]).expect("room again");
}

each_layout!(dependencies_run_out_in_the_middle);
fn dependencies_run_out_in_the_middle<L: Layout>() {
    let shed = Shed::builder().tasks(7).dependencies(5).layout::<L>().build().expect("small");
    let all @ [a, b, c, d, e] = shed.create([0u64; 5]).expect("room");
    shed.depend(&[a], &[b, c]).expect("room for five");
    for (successors, predecessors) in [(&[a, b][..], &[c, d][..]), (&[b, c, d][..], &[e, a][..])] {
        let asked = (successors.len() * predecessors.len()) as u64;
        let error = Error::NoDependencies { asked, capacity: 5 };
        // In the second case `a` waits for `b` and `c` already. Without checks the shed does not
        // look for such a cycle, so `e` stands in for `a`.
        let predecessors = if predecessors[1] == a { &[e, e][..] } else { predecessors };
        let found = unchanged(&shed, &all, || shed.depend(successors, predecessors));
        assert!(found == Err(error) || found == Err(Error::SelfDependency(c)), "{found:?}");
        named(error, asked);
    }
    shed.depend(&[b], &[c, d, e]).expect("just enough");
    let error = Error::NoDependencies { asked: 1, capacity: 5 };
    assert_eq!(unchanged(&shed, &all, || shed.depend(&[c], &[e])), Err(error));
    shed.ready(&[c, d, e]).expect("idle");
    let mut order = vec![];
    while let Ok(Some(task)) = shed.execute_one(0, |_, _| Outcome::Complete) {
        order.push(task);
    }
    assert_eq!(order[3..], [b, a]);
    assert_eq!(room(&shed), (7, 5));
}

each_layout!(a_task_cannot_change_itself_from_inside);
fn a_task_cannot_change_itself_from_inside<L: Layout>() {
    let shed = Shed::builder().tasks(5).dependencies(5).layout::<L>().build().expect("small");
    let all @ [task, other] = shed.create([1u64, 2]).expect("room");
    shed.ready(&[task]).expect("idle");
    let ran = shed.execute_one(0, |name, _| {
        assert_eq!(name, task);
        let error = Err(Error::Running(task));
        if cfg!(feature = "std") {
            // Without std the shed cannot tell which task calls.
            assert_eq!(unchanged(&shed, &all, || shed.ready(&[other, task])), error);
        }
        assert_eq!(unchanged(&shed, &all, || shed.free(&[other, task])), error);
        assert_eq!(unchanged(&shed, &all, || shed.depend(&[task], &[other])), error);
        assert_eq!(unchanged(&shed, &all, || shed.depend(&[other], &[task])), error);
        let itself = Err(Error::SelfDependency(task));
        assert_eq!(unchanged(&shed, &all, || shed.depend(&[task], &[task])), itself);
        named(Error::Running(task), task);
        Outcome::Blocked
    });
    assert_eq!(ran, Ok(Some(task)));
    let blocked = Err(Error::Blocked(task));
    assert_eq!(unchanged(&shed, &all, || shed.free(&[other, task])), blocked);
    assert_eq!(unchanged(&shed, &all, || shed.depend(&[task], &[other])), blocked);
    assert_eq!(unchanged(&shed, &all, || shed.depend(&[other], &[task])), blocked);
    shed.ready(&[task]).expect("blocked");
    assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete), Ok(Some(task)));
    shed.free(&[other]).expect("idle");
    assert_eq!(room(&shed), (5, 5));
}

each_layout!(a_refused_ready_does_not_wake_who_runs);
fn a_refused_ready_does_not_wake_who_runs<L: Layout>() {
    let shed = Shed::builder().tasks(2).dependencies(8).layout::<L>().build().expect("small");
    let [task] = shed.create([1u64]).expect("room");
    shed.ready(&[task]).expect("idle");
    let elsewhere = |tasks: &[TaskId]| {
        std::thread::scope(|s| s.spawn(|| shed.ready(tasks)).join().expect("no panic"))
    };
    let run = |tasks: &[TaskId], answer| {
        let ran = shed.execute_one(0, |_, _| {
            assert_eq!(elsewhere(tasks), answer);
            Outcome::Blocked
        });
        assert_eq!(ran, Ok(Some(task)));
    };
    run(&[task, TaskId::NONE], Err(Error::UnknownTask(TaskId::NONE)));
    assert_eq!(shed.state(task), Ok(TaskState::Blocked));
    shed.ready(&[task]).expect("blocked");
    run(&[task], Ok(()));
    assert_eq!(shed.state(task), Ok(TaskState::Ready));
}

/// A batch of zero executes no task. This holds on stripes too, where a thread takes more from
/// others than it wants.
#[test]
fn a_batch_of_none_executes_none() {
    fn check<L: Layout + 'static>() {
        for fifo in [false, true] {
            const TASKS: i32 = if cfg!(miri) { 20 } else { 64 };
            let builder = Shed::builder().tasks(TASKS as u64).layout::<L>();
            let shed = if fifo { builder.fifo_all() } else { builder };
            let shed = shed.build().expect("small");
            let mut ids = [TaskId::NONE; TASKS as usize];
            shed.create_all(&mut (0..TASKS), &mut ids).expect("room");
            std::thread::scope(|s| {
                // The other thread uses another stripe.
                s.spawn(|| shed.ready(&ids).expect("idle")).join().expect("no panic");
            });
            let ran = shed.execute_batch(0, 0, |_, _| unreachable!("none is wanted"));
            assert_eq!(ran, Ok(0));
            let mut sum = 0;
            for most in [1, u32::MAX / 2 + 1, u32::MAX] {
                let run = |_, n: &mut i32| {
                    sum += *n;
                    Outcome::Complete
                };
                shed.execute_batch(0, most, run).expect("there is such a channel");
            }
            while shed.execute_one(0, |_, n| {
                sum += *n;
                Outcome::Complete
            }) != Ok(None)
            {}
            assert_eq!(sum, (TASKS - 1) * TASKS / 2);
        }
    }
    check::<sateen_shed::Packed>();
    check::<sateen_shed::Padded>();
    check::<sateen_shed::Central>();
    check::<sateen_shed::Sharded>();
    check::<sateen_shed::Sharded<2>>();
    check::<sateen_shed::Growing>();
}

/// An operation on no tasks does nothing.
#[test]
fn nothing_is_done_to_no_tasks() {
    let shed = Shed::<u8>::builder().tasks(1).dependencies(1).build().expect("small");
    let [task] = shed.create([1]).expect("room");
    assert_eq!(shed.create([]), Ok([]));
    assert_eq!(shed.create_all(&mut [1].into_iter(), &mut []), Ok(0));
    assert_eq!(shed.create_some(&mut [1].into_iter(), &mut []), 0);
    assert_eq!(shed.depend(&[], &[task]), Ok(()));
    assert_eq!(shed.depend(&[task], &[]), Ok(()));
    assert_eq!(shed.ready(&[]), Ok(()));
    assert_eq!(shed.free(&[]), Ok(()));
    assert_eq!(shed.set_tag(&[], 7), Ok(()));
    for channel in [1, u16::MAX / 2 + 1, u16::MAX] {
        assert_eq!(shed.set_channel(&[], channel), shed.has_ready(channel).map(drop));
        assert!(shed.execute_batch(channel, 0, |_, _| Outcome::Complete).is_err());
    }
    for bits in [0, 1, u64::MAX / 2 + 1, u64::MAX - 1, u64::MAX] {
        let forged = TaskId::from_bits(bits);
        if forged != task {
            assert!(shed.state(forged).is_err() && shed.cancel(forged).is_err());
            assert!(shed.ready(&[forged]).is_err() && shed.free(&[forged]).is_err());
            assert!(shed.depend(&[task], &[forged]).is_err() && shed.tag(forged).is_err());
        }
    }
}
