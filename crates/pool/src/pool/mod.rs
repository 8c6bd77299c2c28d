//! Pools of values of one type.

mod boxed;
mod builder;
mod chunks;
mod full;
mod keyed;
mod slot;
mod state;

pub use boxed::{ArcPoolBox, BoxIn, PoolBox, PoolRef};
pub use builder::{Builder, Growth};
pub use full::Full;
pub use keyed::{Key, Ref};

#[cfg(feature = "study")]
use crate::Counts;
use crate::{BuildError, Magazine, Strategy};
use boxed::Block;
use chunks::Chunks;
use sateen_base::prim::{AtomicBool, Ordering};
use sateen_base::unwind::run_to_end;
use slot::Slot;
use state::State;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

/// A fixed number of blocks for values of type `T`, in memory taken once: as boxes of their own
/// ([`try_alloc`](Self::try_alloc)), or as entries found by key ([`insert`](Self::insert)).
///
/// After construction nothing is asked of the system any more, unless the pool may [grow](Builder::grow).
/// A block is `T`, and behind it (behind the bytes that the strategy writes in a free block) a word of 8 bytes for keys.
///
/// A block cannot come back twice, nor to a pool that it is not of: boxes are not `Clone`, carry their
/// pool, and are the only way to return a block; an entry's block is returned by whoever makes its word vacant.
///
/// Values go in and out through shared references, so the pool can be shared if its values can be sent, and it is
/// invariant in `T`, as a `Mutex<T>` is:
///
/// ```
/// fn shared<P: Sync>() {}
/// shared::<sateen::pool::Pool<std::cell::Cell<u32>>>();
/// ```
/// ```compile_fail,E0277
/// fn shared<P: Sync>() {}
/// shared::<sateen::pool::Pool<std::rc::Rc<u32>>>();
/// ```
/// ```compile_fail,E0597
/// let pool = sateen::pool::Pool::<&'static str>::new(1).unwrap();
/// let short = String::from("short");
/// pool.insert(&short).unwrap();
/// ```
/// A reference to an entry needs `T: Sync`, since others may hold one too:
///
/// ```compile_fail,E0599
/// let pool = sateen::pool::Pool::<std::cell::Cell<u32>>::new(1).unwrap();
/// let key = pool.insert(std::cell::Cell::new(1)).unwrap();
/// pool.get(key);
/// ```
///
/// Dropping the pool drops the entries; boxes borrow the pool, so none is left by then.
pub struct Pool<T, S: Strategy = Magazine> {
    chunks: Chunks<S>,
    /// Added to generations, so that pools do not take each other's keys.
    number: u32,
    /// Whether there was ever an entry: otherwise nobody looks for any, through all of the memory.
    keyed: AtomicBool,
    /// Owns values, takes and gives them through `&self`.
    _values: PhantomData<(T, Invariant<T>)>,
}

/// Neither a longer nor a shorter lifetime in `T` will do.
type Invariant<T> = fn(T) -> T;

// SAFETY: through a shared pool values move from thread to thread, by boxes and by keys: `T: Send`. Shared
// references to values come from `get` alone, which asks for `T: Sync` itself. The chunks are used through `&S`, and
// made by whichever thread finds the pool full: `S: Send`, for they go with the pool.
unsafe impl<T: Send, S: Strategy + Send + Sync> Sync for Pool<T, S> {}

/// From one pool's number to the next: 2^32 divided by the golden ratio, whose multiples keep as far apart as n
/// numbers can, up to a factor of less than 3, for any n up to 60,000.
const STEP: u32 = 0x9E37_79B9;

fn number() -> u32 {
    #[cfg(not(loom))]
    {
        use sateen_base::prim::AtomicU32;
        static NEXT: AtomicU32 = AtomicU32::new(0);
        NEXT.fetch_add(STEP, Ordering::Relaxed)
    }
    #[cfg(loom)]
    STEP
}

impl<T, S: Strategy> Pool<T, S> {
    const SLOT: Slot = Slot::of::<T, S>();

    /// A pool of `capacity` blocks.
    ///
    /// # Errors
    /// A capacity of 0, more blocks than the strategy can number, more bytes than can be addressed or had.
    pub fn new(capacity: usize) -> Result<Self, BuildError> {
        Self::builder(capacity).build()
    }

    /// A pool of `capacity` blocks, with options.
    pub fn builder(capacity: usize) -> Builder<T, S> {
        Builder::new(capacity)
    }

    fn build(capacity: usize, growth: Option<(Growth, usize)>) -> Result<Self, BuildError> {
        Ok(Self {
            chunks: Chunks::new(capacity, Self::SLOT, growth)?,
            number: number(),
            keyed: AtomicBool::new(false),
            _values: PhantomData,
        })
    }

    /// `value` in a block of its own.
    ///
    /// ```
    /// # use sateen::pool::Pool;
    /// let pool = Pool::<u64>::new(1)?;
    /// let mut one = pool.try_alloc(1)?;
    /// *one += 1;
    /// assert_eq!(*one, 2);
    /// assert_eq!(pool.try_alloc(3).expect_err("full").into_inner(), 3);
    /// drop(one);
    /// assert!(pool.try_alloc(3).is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The value, if no block was found free.
    #[inline]
    pub fn try_alloc(&self, value: T) -> Result<PoolBox<'_, T, S>, Full<T>> {
        match Block::take(self) {
            Some(block) => Ok(block.fill(value)),
            None => Err(self.full(value)),
        }
    }

    /// The value that `make` makes, in a block of its own. An optimised build constructs it there, where it can.
    ///
    /// ```
    /// # use sateen::pool::Pool;
    /// let pool = Pool::<[u8; 100_000]>::new(4)?;
    /// let page = pool.try_alloc_with(|| [7; 100_000]).expect("room for four");
    /// assert_eq!(page[99_999], 7);
    /// # Ok::<(), sateen::pool::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// The closure, if no block was found free: it has not run.
    ///
    /// # Panics
    /// If `make` does; the block is free again then.
    #[inline]
    pub fn try_alloc_with<F: FnOnce() -> T>(&self, make: F) -> Result<PoolBox<'_, T, S>, Full<F>> {
        match Block::take(self) {
            Some(block) => Ok(block.fill(make())),
            None => Err(self.full(make)),
        }
    }

    /// As [`try_alloc`](Self::try_alloc), as a box that keeps the pool alive. Costs a reference count more.
    ///
    /// ```
    /// # use sateen::pool::{ArcPoolBox, Pool};
    /// # use std::sync::Arc;
    /// fn answer() -> Result<ArcPoolBox<u32>, Box<dyn std::error::Error>> {
    ///     let pool = Arc::new(Pool::new(1)?);
    ///     Ok(pool.try_alloc_arc(42)?)
    /// }
    /// assert_eq!(*answer()?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The value, if no block was found free.
    pub fn try_alloc_arc(self: &Arc<Self>, value: T) -> Result<ArcPoolBox<T, S>, Full<T>> {
        match Block::take(Arc::clone(self)) {
            Some(block) => Ok(block.fill(value)),
            None => Err(self.full(value)),
        }
    }

    #[cold]
    fn full<V>(&self, value: V) -> Full<V> {
        Full::new(value, self.chunks.most())
    }

    /// Blocks that there are now.
    pub fn capacity(&self) -> usize {
        self.chunks.capacity()
    }

    /// Blocks in use, boxes and entries: exact while nobody takes or returns any, a guess otherwise. May take
    /// long.
    pub fn in_use(&self) -> usize {
        self.chunks.in_use()
    }

    /// What there is and what was done. Takes as long as [`in_use`](Self::in_use).
    ///
    /// ```
    /// # use sateen::pool::Pool;
    /// let pool = Pool::<u64>::new(100)?;
    /// let boxes: Vec<_> = (0..40).map(|n| pool.try_alloc(n)).collect::<Result<_, _>>()?;
    /// assert_eq!(pool.stats().in_use, 40);
    /// drop(boxes);
    /// let stats = pool.stats();
    /// assert_eq!((stats.in_use, stats.high_water, stats.capacity), (0, 40, 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> Stats {
        let in_use = self.in_use();
        Stats {
            capacity: self.capacity(),
            most: self.chunks.most(),
            chunks: self.chunks.all().count(),
            in_use,
            high_water: self.chunks.note_high(in_use),
            block: Self::SLOT.layout.pad_to_align().size(),
            bookkeeping: self.chunks.bookkeeping(),
            #[cfg(feature = "study")]
            counts: self.chunks.counts(),
        }
    }

    #[inline(always)]
    fn state(&self, at: NonNull<T>) -> &State {
        // SAFETY: all slots have this layout, in memory that stays as long as the pool.
        unsafe { Self::SLOT.state(at.cast()) }
    }

    /// Every block of the pool, free or not.
    fn slots(&self) -> impl Iterator<Item = NonNull<T>> {
        self.chunks.all().flat_map(|indexed| {
            let blocks = indexed.chunk.blocks();
            (0..blocks.capacity()).map(|index| blocks.at(index).cast())
        })
    }

    #[inline]
    fn note_keyed(&self) {
        // Relaxed: read by who has the pool to himself. Looked at first, to write once only.
        if !self.keyed.load(Ordering::Relaxed) {
            self.keyed.store(true, Ordering::Relaxed);
        }
    }
}

impl<T, S: Strategy> Drop for Pool<T, S> {
    fn drop(&mut self) {
        if S::OWN_MEMORY && std::mem::needs_drop::<T>() && self.keyed.load(Ordering::Relaxed) {
            // Entries, and what leaked guards left of removed ones; boxes are none of ours.
            let mut kept = self.slots().filter(|at| self.state(*at).is_kept());
            // SAFETY: values are in them, and the pool is the only one who knows of them.
            run_to_end(|| kept.next().map(|at| unsafe { at.drop_in_place() }).is_some());
        }
    }
}

impl<T, S: Strategy> fmt::Debug for Pool<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("strategy", &S::NAME)
            .field("capacity", &self.capacity())
            .field("block", &Self::SLOT.layout)
            .finish_non_exhaustive()
    }
}

/// What a [`Pool`] says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Blocks that there are.
    pub capacity: usize,
    /// Blocks that there may be.
    pub most: usize,
    /// Chunks that the blocks lie in.
    pub chunks: usize,
    /// Blocks in use: exact while nobody takes or returns any, a guess otherwise.
    pub in_use: usize,
    /// Most blocks in use that were noticed: at calls of [`Pool::stats`], when the pool grew, and when it was found
    /// full. Counting each change would cost a shared write an allocation.
    pub high_water: usize,
    /// Bytes from one block to the next.
    pub block: usize,
    /// Bytes that the strategy needs besides the blocks.
    pub bookkeeping: usize,
    /// Allocations, words searched and races lost, if the strategy counts them: its
    /// [`SearchCounter`](crate::SearchCounter) is [`Count`](crate::Count).
    #[cfg(feature = "study")]
    pub counts: Counts,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::STEP;

    #[test]
    fn numbers_keep_apart() {
        let mut nearest = u32::MAX;
        for n in 2..=60_000u32 {
            // The numbers that the last pool brought are as far from each other as multiples are from 0.
            let number = STEP.wrapping_mul(n - 1);
            nearest = nearest.min(number.min(number.wrapping_neg()));
            assert!(u64::from(nearest) * 3 * u64::from(n) >= 1 << 32, "{n} pools, {nearest} apart");
        }
    }
}
