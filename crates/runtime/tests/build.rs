//! Building runtimes: settings that work, and one clear error for each that cannot.

mod common;

use sateen_runtime::{BuildError, Runtime, WorkerThread};
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
        error(b().workers(1).stack_size(1 << 40)),
        "cannot use stacks of 1099511627776 bytes: 1073741824 is the most"
    );
    assert_eq!(
        error(b().workers(2).max_stacks(1)),
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

/// The tests below run this very binary again, in another environment.
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
        // Outside of any runtime the work is done all the same, on this thread if need be.
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

/// With too little address space for all the threads, the build fails cleanly and a smaller one works.
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
        // Large steps: what is left when a thread no longer fits is enough for everything else. (The
        // standard library aborts where a thread's signal stack does not fit.)
        .env("RUST_MIN_STACK", "100000000")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .expect("the child runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}");
    assert!(out.contains("error: cannot start the thread of worker"), "{out}");
    assert!(out.contains("two fit"), "{out}");
}
