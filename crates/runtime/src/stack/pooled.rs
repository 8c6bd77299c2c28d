//! Stacks in slabs, kept for reuse.
//!
//! A *slab* is one mapping, divided into up to 64 stacks of one size with a guard below each:
//!
//! ```text
//! low                                                        high
//! | guard | stack 0 | guard | stack 1 | ... | stack n-1 | guard |
//! ```
//!
//! Neighbours share the guard between them, and adjacent slabs are one mapping to the kernel. So a
//! million stacks take a handful of mappings, and about one system call for ten stacks. (Populating
//! the first pages of all stacks by one call per slab was tried. It took a third more time than the
//! page faults that it saved.)
//!
//! A stack has one of three states, which change under the pool's lock:
//!
//! | state | means | changes to |
//! |---|---|---|
//! | in use | given out | *warm*, or *cold* if there are `high_water` warm ones |
//! | warm | in its size class, the last used on top, with its pages | in use; cold (`trim`) |
//! | cold | a bit in its slab | in use, if none is warm; unmapped with its slab when all are cold |
//!
//! Cold stacks keep their pages until `trim` discards them. That costs a system call and a TLB
//! shootdown on other cores, so it is left to idle workers.

use super::{MAX_TOTAL, Stack, StackAllocator};
use sateen_base::SpinLock;
use sateen_base::os::{Mapping, StackGuard};
use sateen_base::prim::{AtomicBool, Ordering};
use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::ptr::NonNull;

/// The most stacks in a slab: one bit for each.
const SLAB_STACKS: usize = u64::BITS as usize;
/// The most bytes of a slab with more than one stack: enough for all 64 of the default size, which
/// two system calls map. With 32-bit addresses slabs stay small.
const SLAB_BYTES: usize = if usize::BITS < 64 { 16 << 20 } else { 256 << 20 };
/// Warm stacks that a trim leaves in each size class, and the most bytes of these.
const IDLE_WARM: usize = 64;
const IDLE_BYTES: usize = 16 << 20;
const HIGH_WATER: usize = 16 * 1024;

/// Stacks in slabs, kept for reuse: the default.
///
/// While the runtime is busy, up to [`high_water`](Self::high_water) unused stacks of each size
/// keep their memory. Beyond that a slab is unmapped once all its stacks are free. When the runtime
/// has been idle for a second, all but a few stacks return to the system.
#[derive(Debug)]
pub struct PooledStacks {
    /// If `None`, a task that overflows its stack overwrites its neighbour's.
    guard: Option<StackGuard>,
    high_water: usize,
    classes: SpinLock<Vec<Class>>,
    /// Whether a trim would probably free something.
    spare: AtomicBool,
}

impl Default for PooledStacks {
    fn default() -> Self {
        Self::new()
    }
}

/// The stacks of one size.
#[derive(Debug)]
struct Class {
    size: usize,
    /// The last used stack is at the back.
    warm: VecDeque<Stack>,
    /// Slabs with cold stacks.
    partial: Vec<NonNull<Slab>>,
    /// Stacks that exist.
    total: usize,
}

// SAFETY: slabs belong to their class, on whichever thread that is.
unsafe impl Send for Class {}

/// Its cells belong to the holder of the lock.
#[derive(Debug)]
struct Slab {
    map: Mapping,
    stacks: usize,
    /// Distance from one stack to the next in bytes.
    stride: usize,
    guard: usize,
    /// The cold stacks.
    cold: Cell<u64>,
    /// Cold stacks that may have been used since they were last discarded.
    dirty: Cell<u64>,
    /// Its index in the list of partial slabs, while `cold` is not 0.
    position: Cell<usize>,
}

impl PooledStacks {
    /// Stacks with lightweight guards where the system has them, and a high-water mark of 16,384
    /// stacks.
    pub const fn new() -> Self {
        let classes = SpinLock::new(Vec::new());
        let spare = AtomicBool::new(false);
        Self { guard: Some(StackGuard::Light), high_water: HIGH_WATER, classes, spare }
    }

    /// Sets how the end of each stack is guarded.
    #[must_use]
    pub fn guard(mut self, guard: StackGuard) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Omits the guards, which saves a page of address space for each stack.
    ///
    /// # Safety
    /// No task overflows its stack: its needs, and those of signal handlers on it, stay below
    /// [`stack_size`](crate::Builder::stack_size). Otherwise its frames overwrite another task's.
    ///
    /// ```
    /// use sateen::{PooledStacks, Runtime};
    /// // SAFETY: one plus one needs less than 2 MiB.
    /// let stacks = unsafe { PooledStacks::new().unguarded() };
    /// let runtime = Runtime::builder().workers(1).stack_allocator(stacks).build()?;
    /// assert_eq!(runtime.install(|| 1 + 1), 2);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    ///
    /// It does not compile without `unsafe`:
    ///
    /// ```compile_fail,E0133
    /// let stacks = sateen::PooledStacks::new().unguarded();
    /// ```
    #[must_use]
    pub unsafe fn unguarded(mut self) -> Self {
        self.guard = None;
        self
    }

    /// Sets how many unused stacks of each size keep their memory while the runtime is busy.
    ///
    /// ```
    /// use sateen::{PooledStacks, Runtime};
    /// let stacks = PooledStacks::new().high_water(100);
    /// let runtime = Runtime::builder().workers(1).stack_allocator(stacks).build()?;
    /// assert_eq!(runtime.install(|| 1 + 1), 2);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    #[must_use]
    pub fn high_water(mut self, stacks: usize) -> Self {
        self.high_water = stacks;
        self
    }

    fn with_class<R>(&self, size: usize, f: impl FnOnce(&mut Class) -> R) -> R {
        let mut classes = self.classes.lock();
        let index = classes.iter().position(|class| class.size == size);
        let index = index.unwrap_or_else(|| {
            classes.push(Class { size, warm: VecDeque::new(), partial: Vec::new(), total: 0 });
            classes.len() - 1
        });
        f(&mut classes[index])
    }

    /// Bytes of the guard between stacks.
    fn guard_size(&self) -> usize {
        if self.guard.is_some() { Mapping::PAGE } else { 0 }
    }

    /// Stacks of `size` bytes that stay warm when the runtime is idle. Each may hold as much memory
    /// as it ever used.
    fn idle_warm(&self, size: usize) -> usize {
        self.high_water.min(IDLE_WARM).min(IDLE_BYTES / size)
    }

    /// The size of a stack for a request of `size` bytes.
    fn real_size(&self, size: usize) -> io::Result<usize> {
        if size > MAX_TOTAL {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // The number of pages including the guard is odd. So the hot pages of neighbouring stacks
        // differ in the bits that index the TLB.
        Ok(((size + self.guard_size()) | Mapping::PAGE) - self.guard_size())
    }

    #[cold]
    fn allocate_slow(&self, size: usize) -> io::Result<Stack> {
        let mut stacks = self.with_class(size, |class| class.next_slab());
        // Outside of the lock, so two workers may both add a slab.
        let slab = loop {
            match Slab::new(size, stacks, self.guard, self.guard_size(), Mapping::reserve) {
                Ok(slab) => break slab,
                Err(error) if stacks == 1 => return Err(error),
                Err(_) => stacks /= 2,
            }
        };
        self.with_class(size, |class| Ok(class.add(slab)))
    }
}

impl StackAllocator for PooledStacks {
    fn allocate(&self, size: usize) -> io::Result<Stack> {
        let size = self.real_size(size)?;
        self.with_class(size, Class::take).map_or_else(|| self.allocate_slow(size), Ok)
    }

    fn allocate_last(&self, size: usize) -> io::Result<Stack> {
        self.allocate(size).or_else(|_| {
            let size = self.real_size(size)?;
            let slab = Slab::new(size, 1, self.guard, self.guard_size(), Mapping::reserve_last)?;
            self.with_class(size, |class| Ok(class.add(slab)))
        })
    }

    unsafe fn deallocate(&self, stack: Stack) {
        let unmapped = self.with_class(stack.size(), |class| {
            // Ordering: Relaxed, a hint. Tested first, so that the line stays shared.
            if class.warm.len() >= self.idle_warm(class.size) && !self.spare.load(Ordering::Relaxed)
            {
                self.spare.store(true, Ordering::Relaxed);
            }
            if class.warm.len() < self.high_water {
                class.warm.push_back(stack);
                return None;
            }
            // SAFETY: the caller returns a stack that `allocate` gave out.
            unsafe { class.cool(&stack) }
        });
        drop(unmapped);
    }

    fn has_spare(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.spare.load(Ordering::Relaxed)
    }

    fn trim(&self) {
        self.trim_to(|size| self.idle_warm(size));
    }

    fn close(&self) {
        self.trim_to(|_| 0);
    }
}

impl PooledStacks {
    /// Returns unused memory to the system, except for `keep(size)` stacks of each size.
    fn trim_to(&self, keep: impl Fn(usize) -> usize) {
        // Ordering: Relaxed, a hint.
        self.spare.store(false, Ordering::Relaxed);
        let sizes: Vec<usize> = self.classes.lock().iter().map(|class| class.size).collect();
        for size in sizes {
            // One slab at a time, because other threads wait for the lock.
            while let Some(unmapped) = self.with_class(size, |class| class.cool_excess(keep(size)))
            {
                drop(unmapped);
            }
            let mut index = 0;
            while let Some(dirty) = self.with_class(size, |class| class.borrow_dirty(&mut index)) {
                dirty.discard();
                let unmapped = self.with_class(size, |class| class.put_back(&dirty));
                drop(unmapped);
            }
        }
    }
}

impl Drop for PooledStacks {
    fn drop(&mut self) {
        for class in self.classes.get_mut() {
            // Stacks that are still in use keep their slabs for ever: frames may be on them.
            while let Some(unmapped) = class.cool_excess(0) {
                drop(unmapped);
            }
        }
    }
}

impl Class {
    fn take(&mut self) -> Option<Stack> {
        if let Some(stack) = self.warm.pop_back() {
            return Some(stack);
        }
        let &slab = self.partial.last()?;
        // SAFETY: slabs in the list exist, and the class owns its cold stacks.
        unsafe {
            let cold = slab.as_ref().cold.get();
            self.set_cold(slab, cold & (cold - 1), false);
            Some(Slab::stack(slab, cold.trailing_zeros() as usize))
        }
    }

    /// The number of stacks in the next slab: as many as exist so far, within limits.
    fn next_slab(&self) -> usize {
        let most = (SLAB_BYTES / self.size).clamp(1, SLAB_STACKS);
        self.total.clamp(1, most)
    }

    /// Adds a slab and takes its first stack.
    fn add(&mut self, slab: Box<Slab>) -> Stack {
        self.total += slab.stacks;
        let slab = NonNull::from(Box::leak(slab));
        // SAFETY: the slab was just created, and none of its stacks is in use.
        unsafe {
            self.set_cold(slab, slab.as_ref().all() & !1, false);
            Slab::stack(slab, 0)
        }
    }

    /// Makes a stack cold that was in use or warm. Returns its slab if all its stacks are cold.
    ///
    /// # Safety
    /// The stack belongs to this class.
    unsafe fn cool(&mut self, stack: &Stack) -> Option<Box<Slab>> {
        // SAFETY: a slab lives while one of its stacks is not cold, and this one is not.
        unsafe {
            let slab = NonNull::new_unchecked(stack.token() as *mut Slab);
            let this = slab.as_ref();
            let bit = 1 << this.index(stack);
            this.dirty.set(this.dirty.get() | bit);
            self.set_cold(slab, this.cold.get() | bit, true)
        }
    }

    /// Cools the oldest warm stacks, some at a time, until `keep` are left. Returns a slab that
    /// became free; `None` once it is done.
    #[allow(clippy::option_option)]
    fn cool_excess(&mut self, keep: usize) -> Option<Option<Box<Slab>>> {
        let mut free = None;
        let mut cooled = 0;
        while self.warm.len() > keep && cooled < SLAB_STACKS && free.is_none() {
            let stack = self.warm.pop_front()?;
            // SAFETY: it was warm.
            free = unsafe { self.cool(&stack) };
            cooled += 1;
        }
        (cooled > 0).then_some(free)
    }

    /// Sets which stacks of `slab` are cold, and updates the list. If all are cold and `unmap`
    /// allows it, the slab leaves the class.
    ///
    /// # Safety
    /// The slab belongs to this class, and exists.
    unsafe fn set_cold(
        &mut self,
        slab: NonNull<Slab>,
        cold: u64,
        unmap: bool,
    ) -> Option<Box<Slab>> {
        // SAFETY: it exists, as do those in the list.
        let this = unsafe { slab.as_ref() };
        let free = unmap && cold == this.all();
        let (is_in, stays) = (this.cold.replace(cold) != 0, cold != 0 && !free);
        if !is_in && stays {
            this.position.set(self.partial.len());
            self.partial.push(slab);
        } else if is_in && !stays {
            let position = this.position.get();
            self.partial.swap_remove(position);
            if let Some(moved) = self.partial.get(position) {
                // SAFETY: as above.
                unsafe { moved.as_ref() }.position.set(position);
            }
        }
        if !free {
            return None;
        }
        self.total -= this.stacks;
        // SAFETY: it came from a box, and nothing else refers to it.
        Some(unsafe { Box::from_raw(slab.as_ptr()) })
    }

    /// Borrows the dirty cold stacks of the next slab that has some, starting at `index` in the
    /// list.
    fn borrow_dirty(&mut self, index: &mut usize) -> Option<Dirty> {
        while let Some(&slab) = self.partial.get(*index) {
            // SAFETY: slabs in the list exist.
            let this = unsafe { slab.as_ref() };
            let bits = this.cold.get() & this.dirty.get();
            if bits != 0 {
                this.dirty.set(this.dirty.get() & !bits);
                // SAFETY: as above.
                unsafe { self.set_cold(slab, this.cold.get() & !bits, false) };
                return Some(Dirty { slab, bits });
            }
            *index += 1;
        }
        None
    }

    fn put_back(&mut self, dirty: &Dirty) -> Option<Box<Slab>> {
        // SAFETY: the borrowed stacks kept the slab alive.
        unsafe { self.set_cold(dirty.slab, dirty.slab.as_ref().cold.get() | dirty.bits, true) }
    }
}

/// Cold stacks of one slab, borrowed by a trim.
struct Dirty {
    slab: NonNull<Slab>,
    bits: u64,
}

impl Dirty {
    /// Discards each run of neighbours by one call. The guards inside a run stay.
    fn discard(&self) {
        // SAFETY: the slab lives while we have stacks of it, and this does not touch its cells.
        let slab = unsafe { self.slab.as_ref() };
        let mut bits = self.bits;
        while bits != 0 {
            let first = bits.trailing_zeros();
            let run = (bits >> first).trailing_ones();
            let (offset, len) = (first as usize * slab.stride, run as usize * slab.stride);
            // SAFETY: no code uses these stacks, which this thread owns until they are put back.
            unsafe { slab.map.discard(offset + slab.guard, len - slab.guard) };
            bits &= u64::MAX.checked_shl(first + run).unwrap_or(0);
        }
    }
}

impl Slab {
    fn new(
        size: usize,
        stacks: usize,
        guard: Option<StackGuard>,
        guard_size: usize,
        reserve: fn(usize) -> io::Result<Mapping>,
    ) -> io::Result<Box<Self>> {
        let stride = size + guard_size;
        let map = reserve(stacks * stride + guard_size)?;
        if let Some(how) = guard {
            // SAFETY: not part of any stack.
            unsafe { map.guard_each(guard_size, stride, stacks + 1, how)? };
        }
        let (cold, dirty, position) = (Cell::new(0), Cell::new(0), Cell::new(0));
        Ok(Box::new(Self { map, stacks, stride, guard: guard_size, cold, dirty, position }))
    }

    /// The bits of all its stacks.
    fn all(&self) -> u64 {
        u64::MAX >> (SLAB_STACKS - self.stacks)
    }

    fn index(&self, stack: &Stack) -> usize {
        (stack.bottom().as_ptr() as usize - self.map.base().as_ptr() as usize) / self.stride
    }

    /// Stack number `index`.
    ///
    /// # Safety
    /// The slab exists, and nobody else has that stack.
    unsafe fn stack(slab: NonNull<Self>, index: usize) -> Stack {
        // SAFETY: between its two guards, within the mapping.
        unsafe {
            let this = slab.as_ref();
            let bottom = this.map.base().add(index * this.stride + this.guard);
            Stack::new(bottom, this.stride - this.guard, this.guard, slab.as_ptr() as usize)
        }
    }
}

#[cfg(test)]
mod tests;
