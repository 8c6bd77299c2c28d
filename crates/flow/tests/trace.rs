//! The tasks of graphs and sheds, and the items of worker queues, in a runtime's trace.

#![cfg(feature = "trace")]

#[path = "../../runtime/tests/common/traced.rs"]
mod traced;

use sateen_flow::{Graph, Map, RunOn, WorkerQueue};
use sateen_runtime::Runtime;
use sateen_shed::{Outcome, Shed};
use traced::{Read, read};

fn saved(runtime: &Runtime, f: impl FnOnce()) -> Read {
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
    assert_eq!(read.on_workers("shed task").len(), 9);
}

#[test]
fn tasks_of_sheds_are_shown() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let shed = Shed::<u32>::builder().tasks(100);
    let shed =
        shed.run_on(&runtime, Map::new().all(0), |_, _, _| Outcome::Complete).expect("a shed");
    let read = saved(&runtime, || {
        let tasks = shed.create([0; 50]).expect("room");
        shed.ready(&tasks).expect("tasks of this shed");
        shed.wait().expect("no panic");
    });
    assert_eq!(read.on_workers("shed task").len(), 50);
}

#[test]
fn items_come_by_arrows_from_their_senders() {
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let queue = WorkerQueue::builder().workers(1).on(&runtime);
    let queue = queue.start(|_, _: &mut u32| ()).expect("a queue");
    let read = saved(&runtime, || {
        let sends = || (0..20).for_each(|n| queue.send(n).expect("it is open"));
        runtime.install(sends);
        // From a thread outside, without an arrow.
        queue.send(20).expect("it is open");
        queue.close();
    });
    assert_eq!(read.on_workers("item").len(), 21);
    assert_eq!(read.instants("send").len(), 20);
    let arrows = read.from.keys().filter(|&&id| id >> 60 == 2);
    assert!(arrows.clone().all(|id| read.to.contains_key(id)));
    assert_eq!(arrows.count(), 20);
}
