//! Properties of tasks: names, numbers, places, stacks, locals, launch modes.

mod common;

use common::{at_all_counts, with_runtime};
use sateen_runtime::{
    FiberLocalError, JoinError, Priority, Spawn, current_task, fiber_local, fork, join, spawn,
    worker_index, yield_now,
};
use sateen_sync::Event;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[test]
fn names_numbers_and_places() {
    assert!(current_task().is_none());
    at_all_counts(|rt| {
        let handle = rt.spawn_with(Spawn::new().name("a").priority(Priority::High), || {
            let me = current_task().expect("a task");
            // Branches have the identity of their task, wherever they run.
            let ids = fork([0; 8].map(|_| || current_task().expect("a branch").id));
            assert!(ids.iter().all(|&id| id == me.id));
            let inner =
                Spawn::new().spawn(|| current_task().expect("a task")).join().expect("inner");
            assert_ne!(inner.id, me.id);
            assert_eq!(inner.name, None, "names are not inherited");
            assert_eq!(current_task().expect("still").id, me.id);
            me
        });
        let id = handle.id();
        let me = handle.join().expect("named");
        assert_eq!((me.id, me.name.as_deref(), me.priority), (id, Some("a"), Priority::High));
        assert!(me.location.file().ends_with("identity.rs"));
        assert!(!me.cancelled);
    });
}

#[test]
fn numbers_are_unique() {
    at_all_counts(|rt| {
        let ids = rt.install(|| {
            let tasks: Vec<_> =
                (0..1000).map(|_| spawn(|| current_task().expect("a task").id)).collect();
            tasks.into_iter().map(|task| task.join().expect("done")).collect::<HashSet<_>>()
        });
        assert_eq!(ids.len(), 1000);
    });
}

#[test]
fn a_task_runs_where_it_was_told() {
    at_all_counts(|rt| {
        let workers = rt.workers();
        for i in 0..workers {
            let place = rt.spawn_with(Spawn::new().on_worker(i), worker_index);
            assert_eq!(place.join().expect("done"), Some(i));
        }
        let from_inside = rt.install(|| {
            let task = |i| Spawn::new().on_worker(i).spawn(worker_index);
            let tasks: Vec<_> = (0..workers).map(task).collect();
            tasks.into_iter().map(|task| task.join().expect("done")).collect::<Vec<_>>()
        });
        assert_eq!(from_inside, (0..workers).map(Some).collect::<Vec<_>>());
        let nowhere = rt.spawn_with(Spawn::new().on_worker(workers), || ());
        let error = nowhere.join().expect_err("no such worker");
        assert!(matches!(error, JoinError::NoWorker { .. }));
        assert_eq!(
            error.to_string(),
            format!("no worker {workers} to spawn on: there are {workers}, counted from 0")
        );
    });
}

#[test]
fn dispatch_runs_at_once_and_never_on_the_parents_stack() {
    at_all_counts(|rt| {
        rt.install(|| {
            let here = 0u8;
            let place = &raw const here as usize;
            let order = Arc::new(AtomicUsize::new(0));
            let child = Spawn::new().dispatch().spawn({
                let order = order.clone();
                move || {
                    let there = 0u8;
                    let distance = place.abs_diff(&raw const there as usize);
                    (order.fetch_add(1, SeqCst), distance)
                }
            });
            assert_eq!(order.fetch_add(1, SeqCst), 1, "the child was first");
            assert!(child.is_finished());
            let (first, distance) = child.join().expect("done");
            assert_eq!(first, 0);
            assert!(distance > 32 * 1024, "{distance} bytes away: on the same stack");
        });
    });
}

#[test]
fn a_dispatched_child_may_block() {
    at_all_counts(|rt| {
        rt.install(|| {
            let event = Arc::new(Event::new());
            let child = Spawn::new().dispatch().spawn({
                let event = event.clone();
                move || event.wait()
            });
            assert!(!child.is_finished());
            event.set();
            child.join().expect("done");
        });
    });
}

/// Uses at least this many KiB of stack; without optimisation more than twice as many.
fn deep(kib: usize) -> usize {
    let frame = std::hint::black_box([kib as u8; 1024]);
    if kib == 0 { 0 } else { deep(kib - 1) + usize::from(frame[7] == kib as u8) }
}

#[test]
fn a_task_gets_the_stack_it_asks_for() {
    at_all_counts(|rt| {
        let task = rt.spawn_with(Spawn::new().stack_size(16 << 20), || deep(4_000));
        task.join().expect("deep enough");
        rt.install(|| {
            let task = Spawn::new().stack_size(8 << 20).spawn(|| {
                yield_now();
                deep(2_000)
            });
            task.join().expect("joined by a task with less");
        });
        for tiny in [0, 1] {
            rt.spawn_with(Spawn::new().stack_size(tiny), || deep(4)).join().expect("rounded up");
        }
        let error =
            rt.spawn_with(Spawn::new().stack_size(3 << 30), || ()).join().expect_err("3 GiB");
        assert_eq!(
            error.to_string(),
            "cannot give a task 3221225472 bytes of stack: 1073741824 is the most"
        );
    });
}

fiber_local! {
    static COUNT: Cell<u32> = Cell::new(0);
    static TEXT: RefCell<String> = RefCell::new(String::new());
}

#[test]
fn locals_belong_to_tasks() {
    at_all_counts(|rt| {
        let task = |rounds: u32| {
            move || {
                for _ in 0..rounds {
                    COUNT.with(|count| count.set(count.get() + 1));
                    TEXT.with(|text| text.borrow_mut().push('x'));
                    yield_now();
                }
                (COUNT.with(Cell::get), TEXT.with(|text| text.borrow().len()))
            }
        };
        let tasks: Vec<_> = (0..50).map(|i| (i, rt.spawn(task(i)))).collect();
        for (i, task) in tasks {
            assert_eq!(task.join().expect("done"), (i, i as usize));
        }
    });
}

thread_local! {
    static DROPPED: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn locals_are_dropped_with_their_task_and_need_not_be_send() {
    struct Noisy(#[allow(dead_code)] Rc<()>, Cell<bool>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
            // A local that a destructor makes is dropped too. A panic ends here.
            LATE.with(|late| late.set(late.get() + 1));
            assert!(!self.1.get(), "a destructor that panics");
        }
    }
    fiber_local! {
        static NOISY: Noisy = Noisy(Rc::new(()), Cell::new(false));
        static LATE: Cell<u32> = Cell::new(0);
    }
    with_runtime(1, |rt| {
        for panics in [false, true] {
            rt.spawn(move || NOISY.with(|noisy| noisy.1.set(panics))).join().expect("done");
        }
        assert!(
            rt.spawn(|| NOISY.with(|_| std::panic::resume_unwind(Box::new(())))).join().is_err()
        );
        assert_eq!(rt.install(|| DROPPED.get()), 3);
    });
}

#[test]
fn locals_are_an_error_outside_of_tasks_and_in_branches() {
    assert_eq!(COUNT.try_with(|_| ()), Err(FiberLocalError::NoTask));
    at_all_counts(|rt| {
        assert_eq!(rt.install(|| COUNT.try_with(|_| ())), Err(FiberLocalError::NoTask));
        rt.spawn(|| {
            COUNT.with(|count| count.set(7));
            for _ in 0..100 {
                let use_it = || COUNT.try_with(Cell::get);
                assert_eq!(
                    join(use_it, use_it),
                    (Err(FiberLocalError::InBranch), Err(FiberLocalError::InBranch))
                );
                assert_eq!(fork([use_it, use_it]), [Err(FiberLocalError::InBranch); 2]);
            }
            assert_eq!(COUNT.with(Cell::get), 7);
        })
        .join()
        .expect("done");
    });
}

#[test]
fn the_context_id_is_the_tasks() {
    at_all_counts(|rt| {
        rt.spawn(|| {
            let id = sateen_sync::park::context_id();
            assert_eq!(id, current_task().expect("a task").id.get());
            let inner = spawn(sateen_sync::park::context_id);
            let inner_id = inner.id().get();
            assert_eq!(inner.join().expect("done"), inner_id);
            yield_now();
            assert_eq!(id, sateen_sync::park::context_id());
        })
        .join()
        .expect("done");
    });
}

#[test]
fn forgotten_handles_detach() {
    at_all_counts(|rt| {
        let ran = Arc::new(AtomicUsize::new(0));
        for i in 0..20 {
            let ran = ran.clone();
            let count = move || {
                yield_now();
                ran.fetch_add(1, SeqCst);
            };
            match i % 2 {
                0 => std::mem::forget(rt.spawn(count)),
                _ => std::mem::forget(rt.spawn_async(async move { count() })),
            }
        }
        // (Forgotten tasks leak, and nothing waits for them.)
        while ran.load(SeqCst) < 20 {
            std::thread::yield_now();
        }
    });
}

#[test]
fn a_task_that_a_branch_joins_has_locals_of_its_own() {
    fiber_local! {
        static MINE: Cell<u32> = Cell::new(0);
    }
    let in_task = || MINE.with(|mine| mine.replace(1));
    at_all_counts(|rt| {
        let joined = || spawn(in_task).join().expect("a task's own local");
        let (a, b) = rt.install(|| join(joined, joined));
        assert_eq!((a, b), (0, 0));
        // The task's own branches still count as branches.
        let branch = || MINE.try_with(Cell::get);
        let nested = move || spawn(move || join(branch, || ()).0).join().expect("done");
        assert_eq!(rt.install(|| join(nested, || ())).0, Err(FiberLocalError::InBranch));
    });
}
