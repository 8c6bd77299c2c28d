//! `use_current_thread`. Each test builds its pools on a thread of its own, which belongs to the
//! pool from then on.

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Runs `f` on a new thread with a pool of `threads`, of which it is the first.
fn with_pool<R: Send>(threads: usize, f: impl FnOnce(ThreadPool) -> R + Send) -> R {
    thread::scope(|scope| {
        let inside = || {
            let pool = ThreadPoolBuilder::new().num_threads(threads).use_current_thread().build();
            f(pool.expect("a pool"))
        };
        scope.spawn(inside).join().expect("a thread")
    })
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon_core::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn the_thread_has_index_0_and_stays_where_it_is() {
    for threads in [1, 2, 8] {
        with_pool(threads, |pool| {
            let here = thread::current().id();
            assert_eq!(rayon_core::current_thread_index(), Some(0));
            assert_eq!(pool.current_thread_index(), Some(0));
            assert_eq!(rayon_core::current_num_threads(), threads);
            assert_eq!(pool.install(|| thread::current().id()), here);
            assert_eq!(pool.scope(|_| thread::current().id()), here);
            assert_eq!(fib(20), 6765);
        });
    }
}

#[test]
fn a_pool_of_one_runs_everything_on_the_thread() {
    with_pool(1, |pool| {
        let here = thread::current().id();
        let on = |_: &_| assert_eq!(thread::current().id(), here);
        let ran = AtomicUsize::new(0);
        pool.scope(|s| {
            for _ in 0..100 {
                s.spawn(|_| {
                    on(&());
                    ran.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        pool.scope_fifo(|s| s.spawn_fifo(|_| on(&())));
        assert_eq!(ran.into_inner(), 100);
        assert_eq!(pool.broadcast(|context| context.index()), [0]);
        assert_eq!(fib(16), 987);
        // A spawn waits until the thread gives way.
        let (sender, receiver) = mpsc::channel();
        rayon_core::spawn(move || sender.send(thread::current().id()).unwrap());
        assert!(receiver.try_recv().is_err());
        assert_eq!(rayon_core::yield_now(), Some(rayon_core::Yield::Executed));
        assert_eq!(receiver.try_recv(), Ok(here));
        assert_eq!(rayon_core::yield_now(), Some(rayon_core::Yield::Idle));
    });
}

#[test]
fn others_take_what_the_thread_spawns_while_it_blocks() {
    for threads in [2, 8] {
        with_pool(threads, |pool| {
            for _ in 0..100 {
                let (sender, receiver) = mpsc::channel();
                let other = sender.clone();
                pool.spawn(move || sender.send(rayon_core::current_thread_index()).unwrap());
                rayon_core::spawn_fifo(move || {
                    other.send(rayon_core::current_thread_index()).unwrap();
                });
                for _ in 0..2 {
                    let index = receiver.recv().unwrap().expect("a thread of the pool");
                    assert_ne!(index, 0);
                }
            }
        });
    }
}

#[test]
fn loops_use_all_threads() {
    with_pool(2, |pool| {
        let (sender, receiver) = mpsc::channel();
        let sums = pool.install(|| {
            rayon_core::join(
                // Ends when the other branch has run, elsewhere.
                move || receiver.recv_timeout(Duration::from_secs(20)),
                || sender.send(rayon_core::current_thread_index()).is_ok(),
            )
        });
        assert_eq!(sums, (Ok(Some(1)), true));
    });
}

#[test]
fn broadcasts_reach_the_thread_while_it_waits() {
    for threads in [1, 2, 8] {
        with_pool(threads, |pool| {
            let all: Vec<_> = (0..threads).collect();
            for _ in 0..20 {
                assert_eq!(pool.broadcast(|context| context.index()), all);
                // From a job that the thread waits for.
                let (nested, ()) =
                    rayon_core::join(|| rayon_core::broadcast(|context| context.index()), || ());
                assert_eq!(nested, all);
                let ran = AtomicUsize::new(0);
                rayon_core::scope(|s| {
                    s.spawn_broadcast(|_, _| _ = ran.fetch_add(1, Ordering::Relaxed));
                });
                assert_eq!(ran.into_inner(), threads);
            }
            // Detached: its share comes when the thread gives way.
            let (sender, receiver) = mpsc::channel();
            pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
            while rayon_core::yield_now() == Some(rayon_core::Yield::Executed) {}
            let mut got: Vec<_> = receiver.iter().collect();
            got.sort_unstable();
            assert_eq!(got, all);
        });
    }
}

#[test]
fn a_thread_of_a_pool_starts_no_second_one() {
    let error = "The current thread is already part of another thread pool.";
    let build = || ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    with_pool(1, |pool| {
        assert_eq!(build().unwrap_err().to_string(), error);
        drop(pool);
        // The thread belongs to it all the same.
        assert_eq!(build().unwrap_err().to_string(), error);
        assert_eq!(rayon_core::current_thread_index(), Some(0));
    });
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(pool.install(|| build().unwrap_err().to_string()), error);
}

#[test]
fn the_thread_s_panics_are_its_own() {
    with_pool(2, |pool| {
        let payload = catch_unwind(AssertUnwindSafe(|| {
            pool.join(|| std::panic::panic_any(7u8), || fib(10));
        }));
        assert_eq!(payload.unwrap_err().downcast_ref(), Some(&7u8));
        let payload = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|s| s.spawn(|_| std::panic::panic_any(8u8)));
        }));
        assert_eq!(payload.unwrap_err().downcast_ref(), Some(&8u8));
        assert_eq!(fib(15), 610);
    });
}

#[test]
fn two_such_pools_call_each_other() {
    with_pool(1, |outer| {
        for _ in 0..100 {
            // The inner pool's thread calls back into the thread that waits for it.
            let inner = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let index = inner.install(|| outer.install(|| outer.current_thread_index()));
            assert_eq!(index, Some(0));
        }
    });
}

#[test]
fn the_pool_ends_beside_the_thread() {
    for threads in [1, 2, 4] {
        thread::scope(|scope| {
            scope.spawn(|| {
                let (ended, all) = mpsc::channel();
                let pool = ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .use_current_thread()
                    .exit_handler(move |index| ended.send(index).unwrap())
                    .build()
                    .unwrap();
                pool.install(|| fib(12));
                drop(pool);
                let mut left: Vec<_> =
                    (1..threads).map(|_| all.recv_timeout(Duration::from_secs(20))).collect();
                left.sort_unstable_by_key(|index| index.unwrap());
                assert!(left.into_iter().eq((1..threads).map(Ok)));
                // Alone, the thread runs all of its work itself.
                assert_eq!(fib(15), 610);
                let ran = Cell::new(0);
                rayon_core::in_place_scope(|s| {
                    s.spawn(|_| ());
                    ran.set(1);
                });
                assert_eq!(ran.get(), 1);
                rayon_core::scope(|s| s.spawn(|s| s.spawn(|_| ())));
            });
        });
    }
}

#[test]
fn deep_joins_fit_the_thread_s_stack() {
    fn down(depth: usize) -> usize {
        if depth == 0 { 0 } else { rayon_core::join(|| down(depth - 1), || 1).0 + 1 }
    }
    let builder = thread::Builder::new().stack_size(64 << 20);
    let deep = builder.spawn(|| {
        let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
        pool.install(|| down(50_000))
    });
    assert_eq!(deep.unwrap().join().unwrap(), 50_000);
}

#[test]
fn threads_that_belonged_to_pools_end() {
    for _ in 0..200 {
        with_pool(2, |pool| {
            rayon_core::spawn(|| ());
            assert_eq!(fib(8), 21);
            drop(pool);
            rayon_core::spawn(|| ());
        });
    }
}

#[test]
fn many_threads_call_into_the_pool_while_its_first_one_works() {
    with_pool(2, |pool| {
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        assert_eq!(pool.install(|| fib(8)), 21);
                    }
                });
            }
            for _ in 0..500 {
                assert_eq!(pool.install(|| fib(10)), 55);
            }
        });
    });
}

/// A task of the runtime below, which wants a stack that the thread does not have.
#[test]
fn a_task_with_a_larger_stack_runs_elsewhere_or_fails() {
    for threads in [1, 2, 8] {
        with_pool(threads, |_pool| {
            let larger = sateen_runtime::Spawn::new().stack_size(64 << 20);
            let task = larger.spawn(rayon_core::current_thread_index);
            while !task.is_finished() {
                rayon_core::yield_now();
                thread::yield_now();
            }
            let index = task.join().ok().flatten();
            assert_eq!(index.is_some_and(|index| index != 0), threads > 1, "{index:?}");
        });
    }
}
