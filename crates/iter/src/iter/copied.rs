//! `copied` and `cloned`.

use super::ParallelIterator;
use super::adapter::adapter;
use super::plumbing::Folder;
use super::stage::{OneToOne, Stage, staged};

macro_rules! by_value {
    ($(#[$doc:meta])* $name:ident, $stage:ident, $method:ident, $bound:ident, $std:ident) => {
        adapter! {
            $(#[$doc])*
            $name { base }
        }

        #[doc = concat!("`", stringify!($method), "` on each item.")]
        #[derive(Clone, Copy)]
        pub(crate) struct $stage;

        staged! {
            impl['a, T, I] $name<I>;
            one_to_one &'a T => T;
            where { I: ParallelIterator<Item = &'a T>, T: 'a + $bound + Send, &'a T: Send, }
            stage = |this| (this.base, $stage);
        }

        impl<'a, T: $bound> Stage<&'a T> for $stage {
            type Out = T;

            #[inline]
            fn consume<N: Folder<T>>(self, next: N, item: &'a T) -> N {
                next.consume(item.clone())
            }

            #[inline]
            fn consume_iter<N: Folder<T>>(
                self,
                next: N,
                items: impl Iterator<Item = &'a T>,
            ) -> N {
                next.consume_iter(items.$method())
            }
        }

        impl<'a, T: $bound + 'a> OneToOne<&'a T> for $stage {
            type Iter<I: DoubleEndedIterator<Item = &'a T> + ExactSizeIterator> =
                std::iter::$std<I>;

            #[inline]
            fn iter<I>(self, base: I) -> Self::Iter<I>
            where
                I: DoubleEndedIterator<Item = &'a T> + ExactSizeIterator,
            {
                base.$method()
            }
        }
    };
}

by_value! {
    /// Copies each item: what [`copied`](ParallelIterator::copied) returns.
    Copied, Copying, copied, Copy, Copied
}
by_value! {
    /// Clones each item: what [`cloned`](ParallelIterator::cloned) returns.
    Cloned, Cloning, cloned, Clone, Cloned
}
