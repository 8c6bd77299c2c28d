//! Where caches get their blocks from, and where the surplus goes.

use crate::SearchCounter;
use std::ptr::NonNull;

/// The store behind the caches. Any thread may call it at any time.
///
/// # Safety
/// A block that `take` returned is not returned again before it comes back through `give`. What its
/// last user did with it is visible to its next user.
pub(crate) unsafe trait Depot {
    /// What each call gets: the blocks' memory, or their layout.
    type Of: ?Sized;
    /// Where searches are reported.
    type SearchCounter: SearchCounter;

    /// Takes up to `most` free blocks and passes them to `put` one by one. Returns how many: 0 only
    /// if there was none at some moment. `near` remembers where the caller works.
    fn take(&self, of: &Self::Of, near: &mut u32, most: u32, put: impl FnMut(NonNull<u8>)) -> u32;

    /// Takes blocks back.
    ///
    /// # Safety
    /// `take` returned them, for the same `of`, and no code uses them any more.
    unsafe fn give(&self, of: &Self::Of, near: &mut u32, blocks: impl Iterator<Item = NonNull<u8>>);

    /// Where the owner of cache `lane` begins to work: far from the other owners.
    fn start(&self, lane: usize) -> u32;

    /// The counter of searches.
    fn probe(&self) -> &Self::SearchCounter;

    /// Takes one block.
    fn take_one(&self, of: &Self::Of, near: &mut u32) -> Option<NonNull<u8>> {
        let mut got = None;
        self.take(of, near, 1, |block| got = Some(block));
        got
    }
}
