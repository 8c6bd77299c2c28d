//! Adapters that treat each item by itself: map, filter and the like.
//!
//! Such an adapter is a [`Stage`]. [`Staged`] puts it before a consumer or a folder, and behind a
//! producer.

use super::plumbing::{Consumer, Folder, Producer, UnindexedConsumer, consume_each};

/// What an adapter does with items on their way to the next folder. Each piece has a copy.
pub(crate) trait Stage<In>: Copy + Send {
    /// What comes out.
    type Out;

    /// Whether many items may become none. Then `consume_iter` may never ask the next folder
    /// whether it is full, so it is only called for one that never is.
    const SWALLOWS: bool = false;

    /// Whether `full` can be true.
    const FILLS: bool = false;

    /// Passes on what becomes of `item`.
    fn consume<F: Folder<Self::Out>>(self, next: F, item: In) -> F;

    /// Passes on what becomes of `items`, until `next` is full.
    fn consume_iter<F: Folder<Self::Out>>(self, next: F, items: impl Iterator<Item = In>) -> F;

    /// Whether it lets no more items pass.
    #[inline(always)]
    fn full(self) -> bool {
        false
    }
}

/// A stage that makes one item of one, so that pieces keep their lengths.
pub(crate) trait OneToOne<In>: Stage<In> {
    /// Iterates over what comes out.
    type Iter<I>: DoubleEndedIterator<Item = Self::Out> + ExactSizeIterator
    where
        I: DoubleEndedIterator<Item = In> + ExactSizeIterator;

    /// The items of `base`, through this stage.
    fn iter<I: DoubleEndedIterator<Item = In> + ExactSizeIterator>(self, base: I) -> Self::Iter<I>;
}

/// A consumer, folder or producer with a stage on its outer side.
pub(crate) struct Staged<S, B> {
    pub(crate) stage: S,
    pub(crate) base: B,
}

impl<In, S, C> Consumer<In> for Staged<S, C>
where
    S: Stage<In>,
    C: Consumer<S::Out>,
{
    type Folder = Staged<S, C::Folder>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let Self { stage, base } = self;
        let (left, right, reducer) = base.split_at(index);
        (Self { stage, base: left }, Self { stage, base: right }, reducer)
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        Staged { stage: self.stage, base: self.base.into_folder() }
    }

    #[inline]
    fn full(&self) -> bool {
        self.stage.full() || self.base.full()
    }

    #[inline]
    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        self.base.extend_folder(&mut folder.base, count)
    }
}

impl<In, S, C> UnindexedConsumer<In> for Staged<S, C>
where
    S: Stage<In>,
    C: UnindexedConsumer<S::Out>,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        Self { stage: self.stage, base: self.base.split_off_left() }
    }

    #[inline]
    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

impl<In, S, F> Folder<In> for Staged<S, F>
where
    S: Stage<In>,
    F: Folder<S::Out>,
{
    type Result = F::Result;
    const FILLS: bool = S::FILLS || F::FILLS;

    #[inline]
    fn consume(self, item: In) -> Self {
        let Self { stage, base } = self;
        Self { stage, base: stage.consume(base, item) }
    }

    #[inline]
    fn consume_iter<I: IntoIterator<Item = In>>(self, iter: I) -> Self {
        if const { S::SWALLOWS && <Self as Folder<In>>::FILLS } {
            return consume_each(self, iter);
        }
        let Self { stage, base } = self;
        Self { stage, base: stage.consume_iter(base, iter.into_iter()) }
    }

    #[inline]
    fn complete(self) -> F::Result {
        self.base.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.stage.full() || self.base.full()
    }
}

impl<S, P> Producer for Staged<S, P>
where
    P: Producer,
    S: OneToOne<P::Item>,
{
    type Item = S::Out;
    type IntoIter = S::Iter<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.stage.iter(self.base.into_iter())
    }

    #[inline]
    fn min_len(&self) -> usize {
        self.base.min_len()
    }

    #[inline]
    fn max_len(&self) -> usize {
        self.base.max_len()
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { stage, base } = self;
        let (left, right) = base.split_at(index);
        (Self { stage, base: left }, Self { stage, base: right })
    }

    #[inline]
    fn fold_with<F: Folder<S::Out>>(self, folder: F) -> F {
        let Self { stage, base } = self;
        base.fold_with(Staged { stage, base: folder }).base
    }
}

/// Implements both traits for an adapter struct: its items go through a stage.
///
/// `$one` is `one_to_one` for a stage that keeps lengths, else `any`. `$stage` makes the adapter's
/// base and its stage.
macro_rules! staged {
    (
        impl[$($generics:tt)*] $name:ty;
        $one:ident $in:ty => $out:ty;
        where { $($bounds:tt)* }
        stage = |$this:ident| $stage:expr;
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $name
        where
            $($bounds)*
        {
            type Item = $out;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::UnindexedConsumer<$out>,
            {
                let $this = self;
                let (base, stage) = $stage;
                base.drive_unindexed($crate::iter::stage::Staged { stage, base: consumer })
            }

            $crate::iter::stage::staged!(@opt_len $one);
        }

        $crate::iter::stage::staged!(@indexed $one [$($generics)*] $name; $out; { $($bounds)* };
            |$this| $stage);
    };

    (@opt_len any) => {};
    (@opt_len one_to_one) => {
        fn opt_len(&self) -> Option<usize> {
            self.base.opt_len()
        }
    };

    (@indexed any $($rest:tt)*) => {};
    (@indexed one_to_one [$($generics:tt)*] $name:ty; $out:ty; { $($bounds:tt)* };
        |$this:ident| $stage:expr) => {
        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $name
        where
            I: $crate::iter::IndexedParallelIterator,
            $($bounds)*
        {
            fn len(&self) -> usize {
                self.base.len()
            }

            fn drive<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::Consumer<$out>,
            {
                let $this = self;
                let (base, stage) = $stage;
                base.drive($crate::iter::stage::Staged { stage, base: consumer })
            }

            fn with_producer<CB>(self, callback: CB) -> CB::Output
            where
                CB: $crate::iter::plumbing::ProducerCallback<$out>,
            {
                let $this = self;
                let (base, stage) = $stage;
                base.with_producer($crate::iter::stage::Before { stage, callback })
            }
        }
    };
}
pub(crate) use staged;

/// Gives a callback the producer with a stage behind it.
pub(crate) struct Before<S, CB> {
    pub(crate) stage: S,
    pub(crate) callback: CB,
}

impl<In, S, CB> super::plumbing::ProducerCallback<In> for Before<S, CB>
where
    S: OneToOne<In>,
    CB: super::plumbing::ProducerCallback<S::Out>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P: Producer<Item = In>>(self, producer: P) -> CB::Output {
        self.callback.callback(Staged { stage: self.stage, base: producer })
    }
}
