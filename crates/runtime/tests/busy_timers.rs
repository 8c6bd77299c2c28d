//! Timers fire while every worker is inside long work that spawns, joins or loops.
//!
//! The work goes on until the sleeper has been seen, or until a bound that no test should come
//! near.

mod common;

use common::{fib, with_runtime};
use sateen_runtime::{
    Runtime, Spawn, block_on, fork, join, no_suspend, par_for, par_sort, poll_requests, scope,
    sleep, sleep_async, spawn, timeout, yield_now,
};
use sateen_sync::Event;
use sateen_testkit::waker_fn;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::Context;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(5);
const BOUND: Duration = Duration::from_secs(20);

/// Repeats `step` until `seen` is set. Returns false if that takes too long.
fn work_until(seen: &AtomicBool, step: impl Fn()) -> bool {
    let begin = Instant::now();
    while !seen.load(SeqCst) {
        if begin.elapsed() > BOUND {
            return false;
        }
        step();
    }
    true
}

/// Each worker repeats `step`, on 1, 2 and 4 workers. A task naps again and again until all workers
/// have been busy during a whole nap.
fn naps_beside(nap: fn(), step: fn()) {
    for workers in [1, 2, 4] {
        with_runtime(workers, |rt| {
            let (seen, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(Event::new()));
            let busy = Arc::new(AtomicUsize::new(0));
            let sleeper = rt.spawn({
                let (seen, begun, busy) = (seen.clone(), begun.clone(), busy.clone());
                move || {
                    begun.set();
                    while busy.load(SeqCst) < workers {
                        nap();
                    }
                    nap();
                    seen.store(true, SeqCst);
                }
            });
            begun.wait();
            let work = || {
                let (seen, busy) = (seen.clone(), busy.clone());
                rt.spawn(move || {
                    busy.fetch_add(1, SeqCst);
                    work_until(&seen, step)
                })
            };
            let work: Vec<_> = (0..workers).map(|_| work()).collect();
            for work in work {
                let seen = work.join().expect("worked");
                assert!(seen, "{workers} workers: the sleeper had to wait for the work's end");
            }
            sleeper.join().expect("slept");
        });
    }
}

fn nap() {
    sleep(NAP);
}

#[test]
fn beside_a_tree_of_joins() {
    naps_beside(nap, || _ = fib(12));
}

#[test]
fn beside_one_long_tree_of_joins() {
    /// The tree ends only when the sleeper has run.
    fn tree(seen: &AtomicBool, begin: Instant, depth: u32) -> bool {
        if seen.load(SeqCst) || begin.elapsed() > BOUND {
            return seen.load(SeqCst);
        }
        if depth == 0 {
            fib(10);
            return true;
        }
        let (a, b) = join(|| tree(seen, begin, depth - 1), || tree(seen, begin, depth - 1));
        a & b
    }
    for workers in [1, 2, 4] {
        with_runtime(workers, |rt| {
            let (seen, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(Event::new()));
            let sleeper = rt.spawn({
                let (seen, begun) = (seen.clone(), begun.clone());
                move || {
                    begun.set();
                    sleep(NAP * 10);
                    seen.store(true, SeqCst);
                }
            });
            begun.wait();
            assert!(rt.install(|| tree(&seen, Instant::now(), 60)));
            sleeper.join().expect("slept");
        });
    }
}

#[test]
fn beside_forks() {
    naps_beside(nap, || fork([|| (), || ()]).into_iter().for_each(drop));
}

#[test]
fn beside_a_scope() {
    naps_beside(nap, || {
        scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|_| ());
            }
        });
    });
}

#[test]
fn beside_a_loop() {
    naps_beside(nap, || par_for(0..1000, |i| _ = std::hint::black_box(i)));
}

#[test]
fn beside_a_sort() {
    naps_beside(nap, || {
        let mut data: Vec<u32> = (0..20_000u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        par_sort(&mut data);
    });
}

#[test]
fn beside_spawns() {
    naps_beside(nap, || _ = spawn(|| ()).join());
}

#[test]
fn beside_polls() {
    naps_beside(nap, poll_requests);
}

#[test]
fn a_future_that_a_task_awaits() {
    naps_beside(|| block_on(sleep_async(NAP)), || _ = fib(12));
}

#[test]
fn a_wait_with_a_limit() {
    naps_beside(|| assert!(timeout(NAP, || Event::new().wait()).is_err()), || _ = fib(12));
}

#[test]
fn many_sleepers() {
    naps_beside(
        || {
            let sleepers: Vec<_> = (1..50).map(|i| spawn(move || sleep(NAP * i / 50))).collect();
            sleepers.into_iter().for_each(|sleeper| sleeper.join().expect("slept"));
        },
        || _ = fib(12),
    );
}

/// The timer belongs to the busy task itself, which goes on and looks whether the waker was called.
#[test]
fn a_timer_of_the_busy_task_itself() {
    for workers in [1, 2, 4] {
        with_runtime(workers, |rt| {
            let work = || {
                rt.spawn(|| {
                    let told = Arc::new(AtomicBool::new(false));
                    let tell = Arc::clone(&told);
                    let waker = waker_fn(move || tell.store(true, SeqCst));
                    let mut nap = pin!(sleep_async(NAP));
                    assert!(nap.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
                    work_until(&told, || _ = fib(12))
                })
            };
            let work: Vec<_> = (0..workers).map(|_| work()).collect();
            for work in work {
                assert!(work.join().expect("worked"), "the timer had to wait for the task's end");
            }
        });
    }
}

/// A substitute watches the timer of a task whose worker sleeps. The blocked worker goes on, and
/// stays busy, so the substitute rests. (The naps of threads bring that about nearly always. The
/// test passes also where they do not.)
#[test]
fn after_a_substitute_that_watched() {
    let rt = Runtime::builder().workers(2).substitutes(1).build().expect("a runtime");
    for _ in 0..20 {
        let seen = Arc::new(AtomicBool::new(false));
        let [release, blocks, sleeps] = [0; 3].map(|_| Arc::new(Event::new()));
        let busy = rt.spawn_with(Spawn::new().on_worker(0), {
            let (seen, release, blocks) = (seen.clone(), release.clone(), blocks.clone());
            move || {
                no_suspend(|| {
                    blocks.set();
                    release.wait();
                });
                // To offer work would wake the sleeping worker, which would look.
                work_until(&seen, std::thread::yield_now)
            }
        });
        blocks.wait();
        let sleeper = rt.spawn_with(Spawn::new().on_worker(1), {
            let sleeps = sleeps.clone();
            move || {
                // The substitute takes this task, and watches afterwards because it sleeps alone.
                drop(spawn(|| ()));
                std::thread::sleep(NAP);
                sleeps.set();
                sleep(NAP * 4);
                seen.store(true, SeqCst);
            }
        });
        sleeps.wait();
        std::thread::sleep(NAP);
        release.set();
        assert!(busy.join().expect("worked"), "the sleeper had to wait for the work's end");
        sleeper.join().expect("slept");
    }
    rt.shutdown().expect("an orderly end");
}

/// The only worker is blocked in the system, so a substitute has to fire the timer of a future.
#[test]
fn a_futures_timer_while_all_workers_are_blocked() {
    let rt = Runtime::builder().workers(1).substitutes(1).build().expect("a runtime");
    let seen = Arc::new(AtomicBool::new(false));
    let (begun, sees) = (Arc::new(Event::new()), seen.clone());
    let begins = begun.clone();
    let sleeper = rt.spawn_async(async move {
        let nap = sleep_async(NAP * 10);
        begins.set();
        nap.await;
        sees.store(true, SeqCst);
    });
    begun.wait();
    let blocked = rt.spawn(move || work_until(&seen, || std::thread::sleep(NAP)));
    assert!(blocked.join().expect("worked"), "the timer had to wait for the task's end");
    sleeper.join().expect("slept");
    rt.shutdown().expect("an orderly end");
}

#[test]
fn on_the_thread_that_is_its_runtime() {
    let steps: [fn(); 4] = [
        || _ = fib(12),
        || par_for(0..1000, |i| _ = std::hint::black_box(i)),
        || _ = spawn(|| ()).join(),
        poll_requests,
    ];
    for step in steps {
        let rt = Runtime::current_thread().expect("a runtime");
        let seen = Arc::new(AtomicBool::new(false));
        let sleeper = rt.spawn_local({
            let seen = seen.clone();
            move || {
                sleep(NAP);
                seen.store(true, SeqCst);
            }
        });
        assert!(
            rt.run(|| {
                // The sleeper begins here.
                yield_now();
                work_until(&seen, step)
            }),
            "the sleeper had to wait for the task's end"
        );
        rt.run_until(sleeper).expect("slept");
        rt.shutdown();
    }
}

/// How many threads look at the clock while all workers are busy.
#[cfg(target_os = "linux")]
fn clocks() -> usize {
    common::threads_named("sateen-clock").len()
}

/// Runs this binary again, so that no other test has threads.
#[test]
#[cfg(target_os = "linux")]
fn its_thread_is_made_when_needed_and_ends() {
    if std::env::var_os("SATEEN_TEST_CHILD").is_none() {
        let output = std::process::Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "its_thread_is_made_when_needed_and_ends", "--nocapture"])
            .env("SATEEN_TEST_CHILD", "1")
            .output()
            .expect("runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let no_timers = || _ = fib(12);
    for workers in [1, 2, 4] {
        with_runtime(workers, |rt| {
            rt.install(no_timers);
            rt.install(nap);
            rt.spawn_async(sleep_async(NAP)).join().expect("slept");
            assert_eq!(clocks(), 0, "{workers} workers: nobody was busy while a timer was armed");
        });
        naps_beside(nap, || _ = fib(12));
        let begin = Instant::now();
        while clocks() > 0 {
            assert!(begin.elapsed() < BOUND, "a thread is left");
            std::thread::yield_now();
        }
    }
}
