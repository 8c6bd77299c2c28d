//! `Option` and `Result` of a collection: nothing more is wanted after a `None` or an error.

use super::super::flag::Flag;
use super::super::plumbing::{Consumer, Folder, UnindexedConsumer};
use super::super::{FromParallelIterator, IntoParallelIterator, ParallelIterator};
use sateen_base::unwind::Held;
use sateen_sync::Mutex;

impl<C: FromParallelIterator<T>, T: Send> FromParallelIterator<Option<T>> for Option<C> {
    fn from_par_iter<I: IntoParallelIterator<Item = Option<T>>>(par_iter: I) -> Self {
        let stop = Flag::new();
        let open = |item| item;
        let items = par_iter.into_par_iter();
        let collected = C::from_par_iter(UntilStop { items, stop: &stop, open: &open });
        (!stop.is_raised()).then_some(collected)
    }
}

impl<C, T, E> FromParallelIterator<Result<T, E>> for Result<C, E>
where
    C: FromParallelIterator<T>,
    T: Send,
    E: Send,
{
    fn from_par_iter<I: IntoParallelIterator<Item = Result<T, E>>>(par_iter: I) -> Self {
        let stop = Flag::new();
        let first = Mutex::new(None);
        let open = |item: Result<T, E>| match item {
            Ok(item) => Some(item),
            Err(error) => {
                let mut first = first.lock();
                if first.is_none() {
                    *first = Some(Held::new(error));
                } else {
                    // Its destructor may wait for anything.
                    drop(first);
                    drop(error);
                }
                None
            }
        };
        let items = par_iter.into_par_iter();
        let collected = C::from_par_iter(UntilStop { items, stop: &stop, open: &open });
        match first.into_inner() {
            Some(error) => {
                drop(collected);
                Err(error.release())
            }
            None => Ok(collected),
        }
    }
}

/// The contents of items, until one has none.
struct UntilStop<'s, I, F> {
    items: I,
    stop: &'s Flag,
    open: &'s F,
}

impl<I, F, T> ParallelIterator for UntilStop<'_, I, F>
where
    I: ParallelIterator,
    F: Fn(I::Item) -> Option<T> + Sync,
    T: Send,
{
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        let Self { items, stop, open } = self;
        items.drive_unindexed(Until { stop, open, next: consumer })
    }
}

/// Consumer and folder.
struct Until<'s, F, N> {
    stop: &'s Flag,
    open: &'s F,
    next: N,
}

impl<'s, F, In, T, N> Consumer<In> for Until<'s, F, N>
where
    F: Fn(In) -> Option<T> + Sync,
    N: Consumer<T>,
{
    type Folder = Until<'s, F, N::Folder>;
    type Reducer = N::Reducer;
    type Result = N::Result;

    fn split_at(self, index: usize) -> (Self, Self, N::Reducer) {
        let Self { stop, open, next } = self;
        let (left, right, reducer) = next.split_at(index);
        (Self { stop, open, next: left }, Self { stop, open, next: right }, reducer)
    }

    fn into_folder(self) -> Self::Folder {
        Until { stop: self.stop, open: self.open, next: self.next.into_folder() }
    }

    fn full(&self) -> bool {
        self.stop.is_raised() || self.next.full()
    }

    fn extend_folder(&mut self, folder: &mut Self::Folder, count: usize) -> bool {
        self.next.extend_folder(&mut folder.next, count)
    }
}

impl<F, In, T, N> UnindexedConsumer<In> for Until<'_, F, N>
where
    F: Fn(In) -> Option<T> + Sync,
    N: UnindexedConsumer<T>,
{
    fn split_off_left(&self) -> Self {
        Self { stop: self.stop, open: self.open, next: self.next.split_off_left() }
    }

    fn to_reducer(&self) -> N::Reducer {
        self.next.to_reducer()
    }
}

impl<F, In, T, N> Folder<In> for Until<'_, F, N>
where
    F: Fn(In) -> Option<T>,
    N: Folder<T>,
{
    type Result = N::Result;

    #[inline]
    fn consume(self, item: In) -> Self {
        let Self { stop, open, next } = self;
        let next = match open(item) {
            Some(item) => next.consume(item),
            None => {
                stop.raise();
                next
            }
        };
        Self { stop, open, next }
    }

    fn complete(self) -> N::Result {
        self.next.complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.stop.is_raised() || self.next.full()
    }
}
