//! Building runtimes: settings that work, and a clear error for each setting that cannot work.

mod common;

use sateen_runtime::{
    BuildError, Builder, JoinError, MAX_WORKERS, Priority, Runtime, Spawn, WorkerThread, policy,
};
use sateen_sync::Event;
use sateen_testkit::Watchdog;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn error(builder: sateen_runtime::Builder) -> String {
    builder.build().expect_err("cannot be built").to_string()
}

#[test]
fn impossible_settings_are_named() {
    let b = Runtime::builder;
    assert_eq!(error(b().workers(0)), "cannot run 0 workers: 1 to 65535 are possible");
    assert_eq!(error(b().workers(65_536)), "cannot run 65536 workers: 1 to 65535 are possible");
    assert_eq!(
        error(b().workers(1).stack_size(3 << 30)),
        "cannot use stacks of 3221225472 bytes: 1073741824 is the most"
    );
    for stacks in [0, 1] {
        assert_eq!(
            error(b().workers(2).max_stacks(stacks)),
            format!("cannot run 2 workers with {stacks} stacks: each needs one")
        );
    }
    let error_here = |builder: sateen_runtime::Builder| {
        builder.current_thread().expect_err("cannot be built").to_string()
    };
    assert_eq!(error_here(b().max_stacks(0)), "cannot run 1 workers with 0 stacks: each needs one");
    assert_eq!(
        error_here(b().stack_size(usize::MAX)),
        format!("cannot use stacks of {} bytes: 1073741824 is the most", usize::MAX)
    );
    for workers in [usize::MAX, 1 << 31] {
        assert_eq!(
            error(b().workers(workers)),
            format!("cannot run {workers} workers: 1 to 65535 are possible")
        );
    }
    assert_eq!(
        error(b().workers(2).thread_name(|i| format!("left {i}\0right"))),
        "cannot name the thread of worker 0 \"left 0\\0right\": it contains a NUL"
    );
}

/// The threads of substitutes start later, when no caller could get the error.
#[test]
fn a_substitutes_name_is_looked_at_when_the_runtime_is_built() {
    let named = Runtime::builder()
        .workers(1)
        .substitutes(1)
        .thread_name(|i| if i == 0 { "first".into() } else { "\0".into() });
    assert_eq!(error(named), "cannot name the thread of worker 1 \"\\0\": it contains a NUL");
}

/// Extreme numbers that still have a meaning.
#[test]
fn limits_without_end_are_limits_like_others() {
    let rt = Runtime::builder()
        .workers(1)
        .max_stacks(usize::MAX)
        .blocking_threads(usize::MAX)
        .blocking_keep_alive(Duration::MAX)
        .spin(Duration::MAX)
        .substitutes(1000)
        .build()
        .expect("a runtime");
    assert_eq!(rt.install(|| sateen_runtime::blocking(|| 1)), 1);
    rt.shutdown_timeout(Duration::MAX).expect("an orderly end");
}

type Set = Box<dyn Fn(Builder) -> Builder>;

/// Each setting of a number at its least and its greatest value: the runtime is built, runs a task
/// that waits, and ends.
#[test]
fn each_setting_at_its_least_and_its_greatest() {
    fn all<T: Copy + 'static>(set: fn(Builder, T) -> Builder, values: &[T]) -> Vec<Set> {
        values.iter().map(|&value| Box::new(move |b| set(b, value)) as Set).collect()
    }
    let sizes = [0, usize::MAX];
    let times = [Duration::ZERO, Duration::MAX];
    let settings = [
        ("workers", all(Builder::workers, &[1, MAX_WORKERS])),
        ("substitutes", all(Builder::substitutes, &[0, MAX_WORKERS - 3, MAX_WORKERS, usize::MAX])),
        ("spin", all(Builder::spin, &times)),
        ("stack_size", all(Builder::stack_size, &[0, 1 << 30])),
        ("max_stacks", all(Builder::max_stacks, &[2, usize::MAX])),
        ("blocking_threads", all(Builder::blocking_threads, &sizes)),
        ("blocking_keep_alive", all(Builder::blocking_keep_alive, &times)),
    ];
    for (name, sets) in &settings {
        for (i, set) in sets.iter().enumerate() {
            for mode in [|b| b, |b: Builder| b.strict(true), |b: Builder| b.keep_threads(true)] {
                let _watchdog = Watchdog::new("a runtime with an extreme setting does not end");
                let rt = match set(mode(Runtime::builder().workers(2))).build() {
                    Ok(rt) => rt,
                    // So many threads are more than most systems give.
                    Err(BuildError::Thread { .. }) if (*name, i) == ("workers", 1) => continue,
                    Err(error) => panic!("{name}, value {i}: {error}"),
                };
                let event = Arc::new(Event::new());
                let waits = event.clone();
                let task = rt.spawn(move || waits.wait());
                rt.install(|| event.set());
                assert_eq!(rt.install(|| sateen_runtime::blocking(|| 1)), 1);
                task.join().expect("ran");
                rt.shutdown().expect("an orderly end");
            }
        }
    }
}

/// The same for the settings of a task.
#[test]
fn each_setting_of_a_task_at_its_least_and_its_greatest() {
    let long = "n".repeat(1 << 20);
    let rt = Runtime::builder().workers(2).build().expect("a runtime");
    let settings = [
        Spawn::new().name(""),
        Spawn::new().name(long),
        Spawn::new().priority(Priority::Low),
        Spawn::new().priority(Priority::High),
        Spawn::new().stack_size(0),
        Spawn::new().stack_size(1 << 30),
        Spawn::new().property(0),
        Spawn::new().property(u64::MAX),
        Spawn::new().on_worker(0),
        Spawn::new().on_worker(1),
    ];
    for settings in settings {
        let text = format!("{:.200?}", settings);
        let inner = settings.clone();
        assert_eq!(rt.spawn_with(settings, || 1).join().expect(&text), 1);
        assert_eq!(rt.install(|| inner.spawn(|| 2).join()).expect(&text), 2);
    }
    for index in [2, usize::MAX] {
        let error = rt.spawn_with(Spawn::new().on_worker(index), || ()).join().expect_err("none");
        assert_eq!(
            error.to_string(),
            format!("no worker {index} to spawn on: there are 2, counted from 0")
        );
    }
    for size in [(1 << 30) + 1, usize::MAX] {
        let error = rt.spawn_with(Spawn::new().stack_size(size), || ()).join().expect_err("none");
        assert!(error.to_string().contains(&size.to_string()), "{error}");
    }
    rt.shutdown().expect("an orderly end");
}

/// Builds with a callback that panics. No thread may be left, nor anything that the runtime held.
fn panics_and_leaves_nothing(set: impl Fn(sateen_runtime::Builder) -> sateen_runtime::Builder) {
    let _dog = Watchdog::new("a failed build leaves threads");
    let held = Arc::new(());
    for _ in 0..3 {
        let inside = Arc::clone(&held);
        let builder =
            Runtime::builder().workers(3).on_exit(move |_| _ = Arc::strong_count(&inside));
        let caught = catch_unwind(AssertUnwindSafe(|| drop(set(builder).build())));
        assert_eq!(sateen_testkit::message(caught.expect_err("a panic")), "in a callback");
        // The threads hold it until they end.
        while Arc::strong_count(&held) > 1 {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_name_that_panics_leaves_nothing() {
    for worker in [0, 1, 2, 3] {
        panics_and_leaves_nothing(|builder| {
            builder.thread_name(move |i| {
                assert!(i != worker, "in a callback");
                String::new()
            })
        });
    }
}

#[test]
fn a_spawn_handler_that_panics_leaves_nothing() {
    for worker in [0, 1, 2] {
        panics_and_leaves_nothing(|builder| {
            builder.spawn_handler(move |thread: WorkerThread| {
                assert!(thread.index() != worker, "in a callback");
                std::thread::Builder::new().spawn(|| thread.run()).map(drop)
            })
        });
    }
}

#[test]
fn the_building_thread_cannot_be_a_worker() {
    let _dog = Watchdog::new("the building thread waits for itself");
    let build = |caught: bool| {
        Runtime::builder().workers(2).spawn_handler(move |worker: WorkerThread| {
            if worker.index() == 0 {
                return std::thread::Builder::new().spawn(|| worker.run()).map(drop);
            }
            let run = catch_unwind(AssertUnwindSafe(|| worker.run())).expect_err("a panic");
            if caught {
                return Ok(());
            }
            Err(std::io::Error::other(sateen_testkit::message(run)))
        })
    };
    let error = error(build(false));
    assert!(error.ends_with("on the thread that builds the runtime, which would wait for itself"));
    let rt = build(true).build().expect("a runtime with one worker less");
    assert_eq!(rt.broadcast(|index| index), [0]);
}

#[test]
fn a_worker_that_never_comes_refuses_what_was_placed_on_it() {
    let _dog = Watchdog::new("a task on a worker without a thread");
    let kept = Arc::new(Mutex::new(None));
    let place = Arc::clone(&kept);
    let rt = Runtime::builder()
        .workers(2)
        .spawn_handler(move |worker: WorkerThread| {
            if worker.index() == 0 {
                return std::thread::Builder::new().spawn(|| worker.run()).map(drop);
            }
            *place.lock().expect("no panic") = Some(worker);
            Ok(())
        })
        .build()
        .expect("a runtime");
    let task = rt.spawn_with(Spawn::new().on_worker(1), || ());
    let future = rt.spawn_async_with(Spawn::new().on_worker(1), async {});
    assert!(!task.is_finished() && !future.is_finished());
    *kept.lock().expect("no panic") = None;
    for error in [task.join(), future.join()].map(|result| result.expect_err("no thread")) {
        assert!(matches!(error, JoinError::NoWorker { worker: 1, workers: 2 }));
        let text = "worker 1 has no thread: its `WorkerThread` was dropped";
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(rt.install(|| common::fib(10)), 55);
    rt.shutdown().expect("an orderly end");
}

#[test]
fn a_runtime_whose_workers_never_come_is_shut_down() {
    let _dog = Watchdog::new("a runtime without workers");
    for policy in [policy::work_stealing, policy::work_sharing, policy::round_robin] {
        for at_once in [false, true] {
            let kept = Arc::new(Mutex::new(Vec::new()));
            let place = Arc::clone(&kept);
            let rt = Runtime::builder().workers(2).policy(policy()).spawn_handler(
                move |worker: WorkerThread| {
                    if !at_once {
                        place.lock().expect("no panic").push(worker);
                    }
                    Ok(())
                },
            );
            let rt = rt.build().expect("a runtime");
            let (task, future) = (rt.spawn(|| 1), rt.spawn_async(async { 2 }));
            std::thread::scope(|s| {
                let call = s.spawn(|| rt.install(|| 3));
                kept.lock().expect("no panic").clear();
                assert!(task.join().is_err() && future.join().is_err());
                assert_eq!(call.join().expect("runs where it is not accepted"), 3);
            });
            assert!(matches!(rt.spawn(|| ()).join(), Err(JoinError::ShutDown)));
            assert!(rt.broadcast(|index| index).is_empty());
            rt.shutdown().expect("an orderly end");
        }
    }
}

/// The callbacks run on the building thread, and no lock is held.
#[test]
fn callbacks_may_use_runtimes() {
    let _dog = Watchdog::new("a callback that uses runtimes");
    let use_runtimes = || {
        let inner = Runtime::builder().workers(1).build().expect("inner");
        assert_eq!(inner.install(|| common::fib(8)), 21);
        assert_eq!(sateen_runtime::spawn(|| common::fib(8)).join().expect("global"), 21);
    };
    let build = move || {
        Runtime::builder()
            .workers(2)
            .thread_name(move |i| {
                use_runtimes();
                i.to_string()
            })
            .spawn_handler(move |worker: WorkerThread| {
                use_runtimes();
                std::thread::Builder::new().spawn(|| worker.run()).map(drop)
            })
            .build()
            .expect("a runtime")
    };
    assert_eq!(build().install(|| common::fib(10)), 55);
    // The same inside a task.
    assert_eq!(sateen_runtime::spawn(move || build().workers()).join().expect("no panic"), 2);
}

#[test]
fn fewer_stacks_than_workers() {
    assert_eq!(
        error(Runtime::builder().workers(2).max_stacks(1)),
        "cannot run 2 workers with 1 stacks: each needs one"
    );
}

#[test]
fn small_stacks_are_rounded_up() {
    for size in [0, 1, 100] {
        let rt = Runtime::builder().workers(1).stack_size(size).build().expect("rounded up");
        assert_eq!(rt.install(|| common::fib(10)), 55);
    }
}

#[test]
fn names_hooks_pins_and_spins() {
    let started = Arc::new(AtomicUsize::new(0));
    let ended = Arc::new(AtomicUsize::new(0));
    let (s, e) = (Arc::clone(&started), Arc::clone(&ended));
    let rt = Runtime::builder()
        .workers(3)
        .thread_name(|i| format!("weaver {i}"))
        .on_start(move |i| {
            assert_eq!(sateen_runtime::worker_index(), Some(i));
            s.fetch_add(1, SeqCst);
        })
        .on_exit(move |_| {
            e.fetch_add(1, SeqCst);
        })
        .pin(cfg!(target_os = "linux"))
        .spin(Duration::ZERO)
        .build()
        .expect("a runtime");
    let names = rt.broadcast(|_| std::thread::current().name().map(str::to_owned));
    assert_eq!(names[2].as_deref(), Some("weaver 2"));
    assert_eq!(rt.install(|| common::fib(15)), 610);
    rt.shutdown().expect("an orderly end");
    assert_eq!((started.load(SeqCst), ended.load(SeqCst)), (3, 3));
}

#[test]
fn a_panicking_hook_harms_nobody() {
    let rt =
        Runtime::builder().workers(2).on_start(|_| panic!("in a hook")).build().expect("built");
    assert_eq!(rt.install(|| 1), 1);
}

#[test]
fn threads_of_the_users_making() {
    let threads = Arc::new(Mutex::new(Vec::new()));
    let mine = Arc::clone(&threads);
    let rt = Runtime::builder()
        .workers(2)
        .spawn_handler(move |worker: WorkerThread| {
            let thread = std::thread::Builder::new().spawn(move || worker.run())?;
            mine.lock().expect("no panic").push(thread);
            Ok(())
        })
        .build()
        .expect("a runtime");
    assert_eq!(rt.install(|| common::fib(15)), 610);
    drop(rt);
    for thread in threads.lock().expect("no panic").drain(..) {
        thread.join().expect("ended with the runtime");
    }
}

#[test]
fn a_thread_that_cannot_be_made_undoes_the_build() {
    let ended = Arc::new(AtomicUsize::new(0));
    let e = Arc::clone(&ended);
    let result = Runtime::builder()
        .workers(4)
        .on_exit(move |_| {
            e.fetch_add(1, SeqCst);
        })
        .spawn_handler(|worker| {
            if worker.index() == 2 {
                return Err(std::io::Error::other("no more threads"));
            }
            std::thread::Builder::new().spawn(move || worker.run()).map(drop)
        })
        .build();
    let error = result.expect_err("worker 2 has no thread");
    assert!(matches!(error, BuildError::Thread { worker: 2, .. }));
    assert_eq!(error.to_string(), "cannot start the thread of worker 2: no more threads");
    assert_eq!(ended.load(SeqCst), 2, "those that had started have ended");
}

/// The tests below run this binary again, in another environment.
fn child(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", name, "--nocapture"]).env("SATEEN_TEST_CHILD", "1");
    command
}

fn is_child() -> bool {
    std::env::var_os("SATEEN_TEST_CHILD").is_some()
}

#[test]
fn the_environment_sets_the_workers() {
    if is_child() {
        match Runtime::builder().build() {
            Ok(rt) => println!("workers: {}", rt.workers()),
            Err(error) => println!("error: {error}"),
        }
        // Outside of any runtime the work is still done, on this thread if there is no other way.
        assert_eq!(common::fib(10), 55);
        match sateen_runtime::spawn(|| 1).join() {
            Ok(_) => println!("spawned"),
            Err(error) => println!("refused: {error}"),
        }
        return;
    }
    let run = |value: &str| {
        let output = child("the_environment_sets_the_workers")
            .env("SATEEN_WORKERS", value)
            .output()
            .expect("the child runs");
        assert!(output.status.success());
        (
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (out, _) = run("3");
    assert!(out.contains("workers: 3") && out.contains("spawned"), "{out}");
    for bad in ["abc", "0", "65536", "-1", ""] {
        let (out, err) = run(bad);
        let message = format!("SATEEN_WORKERS={bad} is not a number from 1 to 65535");
        assert!(out.contains(&format!("error: {message}")), "{out}");
        assert!(out.contains(&format!("refused: there is no global runtime: {message}")), "{out}");
        assert!(err.contains(&format!("sateen: {message}; running on the calling thread alone")));
    }
}

#[test]
fn the_environment_makes_runtimes_strict() {
    /// Whether two waiting tasks of a worker have a thread each.
    fn is_strict(rt: &Runtime) -> bool {
        let gate = Arc::new(Event::new());
        let tasks = [(); 2].map(|()| {
            let (begun, wait) = (Arc::new(Event::new()), Arc::clone(&gate));
            let tell = Arc::clone(&begun);
            let task = rt.spawn(move || {
                tell.set();
                wait.wait();
                std::thread::current().id()
            });
            begun.wait();
            task
        });
        gate.set();
        let [first, second] = tasks.map(|task| task.join().expect("waited"));
        first != second
    }
    if is_child() {
        for strict in [false, true] {
            match Runtime::builder().workers(1).strict(strict).build() {
                Ok(rt) => println!("strict({strict}): {}", is_strict(&rt)),
                Err(error) => println!("error: {error}"),
            }
        }
        match Runtime::global() {
            Ok(rt) => println!("global: {}", is_strict(rt)),
            Err(error) => println!("global: {error}"),
        }
        // The tasks need not be `Send`: the runtime has one thread, whatever the environment says.
        let rt = Runtime::current_thread().expect("a runtime");
        assert_eq!(rt.run(|| std::thread::current().id()), std::thread::current().id());
        return;
    }
    let run = |value: Option<&str>| {
        let mut child = child("the_environment_makes_runtimes_strict");
        child.env("SATEEN_WORKERS", "1").env_remove("SATEEN_STRICT");
        value.map(|value| child.env("SATEEN_STRICT", value));
        let output = child.output().expect("the child runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let has = |out: &str, [no, yes, global]: [bool; 3]| {
        assert!(out.contains(&format!("strict(false): {no}")), "{out}");
        assert!(out.contains(&format!("strict(true): {yes}")), "{out}");
        assert!(out.contains(&format!("global: {global}")), "{out}");
    };
    has(&run(None), [false, true, false]);
    has(&run(Some("0")), [false, true, false]);
    has(&run(Some("1")), [true, true, true]);
    for bad in ["yes", "2", ""] {
        let out = run(Some(bad));
        let message = format!("SATEEN_STRICT={bad} is neither 0 nor 1");
        assert!(out.contains(&format!("error: {message}")), "{out}");
        assert!(out.contains(&format!("global: {message}")), "{out}");
    }
}

/// There is too little address space for all the threads. The build fails cleanly, and a smaller
/// one works.
#[cfg(target_os = "linux")]
#[test]
fn under_a_memory_limit() {
    if is_child() {
        let error = Runtime::builder().workers(2000).build().expect_err("too many for the limit");
        println!("error: {error}");
        let rt = Runtime::builder().workers(2).build().expect("two fit");
        assert_eq!(rt.install(|| common::fib(15)), 610);
        println!("two fit");
        return;
    }
    let me = child("under_a_memory_limit");
    let output = Command::new("sh")
        .arg("-c")
        .arg("ulimit -v 600000; exec \"$@\"")
        .arg("sh")
        .arg(me.get_program())
        .args(me.get_args())
        .env("SATEEN_TEST_CHILD", "1")
        // The stacks are large. The space that is left when a thread no longer fits is enough for
        // everything else. (The standard library aborts if a thread's signal stack does not fit.)
        .env("RUST_MIN_STACK", "100000000")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("the child runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}");
    assert!(out.contains("error: cannot start the thread of worker"), "{out}");
    assert!(out.contains("two fit"), "{out}");
}
