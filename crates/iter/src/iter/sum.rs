//! `sum` and `product`.

use super::ParallelIterator;
use super::end::{End, Ended, apart};
use super::plumbing::Folder;
use sateen_base::unwind::Held;
use std::iter::{Product, Sum};
use std::marker::PhantomData;

macro_rules! total {
    ($function:ident, $end:ident, $folder:ident, $trait:ident) => {
        #[doc = concat!("The ", stringify!($function), " of the items.")]
        pub(super) fn $function<I, S>(items: I) -> S
        where
            I: ParallelIterator,
            S: Send + $trait<I::Item> + $trait<S>,
        {
            items.drive_unindexed(Ended($end(PhantomData::<fn() -> S>)))
        }

        struct $end<S>(PhantomData<fn() -> S>);

        impl<S> Clone for $end<S> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<S> Copy for $end<S> {}

        impl<T, S: Send + $trait<T> + $trait<S>> End<T> for $end<S> {
            type Folder = $folder<S>;
            type Result = S;

            #[inline]
            fn folder(self) -> $folder<S> {
                $folder(Held::new(std::iter::empty::<T>().$function()))
            }

            #[inline]
            fn reduce(self, left: S, right: S) -> S {
                [left, right].into_iter().$function()
            }
        }

        /// Held while other code runs.
        struct $folder<S>(Held<S>);

        impl<T, S: $trait<T> + $trait<S>> Folder<T> for $folder<S> {
            type Result = S;
            const FILLS: bool = false;

            #[inline]
            fn consume(self, item: T) -> Self {
                let more: S = std::iter::once(item).$function();
                Self(Held::new([self.0.release(), more].into_iter().$function()))
            }

            #[inline]
            fn consume_iter<I: IntoIterator<Item = T>>(self, iter: I) -> Self {
                let more: S = apart(|| iter.into_iter().$function());
                Self(Held::new([self.0.release(), more].into_iter().$function()))
            }

            #[inline]
            fn complete(self) -> S {
                self.0.release()
            }

            #[inline]
            fn full(&self) -> bool {
                false
            }
        }
    };
}

total!(sum, SumOf, SumFolder, Sum);
total!(product, ProductOf, ProductFolder, Product);
