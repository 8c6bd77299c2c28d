//! The tests that every strategy must pass: [`model`] and [`stress`], or all at once by `suite!`.
#![allow(dead_code, reason = "each test program uses its part")]

use sateen_base::XorShift;
use sateen_pool::{BlockPool, Strategy};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// `suite!(name: Type, ...)`: a module of tests for each strategy. They share nothing, so they run
/// in parallel with each other.
#[macro_export]
macro_rules! suite {
    ($($name:ident: $strategy:ty),* $(,)?) => { $(
        mod $name {
            use super::*;

            #[test]
            fn agrees_with_a_set() {
                for &capacity in $crate::common::CAPACITIES {
                    $crate::common::model::<$strategy>(capacity);
                }
            }

            #[test]
            fn keeps_what_is_in_its_blocks() {
                $crate::common::contents::<$strategy>();
            }

            #[test]
            fn conserves_blocks_alone() {
                $crate::common::stress::<$strategy>(1);
            }

            #[test]
            fn conserves_blocks_between_two() {
                $crate::common::stress::<$strategy>(2);
            }

            #[test]
            fn conserves_blocks_between_eight() {
                $crate::common::stress::<$strategy>(8);
            }
        }
    )* };
}

pub(crate) const CAPACITIES: &[usize] =
    if cfg!(miri) { &[2, 66] } else { &[1, 2, 63, 64, 65, 200, 5000] };

fn index_of<S: Strategy>(pool: &BlockPool<S>, block: NonNull<u8>) -> usize {
    assert!(pool.blocks().contains(block), "{block:p} of {}", S::NAME);
    pool.blocks().index_of(block)
}

/// Takes each block once, finds no further one, and gives all back.
pub(crate) fn take_all<S: Strategy>(pool: &BlockPool<S>) {
    let blocks: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
    let indices: BTreeSet<usize> = blocks.iter().map(|block| index_of(pool, *block)).collect();
    assert_eq!((blocks.len(), indices.len()), (pool.capacity(), pool.capacity()), "{}", S::NAME);
    assert_eq!(pool.in_use(), pool.capacity());
    assert!(pool.take().is_none());
    for block in blocks {
        // SAFETY: the block was taken above and is not used.
        unsafe { pool.give(block) };
    }
    assert_eq!(pool.in_use(), 0);
}

/// One thread takes and gives blocks. Each block it gets was free, and it gets one as long as one
/// is free.
pub(crate) fn model<S: Strategy>(capacity: usize) {
    let (rounds, capacity) = if cfg!(miri) { (2, capacity.min(66)) } else { (8, capacity) };
    let pool = BlockPool::<S>::new(capacity, 12, 4).expect("memory");
    assert_eq!(pool.capacity(), capacity);
    let mut random = XorShift::new(capacity as u64);
    let mut free: BTreeSet<usize> = (0..capacity).collect();
    let mut used: Vec<NonNull<u8>> = Vec::new();
    for round in 0..rounds {
        // Even rounds tend towards full, odd rounds towards empty.
        let wanted = if round % 2 == 0 { 11 } else { 5 };
        for _ in 0..if cfg!(miri) { capacity * 3 / 2 } else { capacity * 4 } {
            if random.below(16) < wanted {
                match pool.take() {
                    Some(block) => {
                        let index = index_of(&pool, block);
                        assert!(free.remove(&index), "{index} twice");
                        used.push(block);
                    }
                    None => assert!(free.is_empty(), "{} of {capacity} free", free.len()),
                }
            } else if !used.is_empty() {
                let block = used.swap_remove(random.below(used.len()));
                free.insert(index_of(&pool, block));
                // SAFETY: the block was taken, and is not used any more.
                unsafe { pool.give(block) };
            }
        }
        assert_eq!(pool.in_use(), used.len(), "round {round}");
    }
    for block in used {
        // SAFETY: the block was taken, and is not used any more.
        unsafe { pool.give(block) };
    }
    assert_eq!(pool.in_use(), 0);
    take_all(&pool);
}

/// Blocks have the requested size and alignment, and the pool does not write into blocks in use.
pub(crate) fn contents<S: Strategy>() {
    for (size, align) in [(1, 1), (12, 4), (40, 32), (256, 256)] {
        const BLOCKS: usize = if cfg!(miri) { 20 } else { 300 };
        let pool = BlockPool::<S>::new(BLOCKS, size, align).expect("memory");
        let blocks: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(blocks.len(), BLOCKS);
        for (i, block) in blocks.iter().enumerate() {
            assert!((block.as_ptr() as usize).is_multiple_of(align));
            // SAFETY: this thread owns the block, which has `size` bytes.
            unsafe { block.as_ptr().write_bytes(i as u8, size) };
        }
        let (kept, given): (Vec<_>, Vec<_>) =
            blocks.iter().enumerate().partition(|(i, _)| i % 3 == 0);
        for (_, block) in given {
            // SAFETY: the block was taken above and is not used any more.
            unsafe { pool.give(*block) };
        }
        while pool.take().is_some() {}
        for (i, block) in kept {
            // SAFETY: as above; the byte was written before.
            let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), size) };
            assert!(bytes.iter().all(|b| *b == i as u8), "block {i} of {size} bytes");
        }
    }
}

/// A pool whose blocks have owners, which are [`Held`] values.
pub(crate) struct Owned<S: Strategy> {
    pub(crate) pool: BlockPool<S>,
    /// The owner of each block, or 0. The accesses are relaxed, because they must not order what
    /// the pool has to order.
    owners: Vec<AtomicU32>,
}

/// A block that carries its owner. When it is dropped, it is checked and given back.
pub(crate) struct Held<'a, S: Strategy> {
    of: &'a Owned<S>,
    block: NonNull<u32>,
    owner: u32,
}

// SAFETY: any thread may give a block back if the pool may be shared.
unsafe impl<S: Strategy + Sync> Send for Held<'_, S> {}

impl<S: Strategy> Owned<S> {
    pub(crate) fn new(capacity: usize) -> Self {
        let owners = (0..capacity).map(|_| AtomicU32::new(0)).collect();
        Self { pool: BlockPool::new(capacity, 12, 4).expect("memory"), owners }
    }

    pub(crate) fn take(&self, owner: u32) -> Option<Held<'_, S>> {
        let block = self.pool.take()?;
        let before = self.owners[index_of(&self.pool, block)].swap(owner, Ordering::Relaxed);
        assert_eq!(before, 0, "taken by {owner} too");
        let block = block.cast::<u32>();
        // SAFETY: this thread owns the block, which has 12 bytes, aligned to 4.
        unsafe { block.write(owner) };
        Some(Held { of: self, block, owner })
    }
}

impl<S: Strategy> Drop for Held<'_, S> {
    fn drop(&mut self) {
        // SAFETY: this thread has owned the block since `take` wrote it.
        let found = unsafe { self.block.read() };
        let block = self.block.cast();
        let index = index_of(&self.of.pool, block);
        let owner = self.of.owners[index].swap(0, Ordering::Relaxed);
        let good = (found, owner) == (self.owner, self.owner);
        assert!(good, "block {index} of {} has {found} and {owner}", self.owner);
        // SAFETY: `take` took the block from this pool once, and it is not used from here on.
        unsafe { self.of.pool.give(block) };
    }
}

/// Threads take blocks, hold them, hand them to each other, give them back, panic and end. Then new
/// threads come. No block has two users, and in the end all blocks are there.
pub(crate) fn stress<S: Strategy + Sync + Send>(threads: u32) {
    // The first pool is too small for the threads, so it is often full.
    for capacity in [threads as usize * 6, if cfg!(miri) { 66 } else { 3000 }] {
        let owned = Owned::<S>::new(capacity);
        for generation in 0..if cfg!(miri) { 1 } else { 4 } {
            let bag: Mutex<Vec<Held<'_, S>>> = Mutex::new(Vec::new());
            std::thread::scope(|s| {
                for thread in 0..threads {
                    let (owned, bag) = (&owned, &bag);
                    s.spawn(move || {
                        let seed = u64::from(generation * 100 + thread + 1);
                        let work = || work(owned, bag, seed);
                        let ended = catch_unwind(AssertUnwindSafe(work));
                        if let Err(panic) = ended {
                            let meant = panic.downcast_ref::<&str>() == Some(&"meant");
                            if !meant {
                                resume_unwind(panic);
                            }
                        }
                    });
                }
            });
            let left = bag.into_inner().expect("nobody panics with it").len();
            assert!(left <= capacity);
        }
        assert_eq!(owned.pool.in_use(), 0, "{} after {threads} threads", S::NAME);
        take_all(&owned.pool);
    }
}

fn work<'a, S: Strategy>(owned: &'a Owned<S>, bag: &Mutex<Vec<Held<'a, S>>>, seed: u64) {
    let mut random = XorShift::new(seed);
    let mut mine: Vec<Held<'a, S>> = Vec::new();
    const STEPS: u32 = if cfg!(miri) { 15 } else { 3000 };
    for step in 0..STEPS {
        match random.below(8) {
            0..=2 => mine.extend(owned.take(seed as u32)),
            3 => drop(owned.take(seed as u32)),
            4 if mine.len() < 20 => {
                let taken = bag.lock().expect("nobody panics with it").pop();
                // The block is away from its thread, and is dropped here.
                drop(taken);
            }
            5 => {
                if let Some(held) = mine.pop() {
                    bag.lock().expect("nobody panics with it").push(held);
                }
            }
            _ if !mine.is_empty() => {
                let at = random.below(mine.len());
                drop(mine.swap_remove(at));
            }
            _ => {}
        }
        // Every third thread ends early, by a panic, while it holds blocks.
        if step == STEPS / 3 * 2 && seed.is_multiple_of(3) {
            resume_unwind(Box::new("meant"));
        }
    }
}
