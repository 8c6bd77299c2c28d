//! The one block of memory that a shed lives in, and what lies where.

use crate::grow::{Chunks, MOST};
use crate::layout::Layout;
use crate::{BuildError, TaskId};
use alloc::alloc::{alloc_zeroed, dealloc};
use alloc::boxed::Box;
use core::alloc::Layout as Bytes;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use sateen_base::prim::UnsafeCell;
use sateen_base::prim::searched::{AtomicU32, AtomicU64};

/// A task's place. All bytes zero is a free place of generation 0.
#[repr(C)]
pub(crate) struct Place<T> {
    /// A [`State`](crate::word::State). Changed by exchanges, by plain stores where its status says that one thread owns the place.
    pub(crate) state: AtomicU64,
    /// The task's channel. Read by who makes the task ready.
    pub(crate) channel: AtomicU32,
    /// See [`flag`]. Written by who owns the place; by exchanges where a task is being tagged.
    pub(crate) flags: AtomicU32,
    /// There while the status is neither `Free` nor, for tasks that are not kept, `Cancelled`; a milestone has none. Touched by who owns the place.
    pub(crate) payload: UnsafeCell<MaybeUninit<T>>,
}

/// Bits of a place's flags.
pub(crate) mod flag {
    /// The task is part of a template's instance: its end frees neither its place nor its dependents' list.
    pub(crate) const KEPT: u32 = 1;
    /// The task has a tag.
    pub(crate) const TAGGED: u32 = 2;
    /// The task has no payload and is never executed: it ends as soon as nothing it depends on is open.
    pub(crate) const MILESTONE: u32 = 4;
    /// The task is being tagged, by a thread that means the task whose generation has the lower 28 bits that lie above.
    pub(crate) const TAGGING: u32 = 8;
    /// [`TAGGING`] and those bits.
    pub(crate) const TAGGING_OF: u32 = !7;

    /// The mark of who tags the task of that generation.
    pub(crate) const fn tagging(generation: u32) -> u32 {
        generation << 4 | TAGGING
    }
}

/// One dependency, in the list of its predecessor or among the free ones.
#[repr(C)]
pub(crate) struct Edge {
    /// Index of the task that waits.
    pub(crate) successor: AtomicU32,
    /// Index plus one of the next in the list; 0 ends it.
    pub(crate) next: AtomicU32,
}

/// How much of everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) tasks: u32,
    pub(crate) edges: u32,
    /// List heads, those of the free lists included.
    pub(crate) heads: usize,
}

/// Where each array begins.
#[derive(Clone, Copy)]
struct Offsets {
    places: usize,
    links: usize,
    dependents: usize,
    tags: usize,
    edges: usize,
    end: usize,
}

/// What allocators align to at no cost.
const ALIGNED: usize = 16;

/// Blocks from this size on ask for huge pages: tasks and dependencies of a graph lie all over them.
#[cfg(feature = "std")]
const HUGE: usize = 4 << 20;

/// Blocks begin at a multiple of this: two cache lines, or what the payload needs.
pub(crate) const fn align<T>() -> usize {
    if align_of::<Place<T>>() > 128 { align_of::<Place<T>>() } else { 128 }
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
        let places = array::<Place<T>>(
            match heads {
                // Heads of a padded layout share no line with places.
                Some(end) => end.checked_next_multiple_of(L::STRIDE * 8),
                None => None,
            },
            self.tasks as usize,
        );
        let links = array::<AtomicU32>(end(places), self.tasks as usize);
        let dependents = array::<AtomicU64>(end(links), self.tasks as usize);
        let tags = array::<AtomicU64>(end(dependents), self.tasks as usize);
        let edges = array::<Edge>(end(tags), self.edges as usize);
        match (places, links, dependents, tags, edges) {
            (Some(p), Some(l), Some(d), Some(t), Some(e)) => Some(Offsets {
                places: p.0,
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

    /// Whether a copy of a shed of these `others` fits exactly; into one that has grown since, fewer fit too.
    pub(crate) fn hold<L: Layout>(self, others: Self) -> bool {
        let more = L::GROWS && self.tasks >= others.tasks && self.edges >= others.edges;
        self == others || more && self.heads == others.heads
    }

    pub(crate) fn too_large(self) -> BuildError {
        BuildError::TooLarge { tasks: self.tasks.into(), dependencies: self.edges.into() }
    }
}

/// The block.
///
/// Payloads are not dropped with it: the shed does that.
pub(crate) struct Memory<T, L: Layout> {
    base: NonNull<u8>,
    at: Offsets,
    sizes: Sizes,
    /// What the allocator gave, and how many bytes: the block lies in it.
    allocation: Option<(NonNull<u8>, usize)>,
    /// What follows the block, if it grows ([`Layout::GROWS`]): places, and dependencies.
    more: Option<Box<[Chunks<T, L>; 2]>>,
    /// Payloads are in cells, so neither longer nor shorter borrows will do.
    of: PhantomData<(UnsafeCell<T>, L)>,
}

// SAFETY: the block is this value's alone. Payloads are handed from thread to thread by the shed's protocol, never shared: hence `T: Send`.
unsafe impl<T: Send, L: Layout> Send for Memory<T, L> {}
// SAFETY: as above; everything else in the block is atomic.
unsafe impl<T: Send, L: Layout> Sync for Memory<T, L> {}

impl<T, L: Layout> Memory<T, L> {
    /// In memory from the allocator; more of it later, if the layout grows.
    pub(crate) fn new(sizes: Sizes) -> Result<Self, BuildError> {
        let mut memory = Self::block(sizes)?;
        if L::GROWS {
            memory.more = Some(Box::new([sizes.tasks, sizes.edges].map(Chunks::new)));
        }
        Ok(memory)
    }

    /// A block from the allocator, all zeros, which for large ones costs nothing before they are touched.
    pub(crate) fn block(sizes: Sizes) -> Result<Self, BuildError> {
        let at = sizes.offsets::<T, L>().ok_or_else(|| sizes.too_large())?;
        // Aligned by ourselves: for more than their usual alignment allocators write the zeros, and so touch all of it.
        let size = at.end.checked_add(align::<T>() - ALIGNED).ok_or_else(|| sizes.too_large())?;
        let bytes = Bytes::from_size_align(size, ALIGNED).map_err(|_| sizes.too_large())?;
        // SAFETY: not of size zero: there is at least one head, or, in a block that follows, place or dependency.
        let given = NonNull::new(unsafe { alloc_zeroed(bytes) })
            .ok_or(BuildError::OutOfMemory { bytes: at.end })?;
        // SAFETY: there are `align - ALIGNED` bytes more than the block needs, and `given` is a multiple of `ALIGNED`.
        let base = unsafe { given.add(given.align_offset(align::<T>())) };
        #[cfg(feature = "std")]
        if at.end >= HUGE {
            sateen_base::os::advise_huge_pages(base.as_ptr(), at.end);
        }
        let allocation = Some((given, size));
        let memory = Self { base, at, sizes, allocation, more: None, of: PhantomData };
        if cfg!(loom) {
            memory.write_all();
        }
        Ok(memory)
    }

    /// In `buffer`, whose first bytes are overwritten.
    ///
    /// # Safety
    /// The buffer is nobody else's while this value lives.
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
        let memory = Self { base, at, sizes, allocation: None, more: None, of: PhantomData };
        if cfg!(loom) {
            memory.write_all();
        }
        Ok(memory)
    }

    /// Makes the model's atomics, which zeros are no value of.
    #[cold]
    fn write_all(&self) {
        // SAFETY: each of these lies in the block (`offsets`), which nobody else sees yet.
        unsafe {
            for i in 0..self.sizes.heads * L::STRIDE {
                self.array::<AtomicU64>(0).add(i).write(AtomicU64::new(0));
            }
            for i in 0..self.sizes.tasks as usize {
                self.array::<Place<T>>(self.at.places).add(i).write(Place {
                    state: AtomicU64::new(0),
                    channel: AtomicU32::new(0),
                    flags: AtomicU32::new(0),
                    payload: UnsafeCell::new(MaybeUninit::uninit()),
                });
                self.array::<AtomicU32>(self.at.links).add(i).write(AtomicU32::new(0));
                self.array::<AtomicU64>(self.at.dependents).add(i).write(AtomicU64::new(0));
                self.array::<AtomicU64>(self.at.tags).add(i).write(AtomicU64::new(0));
            }
            for i in 0..self.sizes.edges as usize {
                let edge = Edge { successor: AtomicU32::new(0), next: AtomicU32::new(0) };
                self.array::<Edge>(self.at.edges).add(i).write(edge);
            }
        }
    }

    /// How much there is at present.
    #[inline(always)]
    pub(crate) fn sizes(&self) -> Sizes {
        match &self.more {
            Some(more) if L::GROWS => {
                Sizes { tasks: more[0].all(), edges: more[1].all(), ..self.sizes }
            }
            _ => self.sizes,
        }
    }

    /// How many dependencies there can ever be.
    pub(crate) fn most_edges(&self) -> u32 {
        if L::GROWS { MOST } else { self.sizes.edges }
    }

    /// Takes memory for more tasks than `seen`: `false` if there is none.
    #[inline(always)]
    pub(crate) fn grow_tasks(&self, seen: u32) -> bool {
        L::GROWS && self.grow(0, seen, |tasks| Sizes { tasks, edges: 0, heads: 0 })
    }

    /// As [`grow_tasks`](Self::grow_tasks), for dependencies.
    #[inline(always)]
    pub(crate) fn grow_edges(&self, seen: u32) -> bool {
        L::GROWS && self.grow(1, seen, |edges| Sizes { tasks: 0, edges, heads: 0 })
    }

    fn grow(&self, what: usize, seen: u32, sizes: impl FnOnce(u32) -> Sizes) -> bool {
        self.more.as_ref().is_some_and(|more| more[what].grow(seen, sizes))
    }

    /// The block that a task's place is in, and which it is there.
    #[inline(always)]
    fn block_of_task(&self, index: u32) -> (&Self, usize) {
        self.block_of(0, self.sizes.tasks, index)
    }

    #[inline(always)]
    fn block_of(&self, what: usize, first: u32, index: u32) -> (&Self, usize) {
        if !L::GROWS || index < first {
            debug_assert!(index < first);
            return (self, index as usize);
        }
        let found = self.more.as_ref().and_then(|more| more[what].find(index));
        // Not found: somebody pops from a list and was overtaken, so that it reads links of others' without having acquired what they
        // mean. Any link will do: the exchange fails.
        found.map_or((self, 0), |(memory, index)| (memory, index as usize))
    }

    #[inline(always)]
    fn array<E>(&self, offset: usize) -> *mut E {
        // SAFETY: `offset` is one of `self.at`, inside the block.
        unsafe { self.base.add(offset).cast().as_ptr() }
    }

    /// List head number `index`.
    #[inline(always)]
    pub(crate) fn head(&self, index: usize) -> &AtomicU64 {
        debug_assert!(index < self.sizes.heads);
        // SAFETY: `heads * STRIDE` of them begin the block, and only shared references to them are made.
        unsafe { &*self.array::<AtomicU64>(0).add(index * L::STRIDE) }
    }

    #[inline(always)]
    pub(crate) fn place(&self, index: u32) -> &Place<T> {
        let (block, index) = self.block_of_task(index);
        // SAFETY: indices come from names that `known` has checked, and from lists, which hold no others.
        unsafe { &*block.array::<Place<T>>(block.at.places).add(index) }
    }

    /// Has the processor fetch a place, which will be written to.
    #[inline(always)]
    pub(crate) fn prefetch_place(&self, index: u32) {
        sateen_base::prefetch_write(core::ptr::from_ref(self.place(index)).cast());
    }

    /// As [`prefetch_place`](Self::prefetch_place), for its word of dependents.
    #[inline(always)]
    pub(crate) fn prefetch_dependents(&self, index: u32) {
        sateen_base::prefetch_write(core::ptr::from_ref(self.dependents(index)).cast());
    }

    /// As [`prefetch_place`](Self::prefetch_place), for a dependency.
    #[inline(always)]
    pub(crate) fn prefetch_edge(&self, index: u32) {
        sateen_base::prefetch_write(core::ptr::from_ref(self.edge(index)).cast());
    }

    /// Link of a task's place: who comes next in the list that it lies in, plus one; 0 ends it.
    #[inline(always)]
    pub(crate) fn link(&self, index: u32) -> &AtomicU32 {
        let (block, index) = self.block_of_task(index);
        // SAFETY: as for `place`.
        unsafe { &*block.array::<AtomicU32>(block.at.links).add(index) }
    }

    /// A [`Dependents`](crate::word::Dependents). Not in the place: tasks on which nothing depends never touch it.
    #[inline(always)]
    pub(crate) fn dependents(&self, index: u32) -> &AtomicU64 {
        let (block, index) = self.block_of_task(index);
        // SAFETY: as for `place`.
        unsafe { &*block.array::<AtomicU64>(block.at.dependents).add(index) }
    }

    /// The user's word; counts if the place is flagged so. For a milestone: its instance's [`Plan`](crate::plan::Plan).
    #[inline(always)]
    pub(crate) fn tag(&self, index: u32) -> &AtomicU64 {
        let (block, index) = self.block_of_task(index);
        // SAFETY: as for `place`.
        unsafe { &*block.array::<AtomicU64>(block.at.tags).add(index) }
    }

    #[inline(always)]
    pub(crate) fn edge(&self, index: u32) -> &Edge {
        let (block, index) = self.block_of(1, self.sizes.edges, index);
        // SAFETY: indices of dependencies come from the lists only, which hold no others.
        unsafe { &*block.array::<Edge>(block.at.edges).add(index) }
    }

    /// Whether a place has that index, whoever made the name.
    #[inline(always)]
    pub(crate) fn has(&self, task: TaskId) -> bool {
        task.index() < self.sizes().tasks
    }
}

impl<T, L: Layout> Drop for Memory<T, L> {
    fn drop(&mut self) {
        if cfg!(loom) {
            self.drop_all();
        }
        if let Some((given, size)) = self.allocation {
            // SAFETY: `block` had it from the allocator with this layout, which was valid then.
            unsafe {
                dealloc(given.as_ptr(), Bytes::from_size_align_unchecked(size, ALIGNED));
            }
        }
    }
}

impl<T, L: Layout> Memory<T, L> {
    /// The model's atomics own memory.
    #[cold]
    fn drop_all(&mut self) {
        // SAFETY: `write_all` wrote these, and nobody uses them any more.
        unsafe {
            for i in 0..self.sizes.heads * L::STRIDE {
                self.array::<AtomicU64>(0).add(i).drop_in_place();
            }
            for i in 0..self.sizes.tasks as usize {
                self.array::<Place<T>>(self.at.places).add(i).drop_in_place();
                self.array::<AtomicU32>(self.at.links).add(i).drop_in_place();
                self.array::<AtomicU64>(self.at.dependents).add(i).drop_in_place();
                self.array::<AtomicU64>(self.at.tags).add(i).drop_in_place();
            }
            for i in 0..self.sizes.edges as usize {
                self.array::<Edge>(self.at.edges).add(i).drop_in_place();
            }
        }
    }
}
