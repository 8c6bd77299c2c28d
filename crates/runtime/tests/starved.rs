//! Nested work when stacks run out: what a scope, a join or a call from outside waits for starts all the same.

use sateen_runtime::{Runtime, join, scope, sleep, spawn, yield_now};
use sateen_sync::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::time::Duration;

/// Workers and stacks.
const LIMITS: [(usize, usize); 9] =
    [(1, 1), (1, 2), (1, 4), (1, 8), (2, 2), (2, 3), (2, 4), (2, 8), (4, 8)];
/// Long enough for a loaded machine; what hangs, hangs for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `f`, and ends the process if that takes for ever.
fn watched<R>(what: &str, f: impl FnOnce() -> R) -> R {
    let (done, wait) = mpsc::channel::<()>();
    let what = what.to_owned();
    let dog = std::thread::spawn(move || {
        if wait.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            eprintln!("{what} hangs");
            std::process::abort();
        }
    });
    let result = f();
    drop(done);
    dog.join().expect("nothing to panic about");
    result
}

/// Runs `f`, often, with each of [`LIMITS`].
fn at_all_limits(what: &str, times: usize, f: impl Fn() -> usize + Sync, expected: usize) {
    for (workers, stacks) in LIMITS {
        watched(&format!("{what} on {workers} workers with {stacks} stacks"), || {
            for _ in 0..times {
                let builder = Runtime::builder().workers(workers).max_stacks(stacks);
                let rt = builder.build().expect("a runtime");
                assert_eq!(rt.install(&f), expected);
                rt.shutdown().expect("an orderly end");
            }
        });
    }
}

fn nap() {
    sleep(Duration::from_micros(100));
}

/// A tree of scopes, each with `width` spawns that sleep first; how many spawns there are.
fn sleepers(depth: usize, width: usize, pause: fn()) -> usize {
    let count = AtomicUsize::new(0);
    scope(|s| {
        for _ in 0..width {
            s.spawn(|_| {
                pause();
                let below = if depth > 1 { sleepers(depth - 1, width, pause) } else { 0 };
                pause();
                count.fetch_add(1 + below, SeqCst);
            });
        }
    });
    count.into_inner()
}

#[test]
fn nested_scopes_whose_spawns_sleep() {
    at_all_limits("a tree of scopes", 10, || sleepers(3, 3, nap), 39);
}

#[test]
fn nested_scopes_whose_spawns_yield() {
    at_all_limits("a tree of scopes", 10, || sleepers(3, 3, yield_now), 39);
}

#[test]
fn a_tree_of_scopes_twelve_levels_deep() {
    fn chain(depth: usize) -> usize {
        let below = AtomicUsize::new(0);
        scope(|s| {
            s.spawn(|_| nap());
            s.spawn(|_| {
                nap();
                below.store(if depth > 1 { chain(depth - 1) } else { 0 }, SeqCst);
            });
            s.spawn(|_| yield_now());
        });
        below.into_inner() + 1
    }
    at_all_limits("a chain of scopes", 3, || chain(12), 12);
}

/// Scopes within branches within tasks, all of which sleep.
#[test]
fn scopes_in_branches_in_tasks() {
    fn mixed(depth: usize) -> usize {
        if depth == 0 {
            nap();
            return 1;
        }
        let task = spawn(move || mixed(depth - 1));
        let (a, b) = join(|| sleepers(1, 2, nap), || mixed(depth - 1));
        a + b + task.join().expect("it has waited for a stack")
    }
    // Twice as many and two more at each level.
    at_all_limits("a mixed tree", 3, || mixed(3), 22);
}

/// Spawns of a scope that others of it make, from whatever worker those run on.
#[test]
fn spawns_of_spawns() {
    fn more<'a>(s: &sateen_runtime::Scope<'a>, depth: usize, count: &'a AtomicUsize) {
        for _ in 0..2 {
            s.spawn(move |s| {
                nap();
                count.fetch_add(1, SeqCst);
                if depth > 1 {
                    more(s, depth - 1, count);
                }
                nap();
            });
        }
    }
    let run = || {
        let count = AtomicUsize::new(0);
        scope(|s| more(s, 5, &count));
        count.into_inner()
    };
    at_all_limits("spawns of spawns", 5, run, 62);
}

#[test]
fn a_rendezvous_across_a_join() {
    let run = || {
        let (a, b) = (Event::new(), Event::new());
        let meet = |mine: &Event, other: &Event| {
            mine.set();
            other.wait();
        };
        join(|| meet(&a, &b), || meet(&b, &a));
        1
    };
    at_all_limits("a rendezvous", 3, run, 1);
}

/// To and fro, so that neither could run on top of the other.
#[test]
fn a_conversation_across_a_join() {
    let run = || {
        let events: [Event; 6] = std::array::from_fn(|_| Event::new());
        let talk = |first: usize| {
            for (index, event) in events.iter().enumerate() {
                if index % 2 == first { event.set() } else { event.wait() }
            }
        };
        join(|| talk(0), || talk(1));
        1
    };
    at_all_limits("a conversation", 3, run, 1);
}

/// The first example of the guide's page on blocking.
#[test]
fn a_branch_that_waits_for_the_other() {
    let run = || {
        let event = Event::new();
        join(|| event.wait(), || event.set());
        1
    };
    at_all_limits("a branch", 3, run, 1);
}

#[test]
fn a_spawn_that_waits_for_the_scopes_others() {
    let run = || {
        let event = Event::new();
        scope(|s| {
            s.spawn(|_| event.set());
            s.spawn(|_| event.wait());
            s.spawn(|_| event.wait());
        });
        1
    };
    at_all_limits("a scope", 3, run, 1);
}

#[test]
fn a_scopes_body_that_waits_for_its_spawns() {
    let run = || {
        let event = Event::new();
        scope(|s| {
            s.spawn(|_| event.set());
            event.wait();
        });
        1
    };
    at_all_limits("a scope's body", 3, run, 1);
}

/// Every stack is held by a task that only the scope would wake.
#[test]
fn a_scope_that_wakes_waiting_tasks() {
    for (workers, stacks) in LIMITS {
        watched(&format!("waiting tasks, {workers} workers, {stacks} stacks"), || {
            let builder = Runtime::builder().workers(workers).max_stacks(stacks);
            let rt = builder.build().expect("a runtime");
            let (event, begun) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
            let wait = || {
                let (event, begun) = (Arc::clone(&event), Arc::clone(&begun));
                rt.spawn(move || {
                    begun.fetch_add(1, SeqCst);
                    event.wait();
                })
            };
            let tasks: Vec<_> = (0..stacks).map(|_| wait()).collect();
            while begun.load(SeqCst) < stacks {
                std::thread::yield_now();
            }
            rt.scope(|s| s.spawn(|_| event.set()));
            tasks.into_iter().for_each(|task| task.join().expect("woken"));
            rt.shutdown().expect("an orderly end");
        });
    }
}

/// A task that wakes up all the time does not keep nested work from starting.
#[test]
fn a_rendezvous_beside_a_ticker() {
    watched("a rendezvous beside a ticker", || {
        let rt = Runtime::builder().workers(1).max_stacks(2).build().expect("a runtime");
        let stop = Arc::new(AtomicUsize::new(0));
        let ticker = rt.spawn({
            let stop = Arc::clone(&stop);
            move || {
                while stop.load(SeqCst) == 0 {
                    nap();
                }
            }
        });
        let event = Event::new();
        rt.install(|| join(|| event.wait(), || event.set()));
        stop.store(1, SeqCst);
        ticker.join().expect("stopped");
    });
}
