//! The simplest allocator of stacks, to compare others with.

use super::{MAX_TOTAL, Stack, StackAllocator};
use sateen_base::os::{Mapping, StackGuard};
use std::io;

/// A fresh mapping for each stack, unmapped when its task ends.
///
/// Slower than [`PooledStacks`](crate::PooledStacks) by some system calls and page faults a stack.
/// No stack ever holds what another one left behind.
#[derive(Debug)]
pub struct FixedStacks {
    /// Stacks without a guard: a task that overflows its stack overwrites the memory below.
    guard: Option<StackGuard>,
}

impl Default for FixedStacks {
    fn default() -> Self {
        Self::new()
    }
}

impl FixedStacks {
    /// Stacks with light guards where the system has them.
    pub const fn new() -> Self {
        Self { guard: Some(StackGuard::Light) }
    }

    /// Sets how the end of each stack is guarded.
    ///
    /// ```
    /// use sateen::{FixedStacks, StackGuard, Runtime};
    /// let stacks = FixedStacks::new().guard(StackGuard::Protected);
    /// let runtime = Runtime::builder().workers(1).stack_allocator(stacks).build()?;
    /// assert_eq!(runtime.install(|| 1 + 1), 2);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    #[must_use]
    pub const fn guard(mut self, guard: StackGuard) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Leaves the guards out.
    ///
    /// # Safety
    /// As for [`PooledStacks::unguarded`](crate::PooledStacks::unguarded).
    #[must_use]
    pub const unsafe fn unguarded(mut self) -> Self {
        self.guard = None;
        self
    }
}

impl StackAllocator for FixedStacks {
    fn allocate(&self, size: usize) -> io::Result<Stack> {
        if size > MAX_TOTAL {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let guard = if self.guard.is_some() { Mapping::PAGE } else { 0 };
        let map = Box::new(Mapping::reserve(size + 2 * guard)?);
        if let Some(how) = self.guard {
            for end in [0, size + guard] {
                // SAFETY: outside of what is given out.
                unsafe { map.guard(end, guard, how)? };
            }
        }
        // SAFETY: within the mapping, whose guards are left out.
        unsafe {
            let bottom = map.base().add(guard);
            Ok(Stack::new(bottom, size, guard, Box::into_raw(map) as usize))
        }
    }

    unsafe fn deallocate(&self, stack: Stack) {
        // SAFETY: the caller gives back what `allocate` made, once. So the token is its box.
        drop(unsafe { Box::from_raw(stack.token() as *mut Mapping) });
    }
}
