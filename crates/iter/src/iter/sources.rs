//! Small sources: nothing, one item, the same item again and again.

use super::indexed::indexed;
use super::plumbing::Producer;
use std::marker::PhantomData;

/// An iterator without items.
///
/// ```
/// use sateen::prelude::*;
/// assert_eq!(sateen::iter::empty::<u8>().count(), 0);
/// ```
pub fn empty<T: Send>() -> Empty<T> {
    Empty(PhantomData)
}

/// No items: what [`empty`] returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Empty<T>(PhantomData<Option<T>>);

indexed! {
    impl[T] Empty<T> => T;
    where { T: Send }
    len = |_this| 0;
    with_producer = |_this, callback| callback.callback(AtMostOne(None));
}

/// An iterator of one item.
///
/// ```
/// use sateen::prelude::*;
/// let all: Vec<_> = sateen::iter::once(0).chain(1..4).collect();
/// assert_eq!(all, [0, 1, 2, 3]);
/// ```
pub fn once<T: Send>(item: T) -> Once<T> {
    Once(item)
}

/// One item: what [`once`] returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Once<T>(T);

indexed! {
    impl[T] Once<T> => T;
    where { T: Send }
    len = |_this| 1;
    with_producer = |this, callback| callback.callback(AtMostOne(Some(this.0)));
}

/// An item or none. For options, too.
pub(crate) struct AtMostOne<T>(pub(crate) Option<T>);

impl<T: Send> Producer for AtMostOne<T> {
    type Item = T;
    type IntoIter = std::option::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        if index == 0 { (Self(None), self) } else { (self, Self(None)) }
    }
}

/// An iterator of `n` clones of `element`. The last is `element` itself.
///
/// ```
/// use sateen::prelude::*;
/// let both: Vec<_> = sateen::iter::repeat_n("x".to_owned(), 2).collect();
/// assert_eq!(both, ["x", "x"]);
/// ```
pub fn repeat_n<T: Clone + Send>(element: T, n: usize) -> RepeatN<T> {
    RepeatN(Repeated { element: (n > 0).then_some(element), n })
}

/// The same item several times: what [`repeat_n`] returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct RepeatN<T>(Repeated<T>);

indexed! {
    impl[T] RepeatN<T> => T;
    where { T: Clone + Send }
    len = |this| this.0.n;
    with_producer = |this, callback| callback.callback(this.0);
}

/// `n` clones of an element, which is there unless `n` is 0. Producer and iterator.
#[derive(Clone, Debug)]
pub(crate) struct Repeated<T> {
    element: Option<T>,
    n: usize,
}

impl<T: Clone + Send> Producer for Repeated<T> {
    type Item = T;
    type IntoIter = Self;

    fn into_iter(self) -> Self {
        self
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (n, others) = (index, self.n - index);
        let left = if others == 0 || n == 0 { None } else { self.element.clone() };
        let (left, right) = if others == 0 { (self.element, None) } else { (left, self.element) };
        (Self { element: left, n }, Self { element: right, n: others })
    }
}

impl<T: Clone> Iterator for Repeated<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.n <= 1 {
            self.n = 0;
            return self.element.take();
        }
        self.n -= 1;
        self.element.clone()
    }

    /// Skips items without cloning them.
    #[inline]
    fn nth(&mut self, skipped: usize) -> Option<T> {
        self.n = self.n.saturating_sub(skipped);
        if self.n == 0 {
            self.element = None;
        }
        self.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.n, Some(self.n))
    }
}

impl<T: Clone> DoubleEndedIterator for Repeated<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.next()
    }

    #[inline]
    fn nth_back(&mut self, skipped: usize) -> Option<T> {
        self.nth(skipped)
    }
}

impl<T: Clone> ExactSizeIterator for Repeated<T> {}
