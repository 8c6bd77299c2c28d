//! Tasks that wait while they unwind. The standard library answers questions about panics for the
//! task that asks.

mod common;

use common::at_all_counts;
use sateen_runtime::{JoinError, Runtime, Spawn, spawn, yield_now};
use sateen_sync::Event;
use sateen_testkit::Watchdog;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::panicking;

/// Calls a closure in the middle of an unwinding.
struct OnDrop<F: FnMut()>(F);
impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn unwind(during: impl FnMut()) {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _during = OnDrop(during);
        resume_unwind(Box::new("on its way"));
    }));
    assert!(caught.is_err());
}

/// Waits in an unwinding. Sets `entered` when the wait begins.
fn waits(entered: &Event, go: &Event) {
    assert!(!panicking());
    unwind(|| {
        assert!(panicking());
        entered.set();
        go.wait();
        assert!(panicking(), "it still unwinds");
    });
    assert!(!panicking());
}

#[derive(Default)]
struct Pair {
    entered: Event,
    go: Event,
}

fn waiter(place: Spawn) -> (sateen_runtime::JoinHandle<()>, Arc<Pair>) {
    let pair = Arc::<Pair>::default();
    let inner = Arc::clone(&pair);
    let task = place.spawn(move || waits(&inner.entered, &inner.go));
    pair.entered.wait();
    (task, pair)
}

/// Two tasks wait while they unwind, and go on in either order. Meanwhile other tasks are
/// cancelled, panic, and lock.
fn others_meanwhile(place: impl Fn() -> Spawn) {
    for first in [0, 1] {
        let mut waiters = vec![waiter(place()), waiter(place())];
        let mutex = Arc::new(Mutex::new(()));
        let poisons = Arc::clone(&mutex);
        let panicked = place().spawn(move || {
            assert!(!panicking(), "another one's panic");
            let _guard = poisons.lock();
            resume_unwind(Box::new("a panic of its own"));
        });
        assert!(matches!(panicked.join(), Err(JoinError::Panicked(_))));
        assert!(mutex.is_poisoned());
        let cancelled = || {
            let task = place().spawn(|| Event::new().wait());
            place().spawn(yield_now).join().expect("lets it begin");
            task.cancel();
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        };
        cancelled();
        let (task, pair) = waiters.remove(first);
        pair.go.set();
        task.join().expect("unwound");
        assert!(!panicking());
        cancelled();
        let (task, pair) = waiters.remove(0);
        pair.go.set();
        task.join().expect("unwound");
        cancelled();
    }
}

#[test]
fn several_wait_in_their_unwinding() {
    let _watchdog = Watchdog::new("unwinding");
    at_all_counts(|rt| {
        if !common::strict() {
            // There a worker starts no other task while one of its own waits.
            rt.spawn(|| others_meanwhile(|| Spawn::new().on_worker(0)))
                .join()
                .expect("as it should be");
        }
        rt.spawn(|| others_meanwhile(Spawn::new)).join().expect("as it should be");
    });
}

#[test]
fn many_wait_in_their_unwinding() {
    let _watchdog = Watchdog::new("many");
    at_all_counts(|rt| {
        let (go, waiting) = (Arc::new(Event::new()), Arc::new(AtomicUsize::new(0)));
        let count = common::many(1000);
        let tasks: Vec<_> = (0..count)
            .map(|_| {
                let (go, waiting) = (Arc::clone(&go), Arc::clone(&waiting));
                rt.spawn(move || {
                    // Two unwindings deep: a destructor panics inside, and waits there.
                    unwind(|| {
                        unwind(|| {
                            waiting.fetch_add(1, SeqCst);
                            go.wait();
                            assert!(panicking());
                        });
                        yield_now();
                        assert!(panicking());
                    });
                    assert!(!panicking());
                })
            })
            .collect();
        while waiting.load(SeqCst) < count {
            std::thread::yield_now();
        }
        if !common::strict() {
            // There a worker comes to its share when its task has ended.
            rt.broadcast(|_| assert!(!panicking()));
        }
        go.set();
        tasks.into_iter().for_each(|task| task.join().expect("unwound"));
    });
}

#[test]
fn a_thread_that_is_its_runtime() {
    let _watchdog = Watchdog::new("a current-thread runtime");
    let runtime = Runtime::current_thread().expect("a runtime");
    runtime.run(|| others_meanwhile(Spawn::new));
    let pair = Arc::<Pair>::default();
    let inner = Arc::clone(&pair);
    let task = runtime.spawn_local(move || waits(&inner.entered, &inner.go));
    runtime.run_until_idle();
    // The task waits in its own unwinding, which is not the thread's.
    assert!(pair.entered.is_set() && !panicking());
    let mutex = Mutex::new(());
    assert!(
        catch_unwind(AssertUnwindSafe(|| {
            let _guard = mutex.lock();
            resume_unwind(Box::new("outside"));
        }))
        .is_err()
    );
    assert!(mutex.is_poisoned());
    pair.go.set();
    runtime.run_until(task).expect("unwound");
}

/// The thread unwinds and runs tasks in a destructor.
#[test]
fn a_runtime_that_is_run_in_an_unwinding() {
    let _watchdog = Watchdog::new("run in an unwinding");
    let runtime = Runtime::current_thread().expect("a runtime");
    unwind(|| {
        runtime.run(|| {
            assert!(!panicking(), "the task does not");
            others_meanwhile(Spawn::new);
        });
        assert!(panicking());
    });
    // The runtime is dropped there and cancels the waiting task.
    let dropped = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&dropped);
    let mut runtime = Some(runtime);
    drop(runtime.as_ref().expect("there").spawn_local(move || {
        let _tell = OnDrop(|| tell.store(true, SeqCst));
        Event::new().wait();
    }));
    runtime.as_ref().expect("there").run_until_idle();
    unwind(|| drop(runtime.take()));
    assert!(dropped.load(SeqCst), "interrupted, and unwound");
}

/// A task that is joined in a destructor is not part of the unwinding.
#[test]
fn joined_in_an_unwinding() {
    let _watchdog = Watchdog::new("joined in an unwinding");
    at_all_counts(|rt| {
        rt.spawn(|| {
            unwind(|| {
                let task = spawn(|| {
                    assert!(!panicking());
                    let mutex = Mutex::new(());
                    unwind(|| drop(mutex.lock()));
                });
                task.join().expect("as it should be");
                assert!(panicking());
            });
        })
        .join()
        .expect("unwound");
    });
}

/// Numbers that look random and are the same for each seed.
struct Draw(u64);
impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Begins panics and catches them, one within another, and lets other tasks run in between. The
/// twin counts the panics that were begun here and not caught.
fn panics_drawn(draw: &mut Draw, twin: &mut u32, depth: u32) {
    for _ in 0..1 + draw.below(4) {
        assert_eq!(panicking(), *twin > 0, "{twin} by the twin");
        match draw.below(4) {
            0 if depth < 4 => {
                *twin += 1;
                unwind(|| panics_drawn(draw, twin, depth + 1));
                *twin -= 1;
            }
            1 => drop(catch_unwind(|| drop(spawn(yield_now).join()))),
            _ => yield_now(),
        }
    }
    assert_eq!(panicking(), *twin > 0, "{twin} by the twin");
}

/// Many fibers of one thread run in an order that is drawn. Each has the count of its twin, and the
/// thread itself has none.
#[test]
fn counts_are_those_of_a_twin_for_each_fiber() {
    let _dog = Watchdog::new("panics in an order that is drawn");
    let script = |seed| {
        move || {
            let mut twin = 0;
            panics_drawn(&mut Draw(seed), &mut twin, 0);
            assert_eq!((twin, panicking()), (0, false));
        }
    };
    for round in 0..20 {
        let rt = Runtime::current_thread().expect("a runtime");
        let tasks: Vec<_> =
            (0..12).map(|task| rt.spawn_local(script(round * 100 + task))).collect();
        while tasks.iter().any(|task| !task.is_finished()) {
            rt.run_until_idle();
            assert!(!panicking(), "it is some task's panic");
        }
        tasks.into_iter().for_each(|task| rt.run_until(task).expect("as its twin"));
        let rt = Runtime::builder().workers(1).build().expect("a runtime");
        let tasks: Vec<_> = (0..12).map(|task| rt.spawn(script(round * 100 + task))).collect();
        tasks.into_iter().for_each(|task| task.join().expect("as its twin"));
        rt.shutdown().expect("an orderly end");
    }
}
