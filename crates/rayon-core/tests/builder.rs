//! Each setting of a builder, and bad ones.

mod common;

use common::pool;
use rayon_core::*;
use sateen_testkit::panic_of;
use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};

/// A counter, and a handler that counts with it.
fn counter() -> (Arc<AtomicUsize>, impl Fn(usize) + Send + Sync + 'static) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    (count, move |_| _ = counted.fetch_add(1, Ordering::Relaxed))
}

/// The count, once the handler is gone.
fn settled(count: Arc<AtomicUsize>) -> usize {
    while Arc::strong_count(&count) > 1 {
        std::thread::yield_now();
    }
    count.load(Ordering::Relaxed)
}

#[test]
fn threads_have_their_names() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(3)
        .thread_name(|index| format!("named {index}"))
        .build()
        .unwrap();
    let names = pool.broadcast(|_| std::thread::current().name().map(str::to_owned));
    assert_eq!(names, [0, 1, 2].map(|i| Some(format!("named {i}"))));
    let names = common::pool(1).broadcast(|_| std::thread::current().name().map(str::to_owned));
    assert_eq!(names, [None]);
}

#[test]
fn a_name_with_a_nul_is_an_error() {
    let builder = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "a\0b".into());
    let error = builder.build().unwrap_err();
    assert!(std::error::Error::source(&error).is_some());
}

/// Sizes and names at the ends of their ranges give a pool, or one line of error.
#[test]
fn extremes_are_made_or_refused() {
    let builder = || ThreadPoolBuilder::new().num_threads(1);
    let check = |what: &str, made: Result<ThreadPool, ThreadPoolBuildError>| match made {
        Ok(pool) => assert_eq!(pool.install(|| 1), 1),
        Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{what}: {error}"),
    };
    let near = |power: u32| [(1 << power) - 1, 1 << power, (1 << power) + 1];
    for n in (0..usize::BITS).flat_map(near).chain([isize::MAX as usize, usize::MAX]) {
        check(&format!("stack size {n}"), builder().stack_size(n).build());
        if n > 1 << 30 {
            let error = builder().stack_size(n).build().unwrap_err().to_string();
            assert!(error.contains(&n.to_string()), "{error}");
        }
        // More would be cut to the most, and take memory for so many.
        if n <= 257 {
            let none = |_| Err(io::Error::other("none"));
            let refused = ThreadPoolBuilder::new().num_threads(n.max(1)).spawn_handler(none);
            assert_eq!(refused.build().unwrap_err().to_string(), "none");
        }
    }
    for name in ["", "a", "\0", "a\0b", "\u{1b}[31m\n", &"n".repeat(1 << 16)] {
        let own = name.to_owned();
        let made = builder().thread_name(move |_| own.clone()).build();
        assert_eq!(made.is_err(), name.contains('\0'), "{name:?}");
        check(name, made);
        let own = name.to_owned();
        let scoped = builder().thread_name(move |_| own.clone());
        let ran = scoped.build_scoped(|thread| thread.run(), |pool| pool.install(|| 1));
        assert_eq!(ran.ok(), (!name.contains('\0')).then_some(1), "{name:?}");
    }
}

#[test]
fn names_are_made_one_by_one() {
    let (starts, on_start) = counter();
    let (exits, on_exit) = counter();
    let builder = ThreadPoolBuilder::new()
        .num_threads(8)
        .start_handler(on_start)
        .exit_handler(on_exit)
        .thread_name(|index| if index < 3 { index.to_string() } else { panic!("no name") });
    assert_eq!(panic_of(|| builder.build()), "no name");
    assert_eq!((settled(starts), settled(exits)), (3, 3));
}

#[test]
fn stacks_have_their_size() {
    /// Uses a kilobyte of stack at each level.
    fn recurse(levels: usize) -> u8 {
        let frame = std::hint::black_box([levels as u8; 1024]);
        if levels == 0 { frame[0] } else { recurse(levels - 1).wrapping_add(frame[1023]) }
    }
    let pool = ThreadPoolBuilder::new().num_threads(1).stack_size(32 << 20).build().unwrap();
    pool.install(|| _ = recurse(10_000));
    common::pool(1).install(|| _ = recurse(500));
}

#[test]
fn a_stack_that_cannot_be_is_an_error() {
    let (starts, on_start) = counter();
    let builder = ThreadPoolBuilder::new().stack_size(isize::MAX as usize).start_handler(on_start);
    let error = builder.build().unwrap_err();
    assert!(error.to_string().contains("stack"), "{error}");
    assert_eq!(settled(starts), 0);
}

#[test]
fn handlers_run_once_on_each_thread() {
    for threads in common::THREADS {
        let (sender, receiver) = channel();
        let (started, ended) = (sender.clone(), sender);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .start_handler(move |i| started.send((i, current_thread_index())).unwrap())
            .exit_handler(move |i| ended.send((i + 100, current_thread_index())).unwrap())
            .build()
            .unwrap();
        drop(pool);
        let mut calls: Vec<_> = receiver.iter().collect();
        calls.sort();
        let both = (0..threads).map(|i| (i, Some(i)));
        let expected: Vec<_> = both.clone().chain(both.map(|(i, own)| (i + 100, own))).collect();
        assert_eq!(calls, expected);
    }
}

#[test]
fn a_start_handler_may_use_the_pool() {
    let (sender, receiver) = channel();
    let inner = sender.clone();
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(move |index| {
            let (a, b) = join(|| 1, || 2);
            let mut c = 0;
            scope(|s| s.spawn(|_| c = 4));
            let inner = inner.clone();
            spawn(move || inner.send(100 + index).unwrap());
            sender.send(a + b + c).unwrap();
        })
        .build()
        .unwrap();
    let mut told: Vec<_> = receiver.iter().take(4).collect();
    told.sort();
    assert_eq!(told, [7, 7, 100, 101]);
    drop(pool);
}

#[test]
fn nothing_runs_before_the_start_handler() {
    for _ in 0..20 {
        thread_local!(static STARTED: Cell<bool> = const { Cell::new(false) });
        let pool = ThreadPoolBuilder::new()
            .num_threads(4)
            .start_handler(|_| STARTED.set(true))
            .build()
            .unwrap();
        let shares = pool.broadcast(|_| STARTED.get());
        assert_eq!(shares, [true; 4]);
    }
}

#[test]
fn an_exit_handler_may_use_the_pool() {
    let (sender, receiver) = channel();
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .exit_handler(move |_| {
            let (a, b) = join(|| 1, || 2);
            let (mut c, mut d) = (0, 0);
            scope(|s| s.spawn(|_| c = 4));
            scope_fifo(|s| s.spawn_fifo(|_| d = 8));
            let inner = sender.clone();
            spawn(move || inner.send(100).unwrap());
            let moved = join_context(|a| a.migrated(), |b| b.migrated());
            assert_eq!(moved, (false, false));
            sender.send(a + b + c + d).unwrap();
        })
        .build()
        .unwrap();
    drop(pool);
    let mut told: Vec<_> = receiver.iter().collect();
    told.sort();
    assert_eq!(told, [15, 15, 100, 100]);
}

#[test]
fn a_spawn_handler_may_borrow() {
    let made = Mutex::new(Vec::new());
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .stack_size(1 << 20)
        .thread_name(|i| format!("borrowed {i}"))
        .spawn_handler(|thread| {
            assert!(format!("{thread:?}").starts_with("ThreadBuilder {"));
            let name = thread.name().map(str::to_owned);
            made.lock().unwrap().push((thread.index(), name, thread.stack_size()));
            std::thread::Builder::new().spawn(|| thread.run()).map(drop)
        })
        .build()
        .unwrap();
    let named = |i| (i, Some(format!("borrowed {i}")), Some(1 << 20));
    assert_eq!(*made.lock().unwrap(), [named(0), named(1)]);
    assert_eq!(pool.install(|| 1), 1);
}

#[test]
fn a_failing_spawn_handler_ends_the_build() {
    let (starts, on_start) = counter();
    let (exits, on_exit) = counter();
    let mut threads = Vec::new();
    let result = ThreadPoolBuilder::new()
        .num_threads(4)
        .start_handler(on_start)
        .exit_handler(on_exit)
        .spawn_handler(|thread| {
            if thread.index() == 2 {
                return Err(io::Error::other("no more threads"));
            }
            threads.push(std::thread::spawn(|| thread.run()));
            Ok(())
        })
        .build();
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "no more threads");
    assert!(std::error::Error::source(&error).is_some());
    assert_eq!(threads.len(), 2);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!((settled(starts), settled(exits)), (2, 2));
}

#[test]
fn a_failed_build_waits_for_nobody() {
    // A start handler that waits for the builder.
    let barrier = Arc::new(Barrier::new(2));
    let waits = Arc::clone(&barrier);
    let result = ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(move |_| _ = waits.wait())
        .spawn_handler(|thread| match thread.index() {
            0 => std::thread::Builder::new().spawn(|| thread.run()).map(drop),
            _ => Err(io::Error::other("one is enough")),
        })
        .build();
    assert!(result.is_err());
    barrier.wait();
}

#[test]
fn a_thread_works_for_one_pool_only() {
    let outer = pool(1);
    let made = Mutex::new(None);
    let handler = |thread: ThreadBuilder| {
        *made.lock().unwrap() = Some(thread);
        Ok(())
    };
    let inner = ThreadPoolBuilder::new().num_threads(1).spawn_handler(handler).build().unwrap();
    let thread = made.lock().unwrap().take().unwrap();
    assert!(panic_of(|| outer.install(|| thread.run())).contains("one pool only"));
    drop(inner);
}

#[test]
fn scoped_threads_see_what_is_set_around_them() {
    thread_local!(static SET: Cell<u32> = const { Cell::new(0) });
    let builder = ThreadPoolBuilder::new().num_threads(3).thread_name(|i| format!("scoped {i}"));
    let borrowed = AtomicUsize::new(0);
    let wrapper = |thread: ThreadBuilder| {
        SET.set(7);
        thread.run();
        SET.set(0);
        borrowed.fetch_add(1, Ordering::Relaxed);
    };
    let seen = builder.build_scoped(wrapper, |pool| pool.broadcast(|_| SET.get())).unwrap();
    assert_eq!(seen, [7; 3]);
    assert_eq!(borrowed.into_inner(), 3, "the threads have ended");
}

#[test]
fn too_many_threads_are_cut() {
    // So many cannot be made here: the system says so, and the process goes on.
    let result = ThreadPoolBuilder::new()
        .num_threads(usize::MAX)
        .spawn_handler(|thread| {
            assert!(thread.index() < max_num_threads());
            Err(io::Error::other("not one"))
        })
        .build();
    assert!(result.is_err());
}

#[test]
fn the_old_names_work() {
    #![allow(deprecated)]
    let config = Configuration::new()
        .num_threads(2)
        .thread_name(|i| format!("old {i}"))
        .stack_size(1 << 20)
        .breadth_first()
        .panic_handler(|_| ())
        .start_handler(|_| ())
        .exit_handler(|_| ());
    assert!(format!("{config:?}").contains("num_threads: 2"));
    assert_eq!(config.build().unwrap().current_num_threads(), 2);
    let pool = ThreadPool::new(Configuration::default().num_threads(3)).unwrap();
    assert_eq!(pool.current_num_threads(), 3);
}

#[test]
fn a_builder_prints() {
    let builder = ThreadPoolBuilder::new().num_threads(2).start_handler(|_| ());
    let text = format!("{builder:?}");
    assert!(text.contains("num_threads: 2") && text.contains("start_handler: Some(<closure>)"));
    assert!(text.contains("exit_handler: None"), "{text}");
}

#[test]
fn the_current_thread_cannot_be_used_twice() {
    let on_a_worker = || ThreadPoolBuilder::new().use_current_thread().build();
    let error = pool(1).install(on_a_worker).unwrap_err();
    let expected = "The current thread is already part of another thread pool.";
    assert_eq!(error.to_string(), expected);
}
