//! Models of `Magazine`: threads reclaim caches that others use, and blocks go to and from the
//! bitmap.
//!
//! Under loom threads have no numbers, so the models name the caches. A batch is one block, and a
//! cache holds two.
#![cfg(loom)]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use sateen_pool::{BlockPool, Magazine};
use sateen_testkit::model;
use std::ptr::NonNull;

/// A pool whose blocks carry data. The data lie in cells beside the blocks, which loom watches.
struct Pool {
    pool: BlockPool<Magazine>,
    data: Vec<UnsafeCell<u32>>,
}

/// A block that a thread holds.
struct Mine(NonNull<u8>);
// SAFETY: the value is an address.
unsafe impl Send for Mine {}
// SAFETY: only the holder of a block touches its cell, which the model checks.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    fn new(capacity: usize) -> Arc<Self> {
        let pool = BlockPool::new(capacity, 8, 8).expect("memory");
        Arc::new(Self { pool, data: (0..capacity).map(|_| UnsafeCell::new(0)).collect() })
    }

    fn use_it(&self, block: NonNull<u8>) {
        let index = self.pool.blocks().index_of(block);
        // SAFETY: loom reports it if another thread has the block, or had it and this thread has
        // not seen what it did.
        self.data[index].with_mut(|data| unsafe { *data += 1 });
    }

    fn took(&self, block: Option<NonNull<u8>>) -> Option<Mine> {
        block.map(|block| {
            self.use_it(block);
            Mine(block)
        })
    }

    fn take(&self, lane: usize) -> Option<Mine> {
        self.took(self.pool.strategy().take_as(lane, self.pool.blocks()))
    }

    fn give(&self, lane: usize, block: Mine) {
        self.use_it(block.0);
        // SAFETY: this thread owns the block and does not use it any more.
        unsafe { self.pool.strategy().give_as(lane, self.pool.blocks(), block.0) }
    }

    /// Gives a block as a thread without a cache does.
    fn take_outside(&self) -> Option<Mine> {
        self.took(self.pool.take())
    }

    fn give_outside(&self, block: Mine) {
        self.use_it(block.0);
        // SAFETY: this thread owns the block and does not use it any more.
        unsafe { self.pool.give(block.0) }
    }

    /// Checks the pool while no thread works: `held` blocks are in use, and each other block can be
    /// taken once.
    fn all_there(&self, held: impl IntoIterator<Item = Mine>) {
        let mut all: Vec<Mine> = held.into_iter().collect();
        assert_eq!(self.pool.in_use(), all.len());
        while let Some(block) = self.take_outside() {
            all.push(block);
        }
        let mut indices: Vec<_> =
            all.iter().map(|block| self.pool.blocks().index_of(block.0)).collect();
        indices.sort_unstable();
        assert!(indices.into_iter().eq(0..self.pool.capacity()), "{} of them", all.len());
    }
}

/// Takes all blocks through cache `lane`, then gives `kept` of them back to it.
fn filled(capacity: usize, kept: usize) -> (Arc<Pool>, Vec<Mine>) {
    let pool = Pool::new(capacity);
    let mut all: Vec<Mine> = (0..capacity).filter_map(|_| pool.take(0)).collect();
    assert_eq!(all.len(), capacity);
    for _ in 0..kept {
        pool.give(0, all.remove(0));
    }
    (pool, all)
}

/// The owner takes while another thread finds the depot empty. There is one block for each of them.
#[test]
fn taking_against_reclaiming() {
    model(3, || {
        let (pool, held) = filled(2, 2);
        let other = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.take(1))
        };
        let mine = pool.take(0);
        let other = other.join().unwrap();
        assert!(mine.is_some() && other.is_some(), "a free block was out of reach");
        pool.all_there(held.into_iter().chain(mine).chain(other));
    });
}

/// The owner takes both of its blocks. The other thread gets one only if it comes before that.
#[test]
fn taking_all_against_reclaiming() {
    model(3, || {
        let (pool, held) = filled(2, 2);
        let other = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.take(1))
        };
        let mine = [pool.take(0), pool.take(0)];
        let other = other.join().unwrap();
        let all = held.into_iter().chain(mine.into_iter().flatten()).chain(other);
        let all: Vec<Mine> = all.collect();
        assert_eq!(all.len(), 2, "three asked for two");
        pool.all_there(all);
    });
}

/// The owner gives two blocks and takes again.
#[test]
fn giving_against_reclaiming() {
    model(3, || {
        let (pool, mut held) = filled(2, 0);
        let other = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.take(1))
        };
        pool.give(0, held.pop().unwrap());
        pool.give(0, held.pop().unwrap());
        let mine = pool.take(0);
        assert!(mine.is_some());
        let other = other.join().unwrap();
        pool.all_there(mine.into_iter().chain(other));
    });
}

/// A full cache spills while another thread takes the last block of the same word.
#[test]
fn spilling_against_refilling() {
    model(3, || {
        let (pool, mut held) = filled(5, 2);
        pool.give_outside(held.pop().unwrap());
        let other = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.take(1))
        };
        pool.give(0, held.pop().unwrap());
        let other = other.join().unwrap();
        assert!(other.is_some());
        pool.all_there(held.into_iter().chain(other));
    });
}

/// Two threads reclaim at once, and the owner comes back.
#[test]
fn two_reclaim() {
    model(3, || {
        let (pool, held) = filled(2, 2);
        let outside = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.take_outside())
        };
        let other = pool.take(1);
        let outside = outside.join().unwrap();
        assert!(other.is_some() && outside.is_some());
        assert!(pool.take(0).is_none());
        pool.give(0, other.unwrap());
        let again = pool.take(0);
        assert!(again.is_some());
        pool.all_there(held.into_iter().chain(outside).chain(again));
    });
}

/// A block changes hands through its bit alone, while the mark is down. Its next user sees what the
/// last one did.
#[test]
fn through_the_bitmap() {
    model(3, || {
        let (pool, mut held) = filled(3, 0);
        pool.give_outside(held.pop().unwrap());
        let other = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.take(1))
        };
        pool.give_outside(held.remove(0));
        let other = other.join().unwrap();
        assert!(other.is_some());
        pool.all_there(held.into_iter().chain(other));
    });
}

/// A full cache spills a block while a thread without a cache takes the last block of the depot.
/// That thread gets one of the two, and the other is not lost.
#[test]
fn one_is_taken_while_another_comes_back() {
    model(3, || {
        let (pool, mut held) = filled(4, 2);
        pool.give_outside(held.remove(0));
        let spilt = held.remove(0);
        let giver = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.give(0, spilt))
        };
        let mine = pool.take_outside().expect("one is free");
        giver.join().unwrap();
        pool.all_there([mine]);
    });
}

/// One cache gets a block before another cache gives one out, while both are being reclaimed. A
/// block is free all the time, so the reclaiming thread gets one.
#[test]
fn free_all_the_time() {
    model(3, || {
        let pool = Pool::new(2);
        let (x, y) = (pool.take(0).expect("two"), pool.take(1).expect("two"));
        pool.give(1, y);
        let given = Arc::new(AtomicBool::new(false));
        let giver = {
            let (pool, given) = (pool.clone(), given.clone());
            thread::spawn(move || {
                pool.give(0, x);
                given.store(true, Ordering::Release);
            })
        };
        let taker = {
            let (pool, given) = (pool.clone(), given.clone());
            thread::spawn(move || {
                given.load(Ordering::Acquire).then(|| pool.take(1).expect("one is free"))
            })
        };
        let mine = pool.take_outside().expect("one is free");
        giver.join().unwrap();
        let taken = taker.join().unwrap();
        pool.all_there([mine].into_iter().chain(taken));
    });
}
