//! Tuples of iterators: items of up to twelve at the same places.

use super::indexed::indexed;
use super::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelIterator,
};

/// Tuples of items: what `into_par_iter` of a tuple returns, and `par_iter` of a tuple that is
/// borrowed.
///
/// ```
/// use sateen::prelude::*;
/// let mut sums = [0; 3];
/// (&mut sums, &[1, 2, 3], 10..13).into_par_iter().for_each(|(sum, a, b)| *sum = a + b);
/// assert_eq!(sums, [11, 13, 15]);
///
/// let mut columns = ([1, 2], [3, 4]);
/// columns.par_iter_mut().for_each(|(a, b)| std::mem::swap(a, b));
/// assert_eq!(columns.par_iter().map(|(a, b)| a * b).collect::<Vec<_>>(), [3, 8]);
/// ```
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct MultiZip<T> {
    tuple: T,
}

/// One tuple of iterators: nested pairs, flattened item by item.
macro_rules! tuple {
    ($first:ident $($others:ident)*) => {
        indexed! {
            impl[$first, $($others),*] MultiZip<($first, $($others,)*)> =>
                ($first::Item, $($others::Item,)*);
            where { $first: IndexedParallelIterator, $($others: IndexedParallelIterator),* }
            len = |this| {
                #[allow(non_snake_case, reason = "a variable for each type")]
                let ($first, $($others,)*) = &this.tuple;
                $first.len()$(.min($others.len()))*
            };
            with_producer = |this, callback| {
                #[allow(non_snake_case, reason = "a variable for each type")]
                let ($first, $($others,)*) = this.tuple;
                let nested = $first$(.zip($others))*;
                #[allow(non_snake_case, reason = "a variable for each type")]
                let flatten = |tuple!(@pairs $first => $($others)*)| ($first, $($others,)*);
                nested.map(flatten).with_producer(callback)
            };
        }

        impl<$first, $($others),*> IntoParallelIterator for ($first, $($others,)*)
        where
            $first: IntoParallelIterator<Iter: IndexedParallelIterator>,
            $($others: IntoParallelIterator<Iter: IndexedParallelIterator>,)*
        {
            type Item = ($first::Item, $($others::Item,)*);
            type Iter = MultiZip<($first::Iter, $($others::Iter,)*)>;

            fn into_par_iter(self) -> Self::Iter {
                #[allow(non_snake_case, reason = "a variable for each type")]
                let ($first, $($others,)*) = self;
                MultiZip { tuple: ($first.into_par_iter(), $($others.into_par_iter(),)*) }
            }
        }

        tuple!(@borrowed [&'t] IntoParallelRefIterator par_iter; $first $($others)*);
        tuple!(@borrowed [&'t mut] IntoParallelRefMutIterator par_iter_mut; $first $($others)*);
    };
    (@borrowed [$($borrow:tt)*] $trait:ident $method:ident; $($name:ident)*) => {
        impl<'t, $($name),*> IntoParallelIterator for $($borrow)* ($($name,)*)
        where
            $($name: $trait<'t, Iter: IndexedParallelIterator>,)*
        {
            type Item = ($($name::Item,)*);
            type Iter = MultiZip<($($name::Iter,)*)>;

            fn into_par_iter(self) -> Self::Iter {
                #[allow(non_snake_case, reason = "a variable for each type")]
                let ($($name,)*) = self;
                MultiZip { tuple: ($($name.$method(),)*) }
            }
        }
    };
    (@pairs $pairs:pat =>) => { $pairs };
    (@pairs $pairs:pat => $next:ident $($others:ident)*) => {
        tuple!(@pairs ($pairs, $next) => $($others)*)
    };
}

// `C` is a name that the implementations use.
tuple!(A);
tuple!(A B);
tuple!(A B D);
tuple!(A B D E);
tuple!(A B D E F);
tuple!(A B D E F G);
tuple!(A B D E F G H);
tuple!(A B D E F G H I);
tuple!(A B D E F G H I J);
tuple!(A B D E F G H I J K);
tuple!(A B D E F G H I J K L);
tuple!(A B D E F G H I J K L M);
