//! Processes that fork while runtimes are alive. No thread of the child waits for threads that do
//! not exist there.

// ThreadSanitizer does not follow a process that forks beside other threads.
#![cfg(all(target_os = "linux", not(any(miri, sateen_tsan))))]

mod common;

use common::fib;
use sateen_runtime::{
    Builder, Runtime, block_on, blocking, join, par_for, scope, sleep, sleep_async, spawn,
    spawn_async, yield_now,
};
use sateen_sync::Event;
use sateen_testkit::Counter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::Context;
use std::time::Duration;

const MESSAGE: &str = "this runtime's threads did not survive fork()";

/// Returns true in the process for test `name`. Otherwise runs the test in such a process, and
/// checks that it succeeded. A process that forks should have few threads.
fn in_process(name: &str) -> bool {
    if std::env::var_os("SATEEN_TEST_CHILD").is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env("SATEEN_TEST_CHILD", "1")
        .output()
        .expect("the child runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    false
}

/// How a forked process ended: `Ok` with its code, or `Err` with the signal. A hang gives
/// `Err(SIGALRM)`.
fn ending(child: libc::pid_t) -> Result<i32, i32> {
    let mut status = 0;
    // SAFETY: `status` is valid for the answer.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    if libc::WIFEXITED(status) {
        Ok(libc::WEXITSTATUS(status))
    } else {
        Err(libc::WTERMSIG(status))
    }
}

/// Forks. Returns 0 in the child, which ends after 20 s.
fn fork_process() -> libc::pid_t {
    // SAFETY: the child uses only what the C library and this one keep usable, and nothing of other
    // threads.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no process");
    if child == 0 {
        // SAFETY: the default action ends the process.
        unsafe { libc::alarm(20) };
    }
    child
}

/// Runs `f` in a forked process. Returns how that ended: 0 means that `f` returned.
fn in_fork(f: impl FnOnce()) -> Result<i32, i32> {
    let child = fork_process();
    if child != 0 {
        return ending(child);
    }
    let code = i32::from(catch_unwind(AssertUnwindSafe(f)).is_err());
    // SAFETY: nothing of the parent may run at the child's end.
    unsafe { libc::_exit(code) }
}

fn says<R>(f: impl FnOnce() -> R) {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(f()))).expect_err("a panic");
    let said = sateen_testkit::message(panic);
    assert!(said.contains(MESSAGE), "{said}");
}

fn is_left<T, E: std::fmt::Display>(result: Result<T, E>) {
    let Err(error) = result else { panic!("it goes on") };
    assert!(error.to_string().contains(MESSAGE), "{error}");
}

fn builders() -> [Builder; 2] {
    [Runtime::builder().workers(2), Runtime::builder().workers(2).strict(true)]
}

#[test]
fn a_plain_thread_learns_that_the_workers_are_gone() {
    if !in_process("a_plain_thread_learns_that_the_workers_are_gone") {
        return;
    }
    for builder in builders() {
        let rt = builder.build().expect("a runtime");
        let event = Arc::new(Event::new());
        let waits = || {
            let event = Arc::clone(&event);
            rt.spawn(move || event.wait())
        };
        let (joined, awaited, timed) = (waits(), waits(), waits());
        let pending = event.clone();
        let future = rt.spawn_async(async move { pending.wait_async().await });
        let done = rt.spawn(|| 1);
        while !done.is_finished() {
            std::thread::yield_now();
        }
        let spawner = rt.spawner();
        let mut last = Some(rt);
        let ended = in_fork(|| {
            let rt = last.take().expect("the runtime");
            says(|| rt.install(|| 1));
            says(|| rt.broadcast(|_| 1));
            says(|| rt.scope(|s| s.spawn(|_| ())));
            is_left(rt.spawn(|| 1).join());
            is_left(spawner.spawn(|| 1).join());
            is_left(rt.spawn_async(async {}).join());
            is_left(joined.join());
            is_left(block_on(awaited));
            is_left(future.join());
            drop(timed.join_timeout(Duration::from_millis(1)));
            assert_eq!(done.join().expect("done before"), 1);
            is_left(rt.shutdown());
            is_left(rt.shutdown_timeout(Duration::from_millis(1)));
            drop(rt);
            // A new runtime works, with all ways to wait.
            let rt = Runtime::builder().workers(2).build().expect("a new runtime");
            assert_eq!(rt.install(|| fib(15)), 610);
            assert_eq!(rt.spawn(|| blocking(|| 2)).join().expect("done"), 2);
            rt.shutdown().expect("an orderly end");
        });
        event.set();
        assert_eq!(ended, Ok(0));
    }
}

#[test]
fn the_global_runtime_is_made_anew() {
    if !in_process("the_global_runtime_is_made_anew") {
        return;
    }
    let work = || {
        assert_eq!(fib(15), 610);
        let count = AtomicUsize::new(0);
        scope(|s| (0..9).for_each(|_| s.spawn(|_| _ = count.fetch_add(1, SeqCst))));
        par_for(0..91, |_| _ = count.fetch_add(1, SeqCst));
        assert_eq!(count.into_inner(), 100);
        assert_eq!(spawn(|| 3).join().expect("done"), 3);
        assert_eq!(block_on(spawn_async(async { 4 })).expect("done"), 4);
    };
    work();
    let before = Runtime::global().expect("a runtime");
    let again = || {
        work();
        assert_eq!(in_fork(work), Ok(0));
    };
    let ended = in_fork(|| {
        says(|| before.install(|| ()));
        again();
    });
    assert_eq!(ended, Ok(0));
    work();
}

#[test]
fn timers_of_plain_threads_fire() {
    if !in_process("timers_of_plain_threads_fire") {
        return;
    }
    let nap = || block_on(sleep_async(Duration::from_millis(5)));
    nap();
    assert_eq!(in_fork(nap), Ok(0));
}

#[test]
fn a_worker_that_forks_goes_on_alone_or_ends() {
    if !in_process("a_worker_that_forks_goes_on_alone_or_ends") {
        return;
    }
    const ABORTED: Result<i32, i32> = Err(libc::SIGABRT);
    for (builder, strict) in builders().into_iter().zip([false, true]) {
        let rt = builder.build().expect("a runtime");
        rt.install(|| {
            let alone = || {
                assert_eq!(fib(10), 55);
                assert_eq!(spawn(|| 1).join().expect("in place"), 1);
                assert_eq!(blocking(|| 2), 2);
            };
            assert_eq!(in_fork(alone), Ok(0));
            let waits = || {
                sleep(Duration::from_millis(2));
                yield_now();
                let event = Arc::new(Event::new());
                let inner = Arc::clone(&event);
                drop(spawn(move || inner.set()));
                event.wait();
            };
            // In a strict runtime a task that waits keeps the thread that the other one needs.
            assert_eq!(in_fork(waits), if strict { ABORTED } else { Ok(0) });
            assert_eq!(in_fork(|| Event::new().wait()), ABORTED);
            assert_eq!(in_fork(|| sateen_runtime::no_suspend(|| Event::new().wait())), ABORTED);
        });
        // Another worker has taken this branch.
        let (taken, free) = (AtomicBool::new(false), AtomicBool::new(false));
        rt.install(|| {
            let (child, ()) = join(
                || {
                    while !taken.load(SeqCst) {
                        yield_now();
                    }
                    let child = fork_process();
                    free.store(true, SeqCst);
                    child
                },
                || {
                    taken.store(true, SeqCst);
                    while !free.load(SeqCst) {
                        std::thread::yield_now();
                    }
                },
            );
            if child == 0 {
                // This is not reached, because no thread runs the branch.
                // SAFETY: as in `in_fork`.
                unsafe { libc::_exit(2) };
            }
            assert_eq!(ending(child), ABORTED);
        });
    }
}

/// What threads outside had queued is run once, by the parent.
#[test]
fn a_worker_that_forks_leaves_outside_work_to_the_parent() {
    if !in_process("a_worker_that_forks_leaves_outside_work_to_the_parent") {
        return;
    }
    for strict in [false, true] {
        let rt = Runtime::builder().workers(1).strict(strict).build().expect("a runtime");
        let queued = Arc::new(AtomicBool::new(false));
        let first = rt.spawn({
            let queued = Arc::clone(&queued);
            move || {
                while !queued.load(SeqCst) {
                    std::thread::yield_now();
                }
                fork_process()
            }
        });
        let parent = std::process::id();
        let second = rt.spawn(move || {
            if std::process::id() != parent {
                // SAFETY: nothing of the parent may run at the child's end.
                unsafe { libc::_exit(7) }
            }
        });
        queued.store(true, SeqCst);
        let child = first.join().expect("no panic");
        second.join().expect("no panic");
        assert_eq!(ending(child), Err(libc::SIGABRT), "strict: {strict}");
    }
}

#[test]
fn a_runtime_that_is_the_forking_thread_goes_on() {
    if !in_process("a_runtime_that_is_the_forking_thread_goes_on") {
        return;
    }
    let rt = Runtime::current_thread().expect("a runtime");
    let event = Arc::new(Event::new());
    let inner = Arc::clone(&event);
    let task = rt.spawn_local(move || inner.wait());
    rt.run_until_idle();
    let spawner = rt.spawner();
    let ended = in_fork(|| {
        assert_eq!(rt.run(|| fib(10)), 55);
        assert_eq!(rt.run(|| blocking(|| 1)), 1);
        event.set();
        rt.run_until(task).expect("gone on");
        let (there, again) = (spawner.clone(), rt.spawner());
        let thread = std::thread::spawn(move || (there.spawn(|| 1), again.spawn(|| 2)));
        let (a, b) = thread.join().expect("no panic");
        let sum = rt.run(|| a.join().expect("done") + b.join().expect("done"));
        assert_eq!(sum, 3);
        rt.run(|| sleep(Duration::from_millis(2)));
        drop(rt);
    });
    assert_eq!(ended, Ok(0));
    // If the runtime's thread is not in the child, work that is sent there is refused.
    let rt = Runtime::current_thread().expect("a runtime");
    let spawner = rt.spawner();
    let refused = move || in_fork(|| is_left(spawner.spawn(|| 1).join()));
    assert_eq!(std::thread::spawn(refused).join().expect("no panic"), Ok(0));
    drop(rt);
}

/// A thread keeps the panics of tasks that wait while they unwind. That thread is not in the child.
#[test]
fn a_task_may_wait_in_an_unwinding() {
    if !in_process("a_task_may_wait_in_an_unwinding") {
        return;
    }
    struct Waits(Arc<Event>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.wait();
        }
    }
    let unwind = |event: &Arc<Event>| {
        let waits = Waits(Arc::clone(event));
        let unwound = catch_unwind(AssertUnwindSafe(move || {
            let _waits = waits;
            std::panic::resume_unwind(Box::new("on its way"));
        }));
        assert!(unwound.is_err() && !std::thread::panicking());
    };
    let rt = Runtime::current_thread().expect("a runtime");
    let events = [(); 2].map(|()| Arc::new(Event::new()));
    let waiter = |event: &Arc<Event>| {
        let event = Arc::clone(event);
        rt.spawn_local(move || unwind(&event))
    };
    let mut first = waiter(&events[0]);
    rt.run_until_idle();
    let ended = in_fork(|| {
        // These are more than the thread kept.
        let rest: Vec<_> = (0..40).map(|_| waiter(&events[1])).collect();
        rt.run_until_idle();
        assert!(!std::thread::panicking());
        events.iter().for_each(|event| event.set());
        rt.run_until(&mut first).expect("gone on");
        rest.into_iter().for_each(|task| rt.run_until(task).expect("gone on"));
    });
    assert_eq!(ended, Ok(0));
    events[0].set();
    rt.run_until(first).expect("gone on");
}

/// The child takes no lock of a pool that was made in the parent, because a thread of the pool may
/// have held it. Nothing waits for those threads either.
#[test]
fn the_threads_for_blocking_calls_are_gone() {
    if !in_process("the_threads_for_blocking_calls_are_gone") {
        return;
    }
    let rt = Runtime::builder().workers(2).build().expect("a runtime");
    assert_eq!(rt.install(|| blocking(|| 1)), 1);
    assert_eq!(rt.metrics().blocking_threads, 1);
    let mut last = Some(rt);
    let ended = in_fork(|| {
        let rt = last.take().expect("the runtime");
        assert_eq!(rt.metrics().blocking_threads, 0);
        drop(rt);
    });
    assert_eq!(ended, Ok(0));
    drop(last);
    let rt = Runtime::current_thread().expect("a runtime");
    assert_eq!(rt.run(|| blocking(|| 2)), 2);
    let (told, waker) = Counter::new();
    let timer = rt.run(|| {
        let mut timer = Box::pin(sleep_async(Duration::from_secs(3600)));
        assert!(timer.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        timer
    });
    let mut last = Some(rt);
    let ended = in_fork(|| {
        let rt = last.take().expect("the runtime");
        assert_eq!(rt.metrics().blocking_threads, 0);
        // The runtime's end wakes the waiters whose timers it kept. The pool's threads call the
        // wakers, where there are such threads.
        drop(rt);
        assert!(told.get() > 0, "nobody called the waker");
    });
    assert_eq!(ended, Ok(0));
    drop((last, timer));
}
