//! Each mistake of a user's has its message.
//!
//! `crates/rules` checks that each text of the source is in this file. Aborts
//! are in `docs/aborts.md`.

// ThreadSanitizer does not follow a process that forks.
#![cfg(all(not(loom), not(miri), not(sateen_tsan)))]

mod common;

use sateen_runtime::{
    BuildError, Builder, CurrentThread, FiberLocalError, JoinError, JoinHandle, MAX_WORKERS,
    Runtime, Spawn, WorkerThread, fiber_local, par_chunks_mut, policy, spawn, spawn_local,
};
use sateen_sync::{Event, park};
use sateen_testkit::{Watchdog, panic_of};
use std::cell::{Cell, OnceCell};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::task::{Context, Waker};
use std::time::Duration;

/// Texts of the source that no row shows, and why.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("the thread is a worker already", "by `rayon-core`, whose tests show it"),
    ("a broadcast to workers that end", "by `rayon-core`; its scopes end before their workers"),
    ("a fork lost a result", "each branch writes its result, or panics"),
    ("a map lost a result", "each iteration writes its result, or panics"),
    ("a pair of lines apart", "when it is compiled, if the layout changes"),
    ("a called job begins as a job", "when it is compiled, if the layout changes"),
    (", and {futures} futures", "follows the text of a shutdown that timed out"),
    ("cannot write the trace `{}`: {}", "with the feature `trace`; `trace.rs` shows it"),
];

/// What the user does, the text, and what gives it.
type Row = (&'static str, &'static str, fn() -> String);

fn rt() -> Runtime {
    Runtime::builder().workers(1).build().expect("a runtime")
}

fn not_built(builder: Builder) -> String {
    builder.build().expect_err("cannot be built").to_string()
}

fn not_joined<T>(task: JoinHandle<T>) -> String {
    match task.join() {
        Ok(_) => panic!("the task ran"),
        Err(error) => error.to_string(),
    }
}

/// The text of a panic of `f` in a worker's start hook.
fn in_hook(f: impl Fn(&Runtime) + Send + Sync + 'static) -> String {
    let (told, text) = mpsc::channel();
    let own = Arc::new(OnceLock::<Arc<Runtime>>::new());
    let (mine, built) = (Arc::clone(&own), Arc::new(Event::new()));
    let go = Arc::clone(&built);
    let hook = move |_| {
        go.wait();
        if let Some(rt) = mine.get() {
            _ = told.send(panic_of(|| f(rt)));
        }
    };
    let rt = Runtime::builder().workers(1).on_start(hook).build().expect("a runtime");
    assert!(own.set(Arc::new(rt)).is_ok());
    built.set();
    text.recv().expect("told")
}

/// The text of the mistake that a worker makes with its `WorkerThread`.
fn with_worker_thread(make: fn(WorkerThread) -> io::Result<()>) -> Result<Runtime, BuildError> {
    Runtime::builder().workers(1).spawn_handler(make).build()
}

fiber_local! {
    static LOCAL: Cell<u32> = Cell::new(0);
}

thread_local! {
    static LATE: Late = const { Late(OnceCell::new()) };
}

/// Runs a runtime while the thread's locals are destroyed.
struct Late(OnceCell<(CurrentThread, mpsc::Sender<String>)>);

impl Drop for Late {
    fn drop(&mut self) {
        let (local, told) = self.0.take().expect("set");
        told.send(panic_of(|| local.run(|| ()))).expect("heard");
    }
}

fn by_a_local_that_goes() -> String {
    let (told, text) = mpsc::channel();
    let ended = std::thread::spawn(move || {
        // Used first, so that it goes last.
        LATE.with(|late| {
            let local = Runtime::current_thread().expect("a runtime");
            assert!(late.0.set((local, told)).is_ok());
        });
    });
    ended.join().expect("ended");
    text.recv().expect("told")
}

const TABLE: &[Row] = &[
    ("a builder with no workers", "cannot run 0 workers: 1 to 65535 are possible", || {
        assert_eq!(MAX_WORKERS, 65_535);
        not_built(Runtime::builder().workers(0))
    }),
    ("SATEEN_WORKERS", "SATEEN_WORKERS=many is not a number from 1 to 65535", || {
        BuildError::Variable("many".to_owned()).to_string()
    }),
    ("SATEEN_STRICT", "SATEEN_STRICT=yes is neither 0 nor 1", || {
        BuildError::StrictVariable("yes".to_owned()).to_string()
    }),
    ("a strict runtime with a policy", "a strict runtime cannot have a custom policy", || {
        let queue = common::OneQueue::default();
        let custom = policy::custom(move |_| Box::new(queue.clone()));
        not_built(Runtime::builder().strict(true).policy(custom))
    }),
    (
        "a stack size above the limit",
        "cannot use stacks of 1073741825 bytes: 1073741824 is the most",
        || not_built(Runtime::builder().stack_size((1 << 30) + 1)),
    ),
    (
        "a thread's name with a NUL",
        "cannot name the thread of worker 1 \"1\\0\": it contains a NUL",
        || {
            not_built(Runtime::builder().workers(2).thread_name(|i| match i {
                1 => "1\0".to_owned(),
                _ => i.to_string(),
            }))
        },
    ),
    ("fewer stacks than workers", "cannot run 3 workers with 2 stacks: each needs one", || {
        not_built(Runtime::builder().workers(3).max_stacks(2))
    }),
    ("a thread that does not start", "cannot start the thread of worker 0: no more", || {
        let made = with_worker_thread(|_| Err(io::Error::other("no more")));
        made.expect_err("not built").to_string()
    }),
    ("cores that are not there", "cannot pin workers to cores: none", || {
        BuildError::Pin(io::Error::other("none")).to_string()
    }),
    ("no memory for a stack", "cannot reserve a stack: none", || {
        BuildError::Stack(io::Error::other("none")).to_string()
    }),
    ("a panic in a task", "the task panicked: oh", || not_joined(rt().spawn(|| panic!("oh")))),
    ("a panic with another payload", "the task panicked", || {
        not_joined(rt().spawn(|| std::panic::panic_any(1)))
    }),
    (
        "a spawn on a runtime that has ended",
        "the runtime was shut down before the task began",
        || {
            let spawner = rt().spawner();
            not_joined(spawner.spawn(|| ()))
        },
    ),
    (
        "a runtime whose workers are dropped",
        "the runtime was shut down before the task began",
        || {
            static KEPT: Mutex<Option<WorkerThread>> = Mutex::new(None);
            let keep = |worker| {
                *KEPT.lock().expect("no panic") = Some(worker);
                Ok(())
            };
            let rt = with_worker_thread(keep).expect("a runtime without threads");
            let task = rt.spawn(|| ());
            drop(KEPT.lock().expect("no panic").take());
            not_joined(task)
        },
    ),
    ("more tasks than stacks", "no stack left to start the task on", || {
        let rt = Runtime::builder().workers(1).max_stacks(1).build().expect("a runtime");
        let go = Arc::new(Event::new());
        let wait = |_| {
            let go = Arc::clone(&go);
            rt.spawn(move || go.wait())
        };
        let tasks: Vec<_> = (0..3).map(wait).collect();
        while rt.metrics().total().out_of_stacks == 0 {
            std::thread::yield_now();
        }
        go.set();
        let error = tasks.into_iter().find_map(|task| task.join().err());
        error.expect("one found no stack").to_string()
    }),
    ("a global runtime that cannot be built", "there is no global runtime: why", || {
        JoinError::NoRuntime("why".to_owned()).to_string()
    }),
    ("a task that is cancelled", "the task was cancelled", || {
        let rt = rt();
        let event = Arc::new(Event::new());
        let task = rt.spawn(move || event.wait());
        task.cancel();
        not_joined(task)
    }),
    (
        "a policy that drops a task elsewhere",
        "the scheduling policy dropped the task where nobody could run it",
        || JoinError::Lost.to_string(),
    ),
    (
        "a task with a stack above the limit",
        "cannot give a task 1099511627776 bytes of stack: 1073741824 is the most",
        || not_joined(rt().spawn_with(Spawn::new().stack_size(1 << 40), || ())),
    ),
    ("a worker that there is not", "no worker 1 to spawn on: there are 1, counted from 0", || {
        not_joined(rt().spawn_with(Spawn::new().on_worker(1), || ()))
    }),
    (
        "a worker whose thread is dropped",
        "worker 0 has no thread: its `WorkerThread` was dropped",
        || {
            let start = |worker: WorkerThread| match worker.index() {
                0 => Ok(()),
                _ => std::thread::Builder::new().spawn(|| worker.run()).map(drop),
            };
            let rt = Runtime::builder().workers(2).spawn_handler(start);
            let rt = rt.build().expect("a runtime");
            not_joined(rt.spawn_with(Spawn::new().on_worker(0), || ()))
        },
    ),
    ("a spawn in a hook", "a hook or callback of a runtime spawned the task", || {
        in_hook(|_| panic!("{}", not_joined(spawn(|| ()))))
    }),
    ("a broadcast in a hook", "broadcast in a worker's hook", || {
        in_hook(|rt| drop(rt.broadcast(|_| ())))
    }),
    (
        "a handle that is polled again",
        "a JoinHandle was asked again after it had given its result",
        || {
            let rt = rt();
            let mut task = pin!(rt.spawn(|| ()));
            let mut cx = Context::from_waker(Waker::noop());
            while task.as_mut().poll(&mut cx).is_pending() {
                std::thread::yield_now();
            }
            panic_of(|| task.as_mut().poll(&mut cx).is_ready())
        },
    ),
    ("a fiber-local on a thread", "a fiber-local was used outside of any task", || {
        panic_of(|| LOCAL.with(Cell::get))
    }),
    ("a fiber-local in a branch", "a fiber-local was used in a branch of a task", || {
        // Debug builds alone notice a branch that its own task runs.
        FiberLocalError::InBranch.to_string()
    }),
    ("spawn_local on a thread", "spawn_local outside of a current-thread runtime's tasks", || {
        panic_of(|| spawn_local(|| ()))
    }),
    ("a CurrentThread that is run in itself", "a runtime was run by one of its own tasks", || {
        let local = Runtime::current_thread().expect("a runtime");
        local.run(|| panic_of(|| local.run(|| ())))
    }),
    (
        "a CurrentThread that is run as its thread ends",
        "a runtime cannot run while its thread's locals are destroyed",
        by_a_local_that_goes,
    ),
    ("chunks of nothing", "par_chunks_mut: chunks of 0 items", || {
        panic_of(|| par_chunks_mut(&mut [1], 0, |_, _| ()))
    }),
    (
        "a worker that is run by a worker",
        "WorkerThread::run on a thread that is a worker already",
        || {
            static TEXT: OnceLock<String> = OnceLock::new();
            let handler = |worker: WorkerThread| {
                let other = rt();
                let text = other.install(|| panic_of(|| worker.run()));
                TEXT.set(text).expect("once");
                Ok(())
            };
            drop(with_worker_thread(handler));
            TEXT.get().expect("told").clone()
        },
    ),
    (
        "a worker that is run by its builder",
        "WorkerThread::run on the thread that builds the runtime, which would wait for itself",
        || {
            let handler = |worker: WorkerThread| Err(io::Error::other(panic_of(|| worker.run())));
            match with_worker_thread(handler).expect_err("not built") {
                BuildError::Thread { source, .. } => source.to_string(),
                error => panic!("{error}"),
            }
        },
    ),
    (
        "a shutdown by its own worker",
        "a runtime cannot be shut down by one of its own workers",
        || {
            let rt = Arc::new(rt());
            let own = Arc::clone(&rt);
            let shut = move || own.shutdown().expect_err("refused").to_string();
            rt.spawn(shut).join().expect("ran")
        },
    ),
    (
        "a shutdown that is in a hurry",
        "shutdown timed out when 0 of 1 workers had ended; 1 fibers remain on 1 stacks",
        || {
            let rt = Runtime::builder().workers(1).max_stacks(1).build().expect("a runtime");
            let (begun, go) = (Arc::new(Event::new()), Arc::new(Event::new()));
            let (begins, goes) = (Arc::clone(&begun), Arc::clone(&go));
            let task = rt.spawn(move || {
                park::uninterrupted(|| {
                    begins.set();
                    goes.wait();
                });
            });
            begun.wait();
            let error = rt.shutdown_timeout(Duration::ZERO).expect_err("a task remains");
            go.set();
            drop(task);
            let text = error.to_string();
            text.split_once(':').expect("the fibers follow").0.to_owned()
        },
    ),
];

#[test]
fn each_mistake_has_its_text() {
    for (mistake, text, make) in TABLE {
        let _dog = Watchdog::new(mistake);
        assert_eq!(&make(), text, "{mistake}");
    }
    assert!(NOT_SHOWN.iter().all(|(text, why)| !text.is_empty() && !why.is_empty()));
}
