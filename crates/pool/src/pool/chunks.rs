//! The blocks of a typed pool: one chunk, and more of them if the pool may grow.
//!
//! `more` is filled from the front and never emptied before the end. So a thread that finds its
//! first cell empty knows that all blocks are of the first chunk. A pool that has not grown pays
//! only for that look.

use super::Slot;
use crate::{BlockPool, BuildError, Growth, Strategy};
use sateen_base::abort_with;
use sateen_base::prim::{AtomicPtr, AtomicUsize, Ordering};
use std::ptr::{self, NonNull};

/// Most chunks after the first.
const MORE: usize = if cfg!(loom) { 1 } else { 31 };

/// How a pool may grow.
#[derive(Clone, Copy, Debug)]
struct Plan {
    growth: Growth,
    most: usize,
}

impl Plan {
    /// Size of the chunk that comes after `total` blocks; 0 if none does.
    fn next(&self, total: usize) -> usize {
        let step = match self.growth {
            Growth::Fixed(step) => step,
            Growth::Doubling => total,
        };
        step.min(self.most - total)
    }

    fn new(capacity: usize, growth: Growth, most: usize) -> Result<Self, BuildError> {
        let step = match growth {
            Growth::Fixed(step) => step,
            Growth::Doubling => capacity,
        };
        let refused = BuildError::Growth { capacity, step, most };
        let plan = Self { growth, most };
        if most < capacity || (most > capacity && step == 0) {
            return Err(refused);
        }
        let mut total = capacity;
        for _ in 0..MORE {
            total += plan.next(total);
        }
        if total == most { Ok(plan) } else { Err(refused) }
    }
}

/// A chunk, and the index of its first block among all blocks of the pool.
pub(crate) struct IndexedChunk<'a, S: Strategy> {
    pub(crate) chunk: &'a BlockPool<S>,
    pub(crate) first_index: usize,
}

pub(crate) struct Chunks<S: Strategy> {
    first: BlockPool<S>,
    /// Each is set once, in order, by the first thread; from boxes.
    more: [AtomicPtr<BlockPool<S>>; MORE],
    /// The chunk where the last search found a block; null for `first`. A hint.
    current: AtomicPtr<BlockPool<S>>,
    /// Most blocks that were known to be in use at a time.
    high: AtomicUsize,
    plan: Plan,
    slot: Slot,
}

impl<S: Strategy> Chunks<S> {
    pub(crate) fn new(
        capacity: usize,
        slot: Slot,
        growth: Option<(Growth, usize)>,
    ) -> Result<Self, BuildError> {
        let (growth, most) = growth.unwrap_or((Growth::Doubling, capacity));
        let bound = if S::OWN_MEMORY { u32::MAX as usize } else { usize::MAX };
        if most > bound {
            return Err(BuildError::Capacity { asked: most, most: bound });
        }
        let plan = Plan::new(capacity, growth, most)?;
        let first = Self::chunk(capacity, slot)?;
        Ok(Self {
            first,
            more: [(); MORE].map(|()| AtomicPtr::new(ptr::null_mut())),
            current: AtomicPtr::new(ptr::null_mut()),
            high: AtomicUsize::new(0),
            plan,
            slot,
        })
    }

    fn chunk(capacity: usize, slot: Slot) -> Result<BlockPool<S>, BuildError> {
        let chunk = BlockPool::<S>::new(capacity, slot.layout.size(), slot.layout.align())?;
        #[cfg(loom)]
        if S::OWN_MEMORY {
            (0..capacity).for_each(|index| slot.prepare(chunk.blocks().at(index)));
        }
        Ok(chunk)
    }

    /// The chunk of cell `index`, if it is there.
    #[inline]
    fn later(&self, index: usize) -> Option<&BlockPool<S>> {
        // Ordering: Acquire pairs with the Release in `grow`: the chunk is read after it was made.
        let chunk = self.more.get(index)?.load(Ordering::Acquire);
        // SAFETY: null, or from a box that only `drop` takes back.
        unsafe { chunk.as_ref() }
    }

    /// All chunks.
    pub(crate) fn all(&self) -> impl Iterator<Item = IndexedChunk<'_, S>> {
        let chunks = (0..MORE).map_while(|index| self.later(index));
        let mut start = 0;
        std::iter::once(&self.first).chain(chunks).map(move |chunk| {
            let indexed = IndexedChunk { chunk, first_index: start };
            start += chunk.capacity();
            indexed
        })
    }

    /// Takes a free block, from a new chunk if there is none and the plan allows one.
    #[inline]
    pub(crate) fn take(&self) -> Option<NonNull<u8>> {
        // Ordering: Acquire pairs with the Release in `take_slow`, which passes on what `later`
        // acquired.
        let current = self.current.load(Ordering::Acquire);
        // SAFETY: as in `later`: only pointers from there are stored.
        let chunk = unsafe { current.as_ref() }.unwrap_or(&self.first);
        chunk.take().or_else(|| self.take_slow())
    }

    #[cold]
    fn take_slow(&self) -> Option<NonNull<u8>> {
        if self.first.capacity() == self.plan.most {
            self.note_high(self.plan.most);
            return None;
        }
        loop {
            let (mut total, mut number) = (0, 0);
            for indexed in self.all() {
                if let Some(block) = indexed.chunk.take() {
                    let hint = if number == 0 { ptr::null() } else { ptr::from_ref(indexed.chunk) };
                    // Ordering: Release pairs with the Acquire in `take`: the chunk was made
                    // before.
                    self.current.store(hint.cast_mut(), Ordering::Release);
                    return Some(block);
                }
                total += indexed.chunk.capacity();
                number += 1;
            }
            // Each block was in use when it was looked at.
            self.note_high(total);
            self.grow(number - 1, self.plan.next(total))?;
        }
    }

    /// Ensures that cell `index` is filled. `None` if the plan has no further chunk, or there is no
    /// memory.
    fn grow(&self, index: usize, size: usize) -> Option<()> {
        let cell = self.more.get(index)?;
        if size == 0 {
            return None;
        }
        if self.later(index).is_some() {
            return Some(());
        }
        let chunk = Box::into_raw(Box::new(Self::chunk(size, self.slot).ok()?));
        // Ordering: Release pairs with the Acquire in `later`. Relaxed on failure: the caller looks
        // again.
        let won =
            cell.compare_exchange(ptr::null_mut(), chunk, Ordering::Release, Ordering::Relaxed);
        if won.is_err() {
            // Another thread was faster. There is no lock, because growth is rare, and mapped
            // memory is cheap until it is touched.
            // SAFETY: from `into_raw` above, and published nowhere.
            drop(unsafe { Box::from_raw(chunk) });
        }
        Some(())
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// [`take`](Self::take) returned it, and no code uses it any more.
    #[inline]
    pub(crate) unsafe fn give(&self, block: NonNull<u8>) {
        let chunk = self.chunk_of(block).chunk;
        // SAFETY: the caller's promise; the chunk is the one that gave it.
        unsafe { chunk.give(block) };
    }

    /// The chunk of a block of this pool.
    #[inline]
    fn chunk_of(&self, block: NonNull<u8>) -> IndexedChunk<'_, S> {
        // Relaxed: a thread that holds a block of a later chunk got it after this cell was filled.
        if self.more[0].load(Ordering::Relaxed).is_null() {
            return IndexedChunk { chunk: &self.first, first_index: 0 };
        }
        self.chunk_of_slow(block)
    }

    #[inline(never)]
    fn chunk_of_slow(&self, block: NonNull<u8>) -> IndexedChunk<'_, S> {
        let found = self.all().find(|indexed| indexed.chunk.blocks().spans(block));
        found.unwrap_or_else(|| abort_with("a block that is no chunk's came back to a typed pool"))
    }

    /// Block `index` of all, if there is one by now.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> Option<NonNull<u8>> {
        if index < self.first.capacity() {
            // SAFETY: below the capacity.
            return Some(unsafe { self.first.blocks().block(index) });
        }
        self.at_slow(index)
    }

    #[inline(never)]
    fn at_slow(&self, index: usize) -> Option<NonNull<u8>> {
        let mut total = self.first.capacity();
        // By the plan, without touching the chunks before it.
        for cell in 0..MORE {
            let size = self.plan.next(total);
            if index - total < size {
                // SAFETY: the chunk in this cell has that size by the plan.
                return Some(unsafe { self.later(cell)?.blocks().block(index - total) });
            }
            total += size;
        }
        None
    }

    /// The index of a block of this pool, whose strategy uses the pool's memory.
    #[inline]
    pub(crate) fn index_of(&self, block: NonNull<u8>) -> usize {
        let indexed = self.chunk_of(block);
        indexed.first_index + indexed.chunk.blocks().index_of(block)
    }

    pub(crate) fn most(&self) -> usize {
        self.plan.most
    }

    pub(crate) fn capacity(&self) -> usize {
        self.all().map(|indexed| indexed.chunk.capacity()).sum()
    }

    pub(crate) fn in_use(&self) -> usize {
        self.all().map(|indexed| indexed.chunk.in_use()).sum()
    }

    pub(crate) fn bookkeeping(&self) -> usize {
        self.all().map(|indexed| indexed.chunk.bookkeeping()).sum()
    }

    /// Remembers `in_use`. Returns the highest number that was remembered.
    pub(crate) fn note_high(&self, in_use: usize) -> usize {
        // Relaxed: a figure. Looks first, so that the callers of a full pool do not all write.
        let high = self.high.load(Ordering::Relaxed);
        if in_use > high {
            self.high.fetch_max(in_use, Ordering::Relaxed);
        }
        in_use.max(high)
    }
}

impl<S: Strategy> Drop for Chunks<S> {
    fn drop(&mut self) {
        for cell in &self.more {
            // Relaxed: this thread has the pool to itself, and comes after all others.
            let chunk = cell.load(Ordering::Relaxed);
            if !chunk.is_null() {
                // SAFETY: `grow` put it there from a box, and no thread uses the pool any more.
                drop(unsafe { Box::from_raw(chunk) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn plans_add_up_or_are_refused() {
        let sizes = |plan: Plan, first: usize| {
            let mut total = first;
            std::iter::from_fn(|| {
                let size = plan.next(total);
                total += size;
                (size > 0).then_some(size)
            })
            .collect::<Vec<_>>()
        };
        let plan = |capacity, growth, most| Plan::new(capacity, growth, most);
        assert_eq!(sizes(plan(10, Growth::Fixed(7), 30).expect("3 steps"), 10), [7, 7, 6]);
        assert_eq!(sizes(plan(3, Growth::Doubling, 40).expect("4 steps"), 3), [3, 6, 12, 16]);
        assert!(sizes(plan(5, Growth::Fixed(1), 5).expect("no step"), 5).is_empty());
        assert!(plan(10, Growth::Fixed(1), 41).is_ok() && plan(10, Growth::Fixed(1), 42).is_err());
        assert!(plan(10, Growth::Fixed(0), 11).is_err() && plan(10, Growth::Doubling, 9).is_err());
        assert!(plan(2, Growth::Doubling, u32::MAX as usize).is_ok());
    }
}
