//! Where panics go.

mod common;

use common::{THREADS, is_child, pool, run_child, stderr};
use rayon_core::*;
use sateen_testkit::{message as text, panic_of};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

#[test]
fn of_two_branches_the_first_ones_goes_on() {
    for threads in THREADS {
        let pool = pool(threads);
        let ran = AtomicUsize::new(0);
        let count = || _ = ran.fetch_add(1, Ordering::Relaxed);
        assert_eq!(panic_of(|| pool.join(|| panic!("a"), count)), "a");
        assert_eq!(ran.load(Ordering::Relaxed), 1, "b runs all the same");
        assert_eq!(panic_of(|| pool.join(|| (), || panic!("b"))), "b");
        assert_eq!(panic_of(|| pool.join(|| panic!("a"), || panic!("b"))), "a");
    }
    assert_eq!(panic_of(|| join(|| panic!("a"), || ())), "a");
}

#[test]
fn an_installed_panic_comes_back() {
    for threads in THREADS {
        let pool = pool(threads);
        assert_eq!(panic_of(|| pool.install(|| panic!("installed"))), "installed");
        assert_eq!(pool.install(|| 1), 1, "the pool goes on");
    }
}

#[test]
fn a_scopes_panic_waits_for_the_others() {
    for threads in THREADS {
        let pool = pool(threads);
        let ran = AtomicUsize::new(0);
        let add = || _ = ran.fetch_add(1, Ordering::Relaxed);
        let in_job = || {
            pool.scope(|s| {
                s.spawn(|_| add());
                s.spawn(|_| panic!("job"));
                s.spawn(|_| add());
            })
        };
        assert_eq!(panic_of(in_job), "job");
        let in_body = || {
            pool.scope(|s| {
                s.spawn(|_| add());
                panic!("body")
            })
        };
        assert_eq!(panic_of(in_body), "body");
        let in_place = || {
            pool.in_place_scope(|s| {
                s.spawn(|_| add());
                s.spawn(|_| panic!("in place"));
            })
        };
        assert_eq!(panic_of(in_place), "in place");
        let fifo = || {
            pool.in_place_scope_fifo(|s| {
                s.spawn_fifo(|_| panic!("fifo"));
                s.spawn_fifo(|_| add());
            })
        };
        assert_eq!(panic_of(fifo), "fifo");
        assert_eq!(ran.into_inner(), 5);
    }
}

#[test]
fn a_broadcasts_panic_waits_for_the_others() {
    for threads in THREADS {
        let pool = pool(threads);
        let ran = AtomicUsize::new(0);
        let share = |context: BroadcastContext<'_>| {
            ran.fetch_add(1, Ordering::Relaxed);
            assert!(context.index() != 0, "share 0");
        };
        assert!(panic_of(|| pool.broadcast(share)).contains("share 0"));
        let in_scope = || pool.scope(|s| s.spawn_broadcast(|_, context| share(context)));
        assert!(panic_of(in_scope).contains("share 0"));
        let in_place = || pool.in_place_scope(|s| s.spawn_broadcast(|_, context| share(context)));
        assert!(panic_of(in_place).contains("share 0"));
        assert_eq!(ran.into_inner(), 3 * threads);
    }
}

#[test]
fn a_panic_without_a_joiner_goes_to_the_handler() {
    for threads in THREADS {
        let (sender, receiver) = channel();
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .panic_handler(move |panic| sender.send(text(panic)).unwrap())
            .build()
            .unwrap();
        pool.spawn(|| panic!("spawn"));
        assert_eq!(receiver.recv().unwrap(), "spawn");
        pool.spawn_fifo(|| panic!("fifo"));
        assert_eq!(receiver.recv().unwrap(), "fifo");
        pool.install(|| spawn_fifo(|| panic!("fifo inside")));
        assert_eq!(receiver.recv().unwrap(), "fifo inside");
        pool.spawn_broadcast(|_| panic!("share"));
        for _ in 0..threads {
            assert_eq!(receiver.recv().unwrap(), "share");
        }
        assert_eq!(panic_of(|| pool.install(|| panic!("joined"))), "joined");
        drop(pool);
        assert!(receiver.recv().is_err(), "the handler is dropped, and has seen no more");
    }
}

#[test]
fn the_pool_without_a_handler_aborts() {
    if is_child() {
        spawn(|| panic!("on purpose"));
        std::thread::park();
    }
    let output = run_child("the_pool_without_a_handler_aborts", &[]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("no panic handler"), "{}", stderr(&output));
}

#[test]
fn a_handler_that_panics_aborts() {
    if is_child() {
        let builder = ThreadPoolBuilder::new().panic_handler(|_| panic!("in the handler"));
        builder.build().unwrap().spawn(|| panic!("on purpose"));
        std::thread::park();
    }
    let output = run_child("a_handler_that_panics_aborts", &[]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("a panic handler panicked"), "{}", stderr(&output));
}

#[test]
fn handlers_panics_go_to_the_panic_handler() {
    let (sender, receiver) = channel();
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(|_| panic!("start"))
        .exit_handler(|_| panic!("exit"))
        .panic_handler(move |panic| sender.send(text(panic)).unwrap())
        .build()
        .unwrap();
    drop(pool);
    let mut seen: Vec<_> = receiver.iter().collect();
    seen.sort();
    assert_eq!(seen, ["exit", "exit", "start", "start"]);
}

#[test]
fn an_overflow_of_a_job_s_stack_ends_the_process() {
    fn down(levels: u64) -> u64 {
        let room = std::hint::black_box([levels; 64]);
        if levels == 0 { 0 } else { down(levels - 1) + room[levels as usize % 64] }
    }
    if is_child() {
        let pool = ThreadPoolBuilder::new().num_threads(1).stack_size(256 << 10).build().unwrap();
        pool.install(|| println!("{}", down(1 << 20)));
        return;
    }
    let output = run_child("an_overflow_of_a_job_s_stack_ends_the_process", &[]);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("overflowed its stack of"), "{}", stderr(&output));
}
