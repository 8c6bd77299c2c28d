//! A program that hangs can be looked at: workers are stopped anywhere, and user code does not
//! return.

// ThreadSanitizer has its own view of signals.
#![cfg(all(feature = "inspect", target_os = "linux", not(any(miri, sateen_tsan))))]

#[path = "common/asked.rs"]
mod asked;

use asked::{Asker, all, folder};
use sateen_runtime::{Runtime, Spawn, policy, sleep, spawn, yield_now};
use sateen_sync::Event;
use sateen_testkit::{until, waker_fn};
use serde_json::Value;
use std::cell::RefCell;
use std::future::poll_fn;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// An answer that waits for a worker would take for ever.
const SOON: Duration = Duration::from_secs(10);

fn runtime(workers: usize) -> sateen_runtime::Builder {
    folder();
    Runtime::builder().workers(workers).inspect(true)
}

/// A place in user code that does not return until it is told.
#[derive(Clone, Default)]
struct Trap(Arc<(AtomicBool, Mutex<bool>, Condvar)>);

impl Trap {
    fn enter(&self) {
        self.0.0.store(true, SeqCst);
        let open = self.0.1.lock().expect("not poisoned");
        drop(self.0.2.wait_while(open, |open| !*open));
    }

    /// Looks at the program while a worker is in the trap. The trap then opens.
    fn look(&self, asker: &mut Asker, kind: &str) {
        until(|| self.0.0.load(SeqCst));
        let start = Instant::now();
        let frame = asker.ask("frame")["frame"].take();
        assert!(start.elapsed() < SOON, "{kind}: {:?}", start.elapsed());
        assert!(all(&frame, "workers").count() > 0, "{kind}: {frame}");
        let answer = asker.ask("report");
        assert!(answer["report"].is_object() || answer["error"].is_string(), "{kind}: {answer}");
        *self.0.1.lock().expect("not poisoned") = true;
        self.0.2.notify_all();
    }
}

struct OnDrop(Trap);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.enter();
    }
}

thread_local! {
    static LAST: RefCell<Option<OnDrop>> = const { RefCell::new(None) };
}

#[test]
fn user_code_that_does_not_return_is_looked_at() {
    let mut asker = None;
    let mut look = |kind: &str, enter: &dyn Fn(&Runtime, Trap)| {
        let trap = Trap::default();
        let runtime = runtime(2).build().expect("a runtime");
        enter(&runtime, trap.clone());
        trap.look(asker.get_or_insert_with(Asker::connect), kind);
        drop(runtime);
    };
    look("a task", &|runtime, trap| drop(runtime.spawn(move || trap.enter())));
    look("a poll", &|runtime, trap| {
        drop(runtime.spawn_async(async move { trap.enter() }));
    });
    look("a result's destructor", &|runtime, trap| {
        drop(runtime.spawn(move || OnDrop(trap)));
    });
    look("a closure's destructor", &|runtime, trap| {
        let kept = OnDrop(trap);
        drop(runtime.spawn(move || drop(kept)));
    });
    look("a waker's destructor", &|runtime, trap| {
        let kept = OnDrop(trap);
        let waker = Mutex::new(Some(waker_fn(move || _ = &kept)));
        drop(runtime.spawn_async(poll_fn(move |_| {
            drop(waker.lock().expect("not poisoned").take());
            Poll::Ready(())
        })));
    });
    look("a thread-local's destructor", &|runtime, trap| {
        runtime.broadcast(|index| {
            if index == 0 {
                LAST.set(Some(OnDrop(trap.clone())));
            }
        });
        drop(runtime.shutdown_timeout(Duration::ZERO));
    });
    look("a branch", &|runtime, trap| {
        drop(runtime.spawn(move || sateen_runtime::join(|| trap.enter(), yield_now)));
    });
    look("a call from outside", &|runtime, trap| {
        let spawner = runtime.spawner();
        thread::spawn(move || spawner.spawn(move || trap.enter()).join());
    });
}

#[test]
fn hooks_that_do_not_return_are_looked_at() {
    let trap = Trap::default();
    let hook = trap.clone();
    let builder = runtime(2).on_start(move |index| {
        if index == 1 {
            hook.enter()
        }
    });
    let runtime = builder.build().expect("a runtime");
    trap.look(&mut Asker::connect(), "a start hook");
    drop(runtime);
}

/// Holds the runtimes of this process: others would see it stopped.
static STOP: AtomicBool = AtomicBool::new(false);
static STOPPED: AtomicUsize = AtomicUsize::new(0);

/// Stops the thread wherever it is, with whatever locks it has.
extern "C" fn stop_here(_: libc::c_int) {
    STOPPED.fetch_add(1, SeqCst);
    while STOP.load(SeqCst) {
        spin_loop();
        // SAFETY: it may be called in a handler.
        unsafe { libc::sched_yield() };
    }
    STOPPED.fetch_sub(1, SeqCst);
}

/// Does what takes the runtime's locks: names, stacks, inboxes, pinned queues, timers.
fn churn(runtime: &Runtime, over: &Arc<AtomicBool>) {
    for each in 0..4 {
        let over = Arc::clone(over);
        drop(runtime.spawn(move || {
            let event = Arc::new(Event::new());
            while !over.load(SeqCst) {
                let inner = Arc::clone(&event);
                let named = Spawn::new().name(format!("named {each}"));
                let waits = named.spawn(move || inner.wait());
                let sleeps = spawn(|| sleep(Duration::from_micros(50)));
                let pinned = Spawn::new().on_worker(each % 2);
                let pinned = pinned.spawn(yield_now);
                let future = sateen_runtime::spawn_async(async { yield_now() });
                event.set();
                for task in [waits, sleeps, pinned, future] {
                    task.join().expect("ended");
                }
                event.reset();
            }
        }));
    }
}

/// Workers are stopped at points that no test could name: also within the allocator, and with each
/// lock that the load takes.
#[test]
fn workers_that_are_stopped_anywhere_are_looked_at() {
    let runtime = runtime(2).build().expect("a runtime");
    let handler = stop_here as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does what a handler may.
    unsafe { libc::signal(libc::SIGUSR2, handler) };
    // SAFETY: it always succeeds.
    let threads = runtime.broadcast(|_| unsafe { libc::pthread_self() } as usize);
    let over = Arc::new(AtomicBool::new(false));
    churn(&runtime, &over);
    let mut asker = Asker::connect();
    let mut without = 0;
    for round in 0..300 {
        STOP.store(true, SeqCst);
        for &thread in &threads {
            // SAFETY: the runtime keeps the thread.
            assert_eq!(unsafe { libc::pthread_kill(thread as _, libc::SIGUSR2) }, 0);
        }
        let start = Instant::now();
        while STOPPED.load(SeqCst) < threads.len() {
            assert!(start.elapsed() < asked::PATIENCE, "round {round}: no stop");
            thread::yield_now();
        }
        let start = Instant::now();
        let frame: Value = asker.ask("frame")["frame"].take();
        assert!(start.elapsed() < SOON, "round {round}: {:?}", start.elapsed());
        let number = |it: &Value| it["workers"].as_array().map_or(0, Vec::len);
        let ours = asked::runtimes(&frame).iter().find(|it| number(it) >= 2).expect("ours");
        without += usize::from(ours["tasks"].is_null());
        if round % 100 == 50 {
            let answer = asker.ask("report");
            assert!(answer["report"].is_object() || answer["error"].is_string(), "{answer}");
        }
        STOP.store(false, SeqCst);
        while STOPPED.load(SeqCst) > 0 {
            thread::yield_now();
        }
        (0..round % 8).for_each(|_| thread::yield_now());
    }
    println!("{without} of 300 looks were without the fibers");
    over.store(true, SeqCst);
}

/// A policy of the user's that does not return.
struct Stuck {
    trap: Trap,
    inner: Mutex<Vec<policy::Runnable>>,
}

impl policy::Policy for Stuck {
    fn awakened(&self, runnable: policy::Runnable) {
        self.inner.lock().expect("not poisoned").push(runnable);
    }

    fn pick_next(&self) -> Option<policy::Runnable> {
        self.trap.enter();
        self.inner.lock().expect("not poisoned").pop()
    }

    fn has_ready(&self) -> bool {
        !self.inner.lock().expect("not poisoned").is_empty()
    }
}

#[test]
fn a_policy_that_does_not_return_is_looked_at() {
    let trap = Trap::default();
    let inside = trap.clone();
    let policy =
        policy::custom(move |_| Box::new(Stuck { trap: inside.clone(), inner: Mutex::default() }));
    let runtime = runtime(1).policy(policy).build().expect("a runtime");
    let task = runtime.spawn(|| ());
    trap.look(&mut Asker::connect(), "a policy");
    task.join().expect("ended");
}
