//! Helpers of the models. Under loom a buffer holds two items, so it soon grows.
#![allow(dead_code, reason = "each model uses a part")]

use loom::thread::{self, JoinHandle};
use sateen_deque::{Stage, Steal, Stealer, Worker};

/// An item has no drop glue: if it is taken twice, that must show as a wrong count, not as a crash.
#[derive(Debug, PartialEq)]
pub(crate) struct Item(pub(crate) u32);

/// A deque near the wrap-around of its indices.
pub(crate) fn deque<S: Stage>(lifo: bool) -> Worker<Item, S> {
    Worker::for_tests(lifo, u32::MAX, u32::MAX - 1, true)
}

pub(crate) fn push<S: Stage>(w: &Worker<Item, S>, items: impl IntoIterator<Item = u32>) {
    items.into_iter().for_each(|i| w.push(Item(i)));
}

/// A thief that tries `tries` times.
pub(crate) fn thief<S: Stage>(s: Stealer<Item, S>, tries: usize) -> JoinHandle<Vec<u32>> {
    thread::spawn(move || {
        let mut got = Vec::new();
        for _ in 0..tries {
            if let Steal::Success(item) = s.steal() {
                got.push(item.0);
            }
        }
        assert!(got.is_sorted(), "a thief takes the oldest first");
        got
    })
}

pub(crate) fn pop<S: Stage>(w: &Worker<Item, S>, times: usize) -> Vec<u32> {
    (0..times).filter_map(|_| w.pop()).map(|item| item.0).collect()
}

/// Checks that each item from 0 to `n - 1` is exactly once in `parts` or still in `w`.
pub(crate) fn all_once<S: Stage>(
    w: &Worker<Item, S>,
    items: u32,
    parts: impl IntoIterator<Item = Vec<u32>>,
) {
    let mut all: Vec<u32> = parts.into_iter().flatten().collect();
    while let Some(item) = w.pop() {
        all.push(item.0);
    }
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..items), "{all:?} of {items}");
    assert!(w.is_empty() && w.pop().is_none());
}
