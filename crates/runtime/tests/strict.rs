//! A strict runtime, in which each waiting task keeps a thread, behaves like any other.

#![allow(clippy::duplicate_mod, reason = "what the included tests share is included with each")]

mod common;

// These are the same tests. In this binary `common` builds strict runtimes.
#[path = "blocking.rs"]
mod blocking;
#[path = "fork_join.rs"]
mod fork_join;
#[path = "unwinding.rs"]
mod unwinding;

use sateen_runtime::{FiberInfo, Runtime, Spawn, sleep, yield_now};
use sateen_sync::Event;
use sateen_testkit::{give_way, until};
use std::cell::{Cell, RefCell};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

fn strict(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).strict(true).build().expect("a runtime")
}

#[test]
fn tasks_that_wait_have_threads_of_their_own() {
    let runtime = strict(1);
    let gate = Arc::new(Event::new());
    let begun = Arc::new(AtomicUsize::new(0));
    let tasks = [(); 3].map(|()| {
        let (gate, begun) = (Arc::clone(&gate), Arc::clone(&begun));
        runtime.spawn(move || {
            let before = thread::current().id();
            begun.fetch_add(1, SeqCst);
            gate.wait();
            assert_eq!(before, thread::current().id());
            before
        })
    });
    // On one worker a task begins only after the one before it waits.
    while begun.load(SeqCst) < 3 {
        thread::yield_now();
    }
    gate.set();
    let ids = tasks.map(|task| task.join().expect("ran"));
    assert!(ids.iter().all(|&id| id != thread::current().id()));
}

#[test]
fn threads_are_used_again() {
    thread_local! { static USES: Cell<u32> = const { Cell::new(0) } }
    let runtime = strict(1);
    let uses: u32 = (0..200)
        .map(|_| {
            let task = runtime.spawn(|| {
                yield_now();
                USES.replace(USES.get() + 1)
            });
            task.join().expect("ran")
        })
        .max()
        .expect("some");
    assert!(uses >= 50, "{uses} tasks at most shared a thread");
}

#[test]
fn nothing_is_left_of_the_threads_at_the_end() {
    struct Alive(Arc<()>);
    thread_local! {
        static HELD: RefCell<Option<Alive>> = const { RefCell::new(None) };
    }
    let alive = Arc::new(());
    let runtime = strict(2);
    for _ in 0..50 {
        let (alive, large) = (Arc::clone(&alive), Spawn::new().stack_size(4 << 20));
        // Some tasks run on threads that are kept, some on threads that end with the task.
        let hold = move || {
            yield_now();
            let held = HELD.replace(Some(Alive(alive)));
            drop(held.map(|held| held.0));
        };
        runtime.spawn(hold.clone()).join().expect("ran");
        runtime.spawn_with(large, hold).join().expect("ran");
    }
    runtime.shutdown().expect("an orderly end");
    assert_eq!(Arc::strong_count(&alive), 1, "a thread is left, with its thread-locals");
}

/// A thread whose main function has returned still has to destroy its thread-locals.
#[test]
fn the_end_waits_for_slow_destructors_of_thread_locals() {
    static STATE: AtomicUsize = AtomicUsize::new(0);
    static GO: AtomicBool = AtomicBool::new(false);
    struct Slow;
    impl Drop for Slow {
        fn drop(&mut self) {
            STATE.store(1, SeqCst);
            until(|| GO.load(SeqCst));
            STATE.store(2, SeqCst);
        }
    }
    thread_local! { static SLOW: Cell<Option<Slow>> = const { Cell::new(None) } }
    let runtime = strict(1);
    // This is larger than the stacks that are kept, so each of these tasks has a thread that ends
    // with it.
    let of_its_own = || Spawn::new().stack_size(4 << 20);
    runtime.spawn_with(of_its_own(), || SLOW.set(Some(Slow))).join().expect("ran");
    until(|| STATE.load(SeqCst) == 1);
    runtime.spawn_with(of_its_own(), || ()).join().expect("ran");
    let end = thread::spawn(move || {
        runtime.shutdown().expect("an orderly end");
        STATE.load(SeqCst)
    });
    give_way();
    GO.store(true, SeqCst);
    assert_eq!(end.join().expect("ended"), 2, "the end did not wait for the destructor");
}

#[test]
fn a_task_may_have_a_larger_stack() {
    fn deep(n: usize) -> usize {
        let here = std::hint::black_box([n as u8; 1024]);
        if n == 0 { 0 } else { usize::from(here[0] == n as u8) + deep(n - 1) }
    }
    let runtime = strict(1);
    let large = Spawn::new().stack_size(16 << 20);
    assert_eq!(runtime.spawn_with(large, || deep(8000)).join().expect("ran"), 8000);
}

/// `std` does not record that an initialiser is running. The initialiser that ends last drops the
/// value of the one that ended before, which is lent by then. Tasks with a thread of their own have
/// a value of their own.
#[test]
fn a_task_may_wait_in_the_initialiser_of_a_thread_local() {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    static DROPPED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
    static BEGUN: Event = Event::new();
    static LENT: Event = Event::new();
    static ENDED: Event = Event::new();
    struct Value(usize);
    impl Value {
        fn make() -> Self {
            let number = MADE.fetch_add(1, SeqCst);
            if number == 0 {
                BEGUN.set();
                LENT.wait();
            }
            Self(number)
        }
    }
    impl Drop for Value {
        fn drop(&mut self) {
            DROPPED[self.0].store(true, SeqCst);
        }
    }
    thread_local! { static VALUE: Value = Value::make(); }
    let runtime = strict(1);
    let first = runtime.spawn(|| {
        VALUE.with(|value| assert_eq!(value.0, 0));
        ENDED.set();
    });
    BEGUN.wait();
    let second = runtime.spawn(|| {
        VALUE.with(|value| {
            LENT.set();
            ENDED.wait();
            assert!(!DROPPED[1].load(SeqCst), "the value was dropped while it was lent");
            assert_eq!(value.0, 1);
        });
    });
    second.join().expect("kept its value");
    first.join().expect("kept its value");
}

/// `scoped_tls` works like this: set, call, restore. If tasks share a thread, the last one to leave
/// restores the value that the first one set, whose scope has ended by then.
#[test]
fn a_scope_in_a_thread_local_is_gone_at_its_end() {
    thread_local! { static CURRENT: Cell<Option<u32>> = const { Cell::new(None) } }
    fn within(scope: u32, f: impl FnOnce()) {
        struct Restore(Option<u32>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _restore = Restore(CURRENT.replace(Some(scope)));
        f();
    }
    let runtime = strict(1);
    let (inside, over) = (Arc::new(Event::new()), Arc::new(Event::new()));
    let first = runtime.spawn({
        let (inside, over) = (Arc::clone(&inside), Arc::clone(&over));
        move || {
            within(1, || inside.wait());
            over.set();
            CURRENT.get()
        }
    });
    let second = runtime.spawn(move || {
        within(2, || {
            inside.set();
            over.wait();
            assert_eq!(CURRENT.get(), Some(2));
        });
        CURRENT.get()
    });
    assert_eq!(first.join().expect("left"), None);
    assert_eq!(second.join().expect("left"), None, "a scope that is over");
}

/// The thread of a task that waits sleeps, so it cannot answer. The asker looks itself.
#[test]
fn a_report_sees_what_tasks_wait_for() {
    for workers in [1, 2, 8] {
        let runtime = strict(workers);
        let event = Arc::new(Event::new());
        let wait = |i: usize| {
            let event = Arc::clone(&event);
            runtime.spawn_with(Spawn::new().name(format!("reader {i}")), move || event.wait())
        };
        let tasks: Vec<_> = (0..20).map(wait).collect();
        let sleeper = runtime.spawn(|| sleep(Duration::from_secs(1000)));
        let waits = |count| {
            let report = runtime.report();
            let named = |fiber: &&FiberInfo| {
                let wait = fiber.waits_for.as_ref().is_some_and(|wait| wait.kind == "event");
                wait && !fiber.partial && fiber.name.is_some() && fiber.location.is_some()
            };
            (report.fibers.iter().filter(named).count() == 20 && report.fibers.len() == count)
                .then_some(report)
        };
        let _dog = sateen_testkit::Watchdog::new(&format!("a report on {workers} workers"));
        let seen = |count| (0..).find_map(|_| waits(count)).expect("in the end");
        assert_eq!(seen(21).blocked, None, "a task waits for time");
        sleeper.cancel();
        assert!(sleeper.join().is_err());
        while seen(20).blocked.is_none() {
            thread::yield_now();
        }
        event.set();
        tasks.into_iter().for_each(|task| task.join().expect("woken"));
        runtime.shutdown().expect("an orderly end");
    }
}

#[test]
fn a_blocked_runtime_says_so_by_itself() {
    const NAME: &str = "a_blocked_runtime_says_so_by_itself";
    const COUNTS: [usize; 3] = [1, 2, 8];
    const ROUNDS: usize = 3;
    if std::env::var_os("SATEEN_TEST_CHILD").is_none() {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
            .env("SATEEN_TEST_CHILD", "1")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the child runs");
        let mut go = child.stdin.take().expect("a pipe");
        let said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut times = 0;
        for line in said.map(|line| line.expect("text")) {
            if line == "all blocked, no timer pending, 1 outside waker outstanding" {
                times += 1;
                writeln!(go, "go").expect("it reads");
            }
        }
        assert!(child.wait().expect("its status").success());
        assert_eq!(times, COUNTS.len() * ROUNDS, "once each time");
        return;
    }
    let _dog = sateen_testkit::Watchdog::new("nothing is said");
    for workers in COUNTS {
        let builder = Runtime::builder().workers(workers).strict(true);
        let runtime = builder.report_blocked(true).build().expect("a runtime");
        for _ in 0..ROUNDS {
            // Nothing is said meanwhile.
            runtime.spawn(|| sleep(Duration::from_millis(20))).join().expect("awake");
            let event = Arc::new(Event::new());
            let inner = Arc::clone(&event);
            let task = runtime.spawn(move || inner.wait());
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).expect("the parent writes");
            event.set();
            task.join().expect("set");
        }
    }
}

#[test]
fn a_report_leaves_nothing_at_workers_that_fall_asleep() {
    let _dog = sateen_testkit::Watchdog::new("reports while tasks fall asleep");
    let runtime = strict(2);
    for _ in 0..300 {
        let event = Arc::new(Event::new());
        let wait = |_| {
            let event = Arc::clone(&event);
            runtime.spawn(move || event.wait())
        };
        let tasks: Vec<_> = (0..2).map(wait).collect();
        // Some of these come just before the tasks' waits, some just after.
        while runtime.report().blocked.is_none() {
            thread::yield_now();
        }
        event.set();
        tasks.into_iter().for_each(|task| task.join().expect("woken"));
    }
    runtime.shutdown().expect("an orderly end");
}

#[test]
fn a_cancelled_task_unwinds_on_its_thread() {
    let runtime = strict(1);
    let (started, gate) = (Arc::new(Event::new()), Arc::new(Event::new()));
    let task = runtime.spawn({
        let (started, gate) = (Arc::clone(&started), Arc::clone(&gate));
        move || {
            started.set();
            gate.wait();
        }
    });
    started.wait();
    task.cancel();
    assert!(matches!(task.join(), Err(sateen_runtime::JoinError::Cancelled)));
    assert_eq!(runtime.spawn(|| 1).join().expect("the runtime goes on"), 1);
}
