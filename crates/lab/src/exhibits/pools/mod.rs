//! Strategies of pools that a user would not choose: each finds a free block in another way.

#![expect(unsafe_code, reason = "a strategy promises one user a block; each use is argued")]

mod bits;
mod flags;
mod global;
mod lock_free_flags;
mod locked;
mod tree;

pub(crate) use global::Global;
pub(crate) use lock_free_flags::LockFreeFlags;
use sateen_pool::{BuildError, NoCount};

/// A 32-bit flag for each block, under the lock `L`.
pub(crate) type LockedFlags<L, P = NoCount> = locked::Locked<flags::Flags, L, P>;
/// A bit for each block, under the lock `L`.
pub(crate) type LockedBits<L, P = NoCount> = locked::Locked<bits::Bits, L, P>;
/// A hierarchy of bits, under the lock `L`.
pub(crate) type LockedTree<L, P = NoCount> = locked::Locked<tree::Tree, L, P>;

/// Bits of a word.
const BITS: usize = u64::BITS as usize;

/// `len` values, or an error if there is no memory for them.
fn array<T>(len: usize, value: impl FnMut(usize) -> T) -> Result<Box<[T]>, BuildError> {
    let mut array = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>());
    array.try_reserve_exact(len).map_err(|_| BuildError::OutOfMemory { bytes })?;
    array.extend((0..len).map(value));
    Ok(array.into_boxed_slice())
}

/// Word `index` of a row in which the first `entries` bits are set.
fn full_word(entries: usize, index: usize) -> u64 {
    match entries - index * BITS {
        rest if rest < BITS => (1 << rest) - 1,
        _ => u64::MAX,
    }
}

/// The word that bit `entry` of a row lies in, and the bit there.
#[inline(always)]
fn position(entry: usize) -> (usize, u64) {
    (entry / BITS, 1 << (entry % BITS))
}

/// The lowest bit set in `word`, as an entry of its row, where it is word `index`.
#[inline(always)]
fn lowest(index: usize, word: u64) -> usize {
    index * BITS + word.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exhibits::spin::OsMutex;
    use lock_api::RawMutex;
    use sateen_base::XorShift;
    use sateen_pool::{BlockPool, Count, Counts, Strategy};
    use std::collections::BTreeSet;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    type Lock = OsMutex;

    /// Takes a block, if one is free, and returns its index.
    fn take<S: Strategy>(pool: &BlockPool<S>) -> Option<usize> {
        pool.take().map(|block| pool.blocks().index_of(block))
    }

    /// Gives back a block that `take` returned.
    fn give<S: Strategy>(pool: &BlockPool<S>, index: usize) {
        // SAFETY: the tests give each block that they took once, and do not use its memory.
        unsafe { pool.give(pool.blocks().at(index)) };
    }

    /// One thread gets a block as long as one is free, and only free ones.
    fn agrees_with_a_set<S: Strategy>() {
        for capacity in [1, 63, 64, 65, 200, 5000] {
            let pool = BlockPool::<S>::new(capacity, 12, 4).expect("memory");
            let (mut random, mut free) = (XorShift::new(1), (0..capacity).collect::<BTreeSet<_>>());
            for _ in 0..5000 {
                let index = random.below(capacity);
                if random.below(2) == 0 && free.insert(index) {
                    give(&pool, index);
                } else {
                    match take(&pool) {
                        Some(index) => assert!(free.remove(&index), "{index} twice"),
                        None => assert!(free.is_empty(), "{} are left", free.len()),
                    }
                }
                assert_eq!(pool.in_use(), capacity - free.len());
            }
        }
    }

    /// Each block has one user at a time, and every block comes back.
    fn conserves<S: Strategy + Send + Sync>() {
        const BLOCKS: usize = 100;
        let pool = BlockPool::<S>::new(BLOCKS, 12, 4).expect("memory");
        let users: Vec<_> = (0..BLOCKS).map(|_| AtomicU32::new(0)).collect();
        thread::scope(|s| {
            for thread in 1..=4 {
                let (pool, users) = (&pool, &users);
                s.spawn(move || {
                    let (mut random, mut held) = (XorShift::new(thread.into()), Vec::new());
                    for _ in 0..5000 {
                        if random.below(60) > held.len() {
                            let Some(index) = take(pool) else { continue };
                            let before = users[index].swap(thread, Ordering::Relaxed);
                            assert_eq!(before, 0, "block {index} has two users");
                            held.push(index);
                        } else {
                            let index = held.swap_remove(random.below(held.len()));
                            assert_eq!(users[index].swap(0, Ordering::Relaxed), thread);
                            give(pool, index);
                        }
                    }
                    held.into_iter().for_each(|index| {
                        users[index].store(0, Ordering::Relaxed);
                        give(pool, index);
                    });
                });
            }
        });
        assert_eq!(pool.in_use(), 0);
        let all: BTreeSet<_> = std::iter::from_fn(|| take(&pool)).collect();
        assert_eq!(all.len(), BLOCKS);
    }

    fn holds<S: Strategy + Send + Sync>() {
        agrees_with_a_set::<S>();
        conserves::<S>();
    }

    #[test]
    fn each_strategy_gives_each_block_to_one() {
        holds::<LockFreeFlags>();
        holds::<LockedFlags<Lock>>();
        holds::<LockedBits<Lock>>();
        holds::<LockedTree<Lock>>();
    }

    #[test]
    fn a_tree_finds_the_first() {
        let pool = BlockPool::<LockedTree<Lock>>::new(10_000, 8, 8).expect("memory");
        assert!((0..10_000).all(|i| take(&pool) == Some(i)));
        for index in [9_000, 70, 4_100, 3] {
            give(&pool, index);
        }
        assert_eq!(
            [(); 5].map(|()| take(&pool)),
            [3, 70, 4_100, 9_000, 0].map(|i| { if i == 0 { None } else { Some(i) } })
        );
    }

    #[test]
    fn flags_go_round_and_bits_start_behind_the_field_used_up_last() {
        fn round<S: Strategy>() {
            let pool = BlockPool::<S>::new(10, 8, 8).expect("memory");
            assert!((0..7).all(|i| take(&pool) == Some(i)));
            give(&pool, 2);
            give(&pool, 5);
            assert_eq!([7, 8, 9, 2, 5].map(Some), [(); 5].map(|()| take(&pool)));
        }
        round::<LockFreeFlags>();
        round::<LockedFlags<Lock>>();
        let pool = BlockPool::<LockedBits<Lock>>::new(300, 8, 8).expect("memory");
        assert!((0..100).all(|i| take(&pool) == Some(i)));
        give(&pool, 3);
        give(&pool, 70);
        assert_eq!(take(&pool), Some(70));
        assert!((100..300).all(|i| take(&pool) == Some(i)));
        assert_eq!((take(&pool), take(&pool)), (Some(3), None));
    }

    /// The first half of the pool is in use, and searches from the start look at it.
    #[test]
    fn what_is_looked_at_is_counted() {
        fn searched<S: Strategy>() -> Counts {
            let pool = BlockPool::<S>::new(64 * 1000, 8, 8).expect("memory");
            assert!((0..64_000).all(|_| take(&pool).is_some()));
            (32_000..64_000).for_each(|index| give(&pool, index));
            let before = pool.counts();
            for _ in 0..1000 {
                let index = take(&pool).expect("half are free");
                give(&pool, index);
            }
            let after = pool.counts();
            let [takes, searched] = [after.takes - before.takes, after.searched - before.searched];
            Counts { takes, searched, retries: after.retries }
        }
        let counts = |searched| Counts { takes: 1000, searched, retries: 0 };
        assert_eq!(searched::<LockFreeFlags<Count>>(), counts(33_000));
        assert_eq!(searched::<LockedFlags<Lock, Count>>(), counts(33_000));
        assert_eq!(searched::<LockedBits<Lock, Count>>(), counts(501_000));
        assert!(searched::<LockedTree<Lock, Count>>().searched < 1010);
    }

    #[test]
    fn bits_cost_little_more_than_a_bit() {
        fn bits<S: Strategy>() -> f64 {
            let pool = BlockPool::<S>::new(1_000_000, 12, 4).expect("memory");
            pool.bookkeeping() as f64 * 8.0 / 1e6
        }
        assert!(bits::<LockedBits<Lock>>() < 1.01 && bits::<LockedTree<Lock>>() < 1.02);
        assert!(bits::<LockFreeFlags>() < 32.01 && bits::<LockedFlags<Lock>>() < 32.01);
    }

    /// A pool that only its thread uses has nothing atomic.
    #[test]
    fn a_lock_for_one_thread_does() {
        fn one<L: RawMutex>() {
            agrees_with_a_set::<LockedFlags<L>>();
            agrees_with_a_set::<LockedBits<L>>();
            agrees_with_a_set::<LockedTree<L>>();
        }
        one::<sateen::sync::spin::NoAtomics>();
    }
}
