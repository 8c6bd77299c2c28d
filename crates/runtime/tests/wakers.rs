//! Wakers of the user's, which do what they like wherever they are called.

mod common;

use common::{at_all_counts, strict, with_runtime};
use sateen_runtime::{Runtime, sleep, sleep_async, spawn};
use sateen_sync::{Event, Mutex};
use sateen_testkit::{Watchdog, waker_fn};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(2);

/// Polls a sleep of [`SHORT`] once with that waker. The timer stays armed where the caller runs.
fn armed(waker: &Waker) -> Pin<Box<impl Future<Output = ()> + use<>>> {
    let mut sleep = Box::pin(sleep_async(SHORT));
    while sleep.as_mut().poll(&mut Context::from_waker(waker)).is_ready() {
        sleep = Box::pin(sleep_async(SHORT));
    }
    sleep
}

#[test]
fn a_waker_may_take_a_lock_that_somebody_holds() {
    let _watchdog = Watchdog::new("a waker that locks");
    let body = || {
        let (mutex, woken) = (Arc::new(Mutex::new(())), Arc::new(Event::new()));
        let (lock, tell) = (Arc::clone(&mutex), Arc::clone(&woken));
        let held = mutex.lock();
        let _sleep = armed(&waker_fn(move || {
            drop(lock.lock());
            tell.set();
        }));
        sleep(10 * SHORT);
        drop(held);
        woken.wait();
    };
    at_all_counts(|rt| rt.spawn(body).join().expect("woken"));
    Runtime::current_thread().expect("a runtime").run(body);
}

#[test]
fn a_waker_may_panic() {
    let _watchdog = Watchdog::new("a waker that panics");
    at_all_counts(|rt| {
        let woken = Arc::new(Event::new());
        rt.spawn(move || {
            let tell = Arc::clone(&woken);
            let _bad = armed(&waker_fn(|| panic!("a waker")));
            let _good = armed(&waker_fn(move || tell.set()));
            woken.wait();
        })
        .join()
        .expect("woken");
    });
}

#[test]
fn a_waker_that_waits_keeps_no_sleeper_asleep() {
    let _watchdog = Watchdog::new("a waker that waits");
    at_all_counts(|rt| {
        let (go, entered) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        let (wait, count) = (Arc::clone(&go), Arc::clone(&entered));
        rt.spawn(move || {
            let wakers: Vec<_> = (0..20)
                .map(|_| {
                    let (wait, count) = (Arc::clone(&wait), Arc::clone(&count));
                    armed(&waker_fn(move || {
                        count.fetch_add(1, SeqCst);
                        wait.wait();
                    }))
                })
                .collect();
            // All of them wait at once.
            while entered.load(SeqCst) < 20 {
                sleep(SHORT);
            }
            drop(wakers);
        })
        .join()
        .expect("sleeps on");
        go.set();
    });
}

#[test]
fn a_waker_may_spawn() {
    let _watchdog = Watchdog::new("a waker that spawns");
    let runtime = Runtime::current_thread().expect("a runtime");
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = runtime.run(|| {
        let sender = sender.clone();
        let _sleep = armed(&waker_fn(move || {
            let sender = sender.clone();
            drop(spawn(move || sender.send(std::thread::current().id())));
        }));
        loop {
            sleep(SHORT);
            if let Ok(thread) = receiver.try_recv() {
                break thread;
            }
        }
    });
    assert_eq!(thread, std::thread::current().id(), "on the runtime of the timer");
}

/// A future that wakes through a waker of its own, as selections do.
struct Wrapped<F>(Pin<Box<F>>);
impl<F: Future> Future for Wrapped<F> {
    type Output = F::Output;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let outer = cx.waker().clone();
        let inner = waker_fn(move || outer.wake_by_ref());
        self.0.as_mut().poll(&mut Context::from_waker(&inner))
    }
}

/// No worker can start the task that would call the waker.
#[test]
fn a_waker_is_called_while_all_stacks_are_in_use() {
    let _watchdog = Watchdog::new("no stacks");
    let runtime =
        common::builder().workers(1).max_stacks(2).substitutes(0).build().expect("a runtime");
    let sleepers: Vec<_> = (0..4)
        .map(|_| {
            runtime.spawn(|| sateen_sync::block_on(Wrapped(Box::pin(sleep_async(10 * SHORT)))))
        })
        .collect();
    sleepers.into_iter().for_each(|sleeper| sleeper.join().expect("woken"));
    runtime.shutdown().expect("an orderly end");
}

#[test]
fn a_waker_is_called_while_its_worker_is_held() {
    let _watchdog = Watchdog::new("held");
    let runtime = common::builder().workers(1).substitutes(0).build().expect("a runtime");
    runtime
        .spawn(|| {
            sateen_runtime::no_suspend(|| {
                sateen_sync::block_on(Wrapped(Box::pin(sleep_async(SHORT))));
            });
        })
        .join()
        .expect("woken");
    let current = Runtime::current_thread().expect("a runtime");
    current.run(|| {
        sateen_runtime::no_suspend(|| {
            sateen_sync::block_on(Wrapped(Box::pin(sleep_async(SHORT))));
        });
    });
}

/// The timer belonged to the runtime, and no thread fires it any more.
#[test]
fn a_sleep_goes_on_after_the_end_of_its_runtime() {
    let _watchdog = Watchdog::new("a sleep");
    let poll = || {
        let mut sleep = Box::pin(sleep_async(50 * SHORT));
        assert!(sleep.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        (sleep, Instant::now())
    };
    let (first, begin) = with_runtime(2, |rt| rt.spawn(poll).join().expect("polled"));
    sateen_sync::block_on(first);
    assert!(begin.elapsed() >= 40 * SHORT);
    if strict() {
        return;
    }
    let runtime = Runtime::current_thread().expect("a runtime");
    let (second, _) = runtime.run(poll);
    drop(runtime);
    sateen_sync::block_on(second);
    // A task that already waits for the sleep is woken, and arms the timer elsewhere.
    let (send, receive) = std::sync::mpsc::channel();
    with_runtime(1, |rt| {
        rt.spawn(move || {
            let mut sleep = Box::pin(sleep_async(50 * SHORT));
            let woken = Arc::new(Event::new());
            let tell = Arc::clone(&woken);
            let waker = waker_fn(move || tell.set());
            assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            send.send((sleep, woken)).expect("received");
        })
        .join()
        .expect("sent");
    });
    let (sleep, woken) = receive.recv().expect("sent");
    woken.wait();
    sateen_sync::block_on(sleep);
}
