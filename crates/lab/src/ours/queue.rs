//! Our queue for many producers and consumers.

use crate::adapter::{OURS, Queue};
use sateen::queue::mpmc::Unbounded;

/// The scheduler's injector.
pub(crate) struct Sateen;

impl Queue for Sateen {
    const NAME: &'static str = OURS;
    type Of = Unbounded<u64>;

    fn new(_capacity: usize) -> Unbounded<u64> {
        Unbounded::new()
    }

    #[inline(always)]
    fn push(queue: &Unbounded<u64>, item: u64) {
        let pushed = queue.push(item);
        debug_assert!(pushed.is_ok(), "nobody closes it");
    }

    #[inline(always)]
    fn pop(queue: &Unbounded<u64>) -> Option<u64> {
        queue.pop().ok()
    }
}
