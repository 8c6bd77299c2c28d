//! One block of memory: the arrays that a shed's tasks and dependencies lie in.

use crate::BuildError;
use crate::index::Link;
use crate::layout::Layout;
use alloc::alloc::{alloc_zeroed, dealloc};
use core::alloc::Layout as Bytes;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use sateen_base::prim::UnsafeCell;
use sateen_base::prim::searched::{AtomicU32, AtomicU64};

/// What a task lies in. All bytes zero is a free slot of generation 0.
#[repr(C)]
pub(crate) struct Slot<T> {
    /// A [`State`](crate::word::State). Changed by exchanges, and by plain stores where its status
    /// says that one thread owns the slot.
    pub(crate) state: AtomicU64,
    /// The task's channel. Read by the thread that makes the task ready.
    pub(crate) channel: AtomicU32,
    /// See [`flag`]. Written by the slot's owner; by exchanges while a task is being tagged.
    pub(crate) flags: AtomicU32,
    /// Initialised while the status is neither `Free` nor, for tasks that are not kept,
    /// `Cancelled`; never for a milestone. Touched by the slot's owner.
    pub(crate) payload: UnsafeCell<MaybeUninit<T>>,
}

/// Bits of a slot's flags.
pub(crate) mod flag {
    /// The task is part of a template's instance: its end frees neither its slot nor its list of
    /// dependents.
    pub(crate) const KEPT: u32 = 1;
    /// The task has a tag.
    pub(crate) const TAGGED: u32 = 2;
    /// The task has no payload and is never executed: it ends once all its predecessors have.
    pub(crate) const MILESTONE: u32 = 4;
    /// A thread is tagging the task whose generation has the lower 28 bits that lie above.
    pub(crate) const TAGGING: u32 = 8;
    /// [`TAGGING`] and those bits.
    pub(crate) const TAGGING_OF: u32 = !7;

    /// The mark of a thread that tags the task of that generation.
    pub(crate) const fn tagging(generation: u32) -> u32 {
        generation << 4 | TAGGING
    }
}

/// One dependency, in the list of its predecessor or among the free ones.
#[repr(C)]
pub(crate) struct Edge {
    /// Index of the task that waits.
    pub(crate) successor: AtomicU32,
    pub(crate) next: Link,
}

/// How long each array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) tasks: u32,
    pub(crate) edges: u32,
    /// List heads, those of the free lists included.
    pub(crate) heads: usize,
}

/// Where each array begins.
#[derive(Clone, Copy)]
pub(crate) struct Offsets {
    pub(crate) slots: usize,
    pub(crate) links: usize,
    pub(crate) dependents: usize,
    pub(crate) tags: usize,
    pub(crate) edges: usize,
    end: usize,
}

/// What allocators align to at no cost.
const ALIGNED: usize = 16;

/// Blocks of at least this size ask for huge pages: the tasks and dependencies of a graph lie all
/// over them.
#[cfg(feature = "std")]
const HUGE: usize = 4 << 20;

/// Blocks begin at a multiple of this: two cache lines, or what the payload needs.
pub(crate) const fn align<T>() -> usize {
    if align_of::<Slot<T>>() > 128 { align_of::<Slot<T>>() } else { 128 }
}

impl Sizes {
    /// `None` if that is more than can be addressed.
    const fn offsets<T, L: Layout>(self) -> Option<Offsets> {
        /// Begin and end of an array behind `from`.
        const fn array<E>(from: Option<usize>, len: usize) -> Option<(usize, usize)> {
            let Some(from) = from else { return None };
            let Some(begin) = from.checked_next_multiple_of(align_of::<E>()) else { return None };
            let Some(bytes) = len.checked_mul(size_of::<E>()) else { return None };
            match begin.checked_add(bytes) {
                Some(end) if end <= isize::MAX as usize / 2 => Some((begin, end)),
                _ => None,
            }
        }
        const fn end(array: Option<(usize, usize)>) -> Option<usize> {
            match array {
                Some((_, end)) => Some(end),
                None => None,
            }
        }
        let Some(heads) = self.heads.checked_mul(L::STRIDE) else { return None };
        let heads = end(array::<AtomicU64>(Some(0), heads));
        let slots = array::<Slot<T>>(
            match heads {
                // Heads of a padded layout share no line with slots.
                Some(end) => end.checked_next_multiple_of(L::STRIDE * 8),
                None => None,
            },
            self.tasks as usize,
        );
        let links = array::<Link>(end(slots), self.tasks as usize);
        let dependents = array::<AtomicU64>(end(links), self.tasks as usize);
        let tags = array::<AtomicU64>(end(dependents), self.tasks as usize);
        let edges = array::<Edge>(end(tags), self.edges as usize);
        match (slots, links, dependents, tags, edges) {
            (Some(s), Some(l), Some(d), Some(t), Some(e)) => Some(Offsets {
                slots: s.0,
                links: l.0,
                dependents: d.0,
                tags: t.0,
                edges: e.0,
                end: e.1,
            }),
            _ => None,
        }
    }

    /// Bytes in all; `None` if that is more than can be addressed.
    pub(crate) const fn bytes<T, L: Layout>(self) -> Option<usize> {
        match self.offsets::<T, L>() {
            Some(offsets) => Some(offsets.end),
            None => None,
        }
    }

    /// Whether a copy of a shed of these `others` fits exactly. Into a shed that has grown since,
    /// a smaller copy fits too.
    pub(crate) fn hold<L: Layout>(self, others: Self) -> bool {
        let more = L::GROWS && self.tasks >= others.tasks && self.edges >= others.edges;
        self == others || more && self.heads == others.heads
    }

    pub(crate) fn too_large(self) -> BuildError {
        BuildError::TooLarge { tasks: self.tasks.into(), dependencies: self.edges.into() }
    }
}

/// A block. It does not drop payloads.
pub(crate) struct Block<T, L: Layout> {
    base: NonNull<u8>,
    pub(crate) at: Offsets,
    pub(crate) sizes: Sizes,
    /// What the allocator gave, and how many bytes: the block lies in it.
    allocation: Option<(NonNull<u8>, usize)>,
    /// Payloads lie in cells, so this is invariant in `T`.
    of: PhantomData<(UnsafeCell<T>, L)>,
}

impl<T, L: Layout> Block<T, L> {
    /// A block from the allocator. It is all zeros, which cost nothing in a large block before
    /// they are touched.
    pub(crate) fn new(sizes: Sizes) -> Result<Self, BuildError> {
        let at = sizes.offsets::<T, L>().ok_or_else(|| sizes.too_large())?;
        // Aligned here: asked for more than their usual alignment, allocators write the zeros
        // themselves, and so touch all of the memory.
        let size = at.end.checked_add(align::<T>() - ALIGNED).ok_or_else(|| sizes.too_large())?;
        let bytes = Bytes::from_size_align(size, ALIGNED).map_err(|_| sizes.too_large())?;
        // SAFETY: the size is not zero: a first block has a head, and a later one a slot or an
        // edge.
        let given = NonNull::new(unsafe { alloc_zeroed(bytes) })
            .ok_or(BuildError::OutOfMemory { bytes: at.end })?;
        // SAFETY: there are `align - ALIGNED` bytes more than the block needs, and `given` is a
        // multiple of `ALIGNED`.
        let base = unsafe { given.add(given.align_offset(align::<T>())) };
        #[cfg(feature = "std")]
        if at.end >= HUGE {
            sateen_base::os::advise_huge_pages(base.as_ptr(), at.end);
        }
        let block = Self { base, at, sizes, allocation: Some((given, size)), of: PhantomData };
        if cfg!(loom) {
            block.write_all();
        }
        Ok(block)
    }

    /// A block in `buffer`, whose first bytes are overwritten.
    ///
    /// # Safety
    /// Nothing else uses the buffer while this value lives.
    pub(crate) unsafe fn new_in(
        sizes: Sizes,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Result<Self, BuildError> {
        let at = sizes.offsets::<T, L>().ok_or_else(|| sizes.too_large())?;
        let address = buffer.as_ptr().addr();
        if !address.is_multiple_of(align::<T>()) {
            return Err(BuildError::BufferMisaligned { address, align: align::<T>() });
        }
        if buffer.len() < at.end {
            return Err(BuildError::BufferTooSmall { needed: at.end, given: buffer.len() });
        }
        buffer[..at.end].fill(MaybeUninit::new(0));
        let base = NonNull::from(buffer).cast();
        let block = Self { base, at, sizes, allocation: None, of: PhantomData };
        if cfg!(loom) {
            block.write_all();
        }
        Ok(block)
    }

    #[inline(always)]
    pub(crate) fn array<E>(&self, offset: usize) -> *mut E {
        // SAFETY: `offset` is one of `self.at`, inside the block.
        unsafe { self.base.add(offset).cast().as_ptr() }
    }

    /// Makes the model's atomics, for which zeros are no valid value.
    #[cold]
    fn write_all(&self) {
        // SAFETY: each of these lies in the block (`offsets`), which no other thread sees yet.
        unsafe {
            for i in 0..self.sizes.heads * L::STRIDE {
                self.array::<AtomicU64>(0).add(i).write(AtomicU64::new(0));
            }
            for i in 0..self.sizes.tasks as usize {
                self.array::<Slot<T>>(self.at.slots).add(i).write(Slot {
                    state: AtomicU64::new(0),
                    channel: AtomicU32::new(0),
                    flags: AtomicU32::new(0),
                    payload: UnsafeCell::new(MaybeUninit::uninit()),
                });
                self.array::<Link>(self.at.links).add(i).write(Link::new());
                self.array::<AtomicU64>(self.at.dependents).add(i).write(AtomicU64::new(0));
                self.array::<AtomicU64>(self.at.tags).add(i).write(AtomicU64::new(0));
            }
            for i in 0..self.sizes.edges as usize {
                let edge = Edge { successor: AtomicU32::new(0), next: Link::new() };
                self.array::<Edge>(self.at.edges).add(i).write(edge);
            }
        }
    }

    /// Drops the model's atomics, which own memory.
    #[cold]
    fn drop_all(&mut self) {
        // SAFETY: `write_all` wrote these, and this is the last use of the block.
        unsafe {
            for i in 0..self.sizes.heads * L::STRIDE {
                self.array::<AtomicU64>(0).add(i).drop_in_place();
            }
            for i in 0..self.sizes.tasks as usize {
                self.array::<Slot<T>>(self.at.slots).add(i).drop_in_place();
                self.array::<Link>(self.at.links).add(i).drop_in_place();
                self.array::<AtomicU64>(self.at.dependents).add(i).drop_in_place();
                self.array::<AtomicU64>(self.at.tags).add(i).drop_in_place();
            }
            for i in 0..self.sizes.edges as usize {
                self.array::<Edge>(self.at.edges).add(i).drop_in_place();
            }
        }
    }
}

impl<T, L: Layout> Drop for Block<T, L> {
    fn drop(&mut self) {
        if cfg!(loom) {
            self.drop_all();
        }
        if let Some((given, size)) = self.allocation {
            // SAFETY: `new` had it from the allocator with this layout, which was valid then.
            unsafe {
                dealloc(given.as_ptr(), Bytes::from_size_align_unchecked(size, ALIGNED));
            }
        }
    }
}
