//! Parallel iterators over options.

use crate::iter::IntoParallelIterator;
use crate::iter::indexed::indexed;
use crate::iter::sources::AtMostOne;

/// Declares an iterator over what an option has. Results use the same.
macro_rules! at_most_one {
    (
        $(#[doc = $doc:literal])*
        $name:ident[$($params:tt)*] of impl[$($generics:tt)*] $from:ty => $item:ty;
        where { $($bounds:tt)* }
        |$this:ident| $option:expr
    ) => {
        $(#[doc = $doc])*
        #[must_use = "a parallel iterator does nothing until an end drives it"]
        #[derive(Debug)]
        pub struct $name<$($params)*> {
            item: Option<$item>,
        }

        impl<$($params)*> Clone for $name<$($params)*>
        where
            $item: Clone,
        {
            fn clone(&self) -> Self {
                Self { item: self.item.clone() }
            }
        }

        indexed! {
            impl[$($params)*] $name<$($params)*> => $item;
            where { $($bounds)* }
            len = |this| usize::from(this.item.is_some());
            with_producer = |this, callback| callback.callback(AtMostOne(this.item));
        }

        impl<$($generics)*> IntoParallelIterator for $from
        where
            $($bounds)*
        {
            type Item = $item;
            type Iter = $name<$($params)*>;

            fn into_par_iter(self) -> Self::Iter {
                let $this = self;
                $name { item: $option }
            }
        }
    };
}
pub(crate) use at_most_one;

at_most_one! {
    /// The item of an option, if any.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!(Some(3).into_par_iter().chain(None).sum::<i32>(), 3);
    /// ```
    IntoIter[T] of impl[T] Option<T> => T;
    where { T: Send }
    |this| this
}

at_most_one! {
    /// A reference to the item of an option, if any.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// assert_eq!(Some(3).par_iter().sum::<i32>(), 3);
    /// ```
    Iter['a, T] of impl['a, T] &'a Option<T> => &'a T;
    where { T: Sync }
    |this| this.as_ref()
}

at_most_one! {
    /// A mutable reference to the item of an option, if any.
    ///
    /// ```
    /// use sateen::prelude::*;
    /// let mut option = Some(3);
    /// option.par_iter_mut().for_each(|n| *n += 1);
    /// assert_eq!(option, Some(4));
    /// ```
    IterMut['a, T] of impl['a, T] &'a mut Option<T> => &'a mut T;
    where { T: Send }
    |this| this.as_mut()
}
