//! What the functions do, on all numbers of threads.

mod common;

use common::{THREADS, pool};
use rayon_core::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn join_gives_both_results() {
    for threads in THREADS {
        assert_eq!(pool(threads).install(|| fib(15)), 610);
        assert_eq!(pool(threads).join(|| 1, || 2), (1, 2));
    }
    assert_eq!(join(|| 1, || 2), (1, 2));
}

#[test]
fn branches_know_whether_they_moved() {
    let both = || join_context(|a| a.migrated(), |b| b.migrated());
    assert_eq!(both(), (true, true), "on a thread of no pool");
    assert_eq!(pool(1).install(both), (false, false));
    let barrier = Barrier::new(2);
    let stolen = pool(2).install(|| {
        join_context(
            |a| {
                barrier.wait();
                a.migrated()
            },
            |b| {
                barrier.wait();
                b.migrated()
            },
        )
    });
    assert_eq!(stolen, (false, true));
}

#[test]
fn a_scope_waits_for_all_jobs() {
    for threads in THREADS {
        let count = AtomicUsize::new(0);
        let add = || _ = count.fetch_add(1, Ordering::Relaxed);
        pool(threads).scope(|s| (0..10).for_each(|_| s.spawn(|s| s.spawn(|_| add()))));
        assert_eq!(count.swap(0, Ordering::Relaxed), 10);
        pool(threads).in_place_scope(|s| {
            s.spawn(|_| add());
            s.spawn(|_| add());
        });
        assert_eq!(count.swap(0, Ordering::Relaxed), 2);
        pool(threads).scope_fifo(|s| {
            s.spawn_fifo(|s| {
                add();
                s.spawn_fifo(|_| add());
            });
        });
        assert_eq!(count.swap(0, Ordering::Relaxed), 2);
        pool(threads).in_place_scope_fifo(|s| s.spawn_fifo(|_| add()));
        assert_eq!(count.swap(0, Ordering::Relaxed), 1);
        in_place_scope(|s| s.spawn(|_| add()));
        in_place_scope_fifo(|s| s.spawn_fifo(|_| add()));
        scope(job_of(&count));
        scope_fifo(|s| s.spawn_fifo(|_| add()));
        assert_eq!(count.swap(0, Ordering::Relaxed), 4);
    }
}

fn job_of<'scope>(count: &'scope AtomicUsize) -> impl FnOnce(&Scope<'scope>) + Send {
    move |s| s.spawn(move |_| _ = count.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn a_body_in_place_need_not_be_send() {
    let local = std::rc::Rc::new(7);
    let mut copy = 0;
    let returned = pool(2).in_place_scope(|s| {
        let number = *local;
        let copy = &mut copy;
        s.spawn(move |_| *copy = number);
        std::rc::Rc::clone(&local)
    });
    assert_eq!((copy, *returned), (7, 7));
}

#[test]
fn a_scope_takes_spawns_from_other_threads() {
    for threads in THREADS {
        let count = AtomicUsize::new(0);
        pool(threads).scope(|s| {
            std::thread::scope(|t| {
                for _ in 0..3 {
                    t.spawn(|| s.spawn(|_| _ = count.fetch_add(1, Ordering::Relaxed)));
                }
            });
        });
        pool(threads).in_place_scope_fifo(|s| {
            std::thread::scope(|t| {
                for _ in 0..3 {
                    t.spawn(|| s.spawn_fifo(|_| _ = count.fetch_add(1, Ordering::Relaxed)));
                }
            });
        });
        assert_eq!(count.into_inner(), 6);
    }
}

/// The order in which one thread starts ten jobs.
fn order(spawn: impl Fn(usize, &Arc<Mutex<Vec<usize>>>) + Send + Sync) -> Vec<usize> {
    let pool = pool(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    pool.install(|| (0..10).for_each(|i| spawn(i, &order)));
    // The last in, from outside.
    let (sender, receiver) = channel();
    pool.spawn(move || sender.send(()).unwrap());
    receiver.recv().unwrap();
    Arc::into_inner(order).map(|order| order.into_inner().unwrap()).unwrap_or_default()
}

#[test]
fn the_youngest_spawn_runs_first() {
    let found = order(|i, order| {
        let order = Arc::clone(order);
        spawn(move || order.lock().unwrap().push(i));
    });
    assert_eq!(found, (0..10).rev().collect::<Vec<_>>());
}

#[test]
fn the_oldest_fifo_spawn_runs_first() {
    let found = order(|i, order| {
        let order = Arc::clone(order);
        spawn_fifo(move || order.lock().unwrap().push(i));
    });
    assert_eq!(found, (0..10).collect::<Vec<_>>());
}

#[test]
fn a_broadcast_reaches_each_thread_once() {
    for threads in THREADS {
        let pool = pool(threads);
        let expected: Vec<_> = (0..threads).collect();
        assert_eq!(pool.broadcast(|c| c.index()), expected);
        assert_eq!(pool.install(|| broadcast(|c| c.index())), expected);
        assert!(pool.broadcast(|c| c.num_threads() == threads).into_iter().all(|same| same));
        let indices = pool.broadcast(|c| (Some(c.index()), current_thread_index()));
        assert!(indices.into_iter().all(|(told, own)| told == own));

        let (sender, receiver) = channel();
        pool.spawn_broadcast(move |c| sender.send(c.index()).unwrap());
        let mut told: Vec<_> = receiver.iter().collect();
        told.sort();
        assert_eq!(told, expected);

        let count = AtomicUsize::new(0);
        let add = |c: BroadcastContext<'_>| _ = count.fetch_add(c.index() + 1, Ordering::Relaxed);
        pool.scope(|s| s.spawn_broadcast(|_, c| add(c)));
        pool.scope_fifo(|s| s.spawn_broadcast(|_, c| add(c)));
        pool.in_place_scope(|s| s.spawn_broadcast(|_, c| add(c)));
        pool.in_place_scope_fifo(|s| s.spawn_broadcast(|_, c| add(c)));
        assert_eq!(count.into_inner(), 4 * threads * (threads + 1) / 2);
    }
    assert_eq!(broadcast(|_| ()).len(), current_num_threads());
}

#[test]
fn shares_of_two_broadcasts_may_wait_for_each_other() {
    for threads in THREADS {
        let pool = pool(threads);
        let barriers = [Barrier::new(threads), Barrier::new(threads)];
        std::thread::scope(|t| {
            for barrier in &barriers {
                t.spawn(|| pool.broadcast(|_| _ = barrier.wait()));
            }
        });
    }
}

#[test]
fn a_threads_own_spawns_run_before_its_share() {
    let pool = pool(1);
    for _ in 0..200 {
        let done = Arc::new(AtomicUsize::new(0));
        let told = Arc::clone(&done);
        let seen = pool.install(|| {
            spawn(move || _ = told.fetch_add(1, Ordering::Relaxed));
            broadcast(|_| done.load(Ordering::Relaxed))
        });
        assert_eq!(seen, [1]);
    }
}

#[test]
fn outside_of_pools_there_is_no_index() {
    assert_eq!(current_thread_index(), None);
    assert_eq!(current_thread_has_pending_tasks(), None);
    assert_eq!((yield_now(), yield_local()), (None, None));
    let (one, other) = (pool(1), pool(2));
    assert_eq!(one.current_thread_index(), None);
    assert_eq!((one.yield_now(), one.yield_local()), (None, None));
    other.install(|| {
        assert!(current_thread_index().is_some());
        assert_eq!(one.current_thread_index(), None, "the index in another pool");
        assert_eq!(one.current_thread_has_pending_tasks(), None);
        assert_eq!(one.yield_now(), None);
        assert_eq!(current_num_threads(), 2);
    });
    assert_eq!(one.current_num_threads(), 1);
    assert!(max_num_threads() >= 8);
}

#[test]
fn a_yield_runs_one_job() {
    pool(1).install(|| {
        assert_eq!(yield_now(), Some(Yield::Idle));
        assert_eq!(yield_local(), Some(Yield::Idle));
        assert_eq!(current_thread_has_pending_tasks(), Some(false));
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let count = Arc::clone(&count);
            spawn(move || _ = count.fetch_add(1, Ordering::Relaxed));
        }
        assert_eq!(current_thread_has_pending_tasks(), Some(true));
        assert_eq!(yield_local(), Some(Yield::Executed));
        assert_eq!(count.load(Ordering::Relaxed), 1);
        assert_eq!(yield_now(), Some(Yield::Executed));
        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert_eq!(yield_now(), Some(Yield::Idle));
    });
}

#[test]
fn a_yield_runs_the_other_branch() {
    let moved = pool(1).install(|| {
        let ran = AtomicUsize::new(0);
        join_context(
            |_| {
                while ran.load(Ordering::Relaxed) == 0 {
                    yield_local();
                }
            },
            |b| {
                ran.store(1, Ordering::Relaxed);
                b.migrated()
            },
        )
        .1
    });
    assert!(moved, "the branch was taken from its caller");
}

#[test]
fn a_local_yield_takes_nothing_from_outside() {
    let pool = pool(1);
    let (ready, go) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|t| {
        t.spawn(|| {
            pool.install(|| {
                ready.wait();
                go.wait();
                assert_eq!(yield_local(), Some(Yield::Idle));
                assert_eq!(yield_now(), Some(Yield::Executed));
            });
        });
        ready.wait();
        pool.spawn(|| ());
        go.wait();
    });
}

#[test]
fn values_print() {
    let one = pool(1);
    assert!(format!("{one:?}").starts_with("ThreadPool { num_threads: 1"));
    assert_eq!(format!("{:?}", Yield::Idle), "Idle");
    scope(|s| assert!(format!("{s:?}").starts_with("Scope {")));
    scope_fifo(|s| assert!(format!("{s:?}").starts_with("ScopeFifo {")));
    broadcast(|c| assert!(format!("{c:?}").starts_with("BroadcastContext {")));
    let printed = one.install(|| join_context(|a| format!("{a:?}"), |_| ()).0);
    assert!(printed.starts_with("FnContext { migrated: false"));
}

#[test]
fn types_go_where_they_may() {
    fn shared<T: Send + Sync>() {}
    fn sent<T: Send>() {}
    shared::<ThreadPool>();
    shared::<ThreadPoolBuildError>();
    shared::<Scope<'static>>();
    shared::<ScopeFifo<'static>>();
    sent::<ThreadBuilder>();
}
