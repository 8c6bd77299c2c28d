//! Large graphs, graphs whose tasks panic with any payload, and graphs whose results are leaked.
#![cfg(not(loom))]

use sateen_base::unwind::discard;
use sateen_flow::{Graph, GraphError, Map, RunOn, WaitError};
use sateen_runtime::Runtime;
use sateen_shed::{Outcome, Shed};
use sateen_testkit::in_time;
use std::panic::{panic_any, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

fn runtime() -> Runtime {
    Runtime::builder().workers(2).build().unwrap()
}

/// A payload that is counted while it lives, and that panics when it is dropped.
struct Bomb(Arc<AtomicUsize>);

impl Bomb {
    fn new(live: &Arc<AtomicUsize>) -> Self {
        live.fetch_add(1, SeqCst);
        Self(Arc::clone(live))
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
        resume_unwind(Box::new("a payload's destructor"));
    }
}

// ---- Payloads ----

#[test]
fn payloads_of_panics_in_graphs_are_dropped() {
    in_time(|| {
        let (runtime, live) = (runtime(), Arc::new(AtomicUsize::new(0)));
        let mut g = Graph::new();
        for _ in 0..10 {
            let live = Arc::clone(&live);
            drop(g.task(move || resume_unwind(Box::new(Bomb::new(&live)))));
        }
        for _ in 0..3 {
            let Err(GraphError::Panicked { payload, others: 9, .. }) = g.run(&runtime) else {
                panic!("ten have panicked")
            };
            discard(payload);
            assert_eq!(live.load(SeqCst), 0);
        }
    });
}

#[test]
fn payloads_of_panics_in_driven_sheds_are_dropped() {
    in_time(|| {
        let (runtime, live) = (runtime(), Arc::new(AtomicUsize::new(0)));
        let build = || {
            let live = Arc::clone(&live);
            let run = move |_: &Shed<()>, _, (): &mut ()| -> Outcome {
                resume_unwind(Box::new(Bomb::new(&live)))
            };
            let shed = Shed::builder().run_on(&runtime, Map::new(), run).unwrap();
            shed.ready(&shed.create([(); 10]).unwrap()).unwrap();
            shed
        };
        let shed = build();
        let Err(WaitError::Panicked { payload, others: 9 }) = shed.wait() else {
            panic!("ten have panicked")
        };
        discard(payload);
        assert_eq!(live.load(SeqCst), 0);
        // No task uses the results of these tasks.
        drop(build());
        assert_eq!(live.load(SeqCst), 0);
    });
}

// ---- Size ----

#[test]
fn what_comes_after_very_many_is_added_in_linear_time() {
    in_time(|| {
        let mut g = Graph::new();
        let tasks: Vec<_> = (0..300_000).map(|_| g.task(|| ())).collect();
        let mut last = g.task(|| ());
        for _ in 0..5 {
            last = last.after(&tasks[..]);
        }
        assert_eq!(g.dot().matches("-> t300000\n").count(), 300_000);
        g.run(&runtime()).unwrap();
    });
}

#[test]
fn a_long_cycle_is_told_in_linear_time() {
    in_time(|| {
        const LEN: usize = 450_000;
        let mut g = Graph::new();
        let first = g.task(|| ());
        let mut last = first.clone();
        for _ in 1..LEN {
            last = g.task(|| ()).after(&last);
        }
        drop(first.after(&last));
        match g.run(&runtime()) {
            Err(GraphError::Cycle(tasks)) => {
                assert_eq!(tasks.len(), LEN);
                assert!(
                    tasks.contains(&"task 0".to_owned())
                        && tasks.contains(&"task 449999".to_owned())
                );
            }
            other => panic!("{other:?}"),
        }
    });
}

// ---- Leaked results ----

#[test]
fn a_leaked_result_blocks_nothing() {
    in_time(|| {
        let runtime = runtime();
        let mut g = Graph::new();
        let mut count = 0;
        let number = g.task(move || {
            count += 1;
            count
        });
        let double = g.task_with(&number, |n| 2 * n);
        for run in 1..=3 {
            g.run(&runtime).unwrap();
            assert_eq!((*g.result(&number).unwrap(), *g.result(&double).unwrap()), (run, 2 * run));
            std::mem::forget(g.result(&number).unwrap());
            std::mem::forget(g.result(&number).unwrap());
        }
        // The result cannot be taken while a leaked output seems to share it.
        assert!(g.take(&number).is_err());
        assert_eq!(*g.result(&number).unwrap(), 3);
        g.run(&runtime).unwrap();
        assert_eq!(g.take(&number).unwrap(), 4);
        assert!(matches!(g.take(&number), Err(GraphError::NoResult { .. })));
    });
}

#[test]
fn results_are_dropped_once_whoever_looked() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_sub(1, SeqCst);
        }
    }
    let (runtime, live) = (runtime(), Arc::new(AtomicUsize::new(0)));
    let mut g = Graph::new();
    let task = g.task({
        let live = Arc::clone(&live);
        move || {
            live.fetch_add(1, SeqCst);
            Counted(Arc::clone(&live))
        }
    });
    for _ in 0..5 {
        g.run(&runtime).unwrap();
        assert_eq!(live.load(SeqCst), 1);
        drop((g.result(&task).unwrap(), g.result(&task).unwrap()));
    }
    drop(g.take(&task).unwrap());
    assert_eq!(live.load(SeqCst), 0);
    g.run(&runtime).unwrap();
    drop((g, task));
    // The worker that ran the last task may hold the shed for another moment.
    in_time(move || {
        while live.load(SeqCst) > 0 {
            std::thread::yield_now();
        }
    });
}

/// The payload may be any value. A second panic while the graph looks for the message would end the
/// process.
#[test]
fn a_graph_runs_again_after_any_panic() {
    in_time(|| {
        let runtime = runtime();
        let mut g = Graph::new();
        let (mut runs, live) = (0, Arc::new(AtomicUsize::new(0)));
        let task = g.task(move || {
            runs += 1;
            if runs % 2 == 1 {
                panic_any(Bomb::new(&live));
            }
            runs
        });
        for run in 1..=6 {
            let result = g.run(&runtime);
            assert_eq!(result.is_ok(), run % 2 == 0);
            if let Err(error) = result {
                assert!(!error.to_string().is_empty());
                discard(error);
                assert!(g.result(&task).is_err());
            }
        }
    });
}
