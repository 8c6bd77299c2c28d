//! `Magazine`: no block is out of reach, whichever thread's cache keeps it.
#![cfg(not(loom))]

mod common;

use common::{Held, Owned, take_all};
use sateen_pool::{BlockPool, Count, Magazine};
use sateen_testkit::sized;
use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

type Pool = BlockPool<Magazine>;

/// Blocks of a small pool.
const FEW: usize = if cfg!(miri) { 8 } else { 100 };

fn pool(capacity: usize) -> Arc<Pool> {
    Arc::new(Pool::new(capacity, 16, 8).expect("memory"))
}

/// Takes `count` blocks and gives them back, so that the thread's cache keeps some of them.
fn warm(pool: &Pool, count: usize) {
    let blocks: Vec<_> = (0..count).map_while(|_| pool.take()).collect();
    assert_eq!(blocks.len(), count);
    for block in blocks {
        // SAFETY: the block was just taken and is not used.
        unsafe { pool.give(block) };
    }
}

#[test]
fn what_idle_threads_keep_can_be_had() {
    for capacity in [1, 3, FEW, if cfg!(miri) { 70 } else { 5000 }] {
        let pool = pool(capacity);
        let (at_work, done) = (Barrier::new(4), Barrier::new(4));
        thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    warm(&pool, capacity / 3);
                    at_work.wait();
                    done.wait(); // Each thread is alive and idle, with a full cache.
                    warm(&pool, capacity / 3);
                });
            }
            at_work.wait();
            take_all(&pool);
            done.wait();
        });
        take_all(&pool);
    }
}

#[test]
fn what_ended_threads_kept_can_be_had() {
    let pool = pool(10 * FEW);
    for _ in 0..sized(20) {
        thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| warm(&pool, 2 * FEW));
            }
        });
        assert_eq!(pool.in_use(), 0);
    }
    take_all(&pool);
}

/// The destructor of a thread-local gives blocks back while its thread ends. The order of such
/// destructors is not defined.
#[test]
fn blocks_come_back_while_a_thread_ends() {
    struct Keeps(Arc<Pool>, Vec<NonNull<u8>>);
    impl Drop for Keeps {
        fn drop(&mut self) {
            for block in self.1.drain(..) {
                // SAFETY: this thread took the block, which is not used.
                unsafe { self.0.give(block) };
            }
            warm(&self.0, 30);
        }
    }
    thread_local!(static KEPT: RefCell<Option<Keeps>> = const { RefCell::new(None) });
    let pool = pool(if cfg!(miri) { 90 } else { 300 });
    let ended = |number_first: bool| {
        let pool = Arc::clone(&pool);
        thread::spawn(move || {
            // The thread-local registered last is destroyed first on some systems, last on others.
            if number_first {
                warm(&pool, 10);
            }
            KEPT.with_borrow_mut(|kept| *kept = Some(Keeps(Arc::clone(&pool), Vec::new())));
            let blocks = (0..50).map_while(|_| pool.take()).collect();
            KEPT.with_borrow_mut(|kept| kept.as_mut().expect("just set").1 = blocks);
        })
    };
    for number_first in [true, false] {
        ended(number_first).join().expect("no panic");
        assert_eq!(pool.in_use(), 0);
        take_all(&pool);
    }
}

#[test]
fn a_pool_may_go_before_the_threads_that_used_it() {
    let (send, receive) = mpsc::channel::<Arc<Pool>>();
    let (told, wait) = mpsc::channel();
    let user = thread::spawn(move || {
        for pool in receive {
            warm(&pool, 50);
            drop(pool);
            told.send(()).expect("the test waits");
        }
    });
    for _ in 0..if cfg!(miri) { 3 } else { 50 } {
        send.send(pool(64)).expect("it lives");
        wait.recv().expect("it lives");
    }
    drop(send);
    user.join().expect("no panic");
}

/// Eight threads share just enough blocks. No thread may get `None`.
#[test]
fn none_is_said_only_when_there_is_none() {
    for each in [1, 5, if cfg!(miri) { 9 } else { 40 }] {
        let owned = Owned::<Magazine>::new(8 * each);
        thread::scope(|s| {
            for thread in 1..=8 {
                let owned = &owned;
                s.spawn(move || {
                    let mut random = sateen_base::XorShift::new(u64::from(thread));
                    let mut held: Vec<Held<'_, Magazine>> = Vec::new();
                    for _ in 0..sized(20_000) / each {
                        let wanted = random.below(each + 1);
                        held.truncate(wanted);
                        while held.len() < wanted {
                            held.push(owned.take(thread).expect("each has its share"));
                        }
                    }
                });
            }
        });
        assert_eq!(owned.pool.in_use(), 0);
        take_all(&owned.pool);
    }
}

/// Some threads take blocks and others give them. The blocks go round.
#[test]
fn handed_over_blocks_come_home() {
    let owned = Owned::<Magazine>::new(15 * FEW);
    let (send, receive) = mpsc::sync_channel::<Held<'_, Magazine>>(10 * FEW);
    thread::scope(|s| {
        s.spawn(|| receive.into_iter().for_each(drop));
        for _ in 0..sized(50_000) {
            send.send(owned.take(1).expect("the channel holds fewer")).expect("it receives");
        }
        drop(send);
    });
    take_all(&owned.pool);
}

#[test]
#[cfg_attr(miri, ignore = "too many blocks for Miri")]
fn bookkeeping_is_small() {
    let pool = BlockPool::<Magazine<Count>>::new(1_000_000, 12, 4).expect("memory");
    let block = pool.take().expect("free");
    // SAFETY: the block was just taken.
    unsafe { pool.give(block) };
    // For each block a bit and a 64th of a bit, and the caches of the threads that exist.
    assert!(pool.bookkeeping() < 140_000 + 64 * 1024, "{}", pool.bookkeeping());
    assert_eq!(pool.counts().takes, 1);
}
