//! Pools of blocks of one size.

use crate::error::Error;
use crate::{ours, peers};
use sateen_pool::Counts;
use std::alloc::Layout;

/// What lies in a block of 12 bytes, aligned to 4.
pub(crate) type Content = [u32; 3];

/// Size and alignment of a block.
pub(crate) const BLOCK: Layout = Layout::new::<Content>();

/// Hands out blocks and takes them back. Each is written when it is taken and read when it is given back, in all
/// implementations alike.
pub(crate) trait Pool: Sized {
    /// A block in use: whoever has it gives it back once.
    type Handle: Send;
    /// Whether all blocks are in one place and there are as many as asked for; otherwise there may be any number.
    const BOUNDED: bool;

    /// For `capacity` blocks of `size` bytes, no less than a [`BLOCK`] has. [`Error::Absent`] if it cannot have that size.
    fn open(capacity: usize, size: usize) -> Result<Self, Error>;

    /// A block with `content`, if there is one left.
    fn take(&self, content: Content) -> Option<Self::Handle>;

    /// Takes a block of this very pool back; what lies in it.
    fn give(&self, block: Self::Handle) -> Content;

    /// Where the block lies, in blocks of 12 bytes; below the capacity if the pool is bounded.
    fn place(&self, block: &Self::Handle) -> usize;

    /// Blocks in use, where the implementation knows; nobody takes or gives meanwhile.
    fn in_use(&self) -> Option<usize>;

    /// Bytes that are needed besides the blocks.
    fn bookkeeping(&self) -> usize {
        0
    }

    /// What was counted, if the implementation counts.
    fn counts(&self) -> Counts {
        Counts::default()
    }
}

/// Is shown every pool, with its name.
pub(crate) trait PoolVisitor {
    /// Called for each pool that threads can share.
    fn visit<P: Pool + Sync + 'static>(&mut self, name: &'static str);
}

/// Is shown every pool that a thread may have for itself, with its name.
pub(crate) trait LonePoolVisitor {
    /// Called for each.
    fn visit<P: Pool + 'static>(&mut self, name: &'static str);
}

/// Shows `visitor` all pools.
pub(crate) fn visit_pools(with_peers: bool, visitor: &mut impl PoolVisitor) {
    ours::visit_pools(visitor);
    if with_peers {
        peers::visit_pools(visitor);
    }
}

/// Shows `visitor` our strategies with a probe that counts.
pub(crate) fn visit_counting_pools(visitor: &mut impl PoolVisitor) {
    ours::visit_counting_pools(visitor);
}

/// Shows `visitor` all pools, those without atomics where there are some.
pub(crate) fn visit_lone_pools(with_peers: bool, visitor: &mut impl LonePoolVisitor) {
    ours::visit_lone_pools(visitor);
    if with_peers {
        peers::visit_lone_pools(visitor);
    }
}
