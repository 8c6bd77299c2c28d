//! Code that runs on a runtime ends that runtime. No thread waits for itself.

mod common;

use sateen_runtime::{
    Builder, Runtime, ShutdownError, blocking, no_suspend, sleep_async, spawn, yield_now,
};
use sateen_sync::Event;
use sateen_testkit::{Watchdog, waker_fn};
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, mpsc};
use std::task::Context;
use std::time::Duration;

/// The last handle of a runtime.
type Last = Arc<Mutex<Option<Runtime>>>;

/// Ends the runtime from where it is called, in every way that does not wait for the caller.
fn end(last: &Last) {
    let runtime = last.lock().expect("no panic").take().expect("still there");
    assert_eq!(runtime.shutdown(), Err(ShutdownError::OnOwnWorker));
    let timed = runtime.shutdown_timeout(Duration::from_millis(1));
    assert_eq!(timed, Err(ShutdownError::OnOwnWorker));
    drop(runtime);
}

/// Runs `f` with the last handle of a runtime. `f` passes it to [`end`]. Waits until all workers
/// have left.
fn ends(what: &'static str, set: impl Fn(Builder, &Last) -> Builder, f: impl Fn(Last)) {
    let _dog = Watchdog::new(what);
    for (workers, strict) in [(1, false), (2, false), (1, true)] {
        let last = Last::default();
        let (left, leaves) = mpsc::channel();
        let left = Mutex::new(left);
        let builder = Runtime::builder().workers(workers).strict(strict);
        let builder =
            builder.on_exit(move |_| left.lock().expect("whole").send(()).expect("heard"));
        let runtime = set(builder, &last).build().expect("a runtime");
        *last.lock().expect("no panic") = Some(runtime);
        f(last);
        (0..workers).for_each(|_| leaves.recv().expect("a worker leaves"));
    }
}

fn plain(builder: Builder, _: &Last) -> Builder {
    builder
}

/// Spawns `f` on the runtime without holding the runtime.
fn on(last: &Last, f: impl FnOnce(&Last) + Send + 'static) {
    let spawner = last.lock().expect("no panic").as_ref().expect("there").spawner();
    let last = Arc::clone(last);
    drop(spawner.spawn(move || f(&last)));
}

#[test]
fn in_a_task() {
    ends("dropped in a task", plain, |last| on(&last, end));
    ends("dropped in a task that goes on", plain, |last| {
        on(&last, |last| {
            end(last);
            yield_now();
            assert_eq!(spawn(|| 1).join().expect("still accepted"), 1);
        });
    });
}

#[test]
fn in_blocking() {
    ends("dropped in blocking", plain, |last| on(&last, |last| blocking(|| end(last))));
    ends("dropped in nested blocking", plain, |last| {
        on(&last, |last| blocking(|| blocking(|| end(last))));
    });
}

#[test]
fn in_a_runtime_that_is_the_workers_thread() {
    ends("dropped in a runtime within a task", plain, |last| {
        on(&last, |last| {
            let here = Runtime::current_thread().expect("a runtime");
            here.run(|| end(last));
        });
    });
    ends("dropped in a runtime within blocking", plain, |last| {
        on(&last, |last| {
            blocking(|| Runtime::current_thread().expect("a runtime").run(|| end(last)));
        });
    });
}

#[test]
fn in_hooks() {
    let at_start = |builder: Builder, last: &Last| {
        let last = Arc::clone(last);
        // The builder has to return before this.
        builder.on_start(move |index| {
            while index == 0 && last.lock().expect("no panic").is_none() {
                std::thread::yield_now();
            }
            if index == 0 {
                end(&last);
            }
        })
    };
    ends("dropped in a start hook", at_start, drop);
}

#[test]
fn in_a_waker_and_in_a_destructor() {
    ends("dropped in a waker", plain, |last| {
        let spawner = last.lock().expect("no panic").as_ref().expect("there").spawner();
        let (go, gone) = mpsc::channel::<()>();
        let task = spawner.spawn(move || _ = gone.recv());
        let waker = waker_fn(move || end(&last));
        // The handle must still exist when the task ends.
        let task = Pin::new(Box::leak(Box::new(task)));
        assert!(task.poll(&mut Context::from_waker(&waker)).is_pending());
        drop(go);
    });

    struct Result(Last);
    impl Drop for Result {
        fn drop(&mut self) {
            end(&self.0);
        }
    }
    ends("dropped with a result", plain, |last| {
        let spawner = last.lock().expect("no panic").as_ref().expect("there").spawner();
        drop(spawner.spawn(move || Result(last)));
    });
}

/// As long as a worker's thread has locals, its runtime may be one of them.
#[test]
fn in_a_workers_thread_local() {
    thread_local! { static KEPT: RefCell<Option<Arc<Runtime>>> = const { RefCell::new(None) } }
    let _dog = Watchdog::new("dropped with a worker's locals");
    for (workers, strict) in [(1, false), (3, false), (1, true)] {
        let builder = Runtime::builder().workers(workers).strict(strict);
        let runtime = Arc::new(builder.build().expect("a runtime"));
        let kept = Arc::clone(&runtime);
        runtime.spawn(move || KEPT.set(Some(kept))).join().expect("kept");
        runtime.shutdown().expect("an orderly end");
        while Arc::strong_count(&runtime) > 1 {
            std::thread::yield_now();
        }
    }
}

/// The locals of a plain thread hold a runtime with work left.
#[test]
fn in_a_plain_threads_local() {
    thread_local! { static KEPT: RefCell<Option<Runtime>> = const { RefCell::new(None) } }
    let _dog = Watchdog::new("dropped with a plain thread's locals");
    let (send, receive) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let runtime = Runtime::builder().workers(2).build().expect("a runtime");
        runtime.install(|| {
            (0..10).for_each(|i| {
                let send = send.clone();
                drop(spawn(move || {
                    yield_now();
                    send.send(i).expect("heard");
                }));
            });
        });
        KEPT.set(Some(runtime));
    });
    thread.join().expect("no panic");
    assert_eq!(receive.iter().count(), 10);
}

/// A task that is cancelled while it drops another runtime waits for the end of that runtime.
#[test]
fn a_drop_is_not_cancelled() {
    let _dog = Watchdog::new("a drop in a cancelled task");
    common::with_runtime(1, |outer| {
        let (event, begun) =
            (Arc::new(sateen_sync::Event::new()), Arc::new(sateen_sync::Event::new()));
        let task = outer.spawn({
            let (event, begun) = (Arc::clone(&event), Arc::clone(&begun));
            move || {
                let inner = Runtime::builder().workers(1).build().expect("inner");
                let task = inner.spawn(move || event.wait());
                begun.set();
                drop(inner);
                task.is_finished()
            }
        });
        begun.wait();
        task.cancel();
        outer.spawn(move || event.set()).join().expect("the worker is free");
        assert!(task.join().expect("nothing unwound"));
    });
}

/// If there are no threads for blocking calls, a blocked worker calls the waker itself.
#[test]
fn in_a_waker_that_a_blocked_worker_calls() {
    let set = |builder: Builder, _: &Last| builder.substitutes(0).blocking_threads(0);
    ends("dropped in a waker on a blocked worker", set, |last| {
        on(&last, |last| {
            let (last, ended) = (Arc::clone(last), Arc::new(Event::new()));
            let tell = Arc::clone(&ended);
            let waker = waker_fn(move || {
                end(&last);
                tell.set();
            });
            let mut sleep = Box::pin(sleep_async(Duration::from_millis(1)));
            while sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                sleep = Box::pin(sleep_async(Duration::from_millis(1)));
            }
            no_suspend(|| ended.wait());
        });
    });
}

/// The thread of the call was a worker for a while. The call goes on after that worker has left.
#[test]
fn in_blocking_on_a_thread_that_was_a_worker() {
    ends("dropped in blocking, after another runtime", plain, |last| {
        on(&last, |last| {
            blocking(|| {
                let kept = Arc::new(Mutex::new(None));
                let place = Arc::clone(&kept);
                let other = Runtime::builder().workers(1).spawn_handler(move |worker| {
                    *place.lock().expect("no panic") = Some(worker);
                    Ok(())
                });
                let other = other.build().expect("a runtime");
                let worker = kept.lock().expect("no panic").take().expect("made");
                std::thread::scope(|s| {
                    s.spawn(|| drop(other));
                    worker.run();
                });
                end(last);
            });
        });
    });
}
