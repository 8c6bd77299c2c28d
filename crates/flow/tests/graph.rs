//! Graphs with results.

use sateen_flow::{Graph, GraphError, On};
use sateen_runtime::{Runtime, worker_index};
use sateen_sync::{Event, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const WORKERS: [usize; 4] = [1, 2, 4, 8];

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("a runtime")
}

#[test]
fn results_travel_and_runs_repeat() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        let mut g = Graph::new();
        let mut count = 0u64;
        let first = g.task(move || {
            count += 1;
            count
        });
        // Each layer doubles.
        let mut layer = vec![first.clone()];
        for _ in 0..6 {
            layer = layer
                .iter()
                .flat_map(|task| [task, task])
                .map(|task| g.task_with(task, |n| n + 1))
                .collect();
        }
        let sum = g.task_with(&layer[..], |all| all.into_iter().sum::<u64>());
        let both = g.task_with((&first, &sum), |(first, sum)| (*first, *sum));
        for run in 1..=50 {
            // From a thread, and from a task of the runtime.
            if run % 2 == 0 { g.run(&runtime) } else { runtime.install(|| g.run(&runtime)) }
                .unwrap();
            assert_eq!(*g.result(&both).unwrap(), (run, 64 * (run + 6)));
        }
        assert_eq!(g.take(&sum).unwrap(), 64 * 56);
        assert!(matches!(g.result(&sum), Err(GraphError::NoResult { task }) if task == "task 127"));
        runtime.shutdown().unwrap();
    }
}

#[test]
fn order_holds_without_results() {
    let runtime = runtime(4);
    let log = Arc::new(Mutex::new(Vec::new()));
    let mut g = Graph::new();
    let mut write = |name: &'static str| {
        let log = Arc::clone(&log);
        g.task(move || log.lock().push(name)).name(name)
    };
    let (a, b, c) = (write("a"), write("b"), write("c"));
    let d = write("d").after((&a, &b)).after(&[a, b]);
    let e = write("e").after([&d, &c]);
    let _f = write("f").after(&e);
    for _ in 0..20 {
        log.lock().clear();
        g.run(&runtime).unwrap();
        let log = log.lock();
        let at = |name| log.iter().position(|other| *other == name).unwrap();
        assert_eq!(log.len(), 6);
        assert!(at("a") < at("d") && at("b") < at("d") && at("c") < at("e") && at("d") < at("e"));
        assert_eq!(at("f"), 5);
    }
}

#[test]
fn places() {
    let runtime = runtime(3);
    let main = std::thread::current().id();
    let mut g = Graph::new();
    let any = g.task(|| assert!(worker_index().is_some()));
    let second = g.task(|| assert_eq!(worker_index(), Some(1))).on(On::Worker(1)).after(&any);
    let here = g
        .task(move || assert_eq!(std::thread::current().id(), main))
        .on(On::Main)
        .after(&second)
        .name("here");
    let _last = g.task(|| assert!(worker_index().is_some())).after(&here);
    for _ in 0..20 {
        g.run(&runtime).unwrap();
    }
    let nowhere = here.on(On::Worker(3));
    match g.run(&runtime) {
        Err(GraphError::NoWorker { task, worker: 3, workers: 3 }) => assert_eq!(task, "here"),
        other => panic!("{other:?}"),
    }
    let _back = nowhere.on(On::Main);
    g.run(&runtime).unwrap();
}

#[test]
fn a_graph_that_changes_and_moves_to_another_runtime() {
    let mut g = Graph::new();
    let (one, two) = (runtime(1), runtime(2));
    g.run(&one).unwrap();
    let a = g.task(|| 20);
    g.run(&one).unwrap();
    let b = g.task_with(&a, |a| a + 1);
    g.run(&two).unwrap();
    assert_eq!((*g.result(&a).unwrap(), *g.result(&b).unwrap()), (20, 21));
    drop(two);
    assert!(matches!(g.run(&one), Ok(())));
    drop(one);
    let three = runtime(3);
    g.run(&three).unwrap();
    assert_eq!(*g.result(&b).unwrap(), 21);
}

#[test]
fn a_panic_is_told_and_the_graph_runs_again() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        let fails = Arc::new(AtomicBool::new(true));
        let after = Arc::new(AtomicU32::new(0));
        let mut g = Graph::new();
        let bad = {
            let fails = Arc::clone(&fails);
            g.task(move || {
                assert!(!fails.load(Relaxed), "as told");
                1
            })
            .name("bad")
        };
        let good = g.task(|| 2);
        let child = {
            let after = Arc::clone(&after);
            g.task_with((&bad, &good), move |(a, b)| {
                after.fetch_add(1, Relaxed);
                a + b
            })
        };
        for _ in 0..10 {
            fails.store(true, Relaxed);
            match g.run(&runtime) {
                Err(error @ GraphError::Panicked { .. }) => {
                    assert_eq!(error.to_string(), "bad panicked: as told");
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(*g.result(&good).unwrap(), 2);
            assert!(matches!(g.result(&child), Err(GraphError::NoResult { .. })));
            fails.store(false, Relaxed);
            g.run(&runtime).unwrap();
            assert_eq!(*g.result(&child).unwrap(), 3);
        }
        assert_eq!(after.load(Relaxed), 10);
    }
}

#[test]
fn tasks_block() {
    for workers in WORKERS {
        let runtime = runtime(workers);
        let mut g = Graph::new();
        let events: Vec<_> = (0..20).map(|_| Arc::new(Event::new())).collect();
        for i in 0..20 {
            let (mine, next) = (Arc::clone(&events[i]), Arc::clone(&events[(i + 1) % 20]));
            drop(g.task(move || {
                if i != 0 {
                    mine.wait();
                }
                next.set();
                mine.reset();
            }));
        }
        for _ in 0..5 {
            events.iter().for_each(|event| event.reset());
            g.run(&runtime).unwrap();
        }
    }
}

#[test]
fn mistakes_are_named() {
    let runtime = runtime(1);
    let (mut g, mut other) = (Graph::new(), Graph::new());
    let a = g.task(|| ()).name("a");
    let b = g.task(|| ()).after(&a);
    let c = g.task(|| ()).name("c").after(&b);
    let a = a.after(&c);
    match g.run(&runtime) {
        Err(error @ GraphError::Cycle(_)) => {
            let text = error.to_string();
            assert!(["a", "task 1", "c"].iter().all(|name| text.contains(name)), "{text}");
        }
        other => panic!("{other:?}"),
    }
    let own = other.task(|| ()).name("own");
    let own = own.clone().after(&own);
    assert!(matches!(other.run(&runtime), Err(GraphError::Cycle(names)) if names == ["own"]));
    assert!(matches!(other.result(&a), Err(GraphError::Foreign { task }) if task == "a"));
    assert!(matches!(other.take(&a), Err(GraphError::Foreign { task }) if task == "a"));
    let mut third = Graph::new();
    let _x = third.task(|| ()).after((&own,));
    assert!(matches!(third.run(&runtime), Err(GraphError::Foreign { task }) if task == "own"));
}

#[test]
fn a_runtime_that_is_gone() {
    let (gone, here) = (runtime(1), runtime(1));
    gone.shutdown().unwrap();
    let mut g = Graph::new();
    let a = g.task(|| 1);
    assert!(matches!(g.run(&gone), Err(GraphError::Refused)));
    assert!(matches!(g.run(&gone), Err(GraphError::Refused)));
    assert!(g.result(&a).is_err());
    g.run(&here).unwrap();
    assert_eq!(g.take(&a).unwrap(), 1);
}

#[test]
fn a_picture() {
    let mut g = Graph::new();
    let a = g.task(|| ()).name("say \"a\"\\");
    let b = g.task(|| ()).on(On::Worker(1)).after(&a);
    let _c = g.task(|| ()).on(On::Main).after((&a, &b));
    assert_eq!(
        g.dot(),
        r#"digraph {
    rankdir=LR
    node [shape=box]
    t0 [label="say \"a\"\\"]
    t1 [label="task 1\nworker 1"]
    t2 [label="task 2\nmain"]
    t0 -> t1
    t0 -> t2
    t1 -> t2
}
"#
    );
}
