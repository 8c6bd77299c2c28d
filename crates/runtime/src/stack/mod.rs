//! Stacks for fibers: memory from an allocator, with room for the join stack at its upper end.
//!
//! ```text
//! low                                          high
//! | guard | frames, growing down <- boundary -> join slots |
//! ```
//!
//! A fiber that has blocked once touches only the page around the boundary: its first frames are
//! below the boundary, its first join slots above. There is a slot for every [`BYTES_PER_SLOT`] of
//! frames. Each job on a join stack lies in a frame and is at least that large. So the frames reach
//! their guard before the slots reach their end.

mod allocator;
#[cfg(debug_assertions)]
mod high_water;
mod pooled;

pub(crate) use allocator::UserStacks;
pub use allocator::{Stack, StackAllocator};
pub use pooled::PooledStacks;
pub use sateen_base::os::StackGuard;

#[cfg(debug_assertions)]
pub(crate) use high_water::high_water;

use crate::join_stack::Slot;
use crate::own_thread::THREAD_OVERHEAD;
use crate::tight::Tight;
use corosensei::stack::StackPointer;
use sateen_base::CachePadded;
use sateen_base::os::{Mapping, min_signal_stack, valgrind};
use sateen_base::prim::{AtomicUsize, Ordering};
use std::io;
use std::num::NonZeroUsize;

/// Bytes of join slots that share the page with the first frames.
const SHARED_SLOT_BYTES: usize = 1024;
/// The page size that this layout assumes. A larger page only makes the layout coarser.
const PAGE: usize = 4096;
/// See the [module's documentation](self). Checked where job types are defined.
pub(crate) const BYTES_PER_SLOT: usize = 8 * size_of::<Slot>();
/// Bytes of frames for the scheduling loop, a task that panics, and its hook.
const MIN_FRAMES: usize = 24 * 1024;
/// The largest stack that can be requested: 1 GiB.
pub(crate) const MAX_STACK: usize = 1 << 30;
/// The largest request to an allocator: with the slots, and with what a thread needs.
const MAX_TOTAL: usize = total(MAX_STACK + THREAD_OVERHEAD);
/// How many stacks may be used beyond a smaller limit, or when the system provides no more. They
/// are for nested work that nothing else can start.
pub(crate) const BEYOND: usize = 64;
/// The default frame size, as for threads of `std`, so that code written for threads runs here.
pub(crate) const DEFAULT_STACK: usize = 2 << 20;

/// The smallest stack that a task can have, in bytes. Smaller requests are rounded up.
///
/// It has room for the runtime's own frames, a panic and its hook, and a signal handler that runs
/// on it. The last is the kernel's `AT_MINSIGSTKSZ`, which depends on the processor.
pub(crate) fn min_stack_size() -> usize {
    (MIN_FRAMES + min_signal_stack()).max(32 * 1024).next_multiple_of(PAGE)
}

/// A stack size, in bytes, that is above 1 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackSizeError(pub(crate) usize);

impl std::fmt::Display for StackSizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot use stacks of {} bytes: {MAX_STACK} is the most", self.0)
    }
}

impl std::error::Error for StackSizeError {}

/// A valid stack size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StackSize(usize);

impl StackSize {
    /// `bytes`, rounded up to a valid size.
    pub(crate) fn new(bytes: usize) -> Result<Self, StackSizeError> {
        if bytes > MAX_STACK {
            return Err(StackSizeError(bytes));
        }
        Ok(Self(bytes.max(min_stack_size()).next_multiple_of(PAGE)))
    }

    /// The next power of two, so that tasks with sizes of their own share few pools.
    pub(crate) fn coarse(self) -> Self {
        Self(self.0.next_power_of_two())
    }

    pub(crate) fn bytes(self) -> usize {
        self.0
    }
}

/// Bytes of frames and slots, for a stack with `size` bytes of frames.
const fn total(size: usize) -> usize {
    // The boundary is rounded down by less than a page.
    let total = (size + PAGE) / BYTES_PER_SLOT * (BYTES_PER_SLOT + size_of::<Slot>());
    total.next_multiple_of(Mapping::PAGE)
}

/// One fiber's memory.
#[derive(Debug)]
pub(crate) struct FiberStack {
    memory: Stack,
    boundary: NonZeroUsize,
    /// Valgrind's id of the stack.
    valgrind: usize,
    #[cfg(windows)]
    teb: corosensei::stack::StackTebFields,
}

impl FiberStack {
    /// Divides `memory`, which has at least `total(size)` bytes.
    fn new(memory: Stack) -> Self {
        let bottom = memory.bottom().as_ptr() as usize;
        let slots = memory.size().div_ceil(BYTES_PER_SLOT / size_of::<Slot>() + 1);
        let boundary = bottom + memory.size() - slots;
        // Round down so that the last bytes of a page are left to the slots.
        let boundary = (boundary + SHARED_SLOT_BYTES) / PAGE * PAGE - SHARED_SLOT_BYTES;
        Self {
            #[cfg(windows)]
            teb: corosensei::stack::StackTebFields {
                StackBase: boundary,
                StackLimit: bottom,
                DeallocationStack: bottom - memory.guard(),
                GuaranteedStackBytes: 0,
            },
            valgrind: valgrind::register_stack(bottom, boundary),
            memory,
            // It is far above the bottom, so it is not null.
            boundary: NonZeroUsize::new(boundary).unwrap_or(NonZeroUsize::MIN),
        }
    }

    /// Where the join slots begin.
    pub(crate) fn slots(&self) -> *mut Slot {
        let bottom = self.memory.bottom().as_ptr();
        bottom.wrapping_add(self.boundary.get() - bottom as usize).cast()
    }

    /// Lowest address that frames may use.
    pub(crate) fn bottom(&self) -> usize {
        self.memory.bottom().as_ptr() as usize
    }

    /// The size of the guard below that.
    pub(crate) fn guard(&self) -> usize {
        self.memory.guard()
    }

    /// Bytes for frames.
    pub(crate) fn size(&self) -> usize {
        self.boundary.get() - self.bottom()
    }
}

// SAFETY: only this stack uses the memory, with a guard below if its user wants one, until the
// stack is returned. `boundary` is aligned to 1024 bytes and has at least the smallest size below
// it.
unsafe impl corosensei::stack::Stack for FiberStack {
    fn base(&self) -> StackPointer {
        self.boundary
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.bottom() - self.memory.guard()).unwrap_or(StackPointer::MIN)
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

/// A runtime's stacks: an allocator, and a limit on those in use.
pub(crate) struct Stacks {
    allocator: Box<dyn StackAllocator>,
    size: StackSize,
    /// See [`Stacks::most_of_default`].
    most_of_default: usize,
    limit: usize,
    /// Bytes of each stack beyond the requested size.
    overhead: usize,
    /// Stacks in use; counted if there is a limit.
    live: AtomicUsize,
    /// How many were taken beyond the limit, or beyond what the system normally provides.
    beyond: AtomicUsize,
    /// The reasons to keep no spare stacks, on a line that is rarely written.
    tight: CachePadded<Tight>,
}

impl Stacks {
    pub(crate) fn new(
        allocator: Box<dyn StackAllocator>,
        size: StackSize,
        limit: usize,
        overhead: usize,
    ) -> Self {
        let zero = || AtomicUsize::new(0);
        let tight = CachePadded::new(Tight::new());
        Self {
            allocator,
            size,
            most_of_default: size.bytes() / 8 * 7,
            limit,
            overhead,
            live: zero(),
            beyond: zero(),
            tight,
        }
    }

    /// Allocates a stack and returns it, to detect early that there is no memory for any.
    pub(crate) fn prove(&self) -> io::Result<()> {
        self.give(self.allocate(self.size)?);
        Ok(())
    }

    /// The size of a stack without a specific request.
    pub(crate) fn default_size(&self) -> StackSize {
        self.size
    }

    /// The size of a stack for nested work that its caller's stack has no room for: at least the
    /// default size of all runtimes.
    pub(crate) fn large_size(&self) -> StackSize {
        self.size.max(StackSize(DEFAULT_STACK))
    }

    /// Bytes of a default stack that must be left for a task to run on top.
    #[inline]
    pub(crate) fn most_of_default(&self) -> usize {
        self.most_of_default
    }

    /// Takes a stack of at least `size`; `None` at our limit or the system's.
    pub(crate) fn take(&self, size: StackSize) -> Option<FiberStack> {
        self.allocate(size).ok()
    }

    /// Takes a stack of the default size beyond the limit, or from the last memory. For work that
    /// cannot be refused, when all workers stand still.
    #[cold]
    pub(crate) fn take_beyond(&self) -> Option<FiberStack> {
        let most = if self.limit == usize::MAX { BEYOND } else { self.limit.max(BEYOND) };
        // Ordering: Relaxed, a count that guards no data. The same holds below.
        if self.beyond.fetch_add(1, Ordering::Relaxed) >= most {
            self.beyond.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        self.tighten();
        self.allocate_by(self.size, |size| self.allocator.allocate_last(size)).ok()
    }

    /// Adds a reason to keep no spare stacks. Issues a full fence.
    pub(crate) fn tighten(&self) {
        self.tight.raise();
    }

    /// Removes a reason.
    pub(crate) fn loosen(&self) {
        self.tight.lower();
    }

    /// Whether spare stacks must be returned: some worker has no stack, more are in use than there
    /// should be, or the runtime is being ended by force.
    #[inline]
    pub(crate) fn is_tight(&self) -> bool {
        self.tight.is_raised()
    }

    /// Whether tasks may have to wait for stacks: their number is limited, or some worker has none.
    pub(crate) fn are_few(&self) -> bool {
        self.limit != usize::MAX || self.is_tight()
    }

    fn allocate(&self, size: StackSize) -> io::Result<FiberStack> {
        // Ordering: Relaxed, a count that guards no data.
        if self.limit != usize::MAX && self.live.fetch_add(1, Ordering::Relaxed) >= self.limit {
            self.live.fetch_sub(1, Ordering::Relaxed);
            return Err(io::Error::other("as many stacks as allowed are in use"));
        }
        self.allocate_by(size, |size| self.allocator.allocate(size))
    }

    /// Allocates a stack that is already counted.
    fn allocate_by(
        &self,
        size: StackSize,
        allocate: impl FnOnce(usize) -> io::Result<Stack>,
    ) -> io::Result<FiberStack> {
        let wanted = total(size.bytes() + self.overhead);
        let memory = allocate(wanted).inspect_err(|_| self.count_out())?;
        if memory.size() < wanted {
            let reason = format!("asked for {wanted} bytes of stack, got {}", memory.size());
            self.give(FiberStack::new(memory));
            return Err(io::Error::other(reason));
        }
        Ok(FiberStack::new(memory))
    }

    /// Uncounts a stack, those beyond the limit first.
    fn count_out(&self) {
        let less = |count: usize| count.checked_sub(1);
        if self.is_tight()
            && self.beyond.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
        {
            return self.loosen();
        }
        if self.limit != usize::MAX {
            // Ordering: Relaxed, as above.
            self.live.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Takes back a stack that nothing runs on.
    pub(crate) fn give(&self, stack: FiberStack) {
        #[cfg(debug_assertions)]
        stack.clear();
        valgrind::deregister_stack(stack.valgrind);
        // SAFETY: all our stacks come from this allocator, and the caller no longer uses this one.
        unsafe { self.allocator.deallocate(stack.memory) };
        self.count_out();
    }

    /// Whether [`Stacks::trim`] would give memory back.
    pub(crate) fn has_spare(&self) -> bool {
        self.allocator.has_spare()
    }

    /// Returns all unused memory. The runtime has ended, or will not end.
    pub(crate) fn close(&self) {
        self.allocator.close();
    }

    /// Returns unused memory to the system.
    pub(crate) fn trim(&self) {
        self.allocator.trim();
    }
}

impl std::fmt::Debug for Stacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stacks")
            .field("size", &self.size)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(limit: usize) -> Stacks {
        let size = StackSize::new(0).expect("the smallest");
        Stacks::new(Box::new(PooledStacks::new()), size, limit, 0)
    }

    #[test]
    fn no_more_than_the_limit_and_the_last_one_again() {
        let stacks = stacks(2);
        let size = stacks.default_size();
        let (a, b) = (stacks.take(size).expect("first"), stacks.take(size).expect("second"));
        assert!(stacks.take(size).is_none());
        let place = a.slots();
        stacks.give(a);
        let again = stacks.take(size).expect("reused");
        assert_eq!(again.slots(), place);
        stacks.give(again);
        stacks.give(b);
    }

    #[test]
    fn every_size_has_its_frames_and_a_slot_for_every_job() {
        let stacks = stacks(usize::MAX);
        for bytes in [0, 1, 50_000, 64 << 10, DEFAULT_STACK, 1 << 20, 100 << 20] {
            let size = StackSize::new(bytes).expect("a size");
            let stack = stacks.take(size).expect("a stack");
            assert!(stack.size() >= bytes && stack.size() >= min_stack_size());
            let (slots, memory) = (stack.slots() as usize, &stack.memory);
            assert_eq!(slots % PAGE, PAGE - SHARED_SLOT_BYTES);
            let room = memory.bottom().as_ptr() as usize + memory.size() - slots;
            assert!(room / size_of::<Slot>() >= stack.size() / BYTES_PER_SLOT);
            // SAFETY: both addresses lie in the stack's memory, which no code uses.
            unsafe {
                memory.bottom().write(1);
                memory.bottom().add(memory.size() - 1).write(1);
            }
            stacks.give(stack);
        }
    }

    #[test]
    fn sizes_are_rounded_or_refused() {
        assert_eq!(StackSize::new(1).map(StackSize::bytes), Ok(min_stack_size()));
        let error = StackSize::new(3 << 30).expect_err("3 GiB");
        assert_eq!(
            error.to_string(),
            "cannot use stacks of 3221225472 bytes: 1073741824 is the most"
        );
        assert!(StackSize::new(MAX_STACK).expect("the largest").coarse().bytes() <= MAX_STACK);
    }

    /// An eighth for slots: the page that a blocked task touches then mostly shares a page of the
    /// page table with the guard above it.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_default_takes_little_more_than_its_frames() {
        assert_eq!(total(DEFAULT_STACK).div_ceil(4096), 512 + 64 + 2);
    }
}
