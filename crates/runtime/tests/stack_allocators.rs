//! Stack allocators of the user's that call the runtime, wait and panic.

use sateen_runtime::{
    JoinError, JoinHandle, PooledStacks, Runtime, Spawn, Stack, StackAllocator, block_on, blocking,
    check_cancelled, current_task, join, par_for, scope, sleep, spawn, spawn_async, worker_index,
    yield_now,
};
use sateen_sync::{Event, Mutex};
use sateen_testkit::{Watchdog, watched};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

/// Calls its function in each of its methods, some times.
#[derive(Clone)]
struct Allocator(Arc<Calls>);

struct Calls {
    stacks: PooledStacks,
    call: fn(),
    left: AtomicUsize,
}

impl Allocator {
    fn new(call: fn()) -> Self {
        let stacks = PooledStacks::new().high_water(0);
        Self(Arc::new(Calls { stacks, call, left: AtomicUsize::new(0) }))
    }
}

impl Calls {
    fn call(&self) {
        // The function may want a stack itself.
        if self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() {
            (self.call)();
        }
    }
}

impl StackAllocator for Allocator {
    fn allocate(&self, size: usize) -> io::Result<Stack> {
        self.0.call();
        self.0.stacks.allocate(size)
    }

    fn allocate_last(&self, size: usize) -> io::Result<Stack> {
        self.0.call();
        self.0.stacks.allocate_last(size)
    }

    unsafe fn deallocate(&self, stack: Stack) {
        // SAFETY: passed on to the caller.
        unsafe { self.0.stacks.deallocate(stack) };
        self.0.call();
    }

    fn has_spare(&self) -> bool {
        self.0.call();
        self.0.stacks.has_spare()
    }

    fn trim(&self) {
        self.0.call();
        self.0.stacks.trim();
    }

    fn close(&self) {
        self.0.call();
        self.0.stacks.close();
    }
}

/// The error of a task that an allocator spawns.
const IN_HOOK: &str = "a hook or callback of a runtime spawned the task";

/// Calls of the runtime that an allocator might make.
const CALLS: [(&str, fn()); 14] = [
    ("join", || assert_eq!(join(|| 1, || 2), (1, 2))),
    ("scope", || scope(|s| s.spawn(|_| ()))),
    ("par_for", || par_for(0..100, |_| ())),
    ("spawn", || assert_eq!(spawn(|| ()).join().expect_err("refused").to_string(), IN_HOOK)),
    ("spawn_async", || {
        assert_eq!(spawn_async(async {}).join().expect_err("refused").to_string(), IN_HOOK)
    }),
    ("dispatch", || assert!(Spawn::new().dispatch().spawn(|| ()).join().is_err())),
    ("yield_now", yield_now),
    ("sleep", || sleep(Duration::from_millis(1))),
    ("block_on", || block_on(async {})),
    ("blocking", || blocking(|| ())),
    ("wait for a lock", wait_for_a_lock),
    ("wait for an event", wait_for_an_event),
    ("questions", || {
        _ = (check_cancelled(), current_task(), worker_index());
    }),
    ("another runtime", || {
        let rt = Runtime::builder().workers(1).build().expect("a runtime");
        assert_eq!(rt.spawn(|| 1).join().expect("ran"), 1);
    }),
];

fn wait_for_a_lock() {
    static LOCK: Mutex<()> = Mutex::new(());
    let (held, waits) = (Event::new(), Event::new());
    std::thread::scope(|s| {
        s.spawn(|| {
            let _lock = LOCK.lock();
            held.set();
            waits.wait();
        });
        held.wait();
        waits.set();
        drop(LOCK.lock());
    });
}

fn wait_for_an_event() {
    let event = Event::new();
    std::thread::scope(|s| {
        s.spawn(|| event.set());
        event.wait();
    });
}

/// Uses stacks in all ways: tasks that wait, one with a stack of its own, and nested work.
fn uses_stacks(workers: usize, strict: bool, allocator: &Allocator) {
    fn deep(depth: usize) -> usize {
        let frame = black_box([1u8; 1024]);
        match depth {
            0 => 0,
            _ => join(|| deep(depth - 1), || usize::from(frame[7])).0 + 1,
        }
    }
    let stacks = allocator.clone();
    let builder = Runtime::builder().workers(workers).strict(strict).stack_size(64 << 10);
    let rt = builder.stack_allocator(stacks).build().expect("a runtime");
    allocator.0.left.store(40, SeqCst);
    let go = Arc::new(Event::new());
    let wait = |_| {
        let go = Arc::clone(&go);
        rt.spawn(move || go.wait())
    };
    let blocked: Vec<JoinHandle<()>> = (0..8).map(wait).collect();
    // Nested work of a strict runtime has no fresh stack.
    let depth = if strict { 10 } else { 200 };
    assert_eq!(rt.install(|| deep(depth)), depth);
    let large = rt.spawn_with(Spawn::new().stack_size(1 << 20), || deep(10));
    assert_eq!(large.join().expect("ran"), 10);
    go.set();
    for task in blocked {
        task.join().expect("ran");
    }
    allocator.0.left.store(2, SeqCst);
    rt.shutdown().expect("an orderly end");
}

#[test]
fn an_allocator_may_call_the_runtime() {
    for (what, call) in CALLS {
        for (workers, strict) in [(1, false), (2, false), (2, true)] {
            let allocator = Allocator::new(call);
            watched(what, || uses_stacks(workers, strict, &allocator));
        }
    }
}

#[test]
fn an_allocator_of_a_current_thread_may_call_it() {
    for (what, call) in CALLS {
        watched(what, || {
            let allocator = Allocator::new(call);
            let local = Runtime::builder().stack_allocator(allocator.clone());
            let local = local.current_thread().expect("a runtime");
            allocator.0.left.store(10, SeqCst);
            let tasks = local.run(|| [(); 3].map(|()| spawn(yield_now)));
            for task in tasks {
                local.run_until(task).expect("ran");
            }
        });
    }
}

/// A panic of the allocator is one of its errors: tasks wait for stacks, or fail. What it was given
/// back or asked to give back is lost.
#[test]
fn an_allocator_may_panic() {
    for (workers, strict) in [(1, false), (2, false), (2, true)] {
        let allocator = Allocator::new(|| panic!("the allocator's"));
        let _dog = Watchdog::new("an allocator that panics");
        let builder = Runtime::builder().workers(workers).strict(strict);
        let rt = builder.stack_allocator(allocator.clone()).build().expect("a runtime");
        for round in 1..20 {
            allocator.0.left.store(round, SeqCst);
            let tasks: Vec<_> = (0..10).map(|_| rt.spawn(yield_now)).collect();
            for task in tasks {
                match task.join() {
                    Ok(()) | Err(JoinError::OutOfStacks) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(rt.install(|| join(|| 1, || 2)), (1, 2));
        }
        allocator.0.left.store(3, SeqCst);
        rt.shutdown().expect("an orderly end");
    }
}

#[test]
fn a_runtime_whose_allocator_panics_is_not_built() {
    let allocator = Allocator::new(|| panic!("the allocator's"));
    allocator.0.left.store(1, SeqCst);
    let error = Runtime::builder().stack_allocator(allocator).build().expect_err("no stack");
    assert_eq!(error.to_string(), "cannot reserve a stack: the stack allocator panicked");
}
