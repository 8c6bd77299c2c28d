//! The cases. Each checks one row of the table, and may be called anywhere.

use crate::{Case, Checked, ensure, runtime};
use sateen::sync::oneshot::package;
use sateen::sync::{Condvar, Event, Mutex, Semaphore};
use sateen::{
    CancelToken, CurrentThread, Elapsed, JoinError, JoinHandle, Runtime, ShutdownError, Spawn,
    WhyRemaining, blocking, check_cancelled, current_task, fork, join, no_suspend, scope, sleep,
    spawn, timeout, timeout_async, yield_now,
};
use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

pub(crate) const ALL: &[(&str, Case)] = &[
    ("a cancelled task runs on", task_runs_on),
    ("each wait goes on", each_wait_goes_on),
    ("a cancelled task looks itself", task_looks),
    ("a queued task never starts", queued),
    ("a cancelled future is dropped", future),
    ("a future that waits in a poll", future_that_waits),
    ("a token cancels all", token),
    ("nested work in a cancelled task", nested_work),
    ("a destructor in a cancelled task", destructor),
    ("a limit is passed", limit),
    ("a limit on a future", limit_on_future),
    ("a graph in a cancelled task", graph),
    ("shutdown_timeout gives up", shutdown_gives_up),
    ("shutdown_timeout ends what ends", shutdown_ends),
    ("a CurrentThread is dropped", current_thread),
    ("a CurrentThread in a thread-local", current_thread_in_local),
];

/// Longer than any case.
const LONG: Duration = Duration::from_secs(3600);
/// A limit that passes.
const SHORT: Duration = Duration::from_millis(1);
/// Longer than that one.
const LATE: Duration = Duration::from_millis(10);

fn clones<T>(value: &Arc<T>) -> [Arc<T>; 2] {
    [Arc::clone(value), Arc::clone(value)]
}

/// Sets `event` later, on a thread of its own.
fn set_late(event: &Arc<Event>) {
    let event = Arc::clone(event);
    std::thread::spawn(move || {
        std::thread::sleep(LATE);
        event.set();
    });
}

/// Cancels a task that is, or will be, in `wait`. The task must not end before `release`.
fn goes_on<T: Send + 'static>(
    runtime: &Runtime,
    wait: impl FnOnce() -> T + Send + 'static,
    release: impl FnOnce(),
) -> Result<T, String> {
    let [starts, started] = clones(&Arc::new(Event::new()));
    let task = runtime.spawn(move || {
        starts.set();
        let value = wait();
        let knows = check_cancelled().is_err() && current_task().is_some_and(|it| it.cancelled);
        (value, knows)
    });
    started.wait();
    task.cancel();
    let Err(task) = task.join_timeout(SHORT) else { return Err("ended early".to_owned()) };
    release();
    match task.join() {
        Ok((value, true)) => Ok(value),
        Ok((_, false)) => Err("the task does not know that it was cancelled".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn task_runs_on() -> Checked {
    let builders = [
        Runtime::builder(),
        Runtime::builder().keep_threads(true),
        Runtime::builder().strict(true),
    ];
    for builder in builders {
        let runtime = builder.workers(2).build().expect("a runtime");
        let [waited, set] = clones(&Arc::new(Event::new()));
        ensure!(
            goes_on(
                &runtime,
                move || {
                    waited.wait();
                    7
                },
                || set.set()
            )? == 7
        );
    }
    Ok(())
}

fn each_wait_goes_on() -> Checked {
    let runtime = &runtime(2);
    // A lock.
    let [lock, locked] = clones(&Arc::new(Mutex::new(1)));
    let guard = locked.lock();
    ensure!(goes_on(runtime, move || *lock.lock(), || drop(guard))? == 1);
    // A condition.
    let [ours, theirs] = clones(&Arc::new((Mutex::new(false), Condvar::new())));
    let wait = move || theirs.1.wait_while(&mut theirs.0.lock(), |set| !*set);
    goes_on(runtime, wait, || {
        *ours.0.lock() = true;
        ours.1.notify_all();
    })?;
    // A permit.
    let [ours, theirs] = clones(&Arc::new(Semaphore::new(0)));
    goes_on(runtime, move || drop(theirs.acquire(1)), || ours.add_permits(1))?;
    // A channel, both ends, and one of several.
    let (sender, receiver) = sateen::channel::bounded(1);
    ensure!(goes_on(runtime, move || receiver.recv(), || _ = sender.send(1))? == Ok(1));
    let (sender, receiver) = sateen::channel::bounded(0);
    let got = goes_on(runtime, move || sender.send(1), || _ = receiver.recv())?;
    ensure!(got == Ok(()));
    let (sender, receiver) = sateen::channel::bounded(1);
    let wait = move || {
        sateen::channel::select! {
            recv(receiver) -> item => item,
            default(LONG) => Ok(0),
        }
    };
    ensure!(goes_on(runtime, wait, || _ = sender.send(1))? == Ok(1));
    // Time, all of it.
    let sleeper = runtime.spawn(|| {
        let began = Instant::now();
        sleep(LATE);
        began.elapsed() >= LATE
    });
    sleeper.cancel();
    ensure!(matches!(sleeper.join(), Ok(true) | Err(JoinError::Cancelled)));
    // A yield.
    let [ours, theirs] = clones(&Arc::new(AtomicBool::new(false)));
    let wait = move || {
        while !theirs.load(Ordering::Acquire) {
            yield_now()
        }
    };
    goes_on(runtime, wait, || ours.store(true, Ordering::Release))?;
    // Another task, a future, a call that blocks, a wait that keeps the thread.
    let waits: [fn(Arc<Event>) -> u32; 6] = [
        |event| {
            spawn(move || {
                event.wait();
                7
            })
            .join()
            .unwrap_or(0)
        },
        |event| {
            sateen::block_on(async {
                event.wait_async().await;
                7
            })
        },
        |event| {
            blocking(|| {
                event.wait();
                7
            })
        },
        |event| {
            no_suspend(|| {
                event.wait();
                7
            })
        },
        |event| {
            self::runtime(1).install(|| {
                event.wait();
                7
            })
        },
        |event| {
            self::runtime(1).broadcast(|_| {
                event.wait();
                7
            })[0]
        },
    ];
    for wait in waits {
        let [theirs, ours] = clones(&Arc::new(Event::new()));
        ensure!(goes_on(runtime, move || wait(theirs), || ours.set())? == 7);
    }
    // What runs a package gets its own cancelling, and the receiver gets the result.
    let [theirs, ours] = clones(&Arc::new(Event::new()));
    let (run, receiver) = package(move || {
        theirs.wait();
        7
    });
    goes_on(runtime, run, || ours.set())?;
    ensure!(matches!(receiver.recv(), Ok(Ok(7))));
    Ok(())
}

/// Ends when it finds that it was cancelled.
fn look() -> &'static str {
    while check_cancelled().is_ok() {
        yield_now();
    }
    "looked"
}

fn task_looks() -> Checked {
    let runtime = runtime(1);
    let [starts, started] = clones(&Arc::new(Event::new()));
    let (_sender, receiver) = sateen::channel::bounded::<()>(1);
    let task = runtime.spawn(move || {
        starts.set();
        // How a task waits for something that may not come.
        while receiver.recv_timeout(SHORT).is_err() {
            if check_cancelled().is_err() {
                return look();
            }
        }
        "received"
    });
    started.wait();
    task.cancel();
    ensure!(task.join().ok() == Some("looked"));
    Ok(())
}

/// A runtime whose only worker computes until the returned flag is set.
fn busy() -> (Runtime, Arc<AtomicBool>, JoinHandle<()>) {
    let runtime = runtime(1);
    let [free, theirs] = clones(&Arc::new(AtomicBool::new(false)));
    let [starts, started] = clones(&Arc::new(Event::new()));
    let task = runtime.spawn(move || {
        starts.set();
        while !theirs.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    });
    started.wait();
    (runtime, free, task)
}

fn queued() -> Checked {
    let (runtime, free, busy) = busy();
    let [theirs, kept] = clones(&Arc::new(()));
    let task = runtime.spawn(move || drop(theirs));
    task.cancel();
    free.store(true, Ordering::Release);
    ensure!(busy.join().is_ok());
    ensure!(matches!(task.join(), Err(JoinError::Cancelled)));
    ensure!(Arc::strong_count(&kept) == 1);
    Ok(())
}

fn future() -> Checked {
    let runtime = runtime(1);
    let [theirs, kept] = clones(&Arc::new(()));
    let task = runtime.spawn_async(async move {
        pending::<()>().await;
        drop(theirs);
    });
    task.cancel();
    ensure!(matches!(task.join(), Err(JoinError::Cancelled)));
    ensure!(Arc::strong_count(&kept) == 1);
    Ok(())
}

/// A future that is cancelled while a poll of it waits: the poll goes on to its end.
fn future_that_waits() -> Checked {
    for ready in [true, false] {
        let runtime = runtime(1);
        let [theirs, ours] = clones(&Arc::new(Event::new()));
        let [starts, started] = clones(&Arc::new(Event::new()));
        let task = runtime.spawn_async(poll_fn(move |_| {
            starts.set();
            theirs.wait();
            if ready { Poll::Ready(7) } else { Poll::Pending }
        }));
        started.wait();
        task.cancel();
        let Err(task) = task.join_timeout(SHORT) else { return Err("ended early".to_owned()) };
        ours.set();
        let result = task.join();
        ensure!(if ready { result.ok() == Some(7) } else { result.is_err() });
    }
    Ok(())
}

fn token() -> Checked {
    let (runtime, free, busy) = busy();
    let others = self::runtime(1);
    let token = CancelToken::new();
    let settings = || Spawn::new().token(&token);
    let queued = runtime.spawn_with(settings(), || 1);
    let future = others.spawn_async_with(settings(), pending::<()>());
    let [starts, started] = clones(&Arc::new(Event::new()));
    let child = Spawn::new().token(&token.child());
    let started_one = others.spawn_with(child, move || {
        starts.set();
        look()
    });
    started.wait();
    token.cancel();
    free.store(true, Ordering::Release);
    ensure!(busy.join().is_ok());
    ensure!(queued.join().is_err() && future.join().is_err());
    ensure!(started_one.join().ok() == Some("looked"));
    Ok(())
}

fn nested_work() -> Checked {
    let runtime = runtime(2);
    let wait = |event: &Event| {
        event.wait();
        1
    };
    type Work = fn(&Event, fn(&Event) -> u32) -> u32;
    let works: [Work; 4] = [
        |event, wait| {
            let (a, b) = join(|| wait(event), || wait(event));
            a + b
        },
        |event, wait| fork([(); 2].map(|()| || wait(event))).iter().sum(),
        |event, wait| {
            let sum = Mutex::new(0);
            scope(|s| (0..2).for_each(|_| s.spawn(|_| *sum.lock() += wait(event))));
            sum.into_inner()
        },
        |event, wait| sateen::par_map(&[(); 2], |()| wait(event)).iter().sum(),
    ];
    for work in works {
        let [theirs, ours] = clones(&Arc::new(Event::new()));
        ensure!(goes_on(&runtime, move || work(&theirs, wait), || ours.set())? == 2);
    }
    Ok(())
}

fn destructor() -> Checked {
    struct Waits(Arc<Event>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.wait();
        }
    }
    let [theirs, ours] = clones(&Arc::new(Event::new()));
    goes_on(&runtime(1), move || drop(Waits(theirs)), || ours.set())
}

fn limit() -> Checked {
    let wait = || {
        let event = Arc::new(Event::new());
        set_late(&event);
        event.wait();
        (5, check_cancelled().is_err())
    };
    ensure!(timeout(SHORT, wait) == Ok((5, true)));
    ensure!(timeout(SHORT, || timeout(LONG, wait)) == Ok(Ok((5, true))));
    ensure!(timeout(LONG, || timeout(SHORT, wait)) == Ok(Ok((5, true))));
    ensure!(timeout(SHORT, look) == Ok("looked"));
    ensure!(timeout(LONG, || check_cancelled().is_ok()) == Ok(true));
    // A limit that has passed leaves nothing behind.
    let runtime = runtime(1);
    ensure!(runtime.install(|| (timeout(SHORT, wait), check_cancelled().is_ok())).1);
    Ok(())
}

fn limit_on_future() -> Checked {
    let [theirs, kept] = clones(&Arc::new(()));
    let waits = async move {
        pending::<()>().await;
        drop(theirs);
    };
    ensure!(sateen::block_on(timeout_async(SHORT, waits)) == Err(Elapsed));
    ensure!(Arc::strong_count(&kept) == 1);
    Ok(())
}

fn graph() -> Checked {
    let [theirs, ours] = clones(&Arc::new(Event::new()));
    let runtime = runtime(2);
    let run = move || {
        let mut graph = sateen::flow::Graph::new();
        let first = graph.task(move || theirs.wait());
        let last = graph.task(|| 7).after(&first);
        let pool = self::runtime(1);
        graph.run(&pool).is_ok() && graph.result(&last).is_ok_and(|result| *result == 7)
    };
    ensure!(goes_on(&runtime, run, || ours.set())?);
    Ok(())
}

fn shutdown_gives_up() -> Checked {
    let (runtime, free, busy) = busy();
    let late = runtime.spawn(|| 1);
    let other = self::runtime(1);
    let [theirs, ours] = clones(&Arc::new(Event::new()));
    let [starts, started] = clones(&Arc::new(Event::new()));
    let waits = other.spawn(move || {
        starts.set();
        theirs.wait();
        7
    });
    started.wait();
    let future = other.spawn_async(pending::<()>());
    let Err(ShutdownError::TimedOut { remaining, .. }) = other.shutdown_timeout(SHORT) else {
        return Err("it ended".to_owned());
    };
    ensure!(remaining.len() == 1 && remaining[0].why == WhyRemaining::Resists);
    ensure!(matches!(future.join(), Err(JoinError::Cancelled)));
    let Err(ShutdownError::TimedOut { remaining, .. }) = runtime.shutdown_timeout(SHORT) else {
        return Err("it ended".to_owned());
    };
    ensure!(remaining.len() == 1 && remaining[0].why == WhyRemaining::Running);
    // Neither drop waits.
    drop((runtime, other));
    ensure!(!waits.is_finished() && !busy.is_finished());
    ours.set();
    ensure!(waits.join().ok() == Some(7));
    free.store(true, Ordering::Release);
    ensure!(busy.join().is_ok());
    ensure!(matches!(late.join(), Err(JoinError::Cancelled)));
    Ok(())
}

fn shutdown_ends() -> Checked {
    let runtime = runtime(2);
    let [starts, started] = clones(&Arc::new(Event::new()));
    let task = runtime.spawn(move || {
        starts.set();
        look()
    });
    let future = runtime.spawn_async(pending::<()>());
    started.wait();
    // A busy machine may not come to it in time.
    while runtime.shutdown_timeout(SHORT).is_err() {}
    ensure!(task.join().ok() == Some("looked") && future.join().is_err());
    Ok(())
}

fn current_thread() -> Checked {
    let event = Arc::new(Event::new());
    let [theirs, kept] = clones(&Arc::new(()));
    let runtime = Runtime::current_thread().map_err(|error| error.to_string())?;
    let waits = |limit: Duration| {
        let (event, kept) = (Arc::clone(&event), Arc::clone(&theirs));
        runtime.spawn_local(move || {
            let waited = timeout(limit, || event.wait());
            drop(kept);
            waited
        })
    };
    let waiting = [waits(LONG), waits(SHORT)];
    let sleeps = runtime.spawn_local(|| sleep(LONG));
    let looks = runtime.spawn_local(look);
    let yields = runtime.spawn_local(|| -> () {
        loop {
            yield_now()
        }
    });
    let future = runtime.run(|| sateen::spawn_async(pending::<()>()));
    let queued = runtime.spawn_local(|| 1);
    drop(runtime);
    ensure!(looks.join().ok() == Some("looked"));
    ensure!(matches!(queued.join(), Err(JoinError::Cancelled)));
    ensure!(matches!(future.join(), Err(JoinError::Cancelled)));
    let unfinished = waiting.iter().all(|task| !task.is_finished());
    ensure!(unfinished && !sleeps.is_finished() && !yields.is_finished());
    // The tasks' own frames are still there, and so is what they hold.
    drop(theirs);
    ensure!(Arc::strong_count(&kept) == 3);
    // Others use what memory is free. Then the event goes through the waiters in those frames.
    for _ in 0..4 {
        let runtime = self::runtime(2);
        let tasks: Vec<_> = (0..32).map(|_| runtime.spawn(|| sleep(SHORT))).collect();
        ensure!(tasks.into_iter().all(|task| task.join().is_ok()));
    }
    let [setter, _] = clones(&event);
    std::thread::spawn(move || setter.set()).join().expect("no panic");
    event.set();
    (0..100).for_each(|_| std::thread::yield_now());
    ensure!(waiting.iter().all(|task| !task.is_finished()));
    // The thread can have another.
    let runtime = Runtime::current_thread().map_err(|error| error.to_string())?;
    ensure!(runtime.run(|| spawn(|| 7).join().ok()) == Some(7));
    runtime.shutdown();
    Ok(())
}

/// The runtime is dropped when its thread ends.
fn current_thread_in_local() -> Checked {
    thread_local! {
        static RUNTIME: CurrentThread = Runtime::current_thread().expect("a runtime");
    }
    let event = Arc::new(Event::new());
    let [theirs, ours] = clones(&event);
    let thread = std::thread::spawn(move || {
        RUNTIME.with(|runtime| {
            drop(runtime.spawn_local(move || theirs.wait()));
            runtime.run_until_idle();
        });
    });
    thread.join().map_err(|_| "it panicked".to_owned())?;
    ours.set();
    Ok(())
}
