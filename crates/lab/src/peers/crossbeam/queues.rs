//! Adapters for `crossbeam-queue`.

use crate::adapter::Queue;
use crossbeam_queue::{ArrayQueue, SegQueue};

/// The queue without a limit.
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

/// The queue in an array.
pub(crate) struct Array;

impl Queue for Array {
    const NAME: &'static str = "crossbeam-array";
    type Of = ArrayQueue<u64>;

    fn new(capacity: usize) -> ArrayQueue<u64> {
        ArrayQueue::new(capacity)
    }

    #[inline(always)]
    fn push(queue: &ArrayQueue<u64>, item: u64) {
        // There is room: a thread pops what it pushed before it pushes again. The sum tells if not.
        let _ = queue.push(item);
    }

    #[inline(always)]
    fn pop(queue: &ArrayQueue<u64>) -> Option<u64> {
        queue.pop()
    }
}
