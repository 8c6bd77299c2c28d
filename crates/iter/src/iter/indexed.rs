//! What sources and adapters with a length have in common.

/// Implements both traits for a type that makes a producer: everything goes through `bridge`.
///
/// `$with` is the body of `with_producer`.
macro_rules! indexed {
    (
        impl[$($generics:tt)*] $name:ty => $item:ty;
        where { $($bounds:tt)* }
        len = |$this:ident| $len:expr;
        with_producer = |$whole:ident, $callback:ident| $with:expr;
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $name
        where
            $($bounds)*
        {
            type Item = $item;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::UnindexedConsumer<$item>,
            {
                $crate::iter::plumbing::bridge(self, consumer)
            }

            fn opt_len(&self) -> Option<usize> {
                Some($crate::iter::IndexedParallelIterator::len(self))
            }
        }

        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $name
        where
            $($bounds)*
        {
            fn len(&self) -> usize {
                let $this = self;
                $len
            }

            fn drive<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::Consumer<$item>,
            {
                $crate::iter::plumbing::bridge(self, consumer)
            }

            fn with_producer<CB>(self, $callback: CB) -> CB::Output
            where
                CB: $crate::iter::plumbing::ProducerCallback<$item>,
            {
                let $whole = self;
                $with
            }
        }
    };
}
pub(crate) use indexed;
