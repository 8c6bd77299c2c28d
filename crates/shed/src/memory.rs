//! All memory of a shed: the first block, the blocks that follow, and access to what lies there.

use crate::block::{Block, Edge, Sizes, Slot};
use crate::grow::{Blocks, MAX};
use crate::index::Link;
use crate::layout::Layout;
use crate::{BuildError, TaskId};
use alloc::boxed::Box;
use core::mem::MaybeUninit;
use sateen_base::prim::searched::AtomicU64;

/// The memory. It does not drop payloads: the shed does.
pub(crate) struct Memory<T, L: Layout> {
    first: Block<T, L>,
    /// The blocks that follow, if the layout [grows](Layout): of slots, and of dependencies.
    more: Option<Box<[Blocks<T, L>; 2]>>,
}

// SAFETY: the blocks are this value's alone. The shed's protocol hands payloads from thread to
// thread and never shares them: hence `T: Send`.
unsafe impl<T: Send, L: Layout> Send for Memory<T, L> {}
// SAFETY: as above; everything else in a block is atomic, and `Blocks` writes its cells under a
// lock before it publishes them.
unsafe impl<T: Send, L: Layout> Sync for Memory<T, L> {}

impl<T, L: Layout> Memory<T, L> {
    /// In memory from the allocator; a layout that grows takes more of it later.
    pub(crate) fn new(sizes: Sizes) -> Result<Self, BuildError> {
        let first = Block::new(sizes)?;
        let blocks = || Box::new([sizes.tasks, sizes.edges].map(Blocks::new));
        Ok(Self { first, more: L::GROWS.then(blocks) })
    }

    /// In `buffer`, whose first bytes are overwritten.
    ///
    /// # Safety
    /// Nothing else uses the buffer while this value lives.
    pub(crate) unsafe fn new_in(
        sizes: Sizes,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Result<Self, BuildError> {
        // SAFETY: as the caller says.
        let first = unsafe { Block::new_in(sizes, buffer)? };
        Ok(Self { first, more: None })
    }

    /// How much there is at present.
    #[inline(always)]
    pub(crate) fn sizes(&self) -> Sizes {
        match &self.more {
            Some(more) if L::GROWS => {
                Sizes { tasks: more[0].all(), edges: more[1].all(), ..self.first.sizes }
            }
            _ => self.first.sizes,
        }
    }

    /// How many dependencies there can ever be.
    pub(crate) fn max_edges(&self) -> u32 {
        if L::GROWS { MAX } else { self.first.sizes.edges }
    }

    /// Takes memory for more tasks than `seen`. `false`: there is none.
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

    /// The block that a task's slot is in, and the slot's index there.
    #[inline(always)]
    fn block_of_task(&self, index: u32) -> (&Block<T, L>, usize) {
        self.block_of(0, self.first.sizes.tasks, index)
    }

    #[inline(always)]
    fn block_of(&self, what: usize, first: u32, index: u32) -> (&Block<T, L>, usize) {
        if !L::GROWS || index < first {
            debug_assert!(index < first);
            return (&self.first, index as usize);
        }
        let found = self.more.as_ref().and_then(|more| more[what].find(index));
        // Not found: a pop was overtaken and follows links that it has not acquired. Any link
        // will do, as its exchange fails.
        found.map_or((&self.first, 0), |(block, index)| (block, index as usize))
    }

    /// List head number `index`.
    #[inline(always)]
    pub(crate) fn head(&self, index: usize) -> &AtomicU64 {
        debug_assert!(index < self.first.sizes.heads);
        // SAFETY: `heads * STRIDE` of them begin the block, and only shared references to them
        // are made.
        unsafe { &*self.first.array::<AtomicU64>(0).add(index * L::STRIDE) }
    }

    #[inline(always)]
    pub(crate) fn slot(&self, index: u32) -> &Slot<T> {
        let (block, index) = self.block_of_task(index);
        // SAFETY: indices come from names that `known` has checked, and from lists, which hold no
        // others.
        unsafe { &*block.array::<Slot<T>>(block.at.slots).add(index) }
    }

    /// Has the processor fetch a slot, which will be written to.
    #[inline(always)]
    pub(crate) fn prefetch_slot(&self, index: u32) {
        sateen_base::prefetch_write(core::ptr::from_ref(self.slot(index)).cast());
    }

    /// As [`prefetch_slot`](Self::prefetch_slot), for its word of dependents.
    #[inline(always)]
    pub(crate) fn prefetch_dependents(&self, index: u32) {
        sateen_base::prefetch_write(core::ptr::from_ref(self.dependents(index)).cast());
    }

    /// As [`prefetch_slot`](Self::prefetch_slot), for a dependency.
    #[inline(always)]
    pub(crate) fn prefetch_edge(&self, index: u32) {
        sateen_base::prefetch_write(core::ptr::from_ref(self.edge(index)).cast());
    }

    /// The link of a slot: what follows in the list that it lies in.
    #[inline(always)]
    pub(crate) fn link(&self, index: u32) -> &Link {
        let (block, index) = self.block_of_task(index);
        // SAFETY: as for `slot`.
        unsafe { &*block.array::<Link>(block.at.links).add(index) }
    }

    /// A [`Dependents`](crate::word::Dependents). It lies outside the slot, so that tasks on which
    /// nothing depends never touch it.
    #[inline(always)]
    pub(crate) fn dependents(&self, index: u32) -> &AtomicU64 {
        let (block, index) = self.block_of_task(index);
        // SAFETY: as for `slot`.
        unsafe { &*block.array::<AtomicU64>(block.at.dependents).add(index) }
    }

    /// The user's word; valid if the slot's flags say so. For a milestone: the address of its
    /// instance's [`Plan`](crate::plan::Plan).
    #[inline(always)]
    pub(crate) fn tag(&self, index: u32) -> &AtomicU64 {
        let (block, index) = self.block_of_task(index);
        // SAFETY: as for `slot`.
        unsafe { &*block.array::<AtomicU64>(block.at.tags).add(index) }
    }

    #[inline(always)]
    pub(crate) fn edge(&self, index: u32) -> &Edge {
        let (block, index) = self.block_of(1, self.first.sizes.edges, index);
        // SAFETY: indices of dependencies come from the lists only, which hold no others.
        unsafe { &*block.array::<Edge>(block.at.edges).add(index) }
    }

    /// Whether there is a slot with the name's index. The name may be made up.
    #[inline(always)]
    pub(crate) fn has(&self, task: TaskId) -> bool {
        task.index() < self.sizes().tasks
    }
}
