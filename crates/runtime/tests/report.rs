//! Lists of fibers, names of deadlocks, and the report that all tasks are blocked.

mod common;

use common::{at_all_counts, with_runtime};
use sateen_runtime::{
    CancelToken, FiberInfo, FiberState, JoinError, JoinHandle, Priority, Report, Runtime, Spawn,
    WaitOwner, join, scope, spawn, yield_now,
};
use sateen_sync::park::{self, Awaited};
use sateen_sync::timer::sleep;
use sateen_sync::{Event, Mutex};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Takes reports until one is as wanted.
fn until(rt: &Runtime, wanted: impl Fn(&Report) -> bool) -> Report {
    sateen_testkit::until_some(|| Some(rt.report()).filter(&wanted))
}

fn all_wait(report: &Report, count: usize) -> bool {
    let mut fibers = report.fibers.iter();
    report.busy == 0 && fibers.len() == count && fibers.all(|f| f.state == FiberState::Waiting)
}

fn named<'a>(report: &'a Report, name: &str) -> &'a FiberInfo {
    let is = |fiber: &&FiberInfo| fiber.name.as_deref() == Some(name);
    report.fibers.iter().find(is).unwrap_or_else(|| panic!("no {name:?} in {report}"))
}

#[test]
fn names_places_and_waits_are_told() {
    at_all_counts(|rt| {
        let (event, lock) = (Arc::new(Event::new()), Arc::new(Mutex::new(())));
        let guard = lock.lock();
        let inner = Arc::clone(&event);
        let reader = Spawn::new().name("reader").priority(Priority::High);
        let reader = rt.spawn_with(reader, move || inner.wait());
        let line = line!() - 1;
        let inner = Arc::clone(&lock);
        let locker = rt.spawn_with(Spawn::new().name("locker"), move || drop(inner.lock()));
        let id = reader.id();
        // (A report that saw all of them wait may have begun while one was awake.)
        let report = until(rt, |report| all_wait(report, 2) && report.blocked.is_some());
        let seen = named(&report, "reader");
        assert_eq!((seen.id, seen.task), (id.get(), Some(id)));
        let place = seen.location.expect("a place");
        assert_eq!((place.file(), place.line()), (file!(), line));
        let wait = seen.waits_for.as_ref().expect("a wait");
        assert_eq!((wait.kind, wait.address), ("event", Arc::as_ptr(&event) as usize));
        assert!(!seen.partial && !seen.masked && seen.worker < rt.workers());
        assert_eq!(seen.stack_used.is_some(), cfg!(debug_assertions));
        let wait = named(&report, "locker").waits_for.as_ref().expect("a wait");
        assert_eq!(wait.kind, "mutex");
        // (A thread whose number no code has asked for is an owner without a name.)
        assert!(wait.owner.as_ref().is_none_or(WaitOwner::is_thread));
        assert!(report.deadlocks.is_empty());
        assert_eq!(report.blocked.expect("all wait").outside_wakers, 2);
        let text = report.to_string();
        assert!(
            text.contains(&format!("task {id} \"reader\" (spawned at {place}) on worker")),
            "{text}"
        );
        assert!(text.contains("waits for event 0x"), "{text}");
        assert!(
            text.contains("all blocked, no timer pending, 2 outside wakers outstanding"),
            "{text}"
        );
        let waited = |report: &Report| named(report, "reader").waits_for.as_ref().map(|w| w.time);
        until(rt, |later| waited(later) > waited(&report));
        event.set();
        drop(guard);
        reader.join().expect("set");
        locker.join().expect("free");
        assert_eq!(rt.fibers().len(), 0);
    });
}

/// A lock that names its owner.
#[derive(Default)]
struct Lock {
    owner: AtomicU64,
    waiting: std::sync::Mutex<Vec<std::task::Waker>>,
}

impl Lock {
    fn lock(&self) {
        let what = Awaited::new("lock", std::ptr::from_ref(self).cast());
        // SAFETY: the closure is called only while this thread waits.
        let what = unsafe { what.with_owner(|place| (*place.cast::<Self>()).owner.load(SeqCst)) };
        park::waiting_for(what, || {
            loop {
                self.waiting.lock().expect("sound").push(park::current_waker());
                if self.owner.compare_exchange(0, park::context_id(), SeqCst, SeqCst).is_ok() {
                    return;
                }
                park::park();
            }
        });
    }

    fn unlock(&self) {
        self.owner.store(0, SeqCst);
        let waiting = std::mem::take(&mut *self.waiting.lock().expect("sound"));
        waiting.into_iter().for_each(std::task::Waker::wake);
    }
}

#[test]
fn two_mutexes_taken_crosswise_are_a_named_deadlock() {
    at_all_counts(|rt| {
        let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
        let both = Arc::new([Event::new(), Event::new()]);
        let token = CancelToken::new();
        let task = |name: &'static str, mine: usize| {
            let (locks, both) = (Arc::clone(&locks), Arc::clone(&both));
            rt.spawn_with(Spawn::new().name(name).token(&token), move || {
                let _mine = locks[mine].lock();
                both[mine].set();
                both[1 - mine].wait();
                drop(locks[1 - mine].lock());
            })
        };
        let (a, b) = (task("a", 0), task("b", 1));
        let report = until(rt, |report| !report.deadlocks.is_empty());
        assert_eq!(report.deadlocks.len(), 1);
        let members = &report.deadlocks[0].fibers;
        let mut names: Vec<_> = members.iter().map(|fiber| fiber.name.as_deref()).collect();
        names.sort();
        assert_eq!(names, [Some("a"), Some("b")]);
        let text = report.deadlocks[0].to_string();
        assert!(text.starts_with("deadlock: task "), "{text}");
        for (id, name) in [(a.id(), "a"), (b.id(), "b")] {
            assert!(text.contains(&format!(" held by task {id} {name:?}")), "{text}");
        }
        assert!(text.contains(", which waits for mutex 0x"), "{text}");
        assert_eq!(text.matches(file!()).count(), 2, "{text}");
        let blocked = until(rt, |report| report.blocked.is_some()).blocked.expect("checked");
        assert_eq!((blocked.outside_wakers, blocked.futures), (0, 0));
        token.cancel();
        let ended = [a.join(), b.join()];
        assert!(ended.iter().any(|result| matches!(result, Err(JoinError::Cancelled))));
    });
}

#[test]
fn a_mutex_locked_twice_is_a_deadlock_of_one() {
    at_all_counts(|rt| {
        let task = rt.spawn_with(Spawn::new().name("twice"), || {
            let lock = Mutex::new(());
            let _first = lock.lock();
            drop(lock.lock());
        });
        let report = until(rt, |report| !report.deadlocks.is_empty());
        assert_eq!(report.deadlocks[0].fibers.len(), 1);
        let text = report.deadlocks[0].to_string();
        let id = task.id();
        assert!(text.ends_with(&format!(" held by task {id} \"twice\"")), "{text}");
        task.cancel();
        assert!(matches!(task.join(), Err(JoinError::Cancelled)));
    });
}

#[test]
fn pending_futures_are_counted() {
    at_all_counts(|rt| {
        let future = rt.spawn_async(std::future::pending::<()>());
        let report = until(rt, |report| report.blocked.is_some());
        assert!(report.fibers.is_empty());
        assert!(report.to_string().ends_with("outside wakers outstanding, 1 future pending\n"));
        future.cancel();
        assert!(matches!(future.join(), Err(JoinError::Cancelled)));
        assert_eq!(rt.report().blocked, None);
    });
}

#[test]
fn joining_in_a_circle_or_oneself_is_a_deadlock() {
    at_all_counts(|rt| {
        type Place = Arc<OnceLock<std::sync::Mutex<Option<JoinHandle<()>>>>>;
        let circle = |members: usize| {
            let places: Vec<Place> = (0..members).map(|_| Place::default()).collect();
            let filled = Arc::new(Event::new());
            let token = CancelToken::new();
            let tasks: Vec<_> = (0..members)
                .map(|index| {
                    let next = Arc::clone(&places[(index + 1) % members]);
                    let filled = Arc::clone(&filled);
                    let settings = Spawn::new().name(format!("t{index}")).token(&token);
                    rt.spawn_with(settings, move || {
                        filled.wait();
                        let handle =
                            next.get().and_then(|place| place.lock().expect("sound").take());
                        let _ = handle.expect("a handle").join();
                    })
                })
                .collect();
            // All tasks must have started. Otherwise they would run each other in place.
            until(rt, |report| all_wait(report, members));
            let ids: Vec<_> = tasks.iter().map(JoinHandle::id).collect();
            for (task, place) in tasks.into_iter().zip(&places) {
                place.set(std::sync::Mutex::new(Some(task))).expect("empty");
            }
            filled.set();
            let report = until(rt, |report| !report.deadlocks.is_empty());
            let deadlock = &report.deadlocks[0];
            assert_eq!(deadlock.fibers.len(), members);
            assert_eq!(deadlock.to_string().matches("waits for the end of task").count(), members);
            assert!(
                ids.iter().all(|id| deadlock.fibers.iter().any(|fiber| fiber.task == Some(*id)))
            );
            token.cancel();
            until(rt, |report| report.fibers.is_empty());
        };
        (1..=3).for_each(circle);
    });
}

#[test]
fn a_task_that_runs_another_in_place_waits_for_it() {
    with_runtime(1, |rt| {
        let lock = Arc::new(Lock::default());
        let inner = Arc::clone(&lock);
        let outer = rt.spawn_with(Spawn::new().name("outer"), move || {
            inner.lock();
            let lock = Arc::clone(&inner);
            let task = Spawn::new().name("inner").spawn(move || lock.lock());
            let _ = task.join();
        });
        let report = until(rt, |report| !report.deadlocks.is_empty());
        assert_eq!(report.fibers.len(), 2, "{report}");
        let seen = named(&report, "outer").waits_for.clone().expect("buried");
        assert_eq!(seen.owner.and_then(|owner| owner.name).as_deref(), Some("inner"));
        lock.unlock();
        outer.join().expect("free");
    });
}

#[test]
fn branches_and_other_work_are_told_too() {
    at_all_counts(|rt| {
        let event = Event::new();
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| {
                rt.install(|| {
                    scope(|s| {
                        s.spawn(|_| event.wait());
                        yield_now();
                        join(|| event.wait(), || event.wait());
                    })
                });
            });
            let report = until(rt, |report| all_wait(report, 3) && report.fibers.len() == 3);
            assert!(report.fibers.iter().all(|fiber| fiber.task.is_none()), "{report}");
            assert!(report.to_string().contains("work "), "{report}");
            event.set();
            waiting.join().expect("no panic");
        });
    });
}

#[test]
fn a_busy_worker_holds_nobody_up() {
    with_runtime(2, |rt| {
        let (event, stop) = (Arc::new(Event::new()), Arc::new(AtomicBool::new(false)));
        let inner = Arc::clone(&event);
        let waits = rt.spawn_with(Spawn::new().on_worker(0), move || inner.wait());
        until(rt, |report| all_wait(report, 1));
        let end = Arc::clone(&stop);
        let busy = rt.spawn_with(Spawn::new().on_worker(0), move || {
            while !end.load(SeqCst) {
                std::hint::spin_loop();
            }
        });
        let report = until(rt, |report| report.fibers.len() == 2);
        assert_eq!(report.busy, 1);
        assert!(report.fibers.iter().all(|fiber| fiber.partial), "{report}");
        let seen = report.fibers.iter().find(|fiber| fiber.id == waits.id().get()).expect("seen");
        assert_eq!(seen.waits_for.as_ref().expect("a wait").kind, "event");
        let seen = report.fibers.iter().find(|fiber| fiber.id == busy.id().get()).expect("seen");
        assert_eq!(seen.state, FiberState::Running);
        stop.store(true, SeqCst);
        event.set();
        waits.join().expect("set");
        busy.join().expect("stopped");
    });
}

#[test]
fn timers_and_the_asker_are_not_blocked() {
    at_all_counts(|rt| {
        let sleeper = rt.spawn(|| sleep(Duration::from_millis(300)));
        let report = until(rt, |report| all_wait(report, 1) || sleeper.is_finished());
        if let Some(fiber) = report.fibers.first() {
            assert_eq!(fiber.waits_for.as_ref().expect("a wait").kind, "timer");
            assert_eq!(report.blocked, None);
        }
        sleeper.join().expect("awake");
        let (tell, told) = std::sync::mpsc::channel();
        let rt_ref: &Runtime = rt;
        rt_ref.install(|| {
            let report = rt_ref.report();
            assert_eq!(report.fibers.len(), 1, "{report}");
            assert_eq!(report.fibers[0].state, FiberState::Running);
            assert_eq!(report.blocked, None);
            tell.send(()).expect("heard");
        });
        told.recv().expect("told");
    });
}

#[test]
fn fibers_come_and_go_while_several_look() {
    for workers in [1, 2, 3, 8] {
        with_runtime(workers, |rt| {
            let done = AtomicBool::new(false);
            let looks = AtomicUsize::new(0);
            std::thread::scope(|threads| {
                for _ in 0..3 {
                    threads.spawn(|| {
                        while !done.load(SeqCst) {
                            for fiber in rt.fibers() {
                                // The indices of substitutes follow those of workers.
                                let most = workers + workers.min(4);
                                assert!(fiber.id != 0 && fiber.worker < most, "{fiber:?}");
                                std::hint::black_box(fiber.to_string());
                            }
                            assert!(rt.report().deadlocks.is_empty());
                            looks.fetch_add(1, SeqCst);
                        }
                    });
                }
                let event = Arc::new(Event::new());
                let lock = Arc::new(Mutex::new(0));
                let tasks: Vec<_> = (0..10_000)
                    .map(|index| {
                        let (event, lock) = (Arc::clone(&event), Arc::clone(&lock));
                        let settings = Spawn::new().name(format!("task {index}"));
                        rt.spawn_with(settings, move || match index % 4 {
                            0 => yield_now(),
                            1 => event.wait(),
                            2 => drop(spawn(yield_now).join()),
                            _ => *lock.lock() += 1,
                        })
                    })
                    .collect();
                event.set();
                tasks.into_iter().for_each(|task| task.join().expect("no panic"));
                while looks.load(SeqCst) == 0 {
                    std::thread::yield_now();
                }
                done.store(true, SeqCst);
            });
        });
    }
}

/// The child blocks. The parent reads what the runtime reported on its own.
#[test]
fn a_blocked_runtime_says_so_by_itself() {
    const NAME: &str = "a_blocked_runtime_says_so_by_itself";
    if std::env::var_os("SATEEN_TEST_CHILD").is_none() {
        let output = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
            .env("SATEEN_TEST_CHILD", "1")
            .output()
            .expect("the child runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        // The message comes once each time that all tasks were blocked, and not while a timer was
        // pending.
        let blocked = "all blocked, no timer pending, 1 outside waker outstanding";
        let times = said.lines().filter(|line| *line == blocked).count();
        assert_eq!(times, 4 * 2, "{said}");
        assert_eq!(said.matches("\"reader\"").count(), 4 * 2, "{said}");
        return;
    }
    for workers in [1, 2, 3, 8] {
        let rt =
            Runtime::builder().workers(workers).report_blocked(true).build().expect("a runtime");
        for _ in 0..2 {
            rt.spawn(|| sleep(Duration::from_millis(20))).join().expect("awake");
            let event = Arc::new(Event::new());
            let inner = Arc::clone(&event);
            let task = rt.spawn_with(Spawn::new().name("reader"), move || inner.wait());
            // Waits until the message was printed and no worker has anything left to report.
            let quiet = |rt: &Runtime| {
                let stats = rt.metrics();
                stats.sleeping == workers && stats.total().surveys > 0
            };
            let before = rt.metrics().total().surveys;
            let surveys = || rt.metrics().total().surveys;
            sateen_testkit::until(|| surveys() >= before + workers as u64 && quiet(&rt));
            event.set();
            task.join().expect("set");
        }
    }
}

/// The thread that asked has gone on. It left a waker of its own to a worker that answers too late.
#[test]
fn the_waker_of_one_who_went_on_may_panic_in_its_destructor() {
    struct Hostile;
    impl Drop for Hostile {
        fn drop(&mut self) {
            panic!("a waker's destructor");
        }
    }
    struct Thread;
    // SAFETY: the context waits on its own thread, and every wait may end early.
    unsafe impl sateen_sync::park::Blocker for Thread {
        fn waker(&self) -> std::task::Waker {
            let hostile = Hostile;
            sateen_testkit::waker_fn(move || _ = &hostile)
        }
        fn park(&self) {
            std::thread::yield_now();
        }
        fn park_until(&self, _: std::time::Instant) {
            std::thread::yield_now();
        }
    }
    let rt = Runtime::builder().workers(1).build().expect("a runtime");
    let (begun, go) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let busy = rt.spawn({
        let (begun, go) = (Arc::clone(&begun), Arc::clone(&go));
        move || {
            begun.store(true, SeqCst);
            while !go.load(SeqCst) {
                std::thread::yield_now();
            }
        }
    });
    while !begun.load(SeqCst) {
        std::thread::yield_now();
    }
    // SAFETY: this thread waits for nothing else meanwhile.
    let before = unsafe { sateen_sync::park::install(Some(&Thread)) };
    let report = rt.report();
    // SAFETY: as above.
    unsafe { sateen_sync::park::install(before) };
    assert_eq!(report.busy, 1);
    go.store(true, SeqCst);
    busy.join().expect("done");
    rt.shutdown().expect("an orderly end");
}
