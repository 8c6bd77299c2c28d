//! Locks and other waits of `std` in strict runtimes. A task that waits keeps its thread, and
//! substitutes take over. So a lock may be held across a wait, with and without
//! [`keep_threads`](sateen_runtime::Builder::keep_threads) beside `strict`.

// Here these are the tests of both settings together.
#[path = "keep_threads.rs"]
mod keep_threads;

use sateen_runtime::{
    Builder, JoinError, Runtime, Spawn, join, no_suspend, par_for, par_reduce, policy, scope,
    sleep, spawn, yield_now,
};
use sateen_sync::Event;
use sateen_testkit::watched;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use std::time::{Duration, Instant};

const WORKERS: [usize; 3] = [1, 2, 8];
fn strict() -> Builder {
    Runtime::builder().strict(true)
}

/// Runs `f` in a task of a runtime of each number of workers.
fn at_all(what: &str, builder: impl Fn() -> Builder, f: fn(&Runtime)) {
    for workers in WORKERS {
        watched(&format!("{what} on {workers} workers"), || {
            let rt = builder().workers(workers).build().expect("a runtime");
            (0..2).for_each(|_| rt.install(|| f(&rt)));
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

/// How many of 60 tasks that sleep had begun at once.
fn most_that_sleep(rt: &Runtime) -> usize {
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    rt.scope(|s| {
        let (now, most) = (&now, &most);
        for i in 0..60 {
            s.spawn(move |_| {
                most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                sleep(micros(i % 7 * 50));
                now.fetch_sub(1, SeqCst);
            });
        }
    });
    most.into_inner()
}

fn micros(number: usize) -> Duration {
    Duration::from_micros(number as u64)
}

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
    at_all("a condition", strict, |_| {
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
    at_all("a channel", strict, |_| {
        let (send, receive) = mpsc::channel();
        let count = spawn(move || receive.iter().count());
        each(20, move |i| send.send(i).unwrap());
        assert_eq!(count.join().unwrap(), 20);
    });
    at_all("a barrier", strict, |_| {
        let barrier = Arc::new(Barrier::new(12));
        each(12, move |_| _ = barrier.wait());
    });
}

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

#[test]
fn a_lock_across_sleeps_and_yields() {
    at_all("sleeps and yields under a lock", strict, |_| {
        let total = Arc::new(Mutex::new(0));
        let count = Arc::clone(&total);
        each(200, move |i| {
            let mut count = count.lock().unwrap();
            sleep(micros(i % 3 * 50));
            yield_now();
            *count += 1;
        });
        assert_eq!(*total.lock().unwrap(), 200);
    });
}

#[test]
fn a_lock_across_nested_loops() {
    at_all("loops under a lock", strict, |_| {
        let total = Arc::new(Mutex::new(0));
        let sum = Arc::clone(&total);
        each(100, move |i| {
            let mut sum = sum.lock().unwrap();
            let inner = AtomicUsize::new(0);
            par_for(0..i, |j| {
                if j % 10 == 0 {
                    sleep(micros(10));
                }
                inner.fetch_add(1, SeqCst);
            });
            *sum += inner.into_inner();
        });
        assert_eq!(*total.lock().unwrap(), 99 * 50);
    });
}

/// What the holder waits for is queued behind tasks that want the lock.
#[test]
fn a_lock_across_a_wait_for_queued_tasks() {
    at_all("an event under a lock", strict, |_| {
        let total = Arc::new(Mutex::new(0));
        let count = Arc::clone(&total);
        each(40, move |_| {
            let mut count = count.lock().unwrap();
            let event = Arc::new(Event::new());
            let set = Arc::clone(&event);
            drop(spawn(move || set.set()));
            event.wait();
            let (a, b) = join(|| spawn(|| 1).join().unwrap(), || 1);
            *count += a + b;
        });
        assert_eq!(*total.lock().unwrap(), 80);
    });
}

/// A yield lets work that has not started have its turn, whatever keeps the worker's thread.
#[test]
fn a_yield_starts_what_is_queued() {
    at_all("a task that yields until another has run", strict, |rt| {
        let done = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let done = Arc::clone(&done);
                rt.spawn(move || _ = done.fetch_add(1, SeqCst))
            })
            .collect();
        while done.load(SeqCst) < 20 {
            yield_now();
        }
        tasks.into_iter().for_each(|task| task.join().unwrap());
    });
    at_all("tasks that yield until all have begun", strict, |_| {
        let begun = AtomicUsize::new(0);
        scope(|s| {
            for _ in 0..50 {
                s.spawn(|_| {
                    begun.fetch_add(1, SeqCst);
                    while begun.load(SeqCst) < 50 {
                        yield_now();
                    }
                });
            }
        });
    });
}

/// More of them would need more substitutes than there are. The others start when these have ended.
#[test]
fn what_has_no_substitute_starts_later() {
    for workers in WORKERS {
        watched(&format!("few substitutes on {workers} workers"), || {
            let rt = strict().workers(workers).substitutes(2).build().expect("a runtime");
            let most = most_that_sleep(&rt);
            assert!(most <= workers + 2, "{most} at once");
            rt.shutdown().expect("an orderly end");
        });
    }
}

/// The stacks of a strict runtime are its threads'. What would stand still may exceed the limit.
#[test]
fn a_limit_on_stacks_bounds_the_threads() {
    for (workers, stacks) in [(1, 1), (1, 3), (2, 2), (2, 5)] {
        watched(&format!("{stacks} stacks on {workers} workers"), || {
            let rt = strict().workers(workers).max_stacks(stacks).build().expect("a runtime");
            let most = most_that_sleep(&rt);
            assert!(most <= stacks, "{most} at once");
            // Each branch waits for the other, and so do a task and one that comes after it.
            let (event, other) = (Event::new(), Arc::new(Event::new()));
            rt.install(|| join(|| event.wait(), || event.set()));
            let (wait, set) = (Arc::clone(&other), other);
            let first = rt.spawn(move || wait.wait());
            rt.spawn(move || set.set()).join().expect("it had a thread");
            first.join().expect("woken");
            rt.shutdown().expect("an orderly end");
        });
    }
}

#[test]
fn workers_that_are_alone_elsewhere_take_over() {
    let builder = || strict().policy(policy::round_robin());
    at_all("round robin", builder, |_| {
        let (total, gate) = (Arc::new(Mutex::new(0)), Arc::new(Barrier::new(12)));
        let count = Arc::clone(&total);
        each(12, move |_| {
            *count.lock().unwrap() += 1;
            sleep(micros(100));
            _ = gate.wait();
        });
        assert_eq!(*total.lock().unwrap(), 12);
    });
}

/// A task with a larger stack has a thread of its own, for which its worker's waits.
#[test]
fn larger_stacks_under_a_lock() {
    at_all("larger stacks", strict, |rt| {
        let (total, gate) = (Arc::new(Mutex::new(0)), Arc::new(Event::new()));
        let one = |i: usize| {
            let (total, gate) = (Arc::clone(&total), Arc::clone(&gate));
            rt.spawn_with(Spawn::new().stack_size(4 << 20), move || {
                let big = black_box([i as u8; 400 << 10]);
                let mut total = total.lock().unwrap();
                sleep(micros(50));
                yield_now();
                *total += par_reduce(0..10, || 0, |_| usize::from(big[0] == i as u8), |a, b| a + b);
                drop(total);
                if i == 19 {
                    gate.set();
                } else {
                    gate.wait();
                }
            })
        };
        let tasks: Vec<_> = (0..20).map(one).collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(*total.lock().unwrap(), 200);
    });
}

/// Tasks that are cancelled while they keep their threads give them back.
#[test]
fn the_end_of_many_that_wait() {
    for workers in WORKERS {
        watched(&format!("a hundred that wait on {workers} workers"), || {
            let rt = strict().workers(workers).build().expect("a runtime");
            let (event, begun) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
            let one = |_| {
                let (event, begun) = (Arc::clone(&event), Arc::clone(&begun));
                rt.spawn(move || {
                    begun.fetch_add(1, SeqCst);
                    event.wait();
                })
            };
            let tasks: Vec<_> = (0..100).map(one).collect();
            while begun.load(SeqCst) < 100 {
                std::thread::yield_now();
            }
            rt.shutdown_timeout(Duration::from_millis(1)).expect("all can be cancelled");
            let cancelled = |task| matches!(task, Err(JoinError::Cancelled));
            assert!(tasks.into_iter().all(|task| cancelled(task.join())));
        });
    }
}

#[test]
fn many_that_yield_under_one_lock() {
    at_all("many that yield", strict, |_| {
        let total = Arc::new(Mutex::new(0));
        let count = Arc::clone(&total);
        each(300, move |_| {
            let mut count = count.lock().unwrap();
            yield_now();
            *count += 1;
        });
        assert_eq!(*total.lock().unwrap(), 300);
    });
    watched("many that yield on two workers", || {
        let rt = strict().workers(2).build().expect("a runtime");
        let total = Mutex::new(0);
        rt.scope(|s| {
            for _ in 0..2_000 {
                s.spawn(|_| {
                    let mut total = total.lock().unwrap();
                    yield_now();
                    *total += 1;
                });
            }
        });
        assert_eq!(total.into_inner().unwrap(), 2_000);
    });
}

#[test]
fn readers_and_writers_that_sleep() {
    at_all("readers and writers", strict, |_| {
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
        assert_eq!(*total.read().unwrap(), (0..100).step_by(5).sum::<i32>());
    });
}

/// The task that ends the wait waits itself meanwhile.
#[test]
fn waits_for_tasks_that_sleep() {
    at_all("a condition", strict, |_| {
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
    at_all("a channel", strict, |_| {
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
    at_all("a barrier", strict, |_| {
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
            let build = || strict().workers(workers).build().expect("a runtime");
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
        at_all("one core", strict, |rt| {
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
