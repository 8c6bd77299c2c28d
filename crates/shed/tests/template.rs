//! Templates: recorded once, run many times.

use sateen_shed::{
    Error, Instance, Node, Outcome, Shed, StillRunning, TaskId, TaskState, Template, TemplateError,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

fn shed<T>(tasks: u64, dependencies: u64) -> Shed<T> {
    Shed::builder().tasks(tasks).dependencies(dependencies).channels(2).build().expect("small")
}

fn run_all<T: Clone>(shed: &Shed<T>) -> Vec<T> {
    let mut ran = vec![];
    for channel in [0, 1, 0, 1] {
        let step = |ran: &mut Vec<T>| {
            shed.execute_one(channel, |_, payload| {
                ran.push(payload.clone());
                Outcome::Complete
            })
        };
        while step(&mut ran).expect("a channel").is_some() {}
    }
    ran
}

/// Checks that all slots and dependencies are free again.
fn assert_empty<T: Default + Clone>(shed: &Shed<T>, dependencies: usize) {
    let tasks = shed.capacity() as usize;
    let mut ids = vec![TaskId::NONE; tasks];
    let all = shed.create_all(&mut std::iter::repeat(T::default()), &mut ids);
    assert_eq!(all.expect("all slots are free"), tasks);
    // Adds dependencies between the same two tasks until none is left.
    for _ in 0..dependencies {
        shed.depend(&ids[..1], &ids[1..2]).expect("all dependencies are free");
    }
    assert!(matches!(shed.depend(&ids[..1], &ids[1..2]), Err(Error::NoDependencies { .. })));
    assert_eq!(shed.free(&ids[..1]).is_err(), dependencies > 0);
    shed.free(&ids[1..]).expect("idle");
    if dependencies > 0 {
        shed.free(&ids[..1]).expect("idle");
    }
}

/// `a` before `b` and `c`, these before `d`.
fn diamond(template: &mut Template<&'static str>) -> [Node; 4] {
    let nodes @ [a, b, c, d] = ["a", "b", "c", "d"].map(|name| template.task(name));
    template.depend(&[b, c], &[a]).expect("known");
    template.depend(&[d], &[b, c]).expect("known");
    nodes
}

#[test]
fn a_diamond_runs_again_and_again_in_order() {
    let shed = shed(5, 5);
    let mut template = Template::new();
    let [_, b, _, d] = diamond(&mut template);
    template.set_channel(b, 1).expect("known");
    let instance = template.install(&shed).expect("room");
    assert!(instance.is_done(), "before the first run");
    for _ in 0..if cfg!(miri) { 10 } else { 100 } {
        instance.start().expect("done");
        assert_eq!(instance.start(), Err(StillRunning));
        assert_eq!(shed.state(instance.task(d).expect("known")), Ok(TaskState::Waiting(2)));
        let ran = run_all(&shed);
        assert_eq!((ran[0], ran[3], ran.len()), ("a", "d", 4));
        assert!(instance.is_done() && !instance.is_cancelled());
        assert_eq!(shed.state(instance.task(d).expect("known")), Ok(TaskState::Done));
    }
    drop(instance);
    assert_empty(&shed, 5);
}

#[test]
fn roots_become_ready_in_one_push_a_channel() {
    let pushes = Arc::new(Mutex::new(vec![]));
    let tell = Arc::clone(&pushes);
    let shed = Shed::builder()
        .channels(3)
        .on_ready(move |channel, count| tell.lock().expect("no panic").push((channel, count)))
        .build()
        .expect("small");
    let mut template = Template::new();
    for i in 0..30 {
        let task = template.task(i);
        template.set_channel(task, i % 3).expect("known");
    }
    let instance = template.install(&shed).expect("room");
    for _ in 0..2 {
        instance.start().expect("done");
        assert_eq!(*pushes.lock().expect("no panic"), [(0, 10), (1, 10), (2, 10)]);
        pushes.lock().expect("no panic").clear();
        for channel in 0..3 {
            let ran = shed.execute_batch(channel, 100, |_, of| {
                assert_eq!(*of % 3, channel);
                Outcome::Complete
            });
            assert_eq!(ran, Ok(10));
        }
    }
    // A channel set in a run holds for that run.
    instance.start().expect("done");
    let moved = shed.execute_one(0, |name, _| {
        shed.set_channel(&[name], 2).expect("running");
        Outcome::Blocked
    });
    let moved = moved.expect("a channel").expect("one is ready");
    shed.ready(&[moved]).expect("blocked");
    for (channel, count) in [(0, 9), (1, 10), (2, 11)] {
        assert_eq!(shed.execute_batch(channel, 100, |_, _| Outcome::Complete), Ok(count));
    }
    instance.start().expect("done");
    assert_eq!(shed.execute_batch(0, 100, |_, _| Outcome::Complete), Ok(10));
}

#[test]
fn misuse_is_an_error_that_names_it_and_nothing_is_lost() {
    let (small, large) = (shed(4, 5), shed(5, 4));
    let mut template = Template::new();
    let [a, b, c, d] = diamond(&mut template);
    let mut other = Template::new();
    let foreign = other.task("other");
    assert_eq!(template.set_channel(foreign, 0), Err(TemplateError::UnknownNode(foreign)));
    assert_eq!(template.depend(&[a], &[foreign]), Err(TemplateError::UnknownNode(foreign)));
    assert_eq!(template.depend(&[foreign], &[a]), Err(TemplateError::UnknownNode(foreign)));
    assert_eq!(template.depend(&[a, b], &[c, b]), Err(TemplateError::SelfDependency(b)));

    let refused = template.install(&small).expect_err("no slot for the milestone");
    assert_eq!(refused.error, TemplateError::Full { asked: 5, capacity: 4 });
    assert_empty(&small, 5);
    let refused = refused.template.install(&large).expect_err("too few dependencies");
    assert_eq!(refused.error, TemplateError::NoDependencies { asked: 5, capacity: 4 });
    assert_empty(&large, 4);

    let shed = shed(10, 10);
    let mut template = refused.template;
    template.set_channel(c, 2).expect("known");
    let refused = template.install(&shed).expect_err("two channels");
    assert_eq!(refused.error, TemplateError::NoChannel { channel: 2, channels: 2 });
    template = refused.template;
    template.set_channel(c, 1).expect("known");
    let mut cyclic = template.clone();
    cyclic.depend(&[b], &[d]).expect("each for itself is fine");
    let refused = cyclic.install(&shed).expect_err("a cycle of two");
    let TemplateError::Cycle(mut cycle) = refused.error else { panic!("{:?}", refused.error) };
    cycle.sort();
    assert_eq!(cycle, [b, d]);
    assert_empty(&shed, 10);

    let mut instance = template.install(&shed).expect("room");
    assert_eq!(instance.task(foreign), Err(TemplateError::UnknownNode(foreign)));
    let [plain] = shed.create(["plain"]).expect("room");
    let tasks = [a, b, c, d].map(|node| instance.task(node).expect("known"));
    for done in [true, false] {
        for task in tasks {
            assert_eq!(shed.depend(&[plain], &[task]), Err(Error::Kept(task)));
            let why = shed.depend(&[task], &[plain]).expect_err("kept, or ready");
            assert!([Error::Kept(task), Error::AlreadyReady(task)].contains(&why));
            assert!(shed.free(&[task]).is_err() && shed.ready(&[task]).is_err());
            if done {
                assert_eq!(shed.cancel(task), Err(Error::Kept(task)));
                assert_eq!(shed.set_channel(&[task], 0), Err(Error::Kept(task)));
                instance.start().expect("done");
                assert_eq!(instance.payload_mut(a), Err(TemplateError::StillRunning));
                assert_eq!(run_all(&shed).len(), 4);
            }
        }
        if done {
            instance.start().expect("done");
        }
    }
    assert_eq!(run_all(&shed).len(), 4);
    shed.free(&[plain]).expect("idle");
    drop(instance);
    assert_eq!(shed.state(tasks[0]), Err(Error::StaleTask(tasks[0])));
    assert_empty(&shed, 10);
}

#[test]
fn a_cancelled_task_takes_what_depends_on_it_along_in_this_run_only() {
    let cancelled = Arc::new(Mutex::new(vec![]));
    let tell = Arc::clone(&cancelled);
    let shed = Shed::builder()
        .channels(2)
        .on_cancel(move |_, name: &mut &str| tell.lock().expect("no panic").push(*name))
        .build()
        .expect("small");
    let mut template = Template::new();
    let nodes = diamond(&mut template);
    let instance = template.install(&shed).expect("room");
    let [a, b, ..] = nodes.map(|node| instance.task(node).expect("known"));
    let cancelled = || std::mem::take(&mut *cancelled.lock().expect("no panic"));
    for _ in 0..3 {
        instance.start().expect("done");
        assert_eq!(shed.cancel(b), Ok(true));
        assert_eq!(run_all(&shed), ["a", "c"]);
        assert_eq!(cancelled(), ["b", "d"]);
        assert!(instance.is_cancelled());

        instance.start().expect("done");
        assert_eq!(shed.cancel(a), Ok(true));
        assert!(!instance.is_done(), "it still lies in a list");
        assert_eq!(run_all(&shed), [""; 0]);
        assert_eq!(cancelled().len(), 4);

        // The task is cancelled while it runs, and again after it has blocked.
        instance.start().expect("done");
        let step = |outcome| {
            shed.execute_one(0, |name, _| {
                assert_eq!((name, shed.cancel(name)), (a, Ok(false)));
                outcome
            })
        };
        step(Outcome::Blocked).expect("a channel");
        shed.ready(&[a]).expect("blocked");
        shed.execute_one(0, |_, _| Outcome::Blocked).expect("a channel");
        shed.ready(&[a]).expect("blocked");
        shed.execute_one(0, |_, _| Outcome::Complete).expect("a channel");
        assert!(instance.is_cancelled());
        assert_eq!(cancelled().len(), 3);

        // A panic.
        instance.start().expect("done");
        let caught =
            catch_unwind(AssertUnwindSafe(|| shed.execute_one(0, |_, _| panic!("on purpose"))));
        assert!(caught.is_err() && instance.is_cancelled());
        assert_eq!(cancelled().len(), 4);

        instance.start().expect("done");
        assert_eq!(run_all(&shed).len(), 4);
        assert!(instance.is_done() && !instance.is_cancelled());
        assert_eq!(cancelled(), [""; 0]);
    }
}

#[test]
fn clones_of_a_template_run_at_once() {
    let shed = shed(15, 15);
    let mut template = Template::new();
    let [a, ..] = diamond(&mut template);
    let instances = [(); 3].map(|()| template.clone().install(&shed).expect("room"));
    for _ in 0..10 {
        instances.iter().for_each(|instance| instance.start().expect("done"));
        let ids: Vec<_> = instances.iter().map(|i| i.task(a).expect("known")).collect();
        assert!(ids[0] != ids[1] && ids[1] != ids[2]);
        assert_eq!(shed.cancel(ids[1]), Ok(true));
        assert_eq!(run_all(&shed).len(), 8);
        assert!(instances.iter().all(Instance::is_done));
        assert_eq!([0, 1, 2].map(|i| instances[i].is_cancelled()), [false, true, false]);
    }
    drop(instances);
    assert_empty(&shed, 15);
}

#[test]
fn payloads_are_kept_from_run_to_run_and_dropped_once() {
    let count = Arc::new(());
    let shed = shed(3, 2);
    let mut template = Template::new();
    let first = template.task((Arc::clone(&count), 1));
    let second = template.task((Arc::clone(&count), 10));
    template.depend(&[second], &[first]).expect("known");
    let mut instance = template.install(&shed).expect("room");
    for run in 1..=5 {
        instance.start().expect("done");
        let step = || {
            shed.execute_one(0, |_, (_, n)| {
                *n *= 2;
                Outcome::Complete
            })
        };
        while step().expect("a channel").is_some() {}
        assert_eq!(instance.payload_mut(second).expect("done").1, 10 << run);
    }
    instance.payload_mut(first).expect("done").1 = 0;
    assert_eq!(Arc::strong_count(&count), 3);
    drop(instance);
    assert_eq!(Arc::strong_count(&count), 1);
}

#[test]
fn dropping_an_instance_in_a_run_cancels_it_and_its_slots_return_when_that_ends() {
    let (count, ended) = (Arc::new(()), Arc::new(AtomicUsize::new(0)));
    let shed = shed::<Option<Arc<()>>>(4, 3);
    let step = |outcome| shed.execute_one(0, |_, _| outcome).expect("a channel");
    for (round, case) in ["ready", "running", "waiting", "blocked"].into_iter().enumerate() {
        let mut template = Template::new();
        let tasks = [(); 3].map(|()| template.task(Some(Arc::clone(&count))));
        template.depend(&tasks[1..2], &tasks[..1]).expect("known");
        template.depend(&tasks[2..], &tasks[1..2]).expect("known");
        let tell = Arc::clone(&ended);
        template.on_done(move || _ = tell.fetch_add(1, Ordering::Relaxed));
        let instance = template.install(&shed).expect("room");
        instance.start().expect("done");
        match case {
            "ready" => {
                drop(instance);
                assert_eq!(Arc::strong_count(&count), 4, "it lies in a list");
                assert_eq!(step(Outcome::Complete), None);
            }
            "running" => {
                let mut instance = Some(instance);
                let ran = shed.execute_one(0, |_, payload| {
                    instance.take();
                    assert!(payload.is_some());
                    Outcome::Complete
                });
                assert!(ran.expect("a channel").is_some());
            }
            "waiting" => {
                step(Outcome::Complete).expect("the first");
                let third = instance.task(tasks[2]).expect("known");
                assert_eq!(shed.cancel(third), Ok(true));
                drop(instance);
                assert_eq!(step(Outcome::Complete), None);
            }
            _ => {
                step(Outcome::Blocked).expect("the first");
                drop(instance);
            }
        }
        assert_eq!(Arc::strong_count(&count), 1);
        assert_eq!(ended.load(Ordering::Relaxed), round + 1);
        assert_empty(&shed, 3);
    }
}

#[test]
fn a_shed_drops_what_instances_left_in_it() {
    for case in ["not started", "started", "cancelled", "dropped"] {
        let count = Arc::new(());
        let mut template = Template::new();
        let tasks = [(); 3].map(|()| template.task(Arc::clone(&count)));
        template.depend(&tasks[1..], &tasks[..1]).expect("known");
        let shed = shed(100, 100);
        let instance = template.install(&shed).expect("room");
        if case != "not started" {
            instance.start().expect("done");
        }
        if case == "cancelled" {
            shed.cancel(instance.task(tasks[2]).expect("known")).expect("waits");
        }
        match case {
            "dropped" => drop(instance),
            _ => std::mem::forget(instance),
        }
        assert_eq!(Arc::strong_count(&count), 4);
        drop(shed);
        assert_eq!(Arc::strong_count(&count), 1);
    }
}

#[test]
fn a_payload_that_panics_when_it_is_dropped_keeps_no_slot() {
    #[derive(Clone, Default)]
    struct Loud(bool);
    impl Drop for Loud {
        fn drop(&mut self) {
            assert!(!self.0, "on purpose");
        }
    }
    let shed = shed(4, 3);
    let mut template = Template::new();
    for loud in [false, true, false] {
        template.task(Loud(loud));
    }
    let instance = template.install(&shed).expect("room");
    assert!(catch_unwind(AssertUnwindSafe(|| drop(instance))).is_err());
    assert_empty(&shed, 3);
}

#[test]
fn an_empty_template_ends_at_once() {
    let ended = Arc::new(AtomicUsize::new(0));
    let tell = Arc::clone(&ended);
    let mut template = Template::<()>::new();
    template.on_done(move || _ = tell.fetch_add(1, Ordering::Relaxed));
    let shed = shed(2, 0);
    let instance = template.install(&shed).expect("room");
    for run in 1..4 {
        instance.start().expect("done");
        assert!(instance.is_done());
        assert_eq!(ended.load(Ordering::Relaxed), run);
    }
    drop(instance);
    assert_empty(&shed, 0);
}

#[test]
fn an_instance_may_own_its_shed_and_travel() {
    fn travels<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    let shed = Arc::new(shed(5, 5));
    let mut template = Template::new();
    diamond(&mut template);
    let instance = travels(template.install(Arc::clone(&shed)).expect("room"));
    drop(shed);
    let ran = thread::spawn(move || {
        instance.start().expect("done");
        run_all(instance.shed()).len()
    });
    assert_eq!(ran.join().expect("no panic"), 4);
}

/// Layers of tasks, each of which depends on some tasks of the layer before. Each run counts every
/// task once, after its predecessors.
#[test]
fn threads_run_frames_and_each_task_runs_once_a_frame_after_what_it_depends_on() {
    const LAYERS: usize = if cfg!(miri) { 3 } else { 6 };
    const WIDTH: usize = if cfg!(miri) { 4 } else { 8 };
    let frames = match () {
        () if cfg!(miri) => 3,
        () if cfg!(debug_assertions) => 300,
        () => 3_000,
    };
    struct Task {
        runs: Arc<Vec<AtomicUsize>>,
        me: usize,
        below: Vec<usize>,
    }
    let runs: Arc<Vec<_>> = Arc::new((0..LAYERS * WIDTH).map(|_| AtomicUsize::new(0)).collect());
    let mut template = Template::new();
    let mut random = 1_u64;
    let mut layers: Vec<Vec<Node>> = vec![];
    for layer in 0..LAYERS {
        let mut nodes = vec![];
        for i in 0..WIDTH {
            let mut below = vec![];
            for j in 0..WIDTH {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if layer > 0 && random >> 62 == 0 {
                    below.push((layer - 1) * WIDTH + j);
                }
            }
            let predecessors: Vec<Node> =
                below.iter().map(|&b| layers[layer - 1][b % WIDTH]).collect();
            let task = Task { runs: Arc::clone(&runs), me: layer * WIDTH + i, below };
            let node = template.task(task);
            template.set_channel(node, (i % 2) as u16).expect("known");
            template.depend(&[node], &predecessors).expect("known");
            nodes.push(node);
        }
        layers.push(nodes);
    }
    let shed = shed(100, 1_000);
    let instance = template.install(&shed).expect("room");
    let stop = AtomicBool::new(false);
    thread::scope(|s| {
        for i in 0..3 {
            let (shed, stop) = (&shed, &stop);
            s.spawn(move || {
                let mut turn = i;
                while !stop.load(Ordering::Relaxed) {
                    turn += 1;
                    let ran = shed.execute_batch(turn % 2, 3, |_, task| {
                        let run = task.runs[task.me].load(Ordering::Relaxed);
                        for &below in &task.below {
                            assert_eq!(task.runs[below].load(Ordering::Relaxed), run + 1);
                        }
                        task.runs[task.me].store(run + 1, Ordering::Relaxed);
                        Outcome::Complete
                    });
                    if ran == Ok(0) {
                        thread::yield_now();
                    }
                }
            });
        }
        for frame in 1..=frames {
            instance.start().expect("done");
            while !instance.is_done() {
                thread::yield_now();
            }
            assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == frame));
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn tags_hold_in_each_run() {
    let shed = shed(5, 5);
    let mut template = Template::new();
    let [_, b, c, _] = diamond(&mut template);
    template.set_tag(b, 7).expect("known");
    template.set_tag(c, 7).expect("known");
    let instance = template.install(&shed).expect("room");
    for _ in 0..3 {
        assert_eq!(shed.count_tag(7), 0);
        instance.start().expect("done");
        assert_eq!(shed.count_tag(7), 2);
        assert_eq!(shed.cancel_tag(7), 2);
        assert_eq!(run_all(&shed), ["a"]);
        assert!(instance.is_cancelled());
    }
}

/// No user gets the milestone's name, but a user can guess it.
#[test]
fn a_name_that_nobody_gave_does_no_harm() {
    let shed = shed::<String>(4, 5);
    let mut template = Template::new();
    let node = template.task(String::from("only"));
    let instance = template.install(&shed).expect("room");
    let guessed = TaskId::from_bits(instance.task(node).expect("known").to_bits() + 1);
    let [plain, _] = shed.create([(); 2].map(|()| String::from("plain"))).expect("room");
    for cancelled in [false, true] {
        for running in [false, true] {
            if running {
                instance.start().expect("done");
            }
            assert!(shed.ready(&[guessed]).is_err() && shed.free(&[guessed]).is_err());
            assert!(shed.depend(&[guessed], &[plain]).is_err());
            assert!(shed.depend(&[plain], &[guessed]).is_err());
            assert!(shed.set_tag(&[guessed], 7).is_err());
            assert_eq!(shed.tag(guessed), Ok(None));
            assert_eq!(shed.set_channel(&[guessed], 1).is_ok(), running);
        }
        assert_eq!(cancelled && shed.cancel(guessed) == Ok(true), cancelled);
        assert_eq!(run_all(&shed).len(), 1);
        assert_eq!((instance.is_done(), instance.is_cancelled()), (true, cancelled));
    }
    drop(instance);
    shed.create([(); 2].map(|()| String::new())).expect("room");
}
