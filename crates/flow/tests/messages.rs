//! Each mistake of a user's has its message.
//!
//! `crates/rules` checks that each text of the source is in this file.
#![cfg(not(loom))]

use sateen_flow::{
    CloseError, DeadReason, Graph, GraphError, Hanging, ManualClock, Map, On, Rate, Refusal, RunOn,
    StartError, Throttle, WaitError, WorkerQueue,
};
use sateen_runtime::{PanicPayload, Runtime};
use sateen_shed::{Outcome, Shed};
use std::time::Duration;

/// Texts of the source that no row shows, and why.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("a graph was run while it was running", "a run takes the graph exclusively"),
    ("a task of a graph ran before one that it comes after", "the shed keeps the order"),
];

/// What the user does, the text, and what gives it.
type Row = (&'static str, &'static str, fn() -> String);

fn rt() -> Runtime {
    Runtime::builder().workers(2).build().expect("a runtime")
}

/// The error of a shed of two channels that is driven like that.
fn not_driven(map: Map) -> String {
    let run = |_: &Shed<()>, _, _: &mut ()| Outcome::Complete;
    let driven = Shed::builder().channels(2).run_on(&rt(), map, run).map(drop);
    driven.expect_err("not driven").to_string()
}

fn not_run(graph: &mut Graph) -> String {
    graph.run(&rt()).expect_err("not run").to_string()
}

fn not_started(build: fn() -> Result<WorkerQueue<u8>, StartError>) -> String {
    build().map(drop).expect_err("not started").to_string()
}

/// A rate that is no rate.
fn payload(message: &'static str) -> PanicPayload {
    let payload: Box<dyn std::any::Any + Send> = Box::new(message);
    payload.into()
}

fn no_rate(items: f64) -> String {
    Rate::per_second(items).expect_err("no rate").to_string()
}

const TABLE: &[Row] = &[
    ("a map with a channel too many", "channel 2 is not below 2", || not_driven(Map::new().all(2))),
    (
        "a map with a worker too many",
        "no worker 2 for channel 1: there are 2, counted from 0",
        || not_driven(Map::new().worker(1, 2)),
    ),
    ("a map without workers", "no workers for channel 0", || not_driven(Map::new().workers(0, []))),
    ("panics in a driven shed", "a task panicked: oh; so did 2 others", || {
        WaitError::Panicked { payload: payload("oh"), others: 2 }.to_string()
    }),
    (
        "a runtime that has ended under a shed",
        "the runtime was shut down, or has no stack left: ready tasks stay in the shed",
        || WaitError::Refused.to_string(),
    ),
    (
        "a task that waits for its shed",
        "a task cannot wait for the shed that it belongs to",
        || WaitError::Inside.to_string(),
    ),
    ("a cycle of tasks", "tasks come after each other in a cycle: hen, egg", || {
        let mut g = Graph::new();
        let hen = g.task(|| ()).name("hen");
        let egg = g.task(|| ()).name("egg").after(&hen);
        let _hen = hen.after(&egg);
        match g.run(&rt()).expect_err("a cycle") {
            GraphError::Cycle(mut names) => {
                // It begins anywhere.
                names.sort_by(|a, b| b.cmp(a));
                GraphError::Cycle(names).to_string()
            }
            error => error.to_string(),
        }
    }),
    ("a task of another graph", "a is a task of another graph", || {
        let (mut g, mut other) = (Graph::new(), Graph::new());
        let a = other.task(|| ()).name("a");
        let _b = g.task(|| ()).after(&a);
        not_run(&mut g)
    }),
    ("a task on a worker too many", "no worker 2 for a: there are 2, counted from 0", || {
        let mut g = Graph::new();
        let _a = g.task(|| ()).name("a").on(On::Worker(2));
        not_run(&mut g)
    }),
    ("a task that panics", "a panicked: oh", || {
        let mut g = Graph::new();
        let _a = g.task(|| panic!("oh")).name("a");
        not_run(&mut g)
    }),
    ("several that do", "a panicked: oh; so did 1 others", || {
        let (task, payload) = ("a".to_owned(), payload("oh"));
        GraphError::Panicked { task, payload, others: 1 }.to_string()
    }),
    ("a result before a run", "a has no result", || {
        let mut g = Graph::new();
        let a = g.task(|| 1).name("a");
        g.result(&a).map(drop).expect_err("no result").to_string()
    }),
    ("a result that is leaked", "the result of a is shared with an output", || {
        let mut g = Graph::new();
        let a = g.task(|| 1).name("a");
        g.run(&rt()).expect("it ran");
        std::mem::forget(g.result(&a).expect("a result"));
        g.take(&a).expect_err("it is shared").to_string()
    }),
    (
        "a runtime that ends by force under a graph",
        "the runtime ended while the graph was running",
        || GraphError::Cancelled.to_string(),
    ),
    (
        "a graph on a runtime that has ended",
        "the runtime was shut down, or has no stack left to start a task on",
        || {
            let mut g = Graph::new();
            let _a = g.task(|| ());
            let rt = rt();
            rt.shutdown().expect("an orderly end");
            g.run(&rt).expect_err("not run").to_string()
        },
    ),
    ("a rate that is no number", "a rate of NaN items a second", || no_rate(f64::NAN)),
    ("a rate of nothing", "a rate of 0.0 items a second is not above 0", || no_rate(0.0)),
    ("a rate that is too high", "a rate of inf items a second: at most 10000000000", || {
        no_rate(f64::INFINITY)
    }),
    ("a rate that is too low", "a rate of 1e-300 items a second: at least LEAST", || {
        no_rate(1e-300).replace(&Rate::LEAST.to_string(), "LEAST")
    }),
    ("a burst of nothing", "a burst of 0 items", || {
        let throttle = Throttle::new(Rate::per_second(1.0).expect("a rate"), ManualClock::new());
        throttle.burst(0).map(drop).expect_err("no burst").to_string()
    }),
    ("a batch of nothing", "a batch of 0 tokens", || {
        let throttle = Throttle::new(Rate::per_second(1.0).expect("a rate"), ManualClock::new());
        throttle.batch(0).map(drop).expect_err("no batch").to_string()
    }),
    ("a queue without workers", "a worker queue with 0 workers", || {
        not_started(|| WorkerQueue::builder().workers(0).start(|_, _| ()))
    }),
    ("a queue with too many", "65536 workers: at most 65535", || {
        not_started(|| WorkerQueue::builder().workers(65_536).start(|_, _| ()))
    }),
    ("a queue without queues", "a worker queue with 0 queues", || {
        not_started(|| WorkerQueue::builder().queues(0).start(|_, _| ()))
    }),
    ("a queue with too many of those", "65536 queues: at most 65535", || {
        not_started(|| WorkerQueue::builder().queues(65_536).start(|_, _| ()))
    }),
    ("a queue that is too large", "a capacity of 281474976710657: at most 281474976710656", || {
        StartError::TooMuchCapacity((1 << 48) + 1).to_string()
    }),
    (
        "a queue whose workers cannot be named",
        "cannot name workers \"a\\0b\": it contains a NUL",
        || not_started(|| WorkerQueue::builder().name("a\0b").start(|_, _| ())),
    ),
    ("a queue larger than memory", "no memory for queues of 7 bytes", || {
        StartError::NoMemory(7).to_string()
    }),
    ("a thread that does not start", "no thread for worker 1: no more", || {
        StartError::NoThread(1, std::io::Error::other("no more")).to_string()
    }),
    ("workers on a runtime that has ended", "no runtime for the workers: why", || {
        StartError::NoRuntime("why".to_owned()).to_string()
    }),
    ("an item for a closed queue", "the worker queue is closed", || {
        let queue = WorkerQueue::builder().start(|_, _: &mut u8| ()).expect("started");
        let sender = queue.sender();
        queue.close();
        sender.send(1).expect_err("closed").to_string()
    }),
    ("an item too many", "the worker queue has no room, or no idle worker", || {
        Refusal::Full.to_string()
    }),
    ("a key for a queue without", "the worker queue does not keep the order of keys", || {
        let queue = WorkerQueue::builder().start(|_, _: &mut u8| ()).expect("started");
        queue.sender().send_keyed(&1, 1).expect_err("no keys").to_string()
    }),
    (
        "a handler that hangs",
        "not closed after 1s: 2 items wait; worker 3 hangs in its item 4 (five)",
        || {
            let hanging = vec![Hanging { worker: 3, call: 4, item: Some("five".to_owned()) }];
            CloseError { hanging, waiting: 2, waited: Duration::from_secs(1) }.to_string()
        },
    ),
    ("a handler that panics", "its handler panicked: oh", || {
        DeadReason::Panicked("oh".to_owned()).to_string()
    }),
    ("an item of a queue that is aborted", "the queue was aborted", || {
        DeadReason::Aborted.to_string()
    }),
    ("an item that no worker takes", "all workers had ended", || DeadReason::Ended.to_string()),
];

#[test]
fn each_mistake_has_its_text() {
    for (mistake, text, make) in TABLE {
        assert_eq!(&make(), text, "{mistake}");
    }
    assert!(NOT_SHOWN.iter().all(|(text, why)| !text.is_empty() && !why.is_empty()));
}
