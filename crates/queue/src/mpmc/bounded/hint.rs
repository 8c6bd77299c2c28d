//! Looks that cost less than a try. Each reads its own end and the slot there, no other line. A try
//! that fails also reads the other end, and takes that line from a thread that will write it.

use super::Bounded;

impl<T> Bounded<T> {
    /// Whether the slot at the head is full: a hint, which does not look at the other end.
    #[inline(always)]
    pub(crate) fn seems_poppable(&self) -> bool {
        let head = self.position(&self.head);
        Self::turn(self.slot(head)) == self.shape.full(head)
    }

    /// Whether the slot at the tail is free: a hint, which does not look at the other end. True if
    /// the queue is closed.
    #[inline(always)]
    pub(crate) fn seems_pushable(&self) -> bool {
        let tail = self.position(&self.tail);
        self.shape.is_closed(tail) || Self::turn(self.slot(tail)) == self.shape.free(tail)
    }
}
