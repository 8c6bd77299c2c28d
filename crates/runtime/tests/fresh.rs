//! Nested work that finds little of its stack left, and goes to a fresh one.

use sateen_runtime::{
    Builder, CancelToken, Elapsed, FiberLocal, FiberLocalError, JoinError, Runtime, Spawn, fork,
    join, no_suspend, par_for, par_map, scope, sleep, timeout, yield_now,
};
use sateen_sync::{Barrier, Event, Mutex, ReentrantMutex, park};
use sateen_testkit::watched;
use std::cell::Cell;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// The smallest stacks: nested work leaves them soon.
fn small(workers: usize) -> Builder {
    Runtime::builder().workers(workers).stack_size(32 << 10)
}

/// Calls `end` below `depth` joins, each with a frame of 1 KiB.
fn deep<R: Send>(depth: usize, end: &(dyn Fn() -> R + Sync)) -> R {
    let frame = black_box([depth as u8; 1024]);
    if depth == 0 {
        return end();
    }
    let (result, byte) = join(|| deep(depth - 1, end), || frame[7]);
    assert_eq!(byte, depth as u8);
    result
}

/// Some places that nested work runs in.
fn everywhere(builder: impl Fn() -> Builder, f: impl Fn() + Copy + Send + Sync + 'static) {
    for workers in [1, 2] {
        let rt = builder().workers(workers).build().expect("a runtime");
        watched("in a call from outside", || rt.install(f));
        watched("in a task", || rt.spawn(f).join().expect("ran"));
        watched("in a future", || rt.spawn_async(async move { f() }).join().expect("ran"));
        watched("in a scope", || rt.scope(|s| (0..3).for_each(|_| s.spawn(move |_| f()))));
        watched("in a loop", || rt.install(|| par_for(0..3, |_| f())));
        watched("in a branch", || _ = rt.install(|| join(f, f)));
    }
    let rt = builder().current_thread().expect("a runtime");
    watched("on the thread itself", || rt.run(f));
}

#[test]
fn recursion_by_joins_ends_with_memory() {
    everywhere(Runtime::builder, || deep(5_000, &|| ()));
    everywhere(|| small(1), || deep(5_000, &|| ()));
    let rt = Runtime::builder().workers(2).build().expect("a runtime");
    watched("100,000 joins", || assert_eq!(rt.install(|| deep(100_000, &|| 7)), 7));
}

#[test]
fn so_does_recursion_by_other_nested_work() {
    fn forks(depth: usize) {
        let frame = black_box([1_u8; 1024]);
        if depth > 0 {
            fork([(); 3].map(|()| || if frame[0] == 1 { 0 } else { 1 }));
            fork([|| forks(depth - 1)]);
        }
    }
    fn scopes(depth: usize, ended: &AtomicUsize) {
        let frame = black_box([1_usize; 128]);
        if depth > 0 {
            scope(|s| {
                s.spawn(|_| _ = ended.fetch_add(frame[0], SeqCst));
                scopes(depth - 1, ended);
            });
        }
    }
    fn loops(depth: usize) {
        let frame = black_box([1_u8; 1024]);
        if depth > 0 {
            par_for(0..2, |i| {
                if i == usize::from(frame[0]) {
                    loops(depth - 1)
                }
            });
        }
    }
    everywhere(Runtime::builder, || {
        forks(3_000);
        let ended = AtomicUsize::new(0);
        scopes(3_000, &ended);
        assert_eq!(ended.into_inner(), 3_000);
        loops(1_000);
    });
}

/// A loop's bodies have the room of a default stack, on each worker.
#[test]
fn a_loop_that_begins_on_a_small_stack_continues_on_a_large_one() {
    let rt = small(2).build().expect("a runtime");
    let large = |i: usize| black_box([i as u8; 300 << 10]).iter().map(|&b| usize::from(b)).sum();
    let sums: Vec<usize> = rt.install(|| {
        par_map(&[1, 2, 3, 4, 5, 6, 7, 8], |&i| {
            sleep(Duration::from_millis(1));
            large(i)
        })
    });
    assert_eq!(sums, [1, 2, 3, 4, 5, 6, 7, 8].map(|i| i * (300 << 10)));
    let task = Spawn::new().stack_size(32 << 10);
    let rt = Runtime::builder().workers(2).build().expect("a runtime");
    let sums = rt.spawn_with(task, move || par_map(&[1, 2, 3], |&i| large(i)));
    assert_eq!(sums.join().expect("ran"), [1, 2, 3].map(|i| i * (300 << 10)));
}

#[test]
fn it_stays_on_its_thread_and_others_run_while_it_waits() {
    let rt = small(1).build().expect("a runtime");
    let (event, set) = (Arc::new(Event::new()), AtomicUsize::new(0));
    let other = Arc::clone(&event);
    watched("a wait on a fresh stack", || {
        rt.install(|| {
            let here = thread::current().id();
            let setter = sateen_runtime::spawn(move || other.set());
            deep(100, &|| {
                assert_eq!(thread::current().id(), here);
                event.wait();
                yield_now();
                assert_eq!(thread::current().id(), here);
                set.fetch_add(1, SeqCst)
            });
            setter.join().expect("ran");
        });
    });
    assert_eq!(set.into_inner(), 1);
}

#[test]
fn a_panic_passes_through() {
    struct Counts<'a>(&'a AtomicUsize);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    fn level(depth: usize, dropped: &AtomicUsize) -> Counts<'_> {
        let frame = black_box(Counts(dropped));
        if depth == 0 {
            std::panic::panic_any(77_u8);
        }
        let (a, _b) = join(|| level(depth - 1, frame.0), || Counts(dropped));
        a
    }
    for _ in 0..20 {
        let rt = small(2).build().expect("a runtime");
        let dropped = AtomicUsize::new(0);
        let result = rt.install(|| catch_unwind(AssertUnwindSafe(|| drop(level(100, &dropped)))));
        let panic = result.expect_err("panicked");
        assert_eq!(panic.downcast_ref(), Some(&77_u8));
        // 101 frames, 100 second branches.
        assert_eq!(dropped.into_inner(), 201);
    }
}

#[test]
fn it_is_cancelled_with_its_task() {
    for workers in [1, 2] {
        let rt = small(workers).build().expect("a runtime");
        let begun = Arc::new(Event::new());
        let inner = Arc::clone(&begun);
        let task = rt.spawn(move || {
            deep(100, &|| {
                inner.set();
                Event::new().wait();
            });
        });
        begun.wait();
        task.cancel();
        watched("a cancelled task", || {
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        });
        // A mask of the caller holds for it.
        let (begun, go_on) = (Arc::new(Event::new()), Arc::new(Event::new()));
        let inner = (Arc::clone(&begun), Arc::clone(&go_on));
        let task = rt.spawn(move || {
            park::uninterrupted(|| {
                deep(100, &|| {
                    inner.0.set();
                    inner.1.wait();
                    yield_now();
                    1
                })
            })
        });
        begun.wait();
        task.cancel();
        go_on.set();
        watched("a masked task", || assert_eq!(task.join().expect("ended"), 1));
    }
}

#[test]
fn a_time_limit_of_its_caller_holds_for_it() {
    for workers in [1, 2] {
        let rt = small(workers).build().expect("a runtime");
        watched("a time limit", || {
            rt.install(|| {
                let never = Event::new();
                // 5,000: there are several fresh stacks, each of which waits for the next.
                for depth in [100, 5_000] {
                    let limited =
                        timeout(Duration::from_millis(5), || deep(depth, &|| never.wait()));
                    assert_eq!(limited, Err(Elapsed));
                }
                assert_eq!(timeout(Duration::from_secs(60), || deep(100, &|| 3)), Ok(3));
            });
        });
    }
}

#[test]
fn it_has_the_identity_of_its_caller() {
    let rt = small(1).build().expect("a runtime");
    watched("a re-entrant lock", || {
        rt.install(|| {
            let lock = ReentrantMutex::new(Cell::new(0));
            let outer = lock.lock();
            deep(100, &|| 0);
            // (A branch may run elsewhere, so `deep` cannot borrow the lock.)
            fn first(depth: usize, lock: usize) {
                let _frame = black_box([0_u8; 1024]);
                // SAFETY: the lock outlives the call, and the first branch stays on its thread.
                let lock = unsafe { &*(lock as *const ReentrantMutex<Cell<u32>>) };
                let count = lock.lock();
                count.set(count.get() + 1);
                let address = std::ptr::from_ref(lock) as usize;
                if depth > 0 {
                    join(|| first(depth - 1, address), || ());
                }
            }
            first(100, &raw const lock as usize);
            assert_eq!(outer.get(), 101);
        });
    });
}

/// It is a branch, as it would be in place.
#[test]
fn locals_of_a_task_are_not_for_it() {
    static LOCAL: FiberLocal<Cell<u32>> = FiberLocal::new(|| Cell::new(0));
    let rt = small(1).build().expect("a runtime");
    let task = rt.spawn(|| {
        LOCAL.with(|local| local.set(3));
        let in_branch = deep(50, &|| LOCAL.try_with(|_| ()));
        (LOCAL.with(Cell::get), in_branch)
    });
    assert_eq!(task.join().expect("ran"), (3, Err(FiberLocalError::InBranch)));
}

/// It may not leave its thread, so it goes on where it is for as long as there is room.
#[test]
fn work_that_keeps_its_thread_stays_where_it_is() {
    /// Recurses until it is 40 KiB away, beyond the half of 64 KiB where others leave.
    fn go(top: usize) -> usize {
        let frame = black_box([0_u8; 1024]);
        let here = (&raw const frame).addr();
        if here.abs_diff(top) > 40 << 10 { here } else { join(|| go(top), || ()).0 }
    }
    let distance = || {
        let frame = black_box(0_u8);
        let top = (&raw const frame).addr();
        go(top).abs_diff(top)
    };
    let stays = move || assert!(distance() < 60 << 10);
    let builder = || Runtime::builder().workers(1).stack_size(64 << 10);
    assert!(builder().build().expect("a runtime").install(distance) > 60 << 10, "fresh");
    builder().build().expect("a runtime").install(|| no_suspend(stays));
    builder().keep_threads(true).build().expect("a runtime").install(stays);
    builder().strict(true).build().expect("a runtime").spawn(stays).join().expect("ran");
    // There is no stack beyond the worker's.
    builder().max_stacks(1).build().expect("a runtime").install(stays);
}

/// Thieves take branches of all the stacks.
#[test]
fn nothing_is_lost() {
    fn tree(depth: usize, done: &AtomicUsize) {
        let _frame = black_box([0_u8; 512]);
        done.fetch_add(1, SeqCst);
        if depth > 0 {
            join(|| tree(depth - 1, done), || leaf(depth, done));
        }
    }
    fn leaf(depth: usize, done: &AtomicUsize) {
        if depth.is_multiple_of(7) {
            yield_now();
        }
        done.fetch_add(1, SeqCst);
    }
    for workers in [1, 2, 4, 8] {
        let rt = small(workers).build().expect("a runtime");
        watched("trees side by side", || {
            let done = AtomicUsize::new(0);
            rt.scope(|s| (0..20).for_each(|_| s.spawn(|_| tree(2_000, &done))));
            assert_eq!(done.into_inner(), 20 * 4_001);
        });
    }
}

/// Nothing may interrupt a destructor that unwinds, on whatever stack its work goes on.
#[test]
fn an_unwinding_destructor_is_not_cancelled_again() {
    struct Joins(usize);
    impl Drop for Joins {
        fn drop(&mut self) {
            deep(self.0, &|| yield_now());
        }
    }
    for depth in [100, 5_000] {
        let rt = small(1).build().expect("a runtime");
        let begun = Arc::new(Event::new());
        let inner = Arc::clone(&begun);
        let task = rt.spawn(move || {
            let _joins = Joins(depth);
            inner.set();
            Event::new().wait();
        });
        begun.wait();
        task.cancel();
        watched("a cancelled task", || {
            assert!(matches!(task.join(), Err(JoinError::Cancelled)));
        });
        watched("a time limit", || {
            let late = || {
                let _joins = Joins(depth);
                Event::new().wait();
            };
            assert_eq!(rt.install(|| timeout(Duration::from_millis(1), late)), Err(Elapsed));
        });
    }
}

/// A cancellation drops what the work has made, and a panic of that goes nowhere.
#[test]
fn a_cancelled_caller_discards_the_result() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a destructor");
        }
    }
    fn forks(depth: usize) -> [Bomb; 1] {
        let frame = black_box([1_u8; 1024]);
        if depth == usize::from(frame[0]) - 1 {
            [Bomb]
        } else {
            fork([|| forks(depth - 1)]).map(|[b]| b)
        }
    }
    // A panic here may print where it is, and `std` sorts all symbols for that: 1 KiB a level.
    let rt = small(1).stack_size(128 << 10).build().expect("a runtime");
    for way in 0..3 {
        let token = CancelToken::new();
        let inner = token.clone();
        let task = rt.spawn_with(Spawn::new().token(&token), move || {
            inner.cancel();
            match way {
                0 => std::mem::forget(deep(600, &|| Bomb)),
                1 => std::mem::forget(forks(600)),
                _ => std::mem::forget(par_map(&[1, 2, 3], |_| Bomb)),
            }
        });
        watched("a cancelled task", || assert!(task.join().is_err()));
    }
}

/// Loops have room enough where they are, so they take no stack that a task waits for.
#[test]
fn loops_take_no_stacks_that_are_few() {
    for stacks in [5, 6, 8] {
        let rt = Runtime::builder().workers(1).stack_size(64 << 10).max_stacks(stacks);
        let rt = rt.build().expect("a runtime");
        let event = Arc::new(Event::new());
        let wait = || {
            let event = Arc::clone(&event);
            rt.spawn(move || par_for(0..1, |_| event.wait()))
        };
        let tasks: Vec<_> = (0..4).map(|_| wait()).collect();
        let inner = Arc::clone(&event);
        rt.spawn(move || inner.set()).join().expect("the fifth stack");
        tasks.into_iter().for_each(|task| task.join().expect("ran"));
    }
}

/// Two tasks that wait for each other's lock on fresh stacks are found.
#[test]
fn a_deadlock_is_told() {
    let rt = small(1).build().expect("a runtime");
    // The fibers that are used next have been used before, in another order.
    let events: Vec<_> = (0..40).map(|_| Arc::new(Event::new())).collect();
    let wait = |event: &Arc<Event>| {
        let event = Arc::clone(event);
        rt.spawn(move || event.wait())
    };
    let tasks: Vec<_> = events.iter().map(wait).collect();
    for (event, task) in events.iter().zip(tasks).rev() {
        event.set();
        task.join().expect("ran");
    }
    let locks = [(); 2].map(|()| Arc::new(Mutex::new(())));
    let both = Arc::new(Barrier::new(2));
    for first in [0, 1] {
        let (locks, both) = (locks.clone(), Arc::clone(&both));
        drop(rt.spawn(move || {
            deep(100, &|| {
                let _one = locks[first].lock();
                both.wait();
                let _other = locks[1 - first].lock();
            })
        }));
    }
    watched("a report", || {
        while rt.report().deadlocks.is_empty() {
            thread::yield_now();
        }
    });
    std::mem::forget(rt);
}
