//! Parallel iterators over the collections of `std`.
//!
//! ```
//! use sateen::prelude::*;
//! let ages = std::collections::BTreeMap::from([("Ada", 36), ("Grace", 85)]);
//! let oldest = ages.par_iter().max_by_key(|(_, age)| **age).map(|(name, _)| *name);
//! assert_eq!(oldest, Some("Grace"));
//! ```
//!
//! Most have no places that could be halved. So their items, or references to them, are moved to a
//! vector first, by the thread that makes the iterator.

pub mod binary_heap;
pub mod btree_map;
pub mod btree_set;
pub mod hash_map;
pub mod hash_set;
pub mod linked_list;
pub mod vec_deque;

/// Declares a parallel iterator over a vector of items.
macro_rules! of_vector {
    (
        $(#[doc = $doc:literal])*
        $name:ident[$($params:tt)*] => $item:ty;
        where { $($bounds:tt)* }
    ) => {
        $(#[doc = $doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Debug)]
        pub struct $name<$($params)*> {
            items: crate::vec::IntoIter<$item>,
        }

        impl<$($params)*> Clone for $name<$($params)*>
        where
            $item: Clone,
        {
            fn clone(&self) -> Self {
                Self { items: self.items.clone() }
            }
        }

        crate::iter::indexed::indexed! {
            impl[$($params)*] $name<$($params)*> => $item;
            where { $($bounds)* }
            len = |this| crate::iter::IndexedParallelIterator::len(&this.items);
            with_producer = |this, callback| {
                crate::iter::IndexedParallelIterator::with_producer(this.items, callback)
            };
        }
    };
}
pub(crate) use of_vector;

/// Declares an iterator, and how a collection becomes one.
macro_rules! through_vector {
    (
        $(#[doc = $doc:literal])*
        $name:ident[$($params:tt)*] of impl[$($generics:tt)*] $collection:ty => $item:ty;
        where { $($bounds:tt)* }
    ) => {
        crate::collections::of_vector! {
            $(#[doc = $doc])*
            $name[$($params)*] => $item;
            where { $($bounds)* }
        }

        impl<$($generics)*> crate::iter::IntoParallelIterator for $collection
        where
            $($bounds)*
        {
            type Item = $item;
            type Iter = $name<$($params)*>;

            fn into_par_iter(self) -> Self::Iter {
                let items: Vec<$item> = self.into_iter().collect();
                $name { items: crate::iter::IntoParallelIterator::into_par_iter(items) }
            }
        }
    };
}
pub(crate) use through_vector;

/// Declares an iterator, and how a collection gives all its items to one.
macro_rules! drained {
    (
        $(#[doc = $doc:literal])*
        $name:ident['a, $($params:tt)*] of impl[$($generics:tt)*] $collection:ty => $item:ty;
        where { $($bounds:tt)* }
    ) => {
        $(#[doc = $doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Debug)]
        pub struct $name<'a, $($params)*> {
            items: crate::vec::IntoIter<$item>,
            /// The collection may not be used meanwhile.
            borrowed: std::marker::PhantomData<&'a mut ()>,
        }

        crate::iter::indexed::indexed! {
            impl['a, $($params)*] $name<'a, $($params)*> => $item;
            where { $($bounds)* }
            len = |this| crate::iter::IndexedParallelIterator::len(&this.items);
            with_producer = |this, callback| {
                crate::iter::IndexedParallelIterator::with_producer(this.items, callback)
            };
        }

        impl<$($generics)*> crate::iter::ParallelDrainFull for $collection
        where
            $($bounds)*
        {
            type Item = $item;
            type Iter = $name<'a, $($params)*>;

            fn par_drain(self) -> Self::Iter {
                let items: Vec<$item> = self.drain().collect();
                let items = crate::iter::IntoParallelIterator::into_par_iter(items);
                $name { items, borrowed: std::marker::PhantomData }
            }
        }
    };
}
pub(crate) use drained;
