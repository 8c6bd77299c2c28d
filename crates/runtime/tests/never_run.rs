//! What the runtime was given and never runs: its destructor may panic. That panic ends where the
//! runtime drops the value. The caller gets the answer that is documented, also while it unwinds.

use sateen_runtime::{
    Builder, CancelToken, CurrentThread, JoinError, Runtime, Spawn, Stack, StackAllocator,
    WorkerThread, fork, join, policy, scope, spawn, spawn_async, spawn_local,
};
use sateen_sync::Event;
use sateen_testkit::{Watchdog, message};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Panics when it is dropped, and so does the payload.
struct Bomb(Arc<AtomicUsize>);

impl Bomb {
    /// For a closure that keeps the bomb.
    fn keep(&self) {}
}

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
        panic_any(Payload);
    }
}

struct Payload;
impl Drop for Payload {
    fn drop(&mut self) {
        panic!("a payload's destructor");
    }
}

/// Makes bombs, and counts those that are left.
#[derive(Default)]
struct Maker(Arc<AtomicUsize>);

impl Maker {
    fn bomb(&self) -> Bomb {
        self.0.fetch_add(1, SeqCst);
        Bomb(self.0.clone())
    }
}

/// Runs `f` in a destructor while the thread unwinds.
fn unwinding<R>(f: impl FnOnce() -> R) -> R {
    struct AtEnd<'a, R, F: FnOnce() -> R>(Option<F>, &'a mut Option<R>);
    impl<R, F: FnOnce() -> R> Drop for AtEnd<'_, R, F> {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            if let Some(f) = self.0.take() {
                *self.1 = Some(f());
            }
        }
    }
    let mut result = None;
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _end = AtEnd(Some(f), &mut result);
        panic!("unwinds");
    }));
    assert_eq!(message(caught.unwrap_err()), "unwinds");
    result.expect("ran")
}

/// Calls `f` as usual and in an unwinding. All bombs have to be gone, and the answer is `expected`,
/// which begins a message if `f` is to panic.
fn check(what: &str, expected: Result<&str, &str>, f: impl Fn(&Maker) -> String) {
    let _watchdog = Watchdog::new(what);
    let call = || {
        let maker = Maker::default();
        let answer = catch_unwind(AssertUnwindSafe(|| f(&maker))).map_err(message);
        // The last thread of a runtime that has ended may be about to leave. The watchdog looks.
        while maker.0.load(SeqCst) != 0 {
            std::thread::yield_now();
        }
        answer
    };
    for (answer, how) in [(call(), ""), (unwinding(call), ", unwinding")] {
        match (&answer, expected) {
            (Ok(text), Ok(start)) | (Err(text), Err(start)) if text.starts_with(start) => {}
            _ => panic!("{what}{how}: {answer:?}, and not {expected:?}"),
        }
    }
}

fn text<T: std::fmt::Debug>(result: Result<T, JoinError>) -> String {
    result.expect_err("it did not run").to_string()
}

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("a runtime")
}

const SHUT_DOWN: &str = "the runtime was shut down before the task began";

#[test]
fn spawns_after_the_end() {
    let rt = runtime(1);
    let spawner = rt.spawner();
    rt.shutdown().expect("an orderly end");
    check("a closure", Ok(SHUT_DOWN), |maker| {
        let bomb = maker.bomb();
        text(spawner.spawn(move || bomb.keep()).join())
    });
    check("with settings", Ok(SHUT_DOWN), |maker| {
        let bomb = maker.bomb();
        text(spawner.spawn_with(Spawn::new().name("n"), move || bomb.keep()).join())
    });
    check("for a thread's runtime", Ok(SHUT_DOWN), |maker| {
        let bomb = maker.bomb();
        let spawner = Runtime::current_thread().expect("a runtime").spawner();
        text(spawner.spawn(move || bomb.keep()).join())
    });
}

#[test]
fn spawns_with_settings_that_cannot_be() {
    let rt = runtime(2);
    let settings = || {
        [
            (Spawn::new().on_worker(7), "no worker 7"),
            (Spawn::new().stack_size(usize::MAX), "cannot give a task"),
        ]
    };
    for ((closure, start), (future, _)) in settings().into_iter().zip(settings()) {
        check("from outside", Ok(start), |maker| {
            let bomb = maker.bomb();
            text(rt.spawn_with(closure.clone(), move || bomb.keep()).join())
        });
        check("from a task", Ok(start), |maker| {
            let bomb = maker.bomb();
            rt.install(|| text(closure.clone().spawn(move || bomb.keep()).join()))
        });
        check("detached", Ok(start), |maker| {
            let bomb = maker.bomb();
            rt.install(|| text(closure.clone().detach(move || bomb.keep())))
        });
        check("a future", Ok(start), |maker| {
            let bomb = maker.bomb();
            rt.install(|| text(future.clone().spawn_async(async move { bomb.keep() }).join()))
        });
    }
    rt.shutdown().expect("an orderly end");
}

/// In a hook a spawn is refused.
#[test]
fn spawns_in_a_hook() {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let told = answers.clone();
    let hook = move |_| {
        let maker = Maker::default();
        let (closure, future) = (maker.bomb(), maker.bomb());
        let closure = catch_unwind(AssertUnwindSafe(|| spawn(move || closure.keep()).join()));
        let future =
            catch_unwind(AssertUnwindSafe(|| spawn_async(async move { future.keep() }).join()));
        let text = |caught: Result<_, _>| caught.map(text).map_err(message);
        told.lock().unwrap().extend([text(closure), text(future)]);
    };
    let rt = Runtime::builder().workers(1).on_start(hook).build().expect("a runtime");
    rt.shutdown().expect("an orderly end");
    let refused = "a hook or callback of a runtime spawned the task".to_owned();
    assert_eq!(*answers.lock().unwrap(), vec![Ok(refused); 2]);
}

#[test]
fn cancelled_before_it_starts() {
    const CANCELLED: &str = "the task was cancelled";
    let rt = runtime(1);
    check("by a token", Ok(CANCELLED), |maker| {
        let (closure, future) = (maker.bomb(), maker.bomb());
        let token = CancelToken::new();
        token.cancel();
        let task = rt.spawn_with(Spawn::new().token(&token), move || closure.keep());
        assert_eq!(text(task.join()), CANCELLED);
        let spawn = Spawn::new().token(&token);
        let task = rt.install(|| spawn.spawn_async(async move { future.keep() }));
        text(task.join())
    });
    check("by its handle", Ok(CANCELLED), |maker| {
        let bomb = maker.bomb();
        let go = Arc::new(Event::new());
        let waits = go.clone();
        let blocker = rt.spawn(move || {
            while !waits.is_set() {
                std::thread::yield_now();
            }
        });
        let task = rt.spawn(move || bomb.keep());
        task.cancel();
        go.set();
        blocker.join().expect("ran");
        text(task.join())
    });
    rt.shutdown().expect("an orderly end");
}

/// The other branch panics, or the caller is cancelled: the branch that did not run is dropped.
#[test]
fn branches_of_a_call_that_panics() {
    let rt = runtime(1);
    check("join", Err("first"), |maker| {
        let bomb = maker.bomb();
        rt.install(|| join(|| panic!("first"), move || bomb.keep()));
        String::new()
    });
    check("fork", Err("first"), |maker| {
        let bomb = maker.bomb();
        rt.install(|| {
            let branches: [Box<dyn FnOnce() + Send>; 2] =
                [Box::new(|| panic!("first")), Box::new(move || bomb.keep())];
            fork(branches).into_iter().for_each(drop);
        });
        String::new()
    });
    check("scope", Err("body"), |maker| {
        let bomb = maker.bomb();
        rt.install(|| {
            scope(|s| {
                s.spawn(move |_| bomb.keep());
                panic!("body");
            });
        });
        String::new()
    });
    rt.shutdown().expect("an orderly end");
}

/// A policy drops what it was given, and the runtime runs out of stacks.
#[test]
fn tasks_that_get_lost() {
    check("out of stacks", Ok("no stack"), |maker| {
        let rt = Runtime::builder().workers(1).max_stacks(1).build().expect("a runtime");
        let (bomb, event) = (maker.bomb(), Arc::new(Event::new()));
        let waits = event.clone();
        let holder = rt.spawn(move || waits.wait());
        let task = rt.spawn(move || bomb.keep());
        let answer = text(task.join());
        event.set();
        holder.join().expect("ran");
        answer
    });
    struct Forgets;
    impl policy::Policy for Forgets {
        fn awakened(&self, runnable: policy::Runnable) {
            drop(runnable);
        }
        fn pick_next(&self) -> Option<policy::Runnable> {
            None
        }
        fn has_ready(&self) -> bool {
            false
        }
    }
    check("dropped by a policy", Ok(""), |maker| {
        let rt = Runtime::builder()
            .workers(1)
            .policy(policy::custom(|_| Box::new(Forgets)))
            .build()
            .expect("a runtime");
        let bomb = maker.bomb();
        drop(rt.spawn(move || bomb.keep()));
        rt.shutdown().expect("an orderly end");
        String::new()
    });
}

/// Where a call panics because of a mistake, the closure's destructor adds nothing.
#[test]
fn calls_that_panic_for_their_place() {
    check("spawn_local", Err("spawn_local outside"), |maker| {
        let bomb = maker.bomb();
        drop(spawn_local(move || bomb.keep()));
        String::new()
    });
    check("CurrentThread::run", Err("a runtime was run by one of its own tasks"), |maker| {
        let bomb = maker.bomb();
        let rt = std::rc::Rc::new(Runtime::current_thread().expect("a runtime"));
        let inner = rt.clone();
        rt.run(move || inner.run(move || bomb.keep()));
        String::new()
    });
    check("CurrentThread::run_until", Err("a runtime was run by one of its own tasks"), |maker| {
        let bomb = maker.bomb();
        let rt = std::rc::Rc::new(Runtime::current_thread().expect("a runtime"));
        let inner = rt.clone();
        rt.run(move || inner.run_until(async move { bomb.keep() }));
        String::new()
    });
}

#[test]
fn tasks_of_a_thread_that_drops_its_runtime() {
    check("unstarted", Ok(""), |maker| {
        let rt: CurrentThread = Runtime::current_thread().expect("a runtime");
        let (closure, future) = (maker.bomb(), maker.bomb());
        drop(rt.spawn_local(move || closure.keep()));
        drop(rt.spawner().spawn(move || future.keep()));
        drop(rt);
        String::new()
    });
}

/// Stacks that keep a bomb.
struct Stacks(#[allow(dead_code)] Bomb, sateen_runtime::PooledStacks);

impl StackAllocator for Stacks {
    fn allocate(&self, size: usize) -> io::Result<Stack> {
        self.1.allocate(size)
    }
    unsafe fn deallocate(&self, stack: Stack) {
        // SAFETY: passed on.
        unsafe { self.1.deallocate(stack) }
    }
}

/// Builds that fail, and builders that are dropped, with a bomb in each callback.
#[test]
fn builders() {
    type Set = fn(Builder, Bomb) -> Builder;
    let sets: [(&str, Set); 7] = [
        ("thread_name", |b, bomb| {
            b.thread_name(move |_| {
                bomb.keep();
                "n".into()
            })
        }),
        ("on_start", |b, bomb| b.on_start(move |_| bomb.keep())),
        ("on_exit", |b, bomb| b.on_exit(move |_| bomb.keep())),
        ("on_arrival", |b, bomb| b.on_arrival(move || bomb.keep())),
        ("spawn_handler", |b, bomb| {
            b.spawn_handler(move |worker: WorkerThread| {
                bomb.keep();
                std::thread::Builder::new().spawn(|| worker.run()).map(drop)
            })
        }),
        ("policy", |b, bomb| {
            b.policy(policy::custom(move |_| {
                bomb.keep();
                unreachable!("no worker is made");
            }))
        }),
        ("stack_allocator", |b, bomb| {
            b.stack_allocator(Stacks(bomb, sateen_runtime::PooledStacks::new()))
        }),
    ];
    for (name, set) in sets {
        check(name, Ok(""), |maker| {
            drop(set(Runtime::builder(), maker.bomb()));
            String::new()
        });
        check(name, Ok("cannot run 0 workers"), |maker| {
            let built = set(Runtime::builder(), maker.bomb()).workers(0).build();
            built.expect_err("no workers").to_string()
        });
        check(name, Ok("cannot use stacks of"), |maker| {
            let built = set(Runtime::builder(), maker.bomb()).stack_size(usize::MAX);
            built.current_thread().expect_err("no such stacks").to_string()
        });
        if name == "policy" {
            continue;
        }
        check(name, Ok(""), |maker| {
            let built = set(Runtime::builder(), maker.bomb()).workers(2).build();
            built.expect("a runtime").shutdown().expect("an orderly end");
            String::new()
        });
        check(name, Ok(""), |maker| {
            drop(set(Runtime::builder(), maker.bomb()).current_thread().expect("a runtime"));
            String::new()
        });
    }
}
