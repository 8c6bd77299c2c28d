//! Locks and other waits of `std` in strict runtimes: what each setting allows.
//!
//! | the lock or wait | `strict` | with `keep_threads` too |
//! |---|---|---|
//! | is not held across a wait of the runtime | goes on | goes on |
//! | is, and `no_suspend` is around both | goes on | goes on |
//! | is | may hang | goes on |
//!
//! In a strict runtime alone a task that waits leaves its place to another one. That one may want
//! the lock, and then keeps the place that the first one needs to go on.

// Here these are the tests of both settings together.
#[path = "keep_threads.rs"]
mod keep_threads;

use keep_threads::watched;
use sateen_runtime::{Builder, Runtime, no_suspend, par_reduce, scope, sleep, spawn, yield_now};
use sateen_sync::Event;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use std::time::{Duration, Instant};

const WORKERS: [usize; 3] = [1, 2, 8];
/// Substitutes, where as many tasks as that may be blocked at once.
const MANY: usize = 16;

fn strict() -> Builder {
    Runtime::builder().strict(true)
}

/// Both settings.
fn keeping() -> Builder {
    strict().keep_threads(true)
}

/// Runs `f` in a task of a runtime of each number of workers.
fn at_all(what: &str, builder: impl Fn() -> Builder, f: fn(&Runtime)) {
    for workers in WORKERS {
        watched(&format!("{what} on {workers} workers"), || {
            let rt = builder().workers(workers).build().expect("a runtime");
            (0..3).for_each(|_| rt.install(|| f(&rt)));
            rt.shutdown().expect("an orderly end");
        });
    }
}

/// Spawns `tasks` tasks, and joins them all.
fn each(tasks: usize, f: impl Fn(usize) + Send + Sync + 'static) {
    let f = Arc::new(f);
    let one = |i| {
        let f = Arc::clone(&f);
        spawn(move || f(i))
    };
    let tasks: Vec<_> = (0..tasks).map(one).collect();
    tasks.into_iter().for_each(|task| task.join().expect("no panic"));
}

fn micros(number: usize) -> Duration {
    Duration::from_micros(number as u64)
}

// ---- strict alone ----

#[test]
fn ten_thousand_on_one_lock() {
    at_all("ten thousand on one lock", strict, |_| {
        let total = Arc::new(Mutex::new(0));
        let count = Arc::clone(&total);
        each(10_000, move |_| *count.lock().unwrap() += 1);
        assert_eq!(*total.lock().unwrap(), 10_000);
    });
}

/// What ends the wait is queued behind it.
#[test]
fn waits_for_queued_tasks() {
    let builder = || strict().substitutes(MANY);
    at_all("a condition", builder, |_| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        each(12, move |i| {
            let (count, all) = &*pair;
            let mut count = count.lock().unwrap();
            *count += 1;
            all.notify_all();
            while i < 4 && *count < 12 {
                count = all.wait(count).unwrap();
            }
        });
    });
    at_all("a channel", builder, |_| {
        let (send, receive) = mpsc::channel();
        let count = spawn(move || receive.iter().count());
        each(20, move |i| send.send(i).unwrap());
        assert_eq!(count.join().unwrap(), 20);
    });
    at_all("a barrier", builder, |_| {
        let barrier = Arc::new(Barrier::new(12));
        each(12, move |_| _ = barrier.wait());
    });
}

/// A wait in `no_suspend` keeps the worker's place, so the holder finds it again.
#[test]
fn a_lock_across_a_wait_in_no_suspend() {
    fn held(_: &Runtime) {
        let total = Arc::new(Mutex::new(0));
        let count = Arc::clone(&total);
        each(100, move |i| {
            no_suspend(|| {
                let mut count = count.lock().unwrap();
                sleep(micros(i % 3 * 50));
                yield_now();
                *count += par_reduce(0..i, || 0, |_| 1, |a, b| a + b);
            });
        });
        assert_eq!(*total.lock().unwrap(), 99 * 50);
    }
    at_all("no_suspend in a strict runtime", strict, held);
    at_all("no_suspend", Runtime::builder, held);
}

/// The thread that computes is the task's own, not the worker's first one.
#[test]
fn a_task_that_computes_is_not_taken_for_a_blocked_one() {
    for workers in [1, 2] {
        watched("tasks that compute", || {
            let rt = strict().workers(workers).build().expect("a runtime");
            let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let compute = || {
                most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                let start = Instant::now();
                while start.elapsed() < Duration::from_millis(60) {
                    black_box(0);
                }
                now.fetch_sub(1, SeqCst);
            };
            rt.scope(|s| (0..6).for_each(|_| s.spawn(|_| compute())));
            assert!(most.load(SeqCst) <= workers, "{most:?} at once on {workers} workers");
            assert_eq!(rt.report().blocked_workers, []);
            rt.shutdown().expect("an orderly end");
        });
    }
}

#[test]
fn many_tasks_wait_at_once() {
    at_all("tasks that wait", strict, |_| {
        let (event, begun) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        let (gate, count) = (Arc::clone(&event), Arc::clone(&begun));
        let set = spawn(move || {
            while begun.load(SeqCst) < 300 {
                yield_now();
            }
            event.set();
        });
        each(300, move |_| {
            count.fetch_add(1, SeqCst);
            gate.wait();
        });
        set.join().unwrap();
    });
}

// ---- strict, and keep_threads ----

#[test]
fn ten_thousand_that_yield_under_one_lock() {
    at_all("ten thousand that yield", keeping, |_| {
        let total = Arc::new(Mutex::new(0));
        let count = Arc::clone(&total);
        each(2_000, move |_| {
            let mut count = count.lock().unwrap();
            yield_now();
            *count += 1;
        });
        assert_eq!(*total.lock().unwrap(), 2_000);
    });
    watched("ten thousand that yield on two workers", || {
        let rt = keeping().workers(2).build().expect("a runtime");
        let total = Mutex::new(0);
        rt.scope(|s| {
            for _ in 0..10_000 {
                s.spawn(|_| {
                    let mut total = total.lock().unwrap();
                    yield_now();
                    *total += 1;
                });
            }
        });
        assert_eq!(total.into_inner().unwrap(), 10_000);
    });
}

#[test]
fn readers_and_writers_that_sleep() {
    at_all("readers and writers", keeping, |_| {
        let lock = Arc::new(RwLock::new(0));
        let total = Arc::clone(&lock);
        each(100, move |i| match i % 5 {
            0 => {
                let mut total = lock.write().unwrap();
                sleep(micros(50));
                *total += par_reduce(0..i, || 0, |_| 1, |a, b| a + b);
            }
            _ => {
                let total = lock.read().unwrap();
                sleep(micros(20));
                let before = *total;
                yield_now();
                assert_eq!(*total, before);
            }
        });
        assert_eq!(*total.read().unwrap(), (0..100).step_by(5).sum());
    });
}

/// The task that ends the wait has been suspended meanwhile: a strict runtime alone might hang.
#[test]
fn waits_for_tasks_that_sleep() {
    let builder = || keeping().substitutes(MANY);
    at_all("a condition", builder, |_| {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let ready = Arc::clone(&pair);
        let set = spawn(move || {
            let mut is_ready = ready.0.lock().unwrap();
            sleep(micros(2000));
            *is_ready = true;
            ready.1.notify_all();
        });
        each(8, move |_| {
            let mut is_ready = pair.0.lock().unwrap();
            while !*is_ready {
                is_ready = pair.1.wait(is_ready).unwrap();
            }
        });
        set.join().unwrap();
    });
    at_all("a channel", builder, |_| {
        let (send, receive) = mpsc::sync_channel(1);
        let count = spawn(move || receive.iter().count());
        each(10, move |i| {
            sleep(micros(100));
            send.send(i).unwrap();
            sleep(micros(50));
            send.send(i).unwrap();
        });
        assert_eq!(count.join().unwrap(), 20);
    });
    at_all("a barrier", builder, |_| {
        let barrier = Arc::new(Barrier::new(12));
        each(12, move |i| {
            sleep(micros(i % 2 * 500));
            _ = barrier.wait();
        });
    });
}

#[test]
fn a_call_into_another_runtime_under_a_lock() {
    for workers in WORKERS {
        watched(&format!("calls on {workers} workers"), || {
            let build = || keeping().workers(workers).build().expect("a runtime");
            let (rt, other, total) = (build(), build(), Mutex::new(0));
            rt.scope(|s| {
                for _ in 0..100 {
                    s.spawn(|_| {
                        let mut total = total.lock().unwrap();
                        *total += other.install(|| {
                            sleep(micros(20));
                            par_reduce(0..10, || 0, |_| 1, |a, b| a + b)
                        });
                    });
                }
            });
            assert_eq!(total.into_inner().unwrap(), 1000);
        });
    }
}

#[test]
fn locks_on_one_core() {
    let run = || {
        let core = sateen_base::os::allowed_cores().first().copied();
        // Threads inherit it. Where it fails there are more cores, which is no harm.
        core.map(sateen_base::os::pin_current_thread);
        at_all("one core", keeping, |rt| {
            let (total, left) = (Mutex::new(0), AtomicBool::new(false));
            rt.scope(|s| {
                for i in 0..200 {
                    let (total, left) = (&total, &left);
                    s.spawn(move |_| {
                        let mut total = total.lock().unwrap();
                        assert!(!left.swap(true, SeqCst), "two at once");
                        sleep(micros(i % 3 * 20));
                        scope(|s| (0..3).for_each(|_| s.spawn(|_| yield_now())));
                        left.store(false, SeqCst);
                        *total += 1;
                    });
                }
            });
            assert_eq!(total.into_inner().unwrap(), 200);
        });
    };
    std::thread::scope(|threads| _ = threads.spawn(run));
}
