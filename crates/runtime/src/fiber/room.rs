//! How much stack a fiber has, in total and left.

use super::Fiber;
use crate::stack::StackSize;

impl Fiber {
    /// Bytes of stack left below the caller's frame.
    pub(crate) fn stack_left(&self) -> usize {
        let here = 0u8;
        (std::ptr::from_ref(&here) as usize).saturating_sub(self.record.bottom())
    }

    /// Whether more than half of the stack is left below the caller's frame.
    pub(crate) fn has_half_left(&self) -> bool {
        self.stack_left() > self.stack_size() / 2
    }

    /// Whether a task that asks for `size` bytes of stack needs its own: this stack is smaller, or
    /// so much larger that many blocked tasks would waste address space. (A stack created for the
    /// task may be larger than requested, if its allocator gave more.)
    pub(crate) fn is_unfit_for(&self, size: usize) -> bool {
        size > self.stack_size()
            || (!self.keeps_thread()
                && self.start.get().is_none()
                && StackSize::new(size).is_ok_and(|s| s.coarse().bytes() <= self.stack_size() / 2))
    }

    /// The size of the stack in bytes.
    pub(crate) fn stack_size(&self) -> usize {
        self.record.size()
    }
}
