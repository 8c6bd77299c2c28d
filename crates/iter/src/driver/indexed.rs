//! Sources that know their length: pieces in chunks, one half on offer.

use crate::iter::IndexedParallelIterator;
use crate::iter::plumbing::{Consumer, Folder, Producer, ProducerCallback, Reducer};
use sateen_base::unwind::Held;
use sateen_runtime::iter::{Lazy, Piece};
use std::ops::ControlFlow;

/// A folder that cannot be extended gets one part in so many of what is left.
const BLOCKS: usize = 4;

/// Drives `consumer` with the items of `par_iter`.
///
/// # Panics
/// With the panics of both.
///
/// ```
/// use sateen::iter::plumbing::{Consumer, bridge};
/// use sateen::prelude::*;
///
/// /// What `drive` of a source with a producer does.
/// fn drive<I: IndexedParallelIterator, C: Consumer<I::Item>>(source: I, end: C) -> C::Result {
///     bridge(source, end)
/// }
/// ```
pub fn bridge<I, C>(par_iter: I, consumer: C) -> C::Result
where
    I: IndexedParallelIterator,
    C: Consumer<I::Item>,
{
    struct Callback<C> {
        len: usize,
        consumer: C,
    }

    impl<C: Consumer<T>, T> ProducerCallback<T> for Callback<C> {
        type Output = C::Result;

        #[inline]
        fn callback<P: Producer<Item = T>>(self, producer: P) -> C::Result {
            bridge_producer_consumer(self.len, producer, self.consumer)
        }
    }

    let len = par_iter.len();
    par_iter.with_producer(Callback { len, consumer })
}

/// Drives `consumer` with the `len` items of `producer`.
///
/// # Panics
/// With the panics of both.
///
/// ```
/// use sateen::iter::plumbing::{Consumer, Producer, bridge_producer_consumer};
///
/// fn drive<P: Producer, C: Consumer<P::Item>>(ten_items: P, end: C) -> C::Result {
///     bridge_producer_consumer(10, ten_items, end)
/// }
/// ```
pub fn bridge_producer_consumer<P, C>(len: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    let min = producer.min_len().max(1);
    let max = producer.max_len().max(min);
    Lazy::at_least(min).run::<Part<P, C>>(Rest { len, max, producer, consumer })
}

/// Items that nobody has begun.
struct Rest<P, C> {
    len: usize,
    /// The most items of a folder.
    max: usize,
    producer: P,
    consumer: C,
}

/// What a run of items has become, and what joins it with what follows.
struct Done<Item, C: Consumer<Item>> {
    result: Held<C::Result>,
    reducer: C::Reducer,
}

/// A folder that has taken items, and what joins its result with what follows.
struct Open<Item, C: Consumer<Item>> {
    folder: C::Folder,
    reducer: C::Reducer,
    /// How many items it may still be extended by.
    room: usize,
}

struct Part<P: Producer, C: Consumer<P::Item>> {
    rest: Rest<P, C>,
    /// Whether the consumer has refused to extend a folder.
    in_blocks: bool,
    open: Option<Open<P::Item, C>>,
    /// What lies before the open folder.
    done: Option<Done<P::Item, C>>,
}

impl<Item, C: Consumer<Item>> Done<Item, C> {
    /// `done`, then `result`.
    #[inline(always)]
    fn before(done: Option<Self>, result: C::Result) -> C::Result {
        match done {
            None => result,
            Some(Self { result: left, reducer }) => reducer.reduce(left.release(), result),
        }
    }

    /// `done`, then what `open` has taken.
    #[inline(always)]
    fn close(done: Option<Self>, open: Open<Item, C>) -> Self {
        let Open { folder, reducer, .. } = open;
        let result = Self::before(done, folder.complete());
        Self { result: Held::new(result), reducer }
    }
}

impl<P: Producer, C: Consumer<P::Item>> Piece for Part<P, C> {
    type Rest = Rest<P, C>;
    type Kept = (Option<Done<P::Item, C>>, C::Reducer);
    type Output = C::Result;

    #[inline(always)]
    fn begin(rest: Self::Rest) -> Self {
        Self { rest, in_blocks: false, open: None, done: None }
    }

    #[inline(always)]
    fn left(&self) -> usize {
        self.rest.len
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        // An open folder was asked after its chunk.
        self.open.is_none() && self.rest.consumer.full()
    }

    #[inline(always)]
    fn portion(&self, chunk: usize) -> usize {
        let most = if self.in_blocks { chunk.max(self.rest.len / BLOCKS) } else { chunk };
        let room = self.open.as_ref().map_or(self.rest.max, |open| open.room);
        // A folder without room is closed, and the next one has all of it.
        let room = if room == 0 { self.rest.max } else { room };
        most.min(room).min(self.rest.len)
    }

    #[inline(always)]
    fn work(self, count: usize) -> ControlFlow<C::Result, Self> {
        let Self { rest, mut in_blocks, mut open, mut done } = self;
        let Rest { len, max, producer, mut consumer } = rest;
        if let Some(this) = &mut open {
            if count <= this.room && consumer.extend_folder(&mut this.folder, count) {
                this.room -= count;
            } else {
                in_blocks |= count <= this.room;
                if let Some(this) = open.take() {
                    done = Some(Done::close(done, this));
                }
            }
        }
        if open.is_none() && consumer.full() {
            return ControlFlow::Break(Done::before(done, consumer.into_folder().complete()));
        }
        if count == len {
            let folder = match open {
                Some(open) => open.folder,
                None => consumer.into_folder(),
            };
            let folder = producer.fold_with(folder);
            return ControlFlow::Break(Done::before(done, folder.complete()));
        }
        let (now, producer) = producer.split_at(count);
        let (folder, reducer, room) = match open {
            Some(Open { folder, reducer, room }) => (folder, reducer, room),
            None => {
                let (first, others, reducer) = consumer.split_at(count);
                consumer = others;
                (first.into_folder(), reducer, max - count)
            }
        };
        let folder = now.fold_with(folder);
        if folder.full() {
            return ControlFlow::Break(Done::before(done, folder.complete()));
        }
        let rest = Rest { len: len - count, max, producer, consumer };
        let open = Some(Open { folder, reducer, room });
        ControlFlow::Continue(Self { rest, in_blocks, open, done })
    }

    #[inline(always)]
    fn halve(self) -> (Self::Kept, Self::Rest, Self::Rest) {
        let Self { rest, open, done, .. } = self;
        let done = match open {
            Some(open) => Some(Done::close(done, open)),
            None => done,
        };
        let Rest { len, max, producer, consumer } = rest;
        let middle = len / 2;
        let (left, right) = producer.split_at(middle);
        let (first, second, reducer) = consumer.split_at(middle);
        let a = Rest { len: middle, max, producer: left, consumer: first };
        let b = Rest { len: len - middle, max, producer: right, consumer: second };
        ((done, reducer), a, b)
    }

    #[inline(always)]
    fn end(self) -> C::Result {
        let Self { rest, open, done, .. } = self;
        match open {
            Some(open) => Done::close(done, open).result.release(),
            None => Done::before(done, rest.consumer.into_folder().complete()),
        }
    }

    #[inline(always)]
    fn join((done, reducer): Self::Kept, a: C::Result, b: C::Result) -> C::Result {
        Done::before(done, reducer.reduce(a, b))
    }
}
