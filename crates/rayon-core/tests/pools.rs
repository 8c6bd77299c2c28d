//! Pools in pools, and the ends of pools.

mod common;

use common::{THREADS, pool};
use rayon_core::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};

#[test]
fn an_install_in_the_own_pool_is_a_call() {
    let pool = pool(1);
    assert_eq!(pool.install(|| pool.install(|| pool.join(|| 1, || 2))), (1, 2));
}

#[test]
fn pools_call_each_other() {
    for threads in THREADS {
        let (one, two) = (pool(threads), pool(threads));
        for _ in 0..50 {
            assert_eq!(one.install(|| two.install(|| one.install(|| two.install(|| 7)))), 7);
        }
    }
}

#[test]
fn scopes_of_several_pools_nest() {
    let pools: Vec<_> = (0..5).map(|_| pool(1)).collect();
    fn nest<'scope>(
        pools: &'scope [ThreadPool],
        scopes: Vec<&Scope<'scope>>,
        count: &'scope AtomicUsize,
    ) {
        match pools.split_first() {
            Some((pool, pools)) => pool.scope(move |s| {
                let mut scopes = scopes;
                // SAFETY: none is needed: the reference goes down the stack only.
                scopes.push(s);
                nest(pools, scopes, count);
            }),
            None => {
                for scope in scopes {
                    scope.spawn(move |_| _ = count.fetch_add(1, Ordering::Relaxed));
                }
            }
        }
    }
    let count = AtomicUsize::new(0);
    nest(&pools, Vec::new(), &count);
    assert_eq!(count.into_inner(), 5);
}

#[test]
fn pools_broadcast_into_each_other() {
    let (one, two) = (pool(3), pool(4));
    let count = AtomicUsize::new(0);
    one.install(|| {
        two.broadcast(|_| {
            one.broadcast(|_| _ = count.fetch_add(1, Ordering::Relaxed));
        });
    });
    assert_eq!(count.into_inner(), 12);
}

#[test]
fn a_body_in_place_on_another_pools_thread() {
    let (one, two) = (pool(1), pool(1));
    let index = two.install(|| {
        let mut inside = None;
        one.in_place_scope(|s| s.spawn(|_| inside = Some(one.current_thread_index())));
        inside
    });
    assert_eq!(index, Some(Some(0)));
}

#[test]
fn jobs_of_a_scope_in_place_call_back() {
    for threads in [1, 2] {
        let (a, b) = (pool(threads), pool(threads));
        let mut got = 0;
        a.install(|| b.in_place_scope(|s| s.spawn(|_| got = a.install(|| 7))));
        assert_eq!(got, 7);
    }
}

#[test]
fn shares_of_scopes_broadcast_back() {
    for threads in [1, 2] {
        let (a, b) = (pool(threads), pool(threads));
        let count = AtomicUsize::new(0);
        let add = || _ = count.fetch_add(1, Ordering::Relaxed);
        let by_function = || _ = a.broadcast(|_| add());
        let by_scope = || a.scope(|s| s.spawn_broadcast(|_, _| add()));
        a.install(|| b.in_place_scope(|s| s.spawn_broadcast(|_, _| by_function())));
        a.install(|| b.scope(|s| s.spawn_broadcast(|_, _| by_function())));
        a.install(|| b.in_place_scope(|s| s.spawn_broadcast(|_, _| by_scope())));
        a.install(|| b.scope(|s| s.spawn_broadcast(|_, _| by_scope())));
        assert_eq!(count.into_inner(), 4 * threads * threads);
    }
}

#[test]
fn a_drop_does_not_wait() {
    for threads in THREADS {
        let pool = pool(threads);
        let barrier = Arc::new(Barrier::new(2));
        let (waits, (sender, receiver)) = (Arc::clone(&barrier), channel());
        pool.spawn(move || {
            waits.wait();
            // The pool is gone, and takes this all the same.
            spawn(move || sender.send(join(|| 1, || 2)).unwrap());
        });
        drop(pool);
        barrier.wait();
        assert_eq!(receiver.recv(), Ok((1, 2)));
    }
}

#[test]
fn a_pool_may_be_dropped_by_its_own_thread() {
    for threads in THREADS {
        let pool = Arc::new(pool(threads));
        let (sender, receiver) = channel();
        let own = Arc::clone(&pool);
        pool.spawn(move || {
            // Wait until this is the last handle.
            while Arc::strong_count(&own) > 1 {
                std::thread::yield_now();
            }
            drop(own);
            sender.send(join(|| 1, || 2)).unwrap();
        });
        drop(pool);
        assert_eq!(receiver.recv(), Ok((1, 2)));
    }
}

#[test]
fn threads_end_and_handlers_are_dropped() {
    for threads in THREADS {
        let (sender, receiver) = channel::<()>();
        let exits = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&exits);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .exit_handler(move |_| {
                let _keeps = &sender;
                count.fetch_add(1, Ordering::Relaxed);
            })
            .build()
            .unwrap();
        pool.install(|| join(|| 1, || 2));
        drop(pool);
        assert!(receiver.recv().is_err(), "the handler is dropped");
        assert_eq!(exits.load(Ordering::Relaxed), threads);
    }
}

#[test]
fn many_pools_come_and_go() {
    for round in 0..100 {
        let pool = pool(1 + round % 4);
        let (sender, receiver) = channel();
        for i in 0..10 {
            let sender = sender.clone();
            pool.spawn(move || sender.send(i).unwrap());
        }
        drop((pool, sender));
        assert_eq!(receiver.iter().sum::<i32>(), 45);
    }
}

#[test]
fn a_thread_that_never_runs_leaves_the_others() {
    let mut kept = None;
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .spawn_handler(|thread| {
            if thread.index() == 0 {
                kept = Some(thread);
                return Ok(());
            }
            std::thread::Builder::new().spawn(|| thread.run()).map(drop)
        })
        .build()
        .unwrap();
    assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
    // A share that the other thread will never run, then the end of that thread.
    let count = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&count);
    pool.spawn_broadcast(move |_| _ = counts.fetch_add(1, Ordering::Relaxed));
    drop(kept);
    drop(pool);
    while Arc::strong_count(&count) > 1 {
        std::thread::yield_now();
    }
    assert!(count.load(Ordering::Relaxed) >= 1);
}

#[test]
fn a_handler_may_be_dropped_on_a_thread_of_another_pool() {
    let outer = pool(2);
    let (sender, receiver) = channel::<()>();
    outer.install(move || {
        let handler = move |_: Box<dyn std::any::Any + Send>| _ = &sender;
        let inner = ThreadPoolBuilder::new().num_threads(2).panic_handler(handler).build().unwrap();
        inner.spawn(|| ());
    });
    assert!(receiver.recv().is_err());
}
