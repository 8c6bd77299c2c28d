//! `skip` and `take`: the items from a place on, or up to it.

use super::plumbing::{Producer, ProducerCallback};
use super::{IndexedParallelIterator, for_each, indexed::indexed};

macro_rules! cut_at {
    ($(#[$doc:meta])* $name:ident, $callback:ident, |$this:ident| $len:expr) => {
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Clone, Debug)]
        pub struct $name<I> {
            base: I,
            n: usize,
        }

        impl<I: IndexedParallelIterator> $name<I> {
            pub(super) fn new(base: I, n: usize) -> Self {
                let n = n.min(base.len());
                Self { base, n }
            }
        }

        indexed! {
            impl[I] $name<I> => I::Item;
            where { I: IndexedParallelIterator }
            len = |$this| $len;
            with_producer = |this, callback| {
                this.base.with_producer($callback { callback, n: this.n })
            };
        }

        struct $callback<CB> {
            callback: CB,
            n: usize,
        }
    };
}

cut_at! {
    /// All items but the first: what [`skip`](IndexedParallelIterator::skip) returns.
    Skip, Skipping, |this| this.base.len().saturating_sub(this.n)
}

cut_at! {
    /// The first items: what [`take`](IndexedParallelIterator::take) returns.
    Take, Taking, |this| this.base.len().min(this.n)
}

impl<T, CB: ProducerCallback<T>> ProducerCallback<T> for Skipping<CB> {
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        let (skipped, rest) = base.split_at(self.n);
        // Functions of adapters in front of this one see the skipped items, too.
        for_each::drop_all(self.n, skipped);
        self.callback.callback(rest)
    }
}

impl<T, CB: ProducerCallback<T>> ProducerCallback<T> for Taking<CB> {
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        let (taken, _) = base.split_at(self.n);
        self.callback.callback(taken)
    }
}
