//! Sleeping, time-outs and limits, on idle and on busy runtimes.

mod common;

use common::{at_all_counts, with_runtime};
use sateen_runtime::{
    Elapsed, JoinError, JoinHandle, Runtime, Spawn, block_on, blocking, check_cancelled, join,
    sleep, sleep_async, sleep_until, spawn, timeout, timeout_async, yield_now,
};
use sateen_sync::{Event, Mutex};
use sateen_testkit::message;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(600);

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn ten_thousand_sleepers_and_none_too_early() {
    at_all_counts(|rt| {
        let early = Arc::new(AtomicUsize::new(0));
        let sleepers: Vec<JoinHandle<()>> = (0..10_000u64)
            .map(|i| {
                let early = Arc::clone(&early);
                // The naps are scattered, and are the same in each run.
                let nap = Duration::from_micros(i.wrapping_mul(2_654_435_761) % 60_000);
                let begin = Instant::now();
                let check = move || {
                    if begin.elapsed() < nap {
                        early.fetch_add(1, SeqCst);
                    }
                };
                match i % 4 {
                    0 => rt.spawn_async(async move {
                        sleep_async(nap).await;
                        check();
                    }),
                    1 => rt.spawn(move || {
                        block_on(sleep_async(nap));
                        check();
                    }),
                    2 => rt.spawn(move || {
                        sleep_until(begin + nap);
                        check();
                    }),
                    _ => rt.spawn(move || {
                        sleep(nap);
                        check();
                    }),
                }
            })
            .collect();
        sleepers.into_iter().for_each(|sleeper| sleeper.join().unwrap());
        assert_eq!(early.load(SeqCst), 0);
    });
}

#[test]
fn what_is_past_does_not_wait() {
    at_all_counts(|rt| {
        rt.install(|| {
            sleep_until(Instant::now() - SHORT);
            sleep(Duration::ZERO);
            assert_eq!(timeout(Duration::ZERO, || 1), Ok(1));
        });
    });
}

#[test]
fn an_idle_worker_fires_a_busy_ones_timers() {
    for workers in [2, 3, 8] {
        with_runtime(workers, |rt| {
            let done = Arc::new(AtomicBool::new(false));
            let seen = rt.spawn(move || {
                // The future is polled here first, so its timer belongs to this worker.
                let tell = Arc::clone(&done);
                let future = Spawn::new().dispatch().spawn_async(async move {
                    sleep_async(SHORT).await;
                    tell.store(true, SeqCst);
                });
                // Computes without a point that lets other tasks run.
                let begin = Instant::now();
                while !done.load(SeqCst) && begin.elapsed() < ms(20_000) {
                    std::hint::spin_loop();
                }
                let seen = done.load(SeqCst);
                future.join().unwrap();
                seen
            });
            assert!(seen.join().unwrap(), "the future had to wait for the busy worker");
        });
    }
}

#[test]
fn sleepers_of_a_busy_worker() {
    // Fibers stay with their worker. It lets them run when it spawns or joins.
    common::a_fiber_runs_during(|| {
        join(|| (), || ());
    });
    at_all_counts(|rt| {
        let sleeper = rt.spawn(|| {
            sleep(SHORT);
            Instant::now()
        });
        let busy: Vec<_> = (0..rt.workers())
            .map(|_| {
                rt.spawn(|| {
                    let end = Instant::now() + ms(20);
                    while Instant::now() < end {
                        yield_now();
                    }
                })
            })
            .collect();
        sleeper.join().unwrap();
        busy.into_iter().for_each(|task| task.join().unwrap());
    });
}

#[test]
fn a_limit_ends_what_waits() {
    at_all_counts(|rt| {
        rt.install(|| {
            let (event, mutex) = (Event::new(), Mutex::new(()));
            assert_eq!(timeout(SHORT, || event.wait()), Err(Elapsed));
            assert_eq!(timeout(SHORT, || sleep(LONG)), Err(Elapsed));
            assert_eq!(timeout(SHORT, || block_on(sleep_async(LONG))), Err(Elapsed));
            assert_eq!(timeout(SHORT, || while check_cancelled().is_ok() {}), Ok(()));
            let never = timeout(SHORT, || -> () {
                loop {
                    yield_now();
                }
            });
            assert_eq!(never, Err(Elapsed));
            let guard = mutex.lock();
            assert_eq!(timeout(SHORT, || drop(mutex.lock())), Err(Elapsed));
            drop(guard);
            // Later calls are not affected.
            assert_eq!(timeout(LONG, || drop(mutex.lock())), Ok(()));
            assert!(check_cancelled().is_ok());
            sleep(SHORT);
        });
        assert_eq!(timeout(LONG, || 1), Ok(1));
    });
    let event = Event::new();
    assert_eq!(timeout(SHORT, || event.wait()), Err(Elapsed), "from a plain thread");
}

#[test]
fn limits_nest() {
    at_all_counts(|rt| {
        rt.install(|| {
            let event = Event::new();
            let outer = timeout(SHORT, || timeout(LONG, || event.wait()));
            assert_eq!(outer, Err(Elapsed));
            let inner = timeout(LONG, || timeout(SHORT, || event.wait()));
            assert_eq!(inner, Ok(Err(Elapsed)));
            let both = timeout(LONG, || {
                let first = timeout(SHORT, || event.wait());
                event.set();
                (first, timeout(LONG, || event.wait()))
            });
            assert_eq!(both, Ok((Err(Elapsed), Ok(()))));
        });
    });
}

#[test]
fn panics_and_cancelling_pass_through_a_limit() {
    at_all_counts(|rt| {
        rt.install(|| {
            let caught = catch_unwind(AssertUnwindSafe(|| timeout(LONG, || panic!("inside"))));
            assert_eq!(message(caught.unwrap_err()), "inside");
        });
        let begun = Arc::new(Event::new());
        let task = rt.spawn({
            let begun = Arc::clone(&begun);
            move || {
                timeout(LONG, || {
                    timeout(LONG, || {
                        begun.set();
                        sleep(LONG);
                    })
                })
            }
        });
        begun.wait();
        task.cancel();
        assert!(matches!(task.join(), Err(JoinError::Cancelled)));
    });
}

#[test]
fn a_limit_does_not_hold_others() {
    at_all_counts(|rt| {
        rt.install(|| {
            // The joined task is not part of the limited work. It goes on and is not cancelled.
            let task = spawn(|| {
                sleep(SHORT * 4);
                1
            });
            let mut task = Some(task);
            let joined = timeout(SHORT, || task.take().map(JoinHandle::join));
            assert!(matches!(joined, Err(Elapsed) | Ok(Some(Ok(1)))), "{joined:?}");
            // The call waits for branches and for borrowed frames.
            let mut data = [0; 8];
            let result = timeout(SHORT, || {
                blocking(|| {
                    std::thread::sleep(SHORT * 2);
                    data[0] = 1;
                });
                sleep(LONG);
            });
            assert_eq!((result, data[0]), (Err(Elapsed), 1));
            let result = timeout(SHORT, || join(|| sleep(LONG), || sleep(SHORT * 2)));
            assert_eq!(result, Err(Elapsed));
        });
    });
}

#[test]
fn joining_with_a_limit() {
    fn tries(rt: &Runtime) {
        let event = Arc::new(Event::new());
        let wait = Arc::clone(&event);
        let task = rt.spawn(move || {
            wait.wait();
            7
        });
        let task = task.join_timeout(SHORT).unwrap_err();
        let task = task.join_timeout(Duration::ZERO).unwrap_err();
        event.set();
        assert_eq!(task.join_timeout(LONG).unwrap().unwrap(), 7);
        let mut pending = rt.spawn_async(std::future::pending::<()>());
        assert!(block_on(timeout_async(SHORT, &mut pending)).is_err());
        let pending = pending.join_timeout(SHORT).unwrap_err();
        pending.cancel();
        assert!(matches!(pending.join_timeout(Duration::MAX), Ok(Err(JoinError::Cancelled))));
        let panics: JoinHandle<()> = rt.spawn(|| panic!("soon"));
        assert!(panics.join_timeout(LONG).unwrap().unwrap_err().is_panic());
    }
    at_all_counts(|rt| {
        tries(rt);
        rt.install(|| tries(rt));
    });
}
