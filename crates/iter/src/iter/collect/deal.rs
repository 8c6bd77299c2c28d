//! A consumer that gives items to two others.

use crate::driver::broken;
use crate::iter::Either;
use crate::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use sateen_base::unwind::Held;

/// Which folder gets which part of an item.
pub(super) trait Deal<T>: Copy + Send {
    /// What the left folder gets.
    type Left: Send;
    /// What the right folder gets.
    type Right: Send;

    /// Whether each item has a part for both, so that both know how many they get.
    const TO_BOTH: bool;

    /// Deals `item`.
    fn deal<A, B>(self, item: T, left: A, right: B) -> (A, B)
    where
        A: Folder<Self::Left>,
        B: Folder<Self::Right>;
}

/// Deals both halves of a pair.
#[derive(Clone, Copy)]
pub(super) struct Halves;

impl<L: Send, R: Send> Deal<(L, R)> for Halves {
    type Left = L;
    type Right = R;
    const TO_BOTH: bool = true;

    #[inline]
    fn deal<A: Folder<L>, B: Folder<R>>(self, item: (L, R), left: A, right: B) -> (A, B) {
        let second = Held::new(item.1);
        (left.consume(item.0), right.consume(second.release()))
    }
}

/// Deals each item to its side.
#[derive(Clone, Copy)]
pub(super) struct Sides;

impl<L: Send, R: Send> Deal<Either<L, R>> for Sides {
    type Left = L;
    type Right = R;
    const TO_BOTH: bool = false;

    #[inline]
    fn deal<A: Folder<L>, B: Folder<R>>(self, item: Either<L, R>, left: A, right: B) -> (A, B) {
        match item {
            Either::Left(item) => (left.consume(item), right),
            Either::Right(item) => (left, right.consume(item)),
        }
    }
}

/// Deals the items that the function wants to the left.
pub(super) struct Wanted<'f, P>(pub(super) &'f P);

impl<P> Clone for Wanted<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Wanted<'_, P> {}

impl<T: Send, P: Fn(&T) -> bool + Sync> Deal<T> for Wanted<'_, P> {
    type Left = T;
    type Right = T;
    const TO_BOTH: bool = false;

    #[inline]
    fn deal<A: Folder<T>, B: Folder<T>>(self, item: T, left: A, right: B) -> (A, B) {
        if (self.0)(&item) { (left.consume(item), right) } else { (left, right.consume(item)) }
    }
}

/// Two consumers of the same pieces.
pub(super) struct Dealt<A, B, D> {
    left: A,
    /// There except while it is split; gone for good if that panics.
    right: Option<B>,
    deal: D,
}

impl<A, B, D> Dealt<A, B, D> {
    pub(super) fn new(left: A, right: B, deal: D) -> Self {
        Self { left, right: Some(right), deal }
    }

    /// The right consumer.
    #[inline]
    fn into_right(right: Option<B>) -> B {
        match right {
            Some(right) => right,
            None => broken("a consumer without its half"),
        }
    }
}

impl<T, A, B, D> Consumer<T> for Dealt<A, B, D>
where
    D: Deal<T>,
    A: Consumer<D::Left>,
    B: Consumer<D::Right>,
{
    type Folder = DealtFolder<D::Right, A::Folder, B, D>;
    type Reducer = Both<A::Reducer, B::Reducer>;
    type Result = (A::Result, B::Result);

    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer) {
        let Self { left, right, deal } = self;
        let (left, more_left, left_reducer) = left.split_at(index);
        let (right, more_right, right_reducer) = Self::into_right(right).split_at(index);
        let reducer = Both(left_reducer, right_reducer);
        (Self::new(left, right, deal), Self::new(more_left, more_right, deal), reducer)
    }

    fn into_folder(self) -> Self::Folder {
        let Self { left, right, deal } = self;
        let left = left.into_folder();
        let right = Self::into_right(right).into_folder();
        DealtFolder { left, right: Grown { done: None, open: right }, deal }
    }

    fn full(&self) -> bool {
        self.left.full() && self.right.as_ref().is_none_or(B::full)
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        if !self.left.extend_folder(&mut folder.left, count) {
            return false;
        }
        // There is no way back, so the right folder grows whether it can be extended or not.
        if let Some(right) = &mut self.right
            && !right.extend_folder(&mut folder.right.open, count)
        {
            self.right = self.right.take().map(|right| folder.right.grow(right, count));
        }
        true
    }
}

impl<T, A, B, D> UnindexedConsumer<T> for Dealt<A, B, D>
where
    D: Deal<T>,
    A: UnindexedConsumer<D::Left>,
    B: UnindexedConsumer<D::Right>,
{
    fn split_off_left(&self) -> Self {
        let right = self.right.as_ref().map(B::split_off_left);
        Self { left: self.left.split_off_left(), right, deal: self.deal }
    }

    fn to_reducer(&self) -> Self::Reducer {
        match &self.right {
            Some(right) => Both(self.left.to_reducer(), right.to_reducer()),
            None => broken("a consumer without its half"),
        }
    }
}

pub(super) struct DealtFolder<R, A, B: Consumer<R>, D> {
    left: A,
    right: Grown<R, B>,
    deal: D,
}

/// A folder, and the result of those before it.
struct Grown<R, B: Consumer<R>> {
    done: Option<(Held<B::Result>, B::Reducer)>,
    open: B::Folder,
}

impl<R, B: Consumer<R>> Grown<R, B> {
    /// Goes on with a new folder, for the first `count` items of `consumer`. Returns the rest.
    #[cold]
    fn grow(&mut self, consumer: B, count: usize) -> B {
        let (first, rest, seam) = consumer.split_at(count);
        let result = std::mem::replace(&mut self.open, first.into_folder()).complete();
        let result = match self.done.take() {
            Some((done, seam)) => seam.reduce(done.release(), result),
            None => result,
        };
        self.done = Some((Held::new(result), seam));
        rest
    }

    #[inline]
    fn complete(self) -> B::Result {
        let Self { done, open } = self;
        let result = open.complete();
        match done {
            Some((done, seam)) => seam.reduce(done.release(), result),
            None => result,
        }
    }
}

impl<T, A, B, D> Folder<T> for DealtFolder<D::Right, A, B, D>
where
    D: Deal<T>,
    A: Folder<D::Left>,
    B: Consumer<D::Right>,
{
    type Result = (A::Result, B::Result);
    const FILLS: bool = A::FILLS && B::Folder::FILLS;

    #[inline]
    fn consume(self, item: T) -> Self {
        let Self { left, right: Grown { done, open }, deal } = self;
        let (left, open) = deal.deal(item, left, open);
        Self { left, right: Grown { done, open }, deal }
    }

    fn complete(self) -> Self::Result {
        let left = Held::new(self.left.complete());
        let right = self.right.complete();
        (left.release(), right)
    }

    #[inline]
    fn full(&self) -> bool {
        self.left.full() && self.right.open.full()
    }
}

/// Joins the results of both consumers.
pub(super) struct Both<A, B>(A, B);

impl<L, R, A: Reducer<L>, B: Reducer<R>> Reducer<(L, R)> for Both<A, B> {
    fn reduce(self, (left, right): (L, R), (more_left, more_right): (L, R)) -> (L, R) {
        let (right, more_right) = (Held::new(right), Held::new(more_right));
        let left = Held::new(self.0.reduce(left, more_left));
        let right = self.1.reduce(right.release(), more_right.release());
        (left.release(), right)
    }
}
