//! Pools of blocks of one size.

use crate::error::Error;
use sateen_pool::Counts;
use std::alloc::Layout;

/// The content of a block: 12 bytes, aligned to 4.
pub(crate) type Content = [u32; 3];

/// Size and alignment of a block.
pub(crate) const BLOCK: Layout = Layout::new::<Content>();

/// Hands out blocks and takes them back. All implementations write a block when they hand it out
/// and read it when they take it back.
pub(crate) trait Pool: Sized {
    /// A block in use. Its holder gives it back once.
    type Handle: Send;
    /// Whether all blocks lie in one piece of memory, as many as asked for. Otherwise there may be
    /// any number.
    const BOUNDED: bool;

    /// Opens a pool of `capacity` blocks of `size` bytes, at least as large as [`BLOCK`].
    /// [`Error::Absent`] if the pool cannot have blocks of that size.
    fn open(capacity: usize, size: usize) -> Result<Self, Error>;

    /// Takes a block, if one is free, and writes `content` to it.
    fn take(&self, content: Content) -> Option<Self::Handle>;

    /// Takes back a block of this pool, and returns its content.
    fn give(&self, block: Self::Handle) -> Content;

    /// Returns the position of the block, in units of 12 bytes; below the capacity if the pool is
    /// bounded.
    fn position(&self, block: &Self::Handle) -> usize;

    /// Returns the number of blocks in use, if the implementation knows it. No thread takes or
    /// gives blocks meanwhile.
    fn in_use(&self) -> Option<usize>;

    /// Returns how many bytes the pool needs besides the blocks.
    fn bookkeeping(&self) -> usize {
        0
    }

    /// Returns what the implementation has counted, if it counts.
    fn counts(&self) -> Counts {
        Counts::default()
    }
}
