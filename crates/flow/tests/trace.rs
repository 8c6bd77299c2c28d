//! The tasks of graphs and sheds, and the items of worker queues, in a runtime's trace.

#![cfg(feature = "trace")]

#[path = "../../runtime/tests/common/traced.rs"]
mod traced;

use sateen_flow::{Graph, Map, RunOn, WorkerQueue};
use sateen_queue::channel::{Receiver, Sender, bounded, select, unbounded};
use sateen_runtime::{Runtime, join};
use sateen_shed::{Outcome, Shed, TaskId};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use traced::{Read, read};

/// What plain threads do to channels is in all traces: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn saved(runtime: &Runtime, f: impl FnOnce()) -> Read {
    let _alone = alone();
    let trace = runtime.trace();
    trace.start();
    f();
    trace.stop();
    let mut bytes = Vec::new();
    trace.write_to(&mut bytes).expect("a vector takes all");
    read(&bytes)
}

#[test]
fn tasks_of_graphs_have_their_names() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let mut graph = Graph::new();
    let input = graph.task(|| 1).name("input");
    let physics = graph.task_with(&input, |n| n + 1).name("physics");
    drop(graph.task_with(&physics, |n| n + 1));
    let read = saved(&runtime, || {
        for _ in 0..3 {
            graph.run(&runtime).expect("no panic");
        }
    });
    for name in ["input", "physics", "task 2"] {
        assert_eq!(read.on_workers(name).len(), 3, "{name}");
    }
    // Nothing else is around them.
    assert!(read.workers().iter().all(|track| track.slices.iter().all(|s| s.name != "shed task")));
}

#[test]
fn tasks_of_sheds_are_shown() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let builder = || Shed::<u32>::builder().tasks(100);
    let run = |_: &Shed<u32>, _: TaskId, _: &mut u32| Outcome::Complete;
    let maps = [Map::new().all(0), Map::new().name("tiles")];
    let line = line!() + 1;
    let sheds = maps.map(|map| builder().run_on(&runtime, map, run).expect("a shed"));
    let read = saved(&runtime, || {
        for shed in &sheds {
            let tasks = shed.create([0; 50]).expect("room");
            shed.ready(&tasks).expect("tasks of this shed");
            shed.wait().expect("no panic");
        }
    });
    for name in ["tiles", &format!("{}:{line}", file!())] {
        let tasks = read.on_workers(name);
        assert_eq!(tasks.len(), 50, "{name}");
        let slots: HashSet<u64> = tasks.iter().map(|task| task.numbers["slot"]).collect();
        assert_eq!(slots.len(), 50, "{name}");
    }
}

#[test]
fn items_come_by_arrows_from_their_senders() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let queue = WorkerQueue::builder().workers(1).on(&runtime);
    let queue = queue.start(|_, _: &mut u32| ()).expect("a queue");
    let read = saved(&runtime, || {
        let sends = || (0..20).for_each(|n| queue.send(n).expect("it is open"));
        runtime.install(sends);
        // From a thread outside.
        queue.send(20).expect("it is open");
        queue.close();
    });
    assert_eq!(read.on_workers("item").len(), 21);
    assert_eq!(read.instants("send").len(), 21);
    let arrows = read.from.keys().filter(|&&id| id >> 60 == 2);
    assert!(arrows.clone().all(|id| read.to.contains_key(id)));
    assert_eq!(arrows.count(), 21);
    assert_eq!(read.outside("send").len(), 1);
}

/// The arrows from sends to receipts.
fn sent(read: &Read) -> usize {
    let arrows = read.from.keys().filter(|&&id| id >> 63 == 1);
    assert!(arrows.clone().all(|id| read.to.contains_key(id)));
    arrows.count()
}

#[test]
fn items_of_channels_come_by_arrows() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    // What holds one slot, some, all, and segments of 63.
    for capacity in [Some(0), Some(1), Some(7), None] {
        let (tx, rx) = capacity.map_or_else(unbounded, bounded);
        let read = saved(&runtime, || {
            let send = |tx: &Sender<u64>| (0..100).for_each(|n| tx.send(n).expect("it is open"));
            let receive = |rx: &Receiver<u64>| rx.iter().take(100).sum::<u64>();
            // Between tasks, from a plain thread to a task, and the other way round.
            runtime.install(|| join(|| send(&tx), || assert_eq!(receive(&rx), 4950)));
            std::thread::scope(|s| {
                let named = std::thread::Builder::new().name("the sender".to_owned());
                named.spawn_scoped(s, || send(&tx)).expect("a thread");
                assert_eq!(runtime.install(|| receive(&rx)), 4950);
                s.spawn(|| assert_eq!(receive(&rx), 4950));
                runtime.install(|| send(&tx));
            });
        });
        assert_eq!(sent(&read), 300, "capacity {capacity:?}");
        assert_eq!((read.outside("send").len(), read.outside("receive").len()), (100, 100));
        if cfg!(target_os = "linux") {
            let thread = read.tracks.values().find(|track| track.name.ends_with(": the sender"));
            let instants = &thread.expect("a track").instants;
            assert_eq!(instants.iter().filter(|instant| instant.name == "send").count(), 100);
        }
    }
}

#[test]
fn items_of_batches_and_selections_come_by_arrows() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    for capacity in [Some(0), Some(8), None] {
        let (tx, rx) = capacity.map_or_else(unbounded, bounded);
        let read = saved(&runtime, || {
            let send = || {
                (0..20).for_each(|n| select! { send(tx, n) -> sent => sent.expect("it is open") });
                if capacity != Some(0) {
                    tx.send_all(0..20).expect("it is open");
                }
            };
            let receive = || {
                let one = || select! { recv(rx) -> item => item.expect("it is open") };
                (0..20).for_each(|n| assert_eq!(one(), n));
                let mut items = Vec::new();
                while capacity != Some(0) && items.len() < 20 {
                    rx.recv_into(&mut items, 8).expect("it is open");
                }
            };
            runtime.install(|| join(send, receive));
        });
        assert_eq!(sent(&read), if capacity == Some(0) { 20 } else { 40 }, "{capacity:?}");
    }
}

#[test]
fn an_arrow_needs_both_ends() {
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let (tx, rx) = unbounded();
    let before = alone();
    tx.send(0).expect("it is open");
    drop(before);
    let read = saved(&runtime, || {
        runtime.install(|| {
            assert_eq!(rx.recv(), Ok(0));
            tx.send(1).expect("it is open");
        });
    });
    assert_eq!((read.instants("send").len(), read.instants("receive").len()), (1, 1));
    assert_eq!(sent(&read), 0);
}

#[test]
fn a_plain_thread_wakes_a_future() {
    let runtime = Runtime::builder().workers(1).build().expect("a runtime");
    let (tx, rx) = bounded(1);
    let read = saved(&runtime, || {
        let begun = Arc::new(AtomicBool::new(false));
        let begins = Arc::clone(&begun);
        let future = runtime.spawn_async(async move {
            begins.store(true, Ordering::SeqCst);
            rx.recv_async().await
        });
        while !begun.load(Ordering::SeqCst) || runtime.metrics().sleeping < 1 {
            std::thread::yield_now();
        }
        tx.send(5).expect("it is open");
        assert_eq!(future.join().expect("no panic"), Ok(5));
    });
    assert_eq!(sent(&read), 1);
    // From the spawn, and from the wake-up.
    let on_threads = read.outside("wake");
    let woken = on_threads.iter().filter(|wake| wake.numbers.contains_key("task"));
    assert_eq!(woken.count(), 1);
    let ends = read.to.keys().filter(|&&id| id >> 62 == 1).count();
    assert!(ends >= 1, "{:?}", read.to);
}

#[test]
fn what_a_plain_thread_does_to_channels_is_in_each_trace_once() {
    let _alone = alone();
    let runtimes = [(); 2].map(|()| Runtime::builder().workers(1).build().expect("a runtime"));
    runtimes.iter().for_each(|runtime| runtime.trace().start());
    let (tx, rx) = unbounded();
    tx.send(1).expect("it is open");
    assert_eq!(rx.recv(), Ok(1));
    runtimes[1].trace().stop();
    tx.send(2).expect("it is open");
    runtimes[0].trace().stop();
    tx.send(3).expect("it is open");
    for (runtime, sends) in runtimes.iter().zip([2, 1]) {
        let mut bytes = Vec::new();
        runtime.trace().write_to(&mut bytes).expect("a vector takes all");
        let read = read(&bytes);
        assert_eq!((sent(&read), read.outside("send").len()), (1, sends));
    }
}
