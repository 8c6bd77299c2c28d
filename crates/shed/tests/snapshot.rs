//! Copies of sheds that are at rest.

use sateen_shed::{BuildError, Error, Outcome, Padded, Sharded, Shed, TaskId, TaskState, Template};
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Executes all tasks, blocked ones a second time. Returns which ran, in order, on which channel.
fn to_the_end<T: Clone, L: sateen_shed::Layout>(shed: &Shed<T, L>) -> Vec<(u16, T, TaskId)> {
    let mut ran = vec![];
    loop {
        let before = ran.len();
        for channel in 0..shed.channels() {
            let step = |ran: &mut Vec<_>| {
                shed.execute_one(channel, |id, payload| {
                    ran.push((channel, payload.clone(), id));
                    Outcome::Complete
                })
            };
            while step(&mut ran).expect("a channel").is_some() {}
        }
        if ran.len() == before {
            return ran;
        }
    }
}

/// A shed with tasks of every kind: idle, waiting, ready, blocked, cancelled in a list, and
/// cancelled while waiting. It also has freed slots.
fn busy() -> (Shed<String>, [TaskId; 8]) {
    let shed = Shed::builder().tasks(40).dependencies(40).channels(3).build().expect("small");
    let name = |i: usize| i.to_string();
    let early = shed.create([(); 7].map(|()| String::from("early"))).expect("room");
    let tasks: [TaskId; 8] = shed.create(std::array::from_fn(name)).expect("room");
    shed.depend(&early[..2], &early[2..5]).expect("idle");
    shed.free(&early[2..]).expect("idle");
    shed.free(&early[..2]).expect("waits no more");
    let [idle, waiting, ready, blocked, cancelled, after, both, end] = tasks;
    shed.set_channel(&[waiting, cancelled], 1).expect("idle");
    shed.set_channel(&[end], 2).expect("idle");
    shed.depend(&[waiting], &[ready]).expect("idle");
    shed.depend(&[after], &[cancelled]).expect("idle");
    shed.depend(&[both], &[ready, blocked]).expect("idle");
    shed.depend(&[end], &[both, waiting]).expect("idle");
    shed.ready(&[blocked]).expect("idle");
    shed.execute_one(0, |_, _| Outcome::Blocked).expect("a channel").expect("ready");
    shed.ready(&[ready, cancelled]).expect("idle");
    assert_eq!(shed.cancel(cancelled), Ok(true));
    assert_eq!(shed.state(idle), Ok(TaskState::Idle));
    (shed, tasks)
}

#[test]
fn a_copy_runs_to_the_same_end_and_neither_disturbs_the_other() {
    let (mut shed, tasks) = busy();
    let snapshot = shed.snapshot();
    let copy = snapshot.to_shed().expect("memory");
    drop(snapshot);
    let expected: Vec<_> = tasks.iter().map(|&task| shed.state(task)).collect();
    let finish = |shed: &Shed<String>| {
        let states: Vec<_> = tasks.iter().map(|&task| shed.state(task)).collect();
        assert_eq!(states, expected);
        shed.ready(&[tasks[0], tasks[3]]).expect("idle, and blocked");
        let ran = to_the_end(shed);
        assert!(tasks.iter().all(|&task| shed.state(task) == Err(Error::StaleTask(task))));
        shed.create([(); 40].map(|()| String::new())).expect("all slots are free");
        ran
    };
    let ran = finish(&copy);
    assert_eq!(ran.last().map(|(channel, name, _)| (*channel, &name[..])), Some((2, "7")));
    assert_eq!(ran.len(), 6);
    assert_eq!(finish(&shed), ran);
}

#[test]
fn a_shed_is_taken_back_again_and_again() {
    let (mut shed, tasks) = busy();
    let snapshot = shed.snapshot();
    let mut runs = vec![];
    for _ in 0..3 {
        shed.ready(&[tasks[3]]).expect("blocked");
        runs.push(to_the_end(&shed));
        // After a restore, later tasks never existed, even those in slots that were never taken
        // before.
        let later = shed.create([(); 30].map(|()| String::from("later"))).expect("room");
        shed.depend(&later[..1], &later[1..5]).expect("idle");
        shed.ready(&later[10..]).expect("idle");
        shed.restore(&snapshot).expect("the same sizes");
        assert!(later.iter().all(|&task| tasks.contains(&task) || shed.state(task).is_err()));
    }
    assert!(runs.iter().all(|run| *run == runs[0] && run.len() == 5));
    let rest = shed.create([(); 32].map(|()| String::new())).expect("room");
    assert!(shed.create([String::new()]).is_err());
    shed.depend(&rest[..1], &rest[1..]).expect("as many as there were");
}

#[test]
fn a_shed_of_other_sizes_is_refused_and_stays_as_it_is() {
    let (mut shed, tasks) = busy();
    let snapshot = shed.snapshot();
    for (tasks, dependencies, channels) in [(41, 40, 3), (40, 39, 3), (40, 40, 2)] {
        let builder = Shed::builder().tasks(tasks).dependencies(dependencies);
        let mut other = builder.channels(channels).build().expect("small");
        let [task] = other.create([String::new()]).expect("room");
        let refused = other.restore(&snapshot).expect_err("other sizes");
        assert_eq!(refused.snapshot, (40, 40, 3));
        assert_eq!(refused.shed, (tasks as u32, dependencies as u32, channels as u16));
        assert_eq!(other.state(task), Ok(TaskState::Idle));
    }
    let builder = Shed::builder().tasks(40).dependencies(40).channels(3);
    let mut other = builder.build().expect("small");
    other.restore(&snapshot).expect("the same sizes");
    assert_eq!(other.state(tasks[3]), Ok(TaskState::Blocked));
}

#[test]
fn payloads_are_cloned_and_dropped_once_and_a_panic_changes_nothing() {
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    static FUSE: AtomicUsize = AtomicUsize::new(usize::MAX);
    struct Counted;
    impl Counted {
        fn new() -> Self {
            LIVE.fetch_add(1, Ordering::Relaxed);
            Self
        }
    }
    impl Clone for Counted {
        fn clone(&self) -> Self {
            assert!(FUSE.fetch_sub(1, Ordering::Relaxed) > 0, "on purpose");
            Self::new()
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            LIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let live = || LIVE.load(Ordering::Relaxed);
    let panics = |run: &mut dyn FnMut()| {
        FUSE.store(2, Ordering::Relaxed);
        let before = live();
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        FUSE.store(usize::MAX, Ordering::Relaxed);
        assert_eq!(live(), before);
    };
    let mut shed = Shed::builder().tasks(10).build().expect("small");
    let tasks = shed.create([(); 4].map(|()| Counted::new())).expect("room");
    shed.ready(&tasks[1..]).expect("idle");
    shed.cancel(tasks[1]).expect("ready");
    assert_eq!(live(), 3);
    panics(&mut || drop(shed.snapshot()));
    let snapshot = shed.snapshot();
    assert_eq!(live(), 6);
    panics(&mut || drop(snapshot.to_shed()));
    shed.execute_one(0, |_, _| Outcome::Complete).expect("a channel").expect("ready");
    shed.create([Counted::new()]).expect("room");
    panics(&mut || shed.restore(&snapshot).expect("the same sizes"));
    assert_eq!(live(), 6);
    shed.restore(&snapshot).expect("the same sizes");
    let copy = snapshot.to_shed().expect("memory");
    assert_eq!(live(), 9);
    drop((shed, snapshot));
    assert_eq!(live(), 3);
    assert_eq!(copy.execute_batch(0, 10, |_, _| Outcome::Complete), Ok(2));
    drop(copy);
    assert_eq!(live(), 0);
}

#[test]
fn copies_have_the_builders_callbacks_and_may_lie_in_a_buffer() {
    let mut shed =
        Shed::builder().tasks(5).dependencies(5).layout::<Padded>().build().expect("small");
    let [b, a] = shed.create(["b", "a"]).expect("room");
    shed.depend(&[b], &[a]).expect("idle");
    shed.ready(&[a]).expect("idle");
    let snapshot = shed.snapshot();
    let told = Arc::new(AtomicUsize::new(0));
    let tell = Arc::clone(&told);
    let builder = Shed::builder()
        .layout()
        .on_ready(move |_, n| _ = tell.fetch_add(n as usize, Ordering::Relaxed));
    let copy = snapshot.to_shed_with(builder).expect("memory");
    assert_eq!(told.load(Ordering::Relaxed), 0);
    assert_eq!(to_the_end(&copy).len(), 2);
    assert_eq!(told.load(Ordering::Relaxed), 1);

    #[repr(align(128))]
    struct Room([MaybeUninit<u8>; Shed::<&str, Padded>::required_size(5, 5, 1).expect("small")]);
    let mut room = Room([MaybeUninit::uninit(); _]);
    let builder = || Shed::builder().layout();
    let short = snapshot.to_shed_in(builder(), &mut room.0[..512]);
    assert!(matches!(short, Err(BuildError::BufferTooSmall { given: 512, .. })));
    drop(short);
    let mut copy = snapshot.to_shed_in(builder(), &mut room.0).expect("fits");
    assert_eq!(to_the_end(&copy).len(), 2);
    copy.restore(&snapshot).expect("the same sizes");
    let again = copy.snapshot().to_shed().expect("memory");
    assert_eq!(to_the_end(&again).len(), 2);
}

#[test]
fn all_stripes_of_a_sharded_shed_are_copied() {
    let builder = Shed::builder().tasks(100).layout::<Sharded<4>>();
    let mut shed = builder.build().expect("small");
    std::thread::scope(|s| {
        for i in 0..4 {
            let shed = &shed;
            s.spawn(move || shed.ready(&shed.create([i; 10]).expect("room")).expect("idle"));
        }
    });
    let copy = shed.snapshot().to_shed().expect("memory");
    assert_eq!(to_the_end(&copy).len(), 40);
    assert_eq!(to_the_end(&shed).len(), 40);
}

#[test]
fn a_run_of_an_instance_that_was_dropped_ends_in_each_copy() {
    let ended = Arc::new(AtomicUsize::new(0));
    let tell = Arc::clone(&ended);
    let mut template = Template::new();
    let [a, b] = [Arc::clone(&ended), Arc::clone(&ended)].map(|payload| template.task(payload));
    template.depend(&[b], &[a]).expect("known");
    template.on_done(move || _ = tell.fetch_add(1, Ordering::Relaxed));
    let mut shed = Shed::builder().tasks(3).dependencies(2).build().expect("small");
    let instance = template.install(&shed).expect("room");
    instance.start().expect("done");
    drop(instance);
    let snapshot = shed.snapshot();
    let copies = [(); 2].map(|()| snapshot.to_shed().expect("memory"));
    assert_eq!(Arc::strong_count(&ended), 2 + 2 * 4);
    for (i, shed) in copies.iter().chain([&shed]).enumerate() {
        assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete), Ok(None));
        assert_eq!(ended.load(Ordering::Relaxed), i + 1);
        shed.create([(); 3].map(|()| Arc::clone(&ended))).expect("all slots are free");
    }
    shed.restore(&snapshot).expect("the same sizes");
    drop((copies, snapshot, shed));
    assert_eq!(Arc::strong_count(&ended), 1);
}

#[test]
fn copies_keep_orders_and_counts() {
    let builder = Shed::builder().channels(3).fifo(1).progress(true);
    let mut shed = builder.build().expect("small");
    for i in 0..30 {
        let task = shed.create([i]).expect("room");
        shed.set_channel(&task, i % 3).expect("idle");
        shed.ready(&task).expect("idle");
    }
    // Some of the oldest tasks have left the inbox.
    assert_eq!(shed.execute_one(1, |_, _| Outcome::Complete).map(|ran| ran.is_some()), Ok(true));
    shed.ready(&shed.create([100]).expect("room")).expect("idle");
    let snapshot = shed.snapshot();
    let copy = snapshot.to_shed().expect("memory");
    let ran = to_the_end(&shed);
    assert_eq!(to_the_end(&copy), ran);
    shed.restore(&snapshot).expect("the same");
    assert_eq!(to_the_end(&shed), ran);
    for channel in 0..3 {
        let progress = |shed: &Shed<u16>| shed.progress(channel).expect("a channel");
        assert_eq!(progress(&shed), progress(&copy));
        assert_eq!(progress(&shed).expect("counted").completed, if channel == 0 { 11 } else { 10 });
    }
    let ones = ran.iter().filter(|(channel, ..)| *channel == 1).map(|(_, i, _)| *i);
    assert!(ones.eq((0..30).filter(|i| i % 3 == 1).skip(1)));
}
