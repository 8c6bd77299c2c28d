//! Helpers that the tests of the runtime share.
#![allow(dead_code)]

use sateen_runtime::policy::{Policy, Runnable};
use sateen_runtime::{Builder, Runtime};
use sateen_sync::Event;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The numbers of workers with which each behaviour is tested.
pub(crate) const WORKERS: [usize; 5] = [1, 2, 3, 4, 8];

/// Whether this test binary tests the strict runtime, in which each waiting task keeps a thread.
pub(crate) fn strict() -> bool {
    env!("CARGO_CRATE_NAME").starts_with("strict")
}

/// `n`, the number of waiting tasks, or fewer: in a strict runtime, where each of them takes a
/// thread, and where 32 bits address about 1,500 stacks.
pub(crate) fn many(n: usize) -> usize {
    n.min(if strict() {
        300
    } else if usize::BITS < 64 {
        600
    } else {
        n
    })
}

/// The settings under test.
pub(crate) fn builder() -> Builder {
    Runtime::builder().strict(strict())
}

/// Runs `f` on a runtime of `workers` workers, and checks that the runtime ends in order.
pub(crate) fn with_runtime<R>(workers: usize, f: impl FnOnce(&Runtime) -> R) -> R {
    let runtime = builder().workers(workers).build().expect("a runtime");
    let result = f(&runtime);
    runtime.shutdown().expect("an orderly end");
    result
}

/// Runs `f` with each count of [`WORKERS`].
pub(crate) fn at_all_counts(f: impl Fn(&Runtime)) {
    for workers in WORKERS {
        with_runtime(workers, &f);
    }
}

/// Naive Fibonacci by nested joins.
pub(crate) fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = sateen_runtime::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// On one worker, a task waits and another one repeats `step` for 300 ms. The first task is woken
/// once the second has begun. It must go on before the second one ends.
pub(crate) fn a_fiber_runs_during(step: impl Fn() + Send + 'static) {
    with_runtime(1, |rt| {
        let (go, begun) = (Arc::new(Event::new()), Arc::new(Event::new()));
        let wait = Arc::clone(&go);
        let waiter = rt.spawn(move || {
            wait.wait();
            Instant::now()
        });
        let tell = Arc::clone(&begun);
        let busy = rt.spawn(move || {
            tell.set();
            let until = Instant::now() + Duration::from_millis(300);
            while Instant::now() < until {
                step();
            }
            Instant::now()
        });
        // Tasks from outside start in order, so by now the first task is suspended.
        begun.wait();
        go.set();
        let woken = waiter.join().expect("woken");
        assert!(woken < busy.join().expect("ended"), "it had to wait for the other's end");
    });
}

/// The folders in `/proc` of this process's threads of this name.
#[cfg(target_os = "linux")]
pub(crate) fn threads_named(name: &str) -> Vec<std::path::PathBuf> {
    let threads = std::fs::read_dir("/proc/self/task").expect("the threads of this process");
    // A thread may end meanwhile.
    let its_name = |path: &std::path::PathBuf| std::fs::read_to_string(path.join("comm"));
    let is_named = |path: &_| its_name(path).is_ok_and(|other| other.trim() == name);
    threads.flatten().map(|thread| thread.path()).filter(is_named).collect()
}

/// Runs test `name` again, once for each of `cases`, in a process of its own that calls `run`.
pub(crate) fn in_children<'a>(
    name: &str,
    cases: impl Iterator<Item = &'a str>,
    run: impl Fn(&str),
) {
    const CASE: &str = "SATEEN_TEST_CASE";
    if let Ok(case) = std::env::var(CASE) {
        return run(&case);
    }
    let failed: Vec<_> = cases
        .filter_map(|case| {
            let output = std::process::Command::new(std::env::current_exe().expect("this test"))
                .args(["--exact", name, "--nocapture"])
                .env(CASE, case)
                .output()
                .expect("runs");
            let text = String::from_utf8_lossy(&output.stderr);
            (!output.status.success()).then(|| format!("{case}: {}: {text}", output.status))
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// An allocator that overwrites freed memory.
pub(crate) struct Overwrites;

// SAFETY: like the system's allocator, which gets back the memory that it gave.
unsafe impl GlobalAlloc for Overwrites {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: by the caller's contract; no code may use the memory any more.
        unsafe {
            place.write_bytes(0xdd, layout.size());
            System.dealloc(place, layout);
        }
    }
}

/// A policy with one queue for tasks and fibers, first in, first out. Clones share the queue.
#[derive(Clone, Default)]
pub(crate) struct OneQueue(pub(crate) Arc<Mutex<VecDeque<Runnable>>>);

impl Policy for OneQueue {
    fn awakened(&self, runnable: Runnable) {
        self.0.lock().expect("no panic").push_back(runnable);
    }
    fn pick_next(&self) -> Option<Runnable> {
        self.0.lock().expect("no panic").pop_front()
    }
    fn has_ready(&self) -> bool {
        !self.0.lock().expect("no panic").is_empty()
    }
}
