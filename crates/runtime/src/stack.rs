//! Stacks for fibers: guarded memory with room for the join stack, and a pool of them.
//!
//! ```text
//! low                                                     high
//! | guard | stack, grows down <- boundary -> join slots | guard |
//! ```
//!
//! A fiber that has blocked once touches the page around the boundary and no other: its first frames
//! lie below, its first join slots above. There is room for one slot per 16 bytes of stack. Every
//! job on a join stack lies in a frame and is no smaller than that, so the stack overflows into its
//! guard before the slots could into theirs.

use crate::join_stack::Slot;
use corosensei::stack::StackPointer;
use prim::AtomicUsize;
use sateen_base::os::StackMap;
use sateen_base::{SpinLock, prim};
use std::io;
use std::num::NonZeroUsize;

/// Bytes of join slots that share the page with the first frames.
const SHARED_SLOT_BYTES: usize = 1024;
/// Smallest stack: the scheduling loop, a task that panics, and its hook.
pub(crate) const MIN_STACK: usize = 32 * 1024;
/// Largest stack that can be asked for: 1 GiB.
pub(crate) const MAX_STACK: usize = 1 << 30;
/// Stacks kept for reuse by a pool.
const POOLED: usize = 1024;

/// One fiber's memory.
#[derive(Debug)]
pub(crate) struct FiberStack {
    map: StackMap,
    boundary: NonZeroUsize,
    #[cfg(windows)]
    teb: corosensei::stack::StackTebFields,
}

impl FiberStack {
    fn new(size: usize) -> io::Result<Self> {
        // A page and more to spare for what rounding adds to the stack.
        let slots = (size + 4 * StackMap::GUARD) / 16 * size_of::<Slot>();
        let map = StackMap::new(size + slots + SHARED_SLOT_BYTES)?;
        let boundary =
            map.top() as usize - slots.next_multiple_of(StackMap::GUARD) - SHARED_SLOT_BYTES;
        let boundary = NonZeroUsize::new(boundary)
            .ok_or_else(|| io::Error::other("the system mapped a stack at address 0"))?;
        Ok(Self {
            #[cfg(windows)]
            teb: corosensei::stack::StackTebFields {
                StackBase: boundary.get(),
                StackLimit: map.bottom() as usize,
                DeallocationStack: map.bottom() as usize - StackMap::GUARD,
                GuaranteedStackBytes: 0,
            },
            map,
            boundary,
        })
    }

    /// Where the join slots begin.
    pub(crate) fn slots(&self) -> *mut Slot {
        let offset = self.boundary.get() - self.map.bottom() as usize;
        self.map.bottom().wrapping_add(offset).cast()
    }

    /// Lowest address that frames may use.
    pub(crate) fn bottom(&self) -> usize {
        self.map.bottom() as usize
    }
}

// SAFETY: the mapping has a guard below and lives as long as this value; `boundary` is aligned to
// 1024 bytes and has at least `MIN_STACK` bytes below it.
unsafe impl corosensei::stack::Stack for FiberStack {
    fn base(&self) -> StackPointer {
        self.boundary
    }

    fn limit(&self) -> StackPointer {
        // The lowest usable address is above a guard page, so it is not 0.
        StackPointer::new(self.map.bottom() as usize - StackMap::GUARD).unwrap_or(StackPointer::MIN)
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> corosensei::stack::StackTebFields {
        self.teb
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.teb.StackLimit = stack_limit;
        self.teb.GuaranteedStackBytes = guaranteed_stack_bytes;
    }
}

/// Stacks of one size, kept for reuse.
#[derive(Debug)]
pub(crate) struct StackPool {
    size: usize,
    /// Most stacks that may exist at once.
    limit: usize,
    live: AtomicUsize,
    free: SpinLock<Vec<FiberStack>>,
}

impl StackPool {
    pub(crate) fn new(size: usize, limit: usize) -> Self {
        Self { size, limit, live: AtomicUsize::new(0), free: SpinLock::new(Vec::new()) }
    }

    /// Makes a first stack and keeps it, to find out early whether there is memory for any.
    pub(crate) fn prove(&self) -> io::Result<()> {
        self.live.fetch_add(1, prim::Ordering::Relaxed);
        self.give(FiberStack::new(self.size)?);
        Ok(())
    }

    /// Bytes of each stack.
    pub(crate) fn stack_size(&self) -> usize {
        self.size
    }

    /// A stack, or none when the limit or the system's is reached.
    pub(crate) fn take(&self) -> Option<FiberStack> {
        let pooled = self.free.lock().pop();
        if pooled.is_some() {
            return pooled;
        }
        use prim::Ordering::Relaxed;
        // Ordering: Relaxed, a count that guards no data.
        if self.live.fetch_add(1, Relaxed) < self.limit
            && let Ok(stack) = FiberStack::new(self.size)
        {
            return Some(stack);
        }
        self.live.fetch_sub(1, Relaxed);
        None
    }

    /// Takes back a stack that nothing runs on.
    pub(crate) fn give(&self, stack: FiberStack) {
        {
            let mut free = self.free.lock();
            if free.len() < POOLED {
                free.push(stack);
                return;
            }
        }
        drop(stack);
        // Ordering: Relaxed, as above.
        self.live.fetch_sub(1, prim::Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_gives_up_to_its_limit_and_reuses() {
        let pool = StackPool::new(MIN_STACK, 2);
        let (a, b) = (pool.take().expect("first"), pool.take().expect("second"));
        assert!(pool.take().is_none());
        let place = a.slots();
        pool.give(a);
        assert_eq!(pool.take().expect("reused").slots(), place);
        drop(b);
    }

    #[test]
    fn slots_and_frames_share_a_page() {
        let stack = FiberStack::new(256 * 1024).expect("a stack");
        let slots = stack.slots() as usize;
        assert_eq!(slots % 4096, 3072);
        let room = stack.map.top() as usize - slots;
        assert!(room / size_of::<Slot>() >= (slots - stack.bottom()) / 16);
    }
}
