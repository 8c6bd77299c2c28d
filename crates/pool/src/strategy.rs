//! How a pool finds a free block.

use crate::{Blocks, BuildError, Counts};
use std::ptr::NonNull;

/// How a [`BlockPool`](crate::BlockPool) keeps track of its blocks.
///
/// Its operations are for the pool whose blocks they are:
///
/// ```compile_fail,E0133
/// use sateen::pool::{BlockPool, Magazine, Strategy};
/// let pool = BlockPool::<Magazine>::new(8, 8, 8).unwrap();
/// let second = <Magazine as Strategy>::new(pool.blocks()).unwrap();
/// second.take(pool.blocks()); // A block that the pool gives out, too.
/// ```
///
/// # Safety
/// A block that [`take`](Self::take) gave is not given again before it came back through
/// [`give`](Self::give), and what was done with it before is visible to its next user. Blocks that `take` gives have
/// the layout of `blocks` and lie in its memory, or, if [`OWN_MEMORY`](Self::OWN_MEMORY) is false, in memory of
/// the strategy's that lives until they come back.
pub unsafe trait Strategy: Sized {
    /// Short name, as in the lab's figures.
    const NAME: &'static str;
    /// Whether blocks lie in the pool's memory, which stays what it is while the pool lives: a freed block keeps
    /// what lies behind its first [`LEAST`](Self::LEAST) bytes.
    const OWN_MEMORY: bool = true;
    /// Bytes of a free block that the strategy uses itself: the smallest block.
    const LEAST: usize = 1;
    /// Most blocks of a pool.
    const MOST: usize = u32::MAX as usize;

    /// All of `blocks` free.
    ///
    /// # Errors
    /// No memory for the bookkeeping.
    fn new(blocks: &Blocks) -> Result<Self, BuildError>;

    /// A free block, now the caller's; `None` if none is left.
    ///
    /// # Safety
    /// [`new`](Self::new) was given the same `blocks`, and nothing else gives these out.
    unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>>;

    /// Takes a block back.
    ///
    /// # Safety
    /// `take` gave it, for the same `blocks`, and nobody uses it any more.
    unsafe fn give(&self, blocks: &Blocks, block: NonNull<u8>);

    /// Blocks in use: exact while nobody takes or gives, a guess otherwise. May take long.
    fn in_use(&self, blocks: &Blocks) -> usize;

    /// Bytes that the strategy needs besides the blocks.
    fn bookkeeping(&self) -> usize;

    /// What was counted, if the strategy's [`Probe`](crate::Probe) counts.
    fn counts(&self) -> Counts {
        Counts::default()
    }
}
