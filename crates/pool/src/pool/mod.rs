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

/// A fixed number of blocks for values of type `T`, in memory taken once.
///
/// A value is a box with one owner ([`try_alloc`](Self::try_alloc)), or an entry found by key
/// ([`insert`](Self::insert)). After construction the pool takes no more memory from the system,
/// unless it may [grow](Builder::grow). Dropping the pool drops the entries; boxes borrow the pool,
/// so none is left by then.
///
/// # Cost
/// A block is as large as `T`, or as the bytes that the strategy writes in a free block, and a word
/// of 8 bytes for keys.
///
/// # Safety of the interface
/// A block cannot be freed twice, nor freed into another pool. Boxes are not `Clone`, carry their
/// pool, and are the only way to free a block. The thread that makes an entry's word vacant frees
/// its block.
///
/// # Examples
/// Values go in and out through shared references. So the pool can be shared if its values can be
/// sent, and it is invariant in `T`, as a `Mutex<T>` is:
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
/// A reference to an entry needs `T: Sync`, since other threads may hold one too:
///
/// ```compile_fail,E0599
/// let pool = sateen::pool::Pool::<std::cell::Cell<u32>>::new(1).unwrap();
/// let key = pool.insert(std::cell::Cell::new(1)).unwrap();
/// pool.get(key);
/// ```
pub struct Pool<T, S: Strategy = Magazine> {
    chunks: Chunks<S>,
    /// Added to generations, so that pools do not take each other's keys.
    number: u32,
    /// Whether there was ever an entry. If not, dropping the pool does not search its memory for
    /// entries.
    keyed: AtomicBool,
    /// Owns values, takes and gives them through `&self`.
    _values: PhantomData<(T, Invariant<T>)>,
}

/// Accepts neither a longer nor a shorter lifetime in `T`.
type Invariant<T> = fn(T) -> T;

// SAFETY: through a shared pool values move from thread to thread, by boxes and by keys: `T: Send`.
// Shared references to values come from `get` alone, which requires `T: Sync` itself. The chunks
// are used through `&S`: `S: Sync`. Any thread that finds the pool full makes one, and the thread
// that drops the pool drops it: `S: Send`.
unsafe impl<T: Send, S: Strategy + Send + Sync> Sync for Pool<T, S> {}

/// The step from one pool's number to the next: 2^32 divided by the golden ratio. For any n up to
/// 60,000 its multiples are as far apart as n numbers can be, up to a factor of less than 3.
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
    /// [`BuildError`]: a capacity of 0, more blocks than the strategy can number, or more memory
    /// than can be addressed or had.
    pub fn new(capacity: usize) -> Result<Self, BuildError> {
        Self::builder(capacity).build()
    }

    /// A pool of `capacity` blocks, with settings.
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

    /// Puts `value` into a block. Returns it as a box.
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
    /// [`Full`], with the value, if no block was found free.
    #[inline]
    pub fn try_alloc(&self, value: T) -> Result<PoolBox<'_, T, S>, Full<T>> {
        match Block::take(self) {
            Some(block) => Ok(block.fill(value)),
            None => Err(self.full(value)),
        }
    }

    /// Puts the value that `make` returns into a block. An optimised build constructs it in the
    /// block if it can.
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
    /// [`Full`], with the closure, which has not run, if no block was found free.
    ///
    /// # Panics
    /// If `make` panics. The block is free again then.
    #[inline]
    pub fn try_alloc_with<F: FnOnce() -> T>(&self, make: F) -> Result<PoolBox<'_, T, S>, Full<F>> {
        match Block::take(self) {
            Some(block) => Ok(block.fill(make())),
            None => Err(self.full(make)),
        }
    }

    /// Like [`try_alloc`](Self::try_alloc), but the box keeps the pool alive. Costs a reference
    /// count more.
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
    /// [`Full`], with the value, if no block was found free.
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

    /// The number of blocks now.
    pub fn capacity(&self) -> usize {
        self.chunks.capacity()
    }

    /// Blocks in use, boxes and entries: exact while no thread takes or returns any, a guess
    /// otherwise. May take long.
    pub fn in_use(&self) -> usize {
        self.chunks.in_use()
    }

    /// Figures of the pool. Takes as long as [`in_use`](Self::in_use).
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
        // Relaxed: read by a thread that has the pool to itself. Looks first, to write only once.
        if !self.keyed.load(Ordering::Relaxed) {
            self.keyed.store(true, Ordering::Relaxed);
        }
    }
}

impl<T, S: Strategy> Drop for Pool<T, S> {
    fn drop(&mut self) {
        if S::OWN_MEMORY && std::mem::needs_drop::<T>() && self.keyed.load(Ordering::Relaxed) {
            // Entries, and removed ones that leaked guards have left. Boxes are not the pool's.
            let mut kept = self.slots().filter(|at| self.state(*at).is_kept());
            // SAFETY: they hold values, and only the pool knows of them.
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

/// Figures of a [`Pool`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of blocks.
    pub capacity: usize,
    /// The number to which the pool may grow.
    pub most: usize,
    /// Chunks that the blocks lie in.
    pub chunks: usize,
    /// Blocks in use: exact while no thread takes or returns any, a guess otherwise.
    pub in_use: usize,
    /// Most blocks in use that were noticed: at calls of [`Pool::stats`], when the pool grew, and
    /// when it was full. Counting each change would cost a shared write an allocation.
    pub high_water: usize,
    /// Bytes from one block to the next.
    pub block: usize,
    /// The bytes that the strategy needs in addition to the blocks.
    pub bookkeeping: usize,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::STEP;

    #[test]
    fn numbers_keep_apart() {
        let mut nearest = u32::MAX;
        for n in 2..=if cfg!(miri) { 1_000 } else { 60_000_u32 } {
            // The newest number is as far from the others as multiples are from 0.
            let number = STEP.wrapping_mul(n - 1);
            nearest = nearest.min(number.min(number.wrapping_neg()));
            assert!(u64::from(nearest) * 3 * u64::from(n) >= 1 << 32, "{n} pools, {nearest} apart");
        }
    }
}
