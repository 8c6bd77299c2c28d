//! Every strategy beside a set and under stress, and the further promises of each.
#![cfg(not(loom))]

mod common;

use sateen_pool::{
    BlockPool, BuildError, Count, Counts, LockFreeTree, Magazine, SearchCounter, Strategy,
};
use std::ptr::NonNull;

suite! {
    lock_free_tree: LockFreeTree,
    lock_free_tree_counted: LockFreeTree<Count>,
    magazine: Magazine,
    magazine_counted: Magazine<Count>,
}

fn index(pool: &BlockPool<impl Strategy>) -> usize {
    pool.blocks().index_of(pool.take().expect("free"))
}

/// # Safety
/// The block was taken and is not used any more.
unsafe fn give(pool: &BlockPool<impl Strategy>, index: usize) {
    // SAFETY: by the caller's contract.
    unsafe { pool.give(pool.blocks().at(index)) };
}

/// Whichever blocks are free, the first of them comes next.
fn first_comes_first<S: Strategy>() {
    for capacity in
        if cfg!(miri) { &[1, 64, 65][..] } else { &[1, 64, 65, 4096, 10_000] }.iter().copied()
    {
        let pool = BlockPool::<S>::new(capacity, 8, 8).expect("memory");
        assert!((0..capacity).all(|i| index(&pool) == i) && pool.take().is_none());
        let mut random = sateen_base::XorShift::new(1);
        let mut free = std::collections::BTreeSet::new();
        for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
            let at = random.below(capacity);
            if random.below(2) == 0 && free.insert(at) {
                // SAFETY: the block was taken. Otherwise the set would contain it.
                unsafe { give(&pool, at) };
            } else if let Some(first) = free.pop_first() {
                assert_eq!(index(&pool), first);
            } else {
                assert!(pool.take().is_none());
            }
        }
    }
}

#[test]
fn trees_find_the_first() {
    first_comes_first::<LockFreeTree>();
}

#[test]
#[cfg_attr(miri, ignore = "too many blocks for Miri")]
fn bits_cost_little_more_than_a_bit() {
    fn bits<S: Strategy>() -> f64 {
        let pool = BlockPool::<S>::new(1_000_000, 12, 4).expect("memory");
        pool.bookkeeping() as f64 * 8.0 / 1e6
    }
    // In addition, a line of 128 bytes for each of up to 64 threads.
    assert!(bits::<LockFreeTree>() < 1.1);
}

/// The first half of the pool is in use, and searches from the start look at it.
fn searched<S: Strategy>() -> Counts {
    let pool = BlockPool::<S>::new(64 * 1000, 8, 8).expect("memory");
    let all: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
    for block in &all[32_000..] {
        // SAFETY: the block was taken above and is not used.
        unsafe { pool.give(*block) };
    }
    let before = pool.counts();
    assert_eq!(before.takes, 64_001);
    for _ in 0..1000 {
        let block = pool.take().expect("half are free");
        // SAFETY: the block was just taken.
        unsafe { pool.give(block) };
    }
    let after = pool.counts();
    Counts {
        takes: after.takes - before.takes,
        searched: after.searched - before.searched,
        retries: after.retries,
    }
}

#[test]
#[cfg_attr(miri, ignore = "too many blocks for Miri")]
fn what_is_looked_at_is_counted() {
    let tree = searched::<LockFreeTree<Count>>();
    assert_eq!((tree.takes, tree.retries), (1000, 0));
    assert!(tree.searched < 1010, "{tree:?}");
}

#[test]
fn what_is_not_counted_costs_nothing() {
    assert_eq!(sateen_pool::NoCount.counts(), Counts::default());
    assert_eq!(size_of::<sateen_pool::NoCount>(), 0);
}

#[test]
fn wrong_numbers_are_refused_by_name() {
    fn refused<S: Strategy>() {
        let error = |capacity, size, align| {
            BlockPool::<S>::new(capacity, size, align).map(|_| ()).expect_err("refused")
        };
        assert_eq!(error(0, 8, 8), BuildError::ZeroCapacity);
        assert_eq!(error(8, 0, 8), BuildError::ZeroSize);
        assert_eq!(error(8, 8, 3), BuildError::Alignment(3));
        // With 32-bit addresses no capacity is too large to be numbered.
        if let Ok(asked) = usize::try_from(1_u64 << 40) {
            assert_eq!(error(asked, 1, 1), BuildError::Capacity { asked, most: S::MOST });
        }
        assert!(matches!(error(1 << 30, usize::MAX / 4, 1), BuildError::Overflow { .. }));
    }
    refused::<LockFreeTree>();
    refused::<Magazine>();
}

/// Summaries of the tree are right while no thread works on it.
#[test]
#[cfg_attr(miri, ignore = "too many blocks for Miri")]
fn the_tree_is_complete_after_stress() {
    let owned = common::Owned::<LockFreeTree>::new(700);
    std::thread::scope(|s| {
        for thread in 1..=8u32 {
            let owned = &owned;
            s.spawn(move || {
                let mut random = sateen_base::XorShift::new(u64::from(thread));
                let mut held = Vec::new();
                for _ in 0..if cfg!(miri) { 100 } else { 20_000 } {
                    if random.below(120) > held.len() {
                        held.extend(owned.take(thread));
                    } else {
                        let at = random.below(held.len());
                        drop(held.swap_remove(at));
                    }
                }
            });
        }
    });
    assert!(owned.pool.strategy().is_complete());
    common::take_all(&owned.pool);
    assert!(owned.pool.strategy().is_complete());
}

/// In debug builds the raw interface notices misuse.
#[cfg(debug_assertions)]
mod misuse {
    use super::*;
    use sateen_testkit::panic_of;

    fn noticed<S: Strategy>() {
        let pool = BlockPool::<S>::new(100, 8, 8).expect("memory");
        let blocks = [(); 70].map(|()| pool.take().expect("free"));
        // SAFETY: the first call is right. The second one is stopped before it does harm.
        let twice = panic_of(|| unsafe {
            pool.give(blocks[66]);
            pool.give(blocks[66]);
        });
        assert!(twice.contains("block 66 at 0x") && twice.contains("free already"), "{twice}");
        for foreign in [NonNull::from(&1u64).cast(), NonNull::dangling()] {
            // SAFETY: the call is stopped before it does harm.
            let stranger = panic_of(|| unsafe { pool.give(foreign) });
            assert!(stranger.contains(&format!("{foreign:p} is no block")), "{stranger}");
        }
        // SAFETY: the address is inside a block. The call is stopped as above.
        let within = panic_of(|| unsafe { pool.give(blocks[3].add(1)) });
        assert!(within.contains("is no block of this pool"), "{within}");
        assert_eq!(pool.in_use(), 69);
        assert!(pool.take().is_some());
    }

    #[test]
    fn is_noticed() {
        noticed::<LockFreeTree>();
        noticed::<Magazine>();
    }
}

/// Numbers without a block are refused, in release builds too.
#[test]
fn blocks_have_numbers_below_the_capacity() {
    let pool = BlockPool::<LockFreeTree>::new(8, 8, 8).expect("memory");
    assert!(pool.blocks().contains(pool.blocks().at(7)));
    for index in [8, usize::MAX / 2 + 1, usize::MAX] {
        let text = std::panic::catch_unwind(|| pool.blocks().at(index)).expect_err("no block");
        let text = text.downcast_ref::<String>().expect("a text with the number");
        assert!(text.contains(&index.to_string()), "{text}");
    }
}
