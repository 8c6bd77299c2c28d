//! Scopes whose openers have blockers that unwind out of the wait.

use crate::compat::{Pool, RawScope, builder};
use sateen_sync::park::{self, Blocker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;
use std::time::Instant;

/// Each call of its wait panics.
struct Bad;

const BAD: &str = "a bad blocker";

// SAFETY: a thread that unwinds has not parked, so no wake-up is lost. `mask` is not kept, and the
// waits under test have to bear that.
unsafe impl Blocker for Bad {
    fn waker(&self) -> Waker {
        Waker::noop().clone()
    }

    fn park(&self) {
        panic!("{BAD}")
    }

    fn park_until(&self, _: Instant) {
        panic!("{BAD}")
    }

    fn waits_for(&self, what: Option<park::Awaited>) {
        assert!(what.is_none(), "{BAD}");
    }
}

/// Runs `f` on a thread or task whose blocker is a bad one, and returns the text of its panic.
fn badly(f: impl FnOnce()) -> String {
    // SAFETY: no wait is in progress, and what was there is put back.
    let before = unsafe { park::install(Some(&Bad)) };
    let result = catch_unwind(AssertUnwindSafe(f));
    // SAFETY: as above.
    unsafe { park::install(before) };
    let text = |panic: Box<dyn std::any::Any + Send>| *panic.downcast::<String>().expect("a text");
    result.map_or_else(text, |()| "no panic".to_owned())
}

fn pool(workers: usize) -> Pool {
    let builder = builder().workers(workers).keep_threads(true).substitutes(0);
    let spawn = |worker: crate::worker_thread::WorkerThread| {
        std::thread::spawn(move || worker.run());
        Ok(())
    };
    Pool::build(builder, false, spawn).expect("a pool")
}

/// A scope of `pool` with jobs that take a while.
fn slow_scope(pool: &Pool, job: impl Fn() + Sync, share: impl Fn() + Send + Sync) {
    let (job, share) = (&job, &share);
    let scope = RawScope::new(pool);
    let body = || {
        // SAFETY: in the scope's body.
        unsafe {
            scope.spawn(|| {
                sateen_testkit::give_way();
                job();
            });
            scope.spawn_broadcast(|_| share());
        }
    };
    // SAFETY: once, where it was made.
    unsafe { scope.complete(body) };
}

#[test]
fn a_wait_that_unwinds_goes_on() {
    for workers in [1, 2, 8] {
        let (a, b) = (pool(workers), pool(workers));
        let count = AtomicUsize::new(0);
        let add = || _ = count.fetch_add(1, SeqCst);
        assert_eq!(badly(|| slow_scope(&b, add, add)), BAD);
        assert_eq!(count.load(SeqCst), 1 + workers);
        // The opener helps: the jobs call back.
        let back = || a.install(add);
        assert_eq!(a.install(|| badly(|| slow_scope(&b, back, back))), BAD);
        assert_eq!(count.load(SeqCst), 2 * (1 + workers));
        [&a, &b].into_iter().for_each(Pool::close);
        [&a, &b].into_iter().for_each(Pool::wait_ended);
    }
}

#[test]
fn entries_of_ended_scopes_are_freed() {
    /// Counts its drops.
    struct Dropped<'a>(&'a AtomicUsize);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    const JOBS: usize = 500;
    let (a, b) = (pool(1), pool(1));
    let drops = AtomicUsize::new(0);
    let scope = || {
        let scope = RawScope::new(&b);
        let body = || {
            for _ in 0..JOBS {
                let dropped = Dropped(&drops);
                // SAFETY: in the scope's body.
                unsafe { scope.spawn(move || drop(dropped)) };
            }
        };
        // SAFETY: once, where it was made.
        unsafe { scope.complete(body) };
    };
    // The only worker of `b` finds the jobs in its wait. Their entries stay in the queue.
    a.install(|| {
        let outer = RawScope::new(&b);
        // SAFETY: once, where it was made; and in the scope's body.
        unsafe { outer.complete(|| outer.spawn(|| a.install(scope))) };
    });
    assert_eq!(drops.load(SeqCst), JOBS);
    [&a, &b].into_iter().for_each(Pool::close);
    [&a, &b].into_iter().for_each(Pool::wait_ended);
}

/// A worker without a stack puts its share aside, for nobody else.
#[test]
fn a_share_waits_for_its_worker() {
    use crate::{Runtime, Scope, Spawn, scope, worker_index};
    use std::sync::Arc;
    use std::time::Duration;
    const STACKS: usize = 6;
    let rt = Runtime::builder().workers(2).max_stacks(STACKS).substitutes(0).build();
    let rt = rt.expect("a runtime");
    let go = Arc::new(sateen_sync::Event::new());
    let begun = Arc::new(AtomicUsize::new(0));
    // Worker 1 has no stack left.
    let wait = |_| {
        let (go, begun) = (Arc::clone(&go), Arc::clone(&begun));
        rt.spawn_with(Spawn::new().on_worker(1), move || {
            begun.fetch_add(1, SeqCst);
            go.wait();
        })
    };
    let waiting: Vec<_> = (0..STACKS).map(wait).collect();
    let end = Instant::now() + Duration::from_millis(200);
    while begun.load(SeqCst) < STACKS && Instant::now() < end {
        std::thread::yield_now();
    }
    let shares = AtomicUsize::new(0);
    let share = |index| {
        let shares = &shares;
        move |_: &Scope<'_>| {
            assert_eq!(worker_index(), Some(index));
            shares.fetch_add(1, SeqCst);
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            go.set();
        });
        rt.install(|| scope(|s| assert!(s.post_to_all(share))));
    });
    assert_eq!(shares.load(SeqCst), 2);
    // Some had no stack, and have failed.
    waiting.into_iter().for_each(|task| drop(task.join()));
}
