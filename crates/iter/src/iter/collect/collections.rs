//! Collections of `std`: the items are collected into a vector in parallel, and then moved.
//!
//! If the collection's code panics on the way, the other items are dropped one by one, because
//! their destructors may panic, too.

use super::super::{FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};
use crate::vec::all_of;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;
use std::sync::Arc;

/// Implements both traits for a collection that implements those of `std`.
macro_rules! moved {
    ($(
        impl[$($generics:tt)*] $collection:ty => $item:ty;
        where { $($bounds:tt)* }
        from { $($default:tt)* }
    )*) => {$(
        impl<$($generics)*> ParallelExtend<$item> for $collection
        where
            $($bounds)*
        {
            fn par_extend<I: IntoParallelIterator<Item = $item>>(&mut self, par_iter: I) {
                let mut items = Vec::from_par_iter(par_iter);
                self.extend(all_of(&mut items));
            }
        }

        impl<$($generics)*> FromParallelIterator<$item> for $collection
        where
            $($bounds)* $($default)*
        {
            fn from_par_iter<I: IntoParallelIterator<Item = $item>>(par_iter: I) -> Self {
                let mut items = Vec::from_par_iter(par_iter);
                // Before the collection is made by code of the user's.
                let items = all_of(&mut items);
                let mut collection = Self::default();
                collection.extend(items);
                collection
            }
        }
    )*};
}

moved! {
    impl[K, V] BTreeMap<K, V> => (K, V);
    where { K: Ord + Send, V: Send }
    from {}

    impl[T] BTreeSet<T> => T;
    where { T: Ord + Send }
    from {}

    impl[K, V, S] HashMap<K, V, S> => (K, V);
    where { K: Eq + Hash + Send, V: Send, S: BuildHasher, }
    from { S: Default }

    impl[T, S] HashSet<T, S> => T;
    where { T: Eq + Hash + Send, S: BuildHasher, }
    from { S: Default }

    impl[T] LinkedList<T> => T;
    where { T: Send }
    from {}
}

/// Vectors become these at once, so that nothing is moved twice.
macro_rules! converted {
    ($(impl[$($bounds:tt)*] $collection:ty;)*) => {$(
        impl<T: Send + $($bounds)*> FromParallelIterator<T> for $collection {
            fn from_par_iter<I: IntoParallelIterator<Item = T>>(par_iter: I) -> Self {
                Vec::from_par_iter(par_iter).into()
            }
        }
    )*};
}

converted! {
    impl[] VecDeque<T>;
    impl[Ord] BinaryHeap<T>;
    impl[] Rc<[T]>;
    impl[] Arc<[T]>;
}

impl<T: Send> ParallelExtend<T> for VecDeque<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        let mut items = Vec::from_par_iter(par_iter);
        self.extend(all_of(&mut items));
    }
}

impl<T: Ord + Send> ParallelExtend<T> for BinaryHeap<T> {
    fn par_extend<I: IntoParallelIterator<Item = T>>(&mut self, par_iter: I) {
        let mut items = Vec::from_par_iter(par_iter);
        self.extend(all_of(&mut items));
    }
}

/// Extends by copies.
macro_rules! copied {
    ($(impl[$($generics:tt)*] $collection:ty => $item:ty; where { $($bounds:tt)* })*) => {$(
        impl<'a, $($generics)*> ParallelExtend<&'a $item> for $collection
        where
            $($bounds)*
        {
            fn par_extend<I: IntoParallelIterator<Item = &'a $item>>(&mut self, par_iter: I) {
                self.par_extend(par_iter.into_par_iter().copied());
            }
        }
    )*};
}

copied! {
    impl[T] Vec<T> => T; where { T: Copy + Send + Sync + 'a }
    impl[T] VecDeque<T> => T; where { T: Copy + Send + Sync + 'a }
    impl[T] LinkedList<T> => T; where { T: Copy + Send + Sync + 'a }
    impl[T] BinaryHeap<T> => T; where { T: Copy + Ord + Send + Sync + 'a }
    impl[T] BTreeSet<T> => T; where { T: Copy + Ord + Send + Sync + 'a }
    impl[T, S] HashSet<T, S> => T;
    where { T: Copy + Eq + Hash + Send + Sync + 'a, S: BuildHasher }
}

impl<'a, K, V> ParallelExtend<(&'a K, &'a V)> for BTreeMap<K, V>
where
    K: Copy + Ord + Send + Sync,
    V: Copy + Send + Sync,
{
    fn par_extend<I: IntoParallelIterator<Item = (&'a K, &'a V)>>(&mut self, par_iter: I) {
        self.par_extend(par_iter.into_par_iter().map(|(key, value)| (*key, *value)));
    }
}

impl<'a, K, V, S> ParallelExtend<(&'a K, &'a V)> for HashMap<K, V, S>
where
    K: Copy + Eq + Hash + Send + Sync,
    V: Copy + Send + Sync,
    S: BuildHasher,
{
    fn par_extend<I: IntoParallelIterator<Item = (&'a K, &'a V)>>(&mut self, par_iter: I) {
        self.par_extend(par_iter.into_par_iter().map(|(key, value)| (*key, *value)));
    }
}

impl<C, T> FromParallelIterator<T> for Cow<'_, C>
where
    C: ToOwned<Owned: FromParallelIterator<T>> + ?Sized,
    T: Send,
{
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(par_iter: I) -> Self {
        Cow::Owned(C::Owned::from_par_iter(par_iter))
    }
}
