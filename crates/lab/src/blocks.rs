//! A safe form of the raw interface of `sateen-pool`, at no cost.

#![expect(unsafe_code, reason = "blocks are raw memory; each use is argued below")]

use crate::adapter::{BLOCK, Content, Pool};
use crate::error::{Error, input};
use sateen_pool::{BlockPool, Counts, Strategy};
#[cfg(feature = "peers")]
use std::alloc::Layout;
use std::ptr::NonNull;

/// A pool of blocks that hold a [`Content`].
#[derive(Debug)]
pub(crate) struct Raw<S: Strategy>(BlockPool<S>);

/// A block in use. Only [`Raw::take`] makes one, no code can copy it, and [`Raw::give`] consumes
/// it.
#[derive(Debug)]
pub(crate) struct Block(NonNull<u8>);

// SAFETY: no other thread uses the memory until the block is given back.
unsafe impl Send for Block {}

impl<S: Strategy> Pool for Raw<S> {
    type Handle = Block;
    const BOUNDED: bool = S::OWN_MEMORY;

    fn open(capacity: usize, size: usize) -> Result<Self, Error> {
        // `take` writes a content, whatever the size.
        let size = size.max(BLOCK.size()).next_multiple_of(BLOCK.align());
        let pool = BlockPool::new(capacity, size, BLOCK.align());
        pool.map(Self).map_err(|e| input(format!("{capacity} blocks: {e}")))
    }

    #[inline(always)]
    fn take(&self, content: Content) -> Option<Block> {
        let block = self.0.take()?;
        // SAFETY: the block has the alignment of a `Content` and at least its size, and no other
        // holder.
        unsafe { block.cast::<Content>().write(content) };
        Some(Block(block))
    }

    #[inline(always)]
    fn give(&self, block: Block) -> Content {
        debug_assert!(!Self::BOUNDED || self.0.blocks().contains(block.0), "another pool's block");
        // SAFETY: `take` has written a content, and this handle is the only one.
        let content = unsafe { block.0.cast::<Content>().read() };
        // SAFETY: `take` of this pool returned the block: a session has one pool, and handles do
        // not leave it. No code uses the block any more, because its only handle ends here.
        unsafe { self.0.give(block.0) };
        content
    }

    fn position(&self, block: &Block) -> usize {
        if Self::BOUNDED {
            self.0.blocks().index_of(block.0)
        } else {
            block.0.as_ptr() as usize / BLOCK.size()
        }
    }

    fn in_use(&self) -> Option<usize> {
        Self::BOUNDED.then(|| self.0.in_use())
    }

    fn bookkeeping(&self) -> usize {
        self.0.bookkeeping()
    }

    fn counts(&self) -> Counts {
        self.0.counts()
    }
}

/// An allocator of another library as a type of ours, because not all of theirs have a default.
#[cfg(feature = "peers")]
macro_rules! allocator {
    ($(#[$about:meta])* $name:ident = $theirs:expr) => {
        $(#[$about])*
        #[derive(Debug, Default)]
        pub(crate) struct $name;

        // SAFETY: every call goes to an allocator that keeps the contract.
        unsafe impl std::alloc::GlobalAlloc for $name {
            #[inline(always)]
            unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
                // SAFETY: the caller keeps the contract of `alloc`.
                unsafe { $theirs.alloc(layout) }
            }

            #[inline(always)]
            unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
                // SAFETY: the caller keeps the contract of `dealloc`.
                unsafe { $theirs.dealloc(block, layout) }
            }
        }
    };
}

#[cfg(feature = "peers")]
allocator!(
    /// mimalloc.
    MiMalloc = mimalloc::MiMalloc
);
#[cfg(feature = "peers")]
allocator!(
    /// jemalloc.
    Jemalloc = tikv_jemallocator::Jemalloc
);
#[cfg(feature = "peers")]
allocator!(
    /// snmalloc.
    SnMalloc = snmalloc_rs::SnMalloc
);

/// The lock of parking_lot, whose crate implements a later version of the trait than ours.
#[cfg(feature = "peers")]
pub(crate) struct ParkingLot(parking_lot::RawMutex);

#[cfg(feature = "peers")]
mod bridge {
    use super::ParkingLot;
    use parking_lot::lock_api::{GuardNoSend, RawMutex as Theirs};

    // SAFETY: every call goes to a lock that excludes other threads.
    unsafe impl lock_api::RawMutex for ParkingLot {
        const INIT: Self = Self(parking_lot::RawMutex::INIT);
        type GuardMarker = lock_api::GuardNoSend;

        #[inline(always)]
        fn lock(&self) {
            // The guard has no state: `unlock` makes one.
            let GuardNoSend { .. } = self.0.lock();
        }

        #[inline(always)]
        fn try_lock(&self) -> bool {
            self.0.try_lock().is_some()
        }

        #[inline(always)]
        unsafe fn unlock(&self) {
            // SAFETY: the caller holds the lock, and the guard's state is that of any locked lock.
            unsafe { self.0.unlock(GuardNoSend::new()) };
        }

        fn is_locked(&self) -> bool {
            self.0.is_locked()
        }
    }
}
