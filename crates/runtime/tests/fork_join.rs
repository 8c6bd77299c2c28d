//! join, fork, scope and spawn: results, panics, borrows, at several worker counts.

mod common;

use common::{at_all_counts, fib, with_runtime};
use sateen_runtime::{JoinError, Runtime, fork, join, spawn, worker_index};
use sateen_testkit::message;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};

#[test]
fn fib_by_join() {
    at_all_counts(|rt| assert_eq!(rt.install(|| fib(22)), 17_711));
}

#[test]
fn join_from_outside_uses_the_global_runtime() {
    assert_eq!(join(|| 1, || 2), (1, 2));
    assert_eq!(fib(15), 610);
    assert_eq!(worker_index(), None);
    let (a, b) = join(worker_index, worker_index);
    assert!(a.is_some() && b.is_some());
}

fn skynet(first: u64, size: u64) -> u64 {
    if size == 1 {
        return first;
    }
    let part = size / 10;
    let parts: [u64; 10] = std::array::from_fn(|i| first + i as u64 * part);
    fork(parts.map(|first| move || skynet(first, part))).iter().sum()
}

fn skynet_spawn(first: u64, size: u64) -> u64 {
    if size == 1 {
        return first;
    }
    let part = size / 10;
    let handles: Vec<_> =
        (0..10).map(|i| spawn(move || skynet_spawn(first + i * part, part))).collect();
    handles.into_iter().map(|h| h.join().expect("a leaf")).sum()
}

#[test]
fn skynet_by_fork_and_by_spawn() {
    at_all_counts(|rt| {
        assert_eq!(rt.install(|| skynet(0, 10_000)), 49_995_000);
        assert_eq!(rt.install(|| skynet_spawn(0, 10_000)), 49_995_000);
    });
}

#[test]
fn forks_of_all_sizes() {
    at_all_counts(|rt| {
        rt.install(|| {
            assert_eq!(fork::<fn() -> u8, u8, 0>([]), [0_u8; 0]);
            assert_eq!(fork([|| 1]), [1]);
            let texts = fork(["a", "b", "c"].map(|s| move || s.to_owned()));
            assert_eq!(texts, ["a", "b", "c"]);
        });
    });
    assert_eq!(fork([|| 7, || 7]), [7, 7]);
}

#[test]
fn scope_spawns_borrow_and_nest() {
    at_all_counts(|rt| {
        let count = AtomicUsize::new(0);
        let count = &count;
        rt.scope(|s| {
            for _ in 0..100 {
                s.spawn(move |s| {
                    count.fetch_add(1, SeqCst);
                    s.spawn(move |_| {
                        count.fetch_add(1, SeqCst);
                    });
                });
            }
        });
        assert_eq!(count.load(SeqCst), 200);
    });
}

#[test]
fn a_scope_lent_to_a_thread() {
    at_all_counts(|rt| {
        let count = AtomicUsize::new(0);
        rt.scope(|s| {
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    for _ in 0..10 {
                        s.spawn(|_| {
                            count.fetch_add(1, SeqCst);
                        });
                    }
                });
            });
        });
        assert_eq!(count.load(SeqCst), 10);
    });
}

#[test]
fn own_scope_runs_youngest_first_on_one_worker() {
    with_runtime(1, |rt| {
        let (tx, rx) = mpsc::channel();
        rt.scope(|s| {
            for i in 0..10 {
                let tx = tx.clone();
                s.spawn(move |_| tx.send(i).expect("receiver lives"));
            }
        });
        drop(tx);
        assert_eq!(rx.iter().collect::<Vec<_>>(), (0..10).rev().collect::<Vec<_>>());
    });
}

#[test]
fn a_panic_in_either_branch_travels_and_the_other_still_runs() {
    at_all_counts(|rt| {
        for _ in 0..50 {
            let ran = AtomicUsize::new(0);
            let note = || {
                ran.fetch_add(1, SeqCst);
            };
            let a =
                catch_unwind(AssertUnwindSafe(|| rt.install(|| join(|| panic!("from a"), note))));
            assert_eq!(message(a.unwrap_err()), "from a");
            assert_eq!(ran.load(SeqCst), 1);
            let b =
                catch_unwind(AssertUnwindSafe(|| rt.install(|| join(note, || panic!("from b")))));
            assert_eq!(message(b.unwrap_err()), "from b");
            assert_eq!(ran.load(SeqCst), 2);
            let both = || join(|| panic!("a first"), || panic!("b second"));
            let both: Result<((), ()), _> = catch_unwind(AssertUnwindSafe(|| rt.install(both)));
            assert_eq!(message(both.unwrap_err()), "a first");
        }
        assert_eq!(rt.install(|| fib(15)), 610);
    });
}

#[test]
fn a_panic_while_the_other_branch_is_stolen_and_running() {
    for workers in [2, 3, 8] {
        with_runtime(workers, |rt| {
            let (started_tx, started) = mpsc::channel();
            let (go, wait) = mpsc::channel::<()>();
            let finished = &AtomicUsize::new(0);
            let caught = catch_unwind(AssertUnwindSafe(|| {
                rt.install(move || {
                    join(
                        move || {
                            started.recv().expect("b starts elsewhere");
                            go.send(()).expect("b waits");
                            panic!("a leaves early");
                        },
                        move || {
                            started_tx.send(()).expect("a listens");
                            wait.recv().expect("a sends");
                            finished.fetch_add(1, SeqCst);
                        },
                    )
                })
            }));
            assert_eq!(message(caught.unwrap_err()), "a leaves early");
            assert_eq!(finished.load(SeqCst), 1, "the sibling finished first");
        });
    }
}

#[test]
fn fork_panics_with_the_first_and_runs_all() {
    at_all_counts(|rt| {
        for _ in 0..20 {
            let ran = AtomicUsize::new(0);
            let ran = &ran;
            let caught = catch_unwind(AssertUnwindSafe(|| {
                rt.install(|| {
                    fork([0, 1, 2, 3, 4].map(|i| {
                        move || {
                            ran.fetch_add(1, SeqCst);
                            assert!(i != 2 && i != 4, "branch {i}");
                            Box::new(i)
                        }
                    }))
                })
            }));
            assert_eq!(message(caught.unwrap_err()), "branch 2");
            assert_eq!(ran.load(SeqCst), 5);
        }
    });
}

#[test]
fn a_scopes_panic_waits_for_the_rest() {
    at_all_counts(|rt| {
        let ran = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            rt.scope(|s| {
                s.spawn(|_| panic!("one of them"));
                for _ in 0..10 {
                    s.spawn(|_| {
                        ran.fetch_add(1, SeqCst);
                    });
                }
            });
        }));
        assert_eq!(message(caught.unwrap_err()), "one of them");
        assert_eq!(ran.load(SeqCst), 10);
    });
}

#[test]
fn a_spawns_panic_goes_to_its_joiner_alone() {
    at_all_counts(|rt| {
        let error = rt.spawn(|| panic!("alone")).join().unwrap_err();
        assert!(error.is_panic());
        assert_eq!(error.to_string(), "the task panicked: alone");
        assert_eq!(message(error.try_into_panic().expect("a panic")), "alone");
        drop(rt.spawn(|| panic!("nobody hears")));
        assert_eq!(rt.spawn(|| 1).join().expect("workers live"), 1);
    });
}

#[test]
fn detached_tasks_run_before_the_runtime_ends() {
    for workers in common::WORKERS {
        let ran = Arc::new(AtomicUsize::new(0));
        let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
        for _ in 0..100 {
            let ran = Arc::clone(&ran);
            drop(runtime.spawn(move || {
                let inner = Arc::clone(&ran);
                drop(spawn(move || inner.fetch_add(1, SeqCst)));
                ran.fetch_add(1, SeqCst);
            }));
        }
        drop(runtime);
        assert_eq!(ran.load(SeqCst), 200);
        assert_eq!(Arc::strong_count(&ran), 1, "no frame is left");
    }
}

#[test]
fn a_handle_is_a_future() {
    at_all_counts(|rt| {
        let handle = rt.spawn(|| 5);
        let waker = std::task::Waker::noop();
        let mut cx = std::task::Context::from_waker(waker);
        let mut handle = std::pin::pin!(handle);
        let result = loop {
            match std::future::Future::poll(handle.as_mut(), &mut cx) {
                std::task::Poll::Ready(result) => break result,
                std::task::Poll::Pending => std::thread::yield_now(),
            }
        };
        assert_eq!(result.expect("a result"), 5);
    });
}

#[test]
fn after_shutdown_work_runs_inline_and_spawns_are_refused() {
    at_all_counts(|rt| {
        rt.shutdown().expect("idle");
        let here = std::thread::current().id();
        let (a, b) =
            rt.install(|| join(|| std::thread::current().id(), || std::thread::current().id()));
        assert!(a == here && b == here);
        assert_eq!(rt.install(|| fork([|| 1, || 2])), [1, 2]);
        let mut x = 0;
        rt.scope(|s| s.spawn(|_| x = 1));
        assert_eq!(x, 1);
        assert!(matches!(rt.spawn(|| ()).join(), Err(JoinError::ShutDown)));
        assert!(matches!(rt.install(|| spawn(|| ())).join(), Err(JoinError::ShutDown)));
        assert_eq!(rt.install(|| sateen_runtime::par_reduce(0..10, || 0, |i| i, |a, b| a + b)), 45);
        assert!(rt.broadcast(|i| i).is_empty());
    });
}

#[test]
fn shutdown_on_an_own_worker_is_an_error() {
    at_all_counts(|rt| {
        let result = rt.install(|| rt.shutdown());
        assert_eq!(result, Err(sateen_runtime::ShutdownError::OnOwnWorker));
        assert_eq!(rt.install(|| 1), 1, "nothing changed");
    });
}

#[test]
fn a_runtime_dropped_by_its_own_task_ends() {
    let runtime = Arc::new(Runtime::builder().workers(2).build().expect("a runtime"));
    let inner = Arc::clone(&runtime);
    let (tx, rx) = mpsc::channel::<()>();
    let handle = runtime.spawn(move || {
        rx.recv().expect("the other owner is gone");
        drop(inner);
    });
    drop(runtime);
    tx.send(()).expect("the task waits");
    handle.join().expect("no panic");
}

#[test]
fn runtimes_side_by_side_and_inside_each_other() {
    let outer = Runtime::builder().workers(2).build().expect("outer");
    let inner = Runtime::builder().workers(1).build().expect("inner");
    let (a, b) = outer.install(|| {
        join(|| inner.install(|| fib(12)), || inner.install(|| outer.install(|| fib(10))))
    });
    assert_eq!((a, b), (144, 55));
    for _ in 0..20 {
        let again = Runtime::builder().workers(3).build().expect("again");
        assert_eq!(again.install(|| fib(5)), 5);
    }
}

#[test]
fn broadcast_reaches_every_worker() {
    at_all_counts(|rt| {
        let indexes = rt.broadcast(|i| (i, worker_index()));
        for (i, (given, seen)) in indexes.into_iter().enumerate() {
            assert_eq!((given, seen), (i, Some(i)));
        }
        let inside = rt.install(|| rt.broadcast(|i| i));
        assert_eq!(inside, (0..rt.workers()).collect::<Vec<_>>());
    });
}
