//! A runtime whose only worker is the current thread.

mod common;

use common::fib;
use sateen_runtime::{
    CurrentThread, JoinError, Runtime, has_ready_work, join, scope, spawn, spawn_async,
    spawn_local, yield_now,
};
use sateen_sync::timer::{sleep, sleep_async};
use sateen_sync::{Event, Mutex, park};
use sateen_testkit::message;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

fn here() -> CurrentThread {
    Runtime::current_thread().expect("a runtime")
}

#[test]
fn everything_runs_on_the_calling_thread() {
    let runtime = here();
    let me = thread::current().id();
    let on_me = move || assert_eq!(thread::current().id(), me);
    assert_eq!(runtime.run(|| fib(15)), 610);
    runtime.run(|| {
        scope(|s| (0..10).for_each(|_| s.spawn(move |_| on_me())));
        spawn(on_me).join().expect("ran here");
        let event = Event::new();
        join(|| event.wait(), || event.set());
        sleep(Duration::from_millis(1));
    });
    assert_eq!(runtime.metrics().workers.len(), 1);
}

#[test]
fn tasks_need_not_be_send_and_run_by_turns() {
    let runtime = here();
    let order = Rc::new(RefCell::new(Vec::new()));
    for name in 0..3 {
        let order = Rc::clone(&order);
        drop(runtime.spawn_local(move || {
            for step in 0..3 {
                order.borrow_mut().push((step, name));
                yield_now();
            }
        }));
    }
    assert_eq!(runtime.run_until_idle(), None);
    let order = order.borrow();
    let at = |step, name| order.iter().position(|&o| o == (step, name)).expect("it ran");
    for name in 0..3 {
        assert!(at(0, name) < at(1, name) && at(1, name) < at(2, name));
        assert!((0..3).all(|other| at(0, other) < at(2, name)), "by turns: {order:?}");
    }
}

#[test]
fn fibers_stay_suspended_between_calls() {
    let runtime = here();
    let (lock, event) = (Rc::new(sateen_sync::local::Mutex::new(0)), Arc::new(Event::new()));
    let waits = {
        let (lock, event) = (Rc::clone(&lock), Arc::clone(&event));
        runtime.spawn_local(move || {
            let mut guard = lock.lock();
            event.wait();
            *guard += 1;
        })
    };
    let second = runtime.spawn_local({
        let lock = Rc::clone(&lock);
        move || *lock.lock() += 10
    });
    assert_eq!(runtime.run_until_idle(), None);
    assert!(!waits.is_finished() && !second.is_finished());
    assert_eq!(runtime.run(|| 5), 5, "others go on");
    event.set();
    runtime.run_until(waits).expect("ran");
    runtime.run_until(second).expect("ran");
    assert_eq!(*lock.try_lock().expect("free"), 11);
}

#[test]
fn futures_and_handles_of_others_are_waited_for() {
    let runtime = here();
    runtime.run_until(sleep_async(Duration::from_millis(2)));
    let other = Runtime::builder().workers(1).build().expect("a runtime");
    let task = other.spawn(|| {
        sleep(Duration::from_millis(2));
        7
    });
    assert_eq!(runtime.run_until(task).expect("a number"), 7);
}

#[test]
fn other_threads_send_work() {
    let runtime = here();
    let (spawner, me) = (runtime.spawner(), thread::current().id());
    let sum: usize = thread::scope(|s| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let spawner = spawner.clone();
                s.spawn(move || {
                    let there = |i| move || (i, thread::current().id());
                    let tasks: Vec<_> = (0..50usize).map(|i| spawner.spawn(there(i))).collect();
                    let ran = tasks.into_iter().map(|task| task.join().expect("ran"));
                    ran.inspect(|&(_, id)| assert_eq!(id, me)).map(|(i, _)| i).sum::<usize>()
                })
            })
            .collect();
        // The thread sleeps whenever no task has come yet.
        while threads.iter().any(|thread| !thread.is_finished()) {
            runtime.run(|| sleep(Duration::from_millis(1)));
        }
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(sum, 4 * 1225);
    drop(runtime);
    assert!(matches!(spawner.spawn(|| ()).join(), Err(JoinError::ShutDown)));
}

#[test]
fn what_arrives_while_nothing_runs_calls_back() {
    let calls = Arc::new(AtomicUsize::new(0));
    let (parker, called) = (Arc::new(park::ThreadParker::new()), Arc::clone(&calls));
    let wake = Arc::clone(&parker);
    let runtime = Runtime::builder()
        .on_arrival(move || {
            called.fetch_add(1, SeqCst);
            wake.unpark();
        })
        .current_thread()
        .expect("a runtime");
    assert_eq!(calls.load(SeqCst), 0);
    let event = Arc::new(Event::new());
    let task = runtime.spawn_local({
        let event = Arc::clone(&event);
        move || event.wait()
    });
    assert_eq!(calls.swap(0, SeqCst), 1, "its own thread spawned");
    runtime.run_until_idle();
    assert_eq!(calls.load(SeqCst), 0, "nothing is left to run");
    // Another thread wakes a fiber and spawns a task. The owner sleeps in its own way.
    let spawner = runtime.spawner();
    let other = thread::spawn(move || {
        event.set();
        spawner.spawn(|| 1).join().expect("ran")
    });
    while !other.is_finished() || !task.is_finished() {
        parker.park_timeout(Duration::from_millis(100));
        runtime.run_until_idle();
    }
    assert!(calls.load(SeqCst) >= 1);
    assert_eq!(other.join().expect("no panic"), 1);
}

#[test]
fn every_arrival_is_noticed() {
    let parker = Arc::new(park::ThreadParker::new());
    let wake = Arc::clone(&parker);
    let runtime =
        Runtime::builder().on_arrival(move || wake.unpark()).current_thread().expect("a runtime");
    let (spawner, count) = (runtime.spawner(), Arc::new(AtomicUsize::new(0)));
    let ran = Arc::clone(&count);
    let other = thread::spawn(move || {
        for _ in 0..2000 {
            let ran = Arc::clone(&ran);
            // The tasks come one at a time, so a missed call would stop all of them.
            spawner.spawn(move || ran.fetch_add(1, SeqCst)).join().expect("ran");
        }
    });
    while count.load(SeqCst) < 2000 {
        parker.park();
        runtime.run_until_idle();
    }
    other.join().expect("no panic");
}

#[test]
fn a_poll_keeps_to_its_budget_and_tells_of_timers() {
    let runtime = here();
    let count = Rc::new(Cell::new(0));
    for _ in 0..5 {
        let count = Rc::clone(&count);
        drop(runtime.spawn_local(move || count.set(count.get() + 1)));
    }
    for n in 1..=5 {
        assert_eq!(runtime.poll(Duration::ZERO).ready, n < 5);
        assert_eq!(count.get(), n);
    }
    let begun = Instant::now();
    let task = runtime.spawn_local(|| sleep(Duration::from_millis(5)));
    let polled = runtime.poll(Duration::MAX);
    assert!(!polled.ready);
    let due = polled.next_timer.expect("it sleeps");
    assert_eq!(runtime.next_timer(), Some(due));
    assert!(due >= begun + Duration::from_millis(5));
    while !task.is_finished() {
        let polled = runtime.poll(Duration::ZERO);
        assert!(polled.ready || polled.next_timer.is_some() || task.is_finished());
    }
    assert!(Instant::now() >= due && runtime.next_timer().is_none());
}

#[test]
fn a_poll_ends_beside_a_task_that_yields_for_ever() {
    let runtime = here();
    let task = runtime.spawn_local(|| -> () {
        loop {
            yield_now();
        }
    });
    assert!(runtime.poll(Duration::ZERO).ready);
    task.cancel();
    assert!(matches!(runtime.run_until(task), Err(JoinError::Cancelled)));
}

#[test]
fn panics_leave_as_they_would() {
    let runtime = here();
    let caught = catch_unwind(AssertUnwindSafe(|| runtime.run(|| panic!("inside"))));
    assert_eq!(message(caught.unwrap_err()), "inside");
    let task = runtime.spawn_local::<_, ()>(|| panic!("a task"));
    let error = runtime.run_until(task).unwrap_err();
    assert!(error.is_panic());
    let runtime = Rc::new(runtime);
    let inner = Rc::clone(&runtime);
    let again = runtime.run(|| catch_unwind(AssertUnwindSafe(|| inner.run(|| ()))));
    assert_eq!(message(again.unwrap_err()), "a runtime was run by one of its own tasks");
    assert_eq!(runtime.run(|| 1), 1);
    let outside = catch_unwind(|| drop(spawn_local(|| ())));
    assert!(message(outside.unwrap_err()).starts_with("spawn_local outside"));
}

#[test]
fn inside_of_another_runtimes_task() {
    let outer = Runtime::builder().workers(2).build().expect("a runtime");
    let sum = outer.install(|| {
        let runtime = here();
        let (a, b) = join(|| fib(10), || fib(11));
        let inner = runtime.run(|| {
            let event = Event::new();
            join(|| event.wait(), || event.set());
            fib(12)
        });
        assert!(!has_ready_work());
        let event = Event::new();
        join(|| event.wait(), || event.set());
        a + b + inner
    });
    assert_eq!(sum, 55 + 89 + 144);
}

/// Counts its drop.
struct Dropped(Rc<Cell<u32>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn dropped_it_ends_its_tasks() {
    let (count, event) = (Rc::new(Cell::new(0)), Arc::new(Event::new()));
    let runtime = here();
    let mine = || Dropped(Rc::clone(&count));
    let (a, b, c) = (mine(), mine(), mine());
    let waits = runtime.spawn_local({
        let event = Arc::clone(&event);
        move || {
            let _a = a;
            // The task's children wait, too.
            let child = spawn_local(move || {
                let _b = b;
                event.wait();
            });
            child.join().expect("never");
        }
    });
    runtime.run_until_idle();
    let late = runtime.spawn_local(move || drop(c));
    drop(runtime);
    assert_eq!(count.get(), 3);
    assert!(waits.is_finished() && matches!(late.join(), Err(JoinError::Cancelled)));
}

#[test]
fn dropped_it_ends_futures_that_can_run() {
    let runtime = here();
    let (again, event) = (Arc::new(AtomicUsize::new(0)), Arc::new(Event::new()));
    let (count, pending) = (Arc::clone(&again), Arc::clone(&event));
    let (ready, waits) = runtime.run(move || {
        let ready = spawn_async(std::future::poll_fn(move |cx| {
            count.fetch_add(1, SeqCst);
            cx.waker().wake_by_ref();
            std::task::Poll::<()>::Pending
        }));
        let waits = spawn_async(async move { pending.wait_async().await });
        yield_now();
        (ready, waits)
    });
    for _ in 0..10 {
        runtime.poll(Duration::ZERO);
    }
    assert!(again.load(SeqCst) >= 1 && !waits.is_finished());
    drop(runtime);
    assert!(matches!(ready.join(), Err(JoinError::Cancelled)));
    event.set();
    drop(waits);
    let runtime = here();
    let done = runtime.run(|| spawn_async(async { 3 }));
    runtime.shutdown();
    assert_eq!(done.join().expect("run by the shutdown"), 3);
}

#[test]
fn dropped_it_leaves_what_cannot_be_ended() {
    let (count, event) = (Rc::new(Cell::new(0)), Arc::new(Event::new()));
    let runtime = here();
    let task = runtime.spawn_local({
        let (held, event) = (Dropped(Rc::clone(&count)), Arc::clone(&event));
        move || {
            park::uninterrupted(|| event.wait());
            drop(held);
        }
    });
    runtime.run_until_idle();
    drop(runtime);
    event.set();
    assert!(!task.is_finished() && count.get() == 0);
}

#[test]
fn a_shutdown_runs_all_to_their_end() {
    let runtime = here();
    let lock = Arc::new(Mutex::new(0));
    let tasks: Vec<_> = (0..3)
        .map(|i| {
            let lock = Arc::clone(&lock);
            runtime.spawn_local(move || {
                sleep(Duration::from_millis(i));
                *lock.lock() += 1;
            })
        })
        .collect();
    runtime.shutdown();
    assert_eq!(*lock.lock(), 3);
    assert!(tasks.iter().all(|task| task.is_finished()));
}

#[test]
fn with_few_stacks_tasks_wait_or_fail() {
    let runtime = Runtime::builder().max_stacks(1).current_thread().expect("room for one stack");
    let event = Arc::new(Event::new());
    let waits = runtime.spawn_local({
        let event = Arc::clone(&event);
        move || event.wait()
    });
    let never = runtime.spawn_local(|| ());
    runtime.run_until_idle();
    assert!(matches!(never.join(), Err(JoinError::OutOfStacks)));
    event.set();
    runtime.run_until(waits).expect("woken");
}
