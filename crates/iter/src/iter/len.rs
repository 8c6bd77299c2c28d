//! `with_min_len` and `with_max_len`.

use super::IndexedParallelIterator;
use super::indexed::indexed;
use super::plumbing::{Folder, Producer, ProducerCallback};

macro_rules! limit {
    ($(#[$doc:meta])* $name:ident, $limited:ident, $method:ident, $other:ident, $which:ident) => {
        $(#[$doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Clone, Debug)]
        pub struct $name<I> {
            base: I,
            limit: usize,
        }

        impl<I> $name<I> {
            pub(super) fn new(base: I, limit: usize) -> Self {
                Self { base, limit }
            }
        }

        indexed! {
            impl[I] $name<I> => I::Item;
            where { I: IndexedParallelIterator }
            len = |this| this.base.len();
            with_producer = |this, callback| {
                this.base.with_producer($limited { base: callback, limit: this.limit })
            };
        }

        /// A callback or producer with the limit.
        struct $limited<B> {
            base: B,
            limit: usize,
        }

        impl<T, CB: ProducerCallback<T>> ProducerCallback<T> for $limited<CB> {
            type Output = CB::Output;

            fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
                self.base.callback($limited { base, limit: self.limit })
            }
        }

        impl<P: Producer> Producer for $limited<P> {
            type Item = P::Item;
            type IntoIter = P::IntoIter;

            #[inline]
            fn into_iter(self) -> P::IntoIter {
                self.base.into_iter()
            }

            fn $method(&self) -> usize {
                self.base.$method().$which(self.limit)
            }

            fn $other(&self) -> usize {
                self.base.$other()
            }

            #[inline]
            fn split_at(self, index: usize) -> (Self, Self) {
                let limit = self.limit;
                let (left, right) = self.base.split_at(index);
                (Self { base: left, limit }, Self { base: right, limit })
            }

            #[inline]
            fn fold_with<F: Folder<P::Item>>(self, folder: F) -> F {
                self.base.fold_with(folder)
            }
        }
    };
}

limit! {
    /// Keeps pieces from being too short:
    /// what [`with_min_len`](IndexedParallelIterator::with_min_len) returns.
    MinLen, AtLeast, min_len, max_len, max
}
limit! {
    /// Keeps pieces from being too long:
    /// what [`with_max_len`](IndexedParallelIterator::with_max_len) returns.
    MaxLen, AtMost, max_len, min_len, min
}
