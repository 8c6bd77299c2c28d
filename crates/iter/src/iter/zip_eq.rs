//! `zip_eq`.

use super::indexed::indexed;
use super::{IndexedParallelIterator, Zip};

/// Pairs of as many items: what [`zip_eq`](IndexedParallelIterator::zip_eq) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct ZipEq<A, B> {
    zip: Zip<A, B>,
}

impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ZipEq<A, B> {
    pub(super) fn new(a: A, b: B) -> Self {
        let (a_len, b_len) = (a.len(), b.len());
        assert!(a_len == b_len, "`zip_eq` of {a_len} items with {b_len}");
        Self { zip: Zip::new(a, b) }
    }
}

indexed! {
    impl[A, B] ZipEq<A, B> => (A::Item, B::Item);
    where { A: IndexedParallelIterator, B: IndexedParallelIterator }
    len = |this| this.zip.len();
    with_producer = |this, callback| this.zip.with_producer(callback);
}
