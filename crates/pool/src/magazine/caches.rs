//! A cache for each thread in front of a depot.

use super::cache::{Cache, Kept, SLOTS};
use super::depot::Depot;
use crate::zeroed::Zeroed;
use crate::{BuildError, SearchCounter};
use sateen_base::prim::Ordering;
use sateen_base::{CachePadded, RawSpinLock, SpinLock, SpinLockGuard, fence, thread_number};
use std::ptr::NonNull;

/// The number of caches, and so of threads that have one. Further threads use the depot.
const LANES: usize = if cfg!(loom) {
    2
} else if cfg!(miri) {
    8
} else {
    1024
};
/// Blocks that go between a cache and the depot at once.
pub(super) const BATCH: u32 = if cfg!(loom) { 1 } else { 64 };
/// How many operations of a thread bypass its cache after that was reclaimed. So one heavy fence,
/// up to 22 µs, is spread over this many operations, however near the pool is to being empty.
const STRICT: u32 = if cfg!(loom) { 1 } else { 1024 };

/// The slot of a block that is in no slot: the cache was empty, or full.
const NOWHERE: u32 = u32::MAX;

/// The caches.
#[derive(Debug)]
pub(super) struct Caches<D> {
    lanes: Zeroed<Cache>,
    /// Most blocks of a cache.
    room: u32,
    batch: u32,
    /// Whether the fence of [`Cache::is_open`] works; otherwise no cache ever opens.
    asymmetric: bool,
    pub(super) depot: D,
    shared: CachePadded<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The reclaiming thread holds it. Caches below this index are known: the others were never
    /// opened.
    reclaim: SpinLock<usize>,
    /// The lock of threads without a cache, and the place where they work.
    outside: SpinLock<u32>,
}

fn lock<T>(value: T) -> SpinLock<T> {
    SpinLock::from_raw(RawSpinLock::new(), value)
}

impl<D: Depot> Caches<D> {
    /// Makes caches that each hold at most a small part of `capacity` blocks.
    pub(super) fn new(depot: D, capacity: usize) -> Result<Self, BuildError> {
        let bytes = LANES * size_of::<Cache>();
        let batch = (capacity / 32).clamp(1, BATCH as usize) as u32;
        Ok(Self {
            lanes: Zeroed::new(LANES).map_err(|_| BuildError::OutOfMemory { bytes })?,
            room: (2 * batch).min(SLOTS as u32),
            batch,
            // The model's light fence is always enough.
            asymmetric: cfg!(loom) || fence::is_asymmetric(),
            depot,
            shared: CachePadded::new(Shared { reclaim: lock(0), outside: lock(0) }),
        })
    }

    /// Blocks in caches: exact while no thread works.
    pub(super) fn cached(&self) -> usize {
        let known = *self.shared.reclaim.lock();
        self.lanes[..known].iter().map(Cache::count).sum()
    }

    /// Bytes of caches that threads have used.
    pub(super) fn bytes(&self) -> usize {
        *self.shared.reclaim.lock() * size_of::<Cache>()
    }

    /// Every block that lies in a cache. No thread uses caches or blocks any more.
    pub(super) fn all_cached(&mut self) -> impl Iterator<Item = NonNull<u8>> {
        let known = *self.shared.reclaim.lock();
        self.lanes[..known].iter().flat_map(|cache| {
            // SAFETY: no other thread is here; below `len`, and open.
            (0..cache.count() as u32).map(|at| unsafe { cache.slot(at) })
        })
    }

    #[inline(always)]
    pub(super) fn take(&self, of: &D::Of) -> Option<NonNull<u8>> {
        let number = thread_number::get() as usize;
        if number < self.lanes.len() {
            self.take_in(number, of)
        } else {
            self.take_outside_slow(of)
        }
    }

    /// # Safety
    /// As [`Depot::give`].
    #[inline(always)]
    pub(super) unsafe fn give(&self, of: &D::Of, block: NonNull<u8>) {
        let number = thread_number::get() as usize;
        // SAFETY: passed on.
        unsafe {
            if number < self.lanes.len() {
                self.give_in(number, of, block);
            } else {
                self.give_outside_slow(of, block);
            }
        }
    }

    /// The owner of cache `lane` takes a block.
    #[inline(always)]
    pub(super) fn take_in(&self, lane: usize, of: &D::Of) -> Option<NonNull<u8>> {
        let cache = &self.lanes[lane];
        // Relaxed: only the owner writes it.
        let Some(at) = cache.len.load(Ordering::Relaxed).checked_sub(1) else {
            return self.take_slow(lane, of, None, NOWHERE);
        };
        // SAFETY: the owner's, and below `len`.
        let block = unsafe { cache.slot(at) };
        // Ordering: Release pairs with the Acquire in `empty`, for the contents of the slots below.
        cache.len.store(at, Ordering::Release);
        fence::light();
        if cache.is_open() {
            self.depot.probe().took(1, 0);
            return Some(block);
        }
        self.take_slow(lane, of, Some(block), at)
    }

    /// The owner of cache `lane` gives a block.
    ///
    /// # Safety
    /// As [`Depot::give`].
    #[inline(always)]
    pub(super) unsafe fn give_in(&self, lane: usize, of: &D::Of, block: NonNull<u8>) {
        let cache = &self.lanes[lane];
        // Relaxed: only the owner writes it.
        let at = cache.len.load(Ordering::Relaxed);
        if at >= self.room {
            // SAFETY: passed on.
            return unsafe { self.give_slow(lane, of, block, NOWHERE) };
        }
        // SAFETY: the owner's, and there is room.
        unsafe { cache.set_slot(at, block) };
        // Ordering: Release pairs with the Acquire in `empty`: the slot, and what was done with the
        // block.
        cache.len.store(at + 1, Ordering::Release);
        fence::light();
        if !cache.is_open() {
            // SAFETY: passed on.
            unsafe { self.give_slow(lane, of, block, at) };
        }
    }

    /// Locks a cache's `kept`, for its owner.
    fn enter(&self, lane: usize) -> SpinLockGuard<'_, Kept> {
        let cache = &self.lanes[lane];
        let kept = cache.kept.lock();
        if kept.known {
            return kept;
        }
        // From now on no thread finds the pool empty while this one is between depot and cache.
        drop(kept);
        let mut known = self.shared.reclaim.lock();
        *known = lane.saturating_add(1).max(*known);
        drop(known);
        let mut kept = cache.kept.lock();
        kept.known = true;
        kept.near = self.depot.start(lane);
        kept
    }

    /// Whether the operation may open the cache; otherwise it bypasses the cache.
    fn may_open(&self, kept: &mut Kept) -> bool {
        let left = kept.strict;
        kept.strict = left.saturating_sub(1);
        self.asymmetric && left == 0
    }

    /// The cache is empty, or was found closed after `block` was taken from slot `at`.
    #[cold]
    #[inline(never)]
    fn take_slow(
        &self,
        lane: usize,
        of: &D::Of,
        block: Option<NonNull<u8>>,
        at: u32,
    ) -> Option<NonNull<u8>> {
        let cache = &self.lanes[lane];
        let mut kept = self.enter(lane);
        let gone = cache.acknowledge(&mut kept, at);
        if block.is_some() && !gone {
            return block;
        }
        let got = if self.may_open(&mut kept) {
            self.refill(cache, &mut kept, of)
        } else {
            self.depot.take_one(of, &mut kept.near)
        };
        drop(kept);
        got.or_else(|| self.reclaim_slow(of))
    }

    /// Fills an empty cache; one block is the caller's.
    fn refill(&self, cache: &Cache, kept: &mut Kept, of: &D::Of) -> Option<NonNull<u8>> {
        let mut len = 0;
        self.depot.take(of, &mut kept.near, self.batch, |block| {
            // SAFETY: the owner calls with `kept` locked; no batch is larger than the cache.
            unsafe { cache.set_slot(len, block) };
            len += 1;
        });
        let at = len.checked_sub(1)?;
        // SAFETY: put there just now.
        let block = unsafe { cache.slot(at) };
        // Ordering: Relaxed, both are published by the lock, which `empty` is called with.
        cache.len.store(at, Ordering::Relaxed);
        cache.open.store(1, Ordering::Relaxed);
        Some(block)
    }

    /// The cache is full, or was found closed after `block` was put in slot `at`.
    #[cold]
    #[inline(never)]
    unsafe fn give_slow(&self, lane: usize, of: &D::Of, block: NonNull<u8>, at: u32) {
        let cache = &self.lanes[lane];
        let mut kept = self.enter(lane);
        if at == NOWHERE && cache.is_open() {
            // SAFETY: by the caller's contract; the blocks in the cache were given, too.
            return unsafe { self.spill(cache, &mut kept, of, block) };
        }
        if cache.acknowledge(&mut kept, at) {
            return;
        }
        if self.may_open(&mut kept) {
            // SAFETY: the owner's, and there is room for one.
            unsafe { cache.set_slot(0, block) };
            // Ordering: Relaxed, as in `refill`.
            cache.len.store(1, Ordering::Relaxed);
            cache.open.store(1, Ordering::Relaxed);
        } else {
            // SAFETY: passed on.
            unsafe { self.depot.give(of, &mut kept.near, [block].into_iter()) };
        }
    }

    /// Makes room in a full cache: the oldest blocks go to the depot.
    unsafe fn spill(&self, cache: &Cache, kept: &mut Kept, of: &D::Of, block: NonNull<u8>) {
        // SAFETY: full, ours, and `kept` is locked; free blocks, given by this thread.
        unsafe {
            let oldest = (0..self.batch).map(|at| cache.slot(at));
            self.depot.give(of, &mut kept.near, oldest);
            // Ordering: Relaxed, because this thread wrote it; then as in `refill`.
            let len = cache.len.load(Ordering::Relaxed);
            cache.move_down(self.batch, len);
            let len = len - self.batch;
            cache.set_slot(len, block);
            cache.len.store(len + 1, Ordering::Relaxed);
        }
    }

    /// The calling thread has no cache, or no number yet.
    #[cold]
    #[inline(never)]
    fn take_outside_slow(&self, of: &D::Of) -> Option<NonNull<u8>> {
        if let Some(lane) = self.lane() {
            return self.take_in(lane, of);
        }
        let got = self.depot.take_one(of, &mut self.shared.outside.lock());
        got.or_else(|| self.reclaim_slow(of))
    }

    #[cold]
    #[inline(never)]
    unsafe fn give_outside_slow(&self, of: &D::Of, block: NonNull<u8>) {
        // SAFETY: passed on.
        unsafe {
            match self.lane() {
                Some(lane) => self.give_in(lane, of, block),
                None => self.depot.give(of, &mut self.shared.outside.lock(), [block].into_iter()),
            }
        }
    }

    fn lane(&self) -> Option<usize> {
        let number = thread_number::get_or_assign()? as usize;
        (number < self.lanes.len()).then_some(number)
    }

    /// The depot was found empty: waits for threads between depot and cache, and takes away what
    /// caches hold. `None` if every block was in use.
    #[cold]
    #[inline(never)]
    fn reclaim_slow(&self, of: &D::Of) -> Option<NonNull<u8>> {
        let known = self.shared.reclaim.lock();
        let mut outside = self.shared.outside.lock();
        let lanes = &self.lanes[..*known];
        for cache in lanes {
            std::mem::forget(cache.kept.lock());
        }
        // From here on, blocks are in the depot, in open caches, or in use.
        let got = self.depot.take_one(of, &mut outside).or_else(|| {
            // SAFETY: all are locked.
            unsafe { self.empty(lanes, of, &mut outside) };
            self.depot.take_one(of, &mut outside)
        });
        for cache in lanes {
            // SAFETY: locked above, and the guard forgotten.
            unsafe { cache.kept.force_unlock() };
        }
        got
    }

    /// Takes away what caches hold.
    ///
    /// # Safety
    /// All are locked.
    unsafe fn empty(&self, lanes: &[Cache], of: &D::Of, near: &mut u32) {
        // SAFETY: locked, says the caller.
        let kept = |cache: &Cache| unsafe { &mut *cache.kept.data_ptr() };
        let mut any = false;
        // Empty caches are closed too. Otherwise a cache could get a block after we looked at it,
        // and another cache could give one away before we look at that. Then we would return `None`
        // although a block was free all the time.
        for cache in lanes.iter().filter(|cache| cache.is_open()) {
            // Relaxed: the fences order it against the owner's accesses.
            cache.open.store(0, Ordering::Relaxed);
            (kept(cache).closing, any) = (true, true);
        }
        if !any {
            return;
        }
        // Either an owner's operation is visible now, or the owner will find the cache closed and
        // ask what is gone.
        let _ = fence::heavy();
        for cache in lanes {
            let kept = kept(cache);
            if !std::mem::take(&mut kept.closing) {
                continue;
            }
            // Ordering: Acquire pairs with the owner's Release: the slots, and what its user did
            // with each block.
            kept.gone = cache.len.load(Ordering::Acquire);
            kept.strict = STRICT;
            // SAFETY: closed, and below `len`; free blocks that were given. The owner leaves them
            // alone when it sees what is gone.
            unsafe {
                let slots = (0..kept.gone).map(|at| cache.slot(at));
                self.depot.give(of, near, slots);
            }
        }
    }
}
