//! How a pool finds a free block.

use crate::{Blocks, BuildError, Counts};
use std::ptr::NonNull;

/// How a pool finds a free block: the second type parameter of [`Pool`](crate::Pool), the only one
/// of [`BlockPool`](crate::BlockPool).
///
/// [`Magazine`](crate::Magazine) is the default. [`LockFreeTree`](crate::LockFreeTree) keeps the
/// blocks in use close together, with less memory for each thread.
pub trait Strategy: Allocate {}

impl<S: Allocate> Strategy for S {}

/// What a strategy does, for the pool whose blocks it keeps track of.
///
/// ```compile_fail,E0133
/// # use sateen_pool as pool;
/// use pool::{Allocate, BlockPool, Magazine};
/// let pool = BlockPool::<Magazine>::new(8, 8, 8).unwrap();
/// let second = <Magazine as Allocate>::new(pool.blocks()).unwrap();
/// second.take(pool.blocks()); // The pool gives out the same block.
/// ```
///
/// # Safety
/// 1. A block that [`take`](Self::take) returned is not returned again before it comes back through
///    [`give`](Self::give).
/// 2. What its last user did with a block is visible to its next user.
/// 3. A block has the layout of `blocks`. It lies in their memory or, if
///    [`OWN_MEMORY`](Self::OWN_MEMORY) is false, in memory of the strategy that stays valid until
///    the block comes back.
#[doc(hidden)]
pub unsafe trait Allocate: Sized {
    /// Short name, as in the lab's figures.
    const NAME: &'static str;
    /// Whether blocks lie in the pool's memory, which stays mapped as long as the pool. A freed
    /// block then keeps its contents behind the first [`LEAST`](Self::LEAST) bytes.
    const OWN_MEMORY: bool = true;
    /// Bytes of a free block that the strategy writes: the smallest size of a block.
    const LEAST: usize = 1;
    /// Most blocks of a pool.
    const MOST: usize = u32::MAX as usize;

    /// All of `blocks` free.
    ///
    /// # Errors
    /// No memory for the bookkeeping.
    fn new(blocks: &Blocks) -> Result<Self, BuildError>;

    /// Returns a free block, which is the caller's from then on; `None` if none is left.
    ///
    /// # Safety
    /// [`new`](Self::new) was given the same `blocks`, and nothing else gives them out.
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>>;

    /// Takes a block back.
    ///
    /// # Safety
    /// `take` returned the block, for the same `blocks`, and no code uses it any more.
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>);

    /// Blocks in use: exact while no thread takes or gives, a guess otherwise. May take long.
    fn in_use(&self, blocks: &Blocks) -> usize;

    /// The bytes that the strategy needs in addition to the blocks.
    fn bookkeeping(&self) -> usize;

    /// What was counted, if the strategy's [`SearchCounter`](crate::SearchCounter) counts.
    fn counts(&self) -> Counts {
        Counts::default()
    }
}
