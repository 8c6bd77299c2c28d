//! Stack overflow and other faults, each in a child process that runs this test binary again.

#![cfg(unix)]

use sateen_runtime::{PooledStacks, Runtime, Spawn, StackGuard, join, stack_used};
use sateen_sync::Event;
use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::Arc;

fn is_child() -> bool {
    std::env::var_os("SATEEN_TEST_CHILD").is_some()
}

fn child(name: &str) -> (Output, String) {
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env("SATEEN_TEST_CHILD", "1")
        .output()
        .expect("the child runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, errors)
}

fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 32]);
    if depth == u64::MAX { 0 } else { recurse(depth + 1) + frame[7] }
}

/// The child overflows a stack. Returns what the message names, and the size that it tells.
fn told(name: &str) -> (String, usize) {
    let (output, errors) = child(name);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{errors}");
    assert_eq!(errors.matches("overflowed").count(), 1, "{errors}");
    let line = errors.lines().find_map(|line| line.strip_prefix("sateen: ")).expect(&errors);
    let (who, rest) = line.split_once(" overflowed its stack of ").expect(line);
    let (size, rest) = rest.split_once(' ').expect(line);
    assert_eq!(
        rest,
        "bytes; Builder::stack_size(..) sets a larger one, Spawn::stack_size(..) for one task"
    );
    (who.to_owned(), size.parse().expect(line))
}

/// The child's task overflows. The parent checks what the child printed.
fn overflows(name: &str, runtime: impl FnOnce() -> Runtime) {
    if is_child() {
        let named = Spawn::new().name("digger");
        runtime().spawn_with(named, || black_box(recurse(0))).join().expect("not reached");
        return;
    }
    let (who, size) = told(name);
    assert!(who.starts_with("task "), "{who}");
    let (_, place) = who.split_once(" \"digger\" (spawned at ").expect(&who);
    let place = place.strip_suffix(")").expect(&who);
    assert!(place.contains("overflow.rs:"), "{who}");
    assert!((100_000..140_000).contains(&size), "{size}");
}

fn builder() -> sateen_runtime::Builder {
    Runtime::builder().workers(2).stack_size(100_000)
}

#[test]
fn a_task_overflows() {
    overflows("a_task_overflows", || builder().build().expect("a runtime"));
}

#[test]
fn a_task_on_a_stack_guarded_by_protection_overflows() {
    overflows("a_task_on_a_stack_guarded_by_protection_overflows", || {
        let stacks = PooledStacks::new().guard(StackGuard::Protected);
        builder().stack_allocator(stacks).build().expect("a runtime")
    });
}

/// A thread that `std` has not made has no signal stack.
#[test]
fn a_task_on_a_foreign_thread_overflows() {
    extern "C" fn start(worker: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: the pointer was made from a box below, for this thread alone.
        let worker = unsafe { Box::from_raw(worker.cast::<sateen_runtime::WorkerThread>()) };
        worker.run();
        std::ptr::null_mut()
    }
    overflows("a_task_on_a_foreign_thread_overflows", || {
        builder()
            .spawn_handler(|worker| {
                let worker = Box::into_raw(Box::new(worker)).cast();
                // SAFETY: zeroed memory is valid for a thread's name, and the box belongs to the
                // new thread.
                let made = unsafe {
                    let mut thread = std::mem::zeroed();
                    libc::pthread_create(&mut thread, std::ptr::null(), start, worker)
                };
                assert_eq!(made, 0);
                Ok(())
            })
            .build()
            .expect("a runtime")
    });
}

/// A closure that a thread has brought in belongs to no task: its number is all there is.
#[test]
fn work_of_no_task_overflows() {
    if is_child() {
        let runtime = builder().build().expect("a runtime");
        runtime.install(|| black_box(recurse(0)));
        return;
    }
    let (who, size) = told("work_of_no_task_overflows");
    let number = who.strip_prefix("work ").expect(&who);
    assert!(number.parse::<u64>().is_ok_and(|number| number > 0), "{who}");
    assert!((100_000..140_000).contains(&size), "{size}");
}

/// A result that no joiner takes is dropped once its task has ended, on the fiber that ran it.
#[test]
fn a_fiber_overflows_that_runs_no_task() {
    struct Digs;
    impl Drop for Digs {
        fn drop(&mut self) {
            black_box(recurse(0));
        }
    }
    if is_child() {
        let runtime = builder().build().expect("a runtime");
        let detached = Arc::new(Event::new());
        let task = runtime.spawn({
            let detached = Arc::clone(&detached);
            move || {
                detached.wait();
                Digs
            }
        });
        drop(task);
        detached.set();
        _ = runtime.shutdown();
        return;
    }
    let (who, size) = told("a_fiber_overflows_that_runs_no_task");
    assert_eq!(who, "a fiber");
    assert!((100_000..140_000).contains(&size), "{size}");
}

/// Joins go from stack to stack until there is no memory. The task is named all the same.
#[test]
fn joins_without_end_overflow_the_last_stack() {
    fn dig(depth: u64) -> u64 {
        let frame = black_box([depth; 128]);
        if depth == u64::MAX { 0 } else { join(|| dig(depth + 1), || frame[7]).0 }
    }
    if is_child() {
        let rt = Runtime::builder().workers(2).build().expect("a runtime");
        let most = (100 << 20) + 4096 * pages() as libc::rlim_t;
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: the call only reads the limit.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
        let named = Spawn::new().name("digger");
        rt.spawn_with(named, || black_box(dig(0))).join().expect("not reached");
        return;
    }
    if pages() == 0 {
        return; // No system that limits address space.
    }
    let (who, size) = told("joins_without_end_overflow_the_last_stack");
    assert!(who.starts_with("task ") && who.contains(" \"digger\" (spawned at "), "{who}");
    assert!((2_000_000..2_200_000).contains(&size), "{size}");
}

/// Pages that this process has mapped; 0 where that is not told.
fn pages() -> usize {
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    told.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
fn other_faults_of_a_task_are_not_ours() {
    if is_child() {
        let fault = || {
            // SAFETY: there is none, because this is the fault.
            unsafe { std::ptr::without_provenance::<u8>(8).read_volatile() }
        };
        builder().build().expect("a runtime").spawn(fault).join().expect("not reached");
        return;
    }
    let (output, errors) = child("other_faults_of_a_task_are_not_ours");
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{errors}");
    assert!(!errors.contains("overflow"), "{errors}");
}

#[test]
fn other_threads_overflow_as_they_would_without_us() {
    if is_child() {
        let runtime = builder().build().expect("a runtime");
        runtime.spawn(|| ()).join().expect("runs");
        black_box(recurse(0));
        return;
    }
    let (output, errors) = child("other_threads_overflow_as_they_would_without_us");
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{errors}");
    assert!(errors.contains("has overflowed its stack"), "{errors}");
    assert!(!errors.contains("sateen: "), "{errors}");
}

/// A handler that was installed before ours is called after ours.
#[test]
fn a_handler_of_the_programs_own_is_called() {
    extern "C" fn handler(_: libc::c_int) {
        // SAFETY: the call ends the process, and is safe in a handler.
        unsafe { libc::_exit(77) }
    }
    if is_child() {
        // SAFETY: the handler is safe.
        unsafe { libc::signal(libc::SIGSEGV, handler as *const () as usize) };
        let runtime = builder().build().expect("a runtime");
        // SAFETY: there is none, because this is the fault.
        runtime.install(|| unsafe { std::ptr::without_provenance::<u8>(8).read_volatile() });
        return;
    }
    let (output, errors) = child("a_handler_of_the_programs_own_is_called");
    assert_eq!(output.status.code(), Some(77), "{errors}");
}

/// Uses a little more than `usable` bytes below `top`. Returns how many.
fn deep(top: usize, usable: usize) -> usize {
    let frame = black_box([usable; 32]);
    let used = top - std::ptr::from_ref(&frame) as usize;
    if used > usable { used } else { deep(top, usable).max(frame[5]) }
}

#[test]
fn the_whole_size_can_be_used() {
    // This includes unguarded stacks.
    for size in [32 << 10, 1 << 20] {
        // SAFETY: the task below keeps to its size.
        let stacks = unsafe { PooledStacks::new().unguarded() };
        for builder in [Runtime::builder(), Runtime::builder().stack_allocator(stacks)] {
            let rt = builder.workers(1).stack_size(size).build().expect("a runtime");
            let usable = size - 16 * 1024;
            let task = move || {
                let here = 0u8;
                deep(std::ptr::from_ref(&here) as usize, usable)
            };
            assert!(rt.spawn(task).join().expect("fits") > usable);
        }
    }
}

#[test]
fn what_has_been_used_can_be_told() {
    if !cfg!(debug_assertions) {
        return;
    }
    let rt = Runtime::builder().workers(1).build().expect("a runtime");
    let task = || {
        let before = stack_used().expect("in a task");
        let here = 0u8;
        let used = deep(std::ptr::from_ref(&here) as usize, 50_000);
        (before, used, stack_used().expect("in a task"))
    };
    let (before, used, after) = rt.spawn(task).join().expect("ran");
    assert!(before < 20_000, "{before}");
    assert!((used..used + 20_000).contains(&after), "{after}");
    assert_eq!(stack_used(), None);
}
