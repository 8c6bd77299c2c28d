//! Where caches get their blocks from, and where the surplus goes.

use crate::SearchCounter;
use std::ptr::NonNull;

/// What lies behind the caches. Any thread may call at any time.
///
/// # Safety
/// A block that `take` gives is not given again before it came back through `give`; what was done with it before
/// is visible to its next user.
pub(crate) unsafe trait Depot {
    /// What a call needs besides: the blocks' memory, or their layout.
    type Of: ?Sized;
    /// Where searches are reported.
    type SearchCounter: SearchCounter;

    /// Up to `most` free blocks, one by one to `put`; how many. None only if none was there at some moment. `near`
    /// remembers where the caller works.
    fn take(&self, of: &Self::Of, near: &mut u32, most: u32, put: impl FnMut(NonNull<u8>)) -> u32;

    /// Takes blocks back.
    ///
    /// # Safety
    /// `take` gave them, for the same `of`, and nobody uses them.
    unsafe fn give(&self, of: &Self::Of, near: &mut u32, blocks: impl Iterator<Item = NonNull<u8>>);

    /// Where the owner of cache `lane` begins to work: apart from the others.
    fn start(&self, lane: usize) -> u32;

    /// The probe.
    fn probe(&self) -> &Self::SearchCounter;

    /// One block.
    fn take_one(&self, of: &Self::Of, near: &mut u32) -> Option<NonNull<u8>> {
        let mut got = None;
        self.take(of, near, 1, |block| got = Some(block));
        got
    }
}
