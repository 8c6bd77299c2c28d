//! Adapters for `crossbeam-queue`.

use crate::adapter::Queue;
use crossbeam_queue::{ArrayQueue, SegQueue};

/// The unbounded queue.
pub(crate) struct Seg;

impl Queue for Seg {
    const NAME: &'static str = "crossbeam";
    type Of = SegQueue<u64>;

    fn new(_capacity: usize) -> SegQueue<u64> {
        SegQueue::new()
    }

    #[inline(always)]
    fn push(queue: &SegQueue<u64>, item: u64) {
        queue.push(item);
    }

    #[inline(always)]
    fn pop(queue: &SegQueue<u64>) -> Option<u64> {
        queue.pop()
    }
}

/// The bounded queue.
pub(crate) struct Array;

impl Queue for Array {
    const NAME: &'static str = "crossbeam-array";
    type Of = ArrayQueue<u64>;

    fn new(capacity: usize) -> ArrayQueue<u64> {
        ArrayQueue::new(capacity)
    }

    #[inline(always)]
    fn push(queue: &ArrayQueue<u64>, item: u64) {
        // There is room, because a thread pops what it pushed before it pushes again. If not, the
        // sum tells.
        let _ = queue.push(item);
    }

    #[inline(always)]
    fn pop(queue: &ArrayQueue<u64>) -> Option<u64> {
        queue.pop()
    }
}
