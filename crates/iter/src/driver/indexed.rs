//! Sources that know their length: pieces in chunks, one half on offer.

use super::broken;
use crate::iter::IndexedParallelIterator;
use crate::iter::plumbing::{Consumer, Folder, Producer, ProducerCallback, Reducer};
use sateen_base::unwind::Held;
use sateen_runtime::iter::{Lazy, Piece};
use std::marker::PhantomData;

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
    Lazy::at_least(min).run::<Part<P, C>>(Rest {
        span: Span { at: 0, len, min, max },
        producer,
        consumer,
    })
}

/// Parts are cut at multiples of so many items, from the first of the source on. So a part of a
/// slice begins at a cache line if the slice does: vectors of items lie within one line, and no two
/// workers write to one. Short parts are cut at multiples of less: halves are to be nearly halves.
const ALIGNED: usize = 64;
/// The fraction of a part by which an aligned end may lie before its wanted end.
const LEEWAY: usize = 16;

/// Items that nobody has begun.
struct Rest<P, C> {
    span: Span,
    producer: P,
    consumer: C,
}

/// Where items lie in the source. It has no types of the user's, so it is built once.
#[derive(Clone, Copy)]
struct Span {
    /// How many items of the source lie before them.
    at: usize,
    len: usize,
    /// The least items of a folder.
    min: usize,
    /// The most. A few more where two folders would each have fewer than the least.
    max: usize,
}

impl Span {
    /// How many of these items a folder gets that has room for `room`. What it leaves is enough for
    /// a folder, or nothing. It may be 0 for a folder that has items.
    #[inline]
    fn most_for(self, room: usize) -> usize {
        let tail = self.len.saturating_sub(room);
        if tail == 0 || tail >= self.min {
            return room;
        }
        self.near_the_end_slow(self.max.saturating_sub(room))
    }

    /// The same where less than a folder's worth would remain, for a folder that has `had` items.
    #[cold]
    fn near_the_end_slow(self, had: usize) -> usize {
        match had.saturating_add(self.len) >= self.min.saturating_mul(2) {
            true => self.len.saturating_sub(self.min),
            false => self.len,
        }
    }

    /// Rounds `count` down to an aligned end, unless that is much less, or less than a folder must
    /// get.
    #[inline]
    fn aligned(self, count: usize) -> usize {
        let unit = ALIGNED.min(1 << (count / LEEWAY).max(1).ilog2());
        let aligned = count - self.at.wrapping_add(count) % unit;
        if aligned < self.min { count } else { aligned }
    }

    /// How many items to do next, if a folder has `room`, and `chunk` is wanted.
    #[inline]
    fn portion(self, chunk: usize, room: usize, in_blocks: bool) -> usize {
        let mut wanted = if in_blocks { chunk.max(self.len / BLOCKS) } else { chunk };
        // What a new folder leaves may have to be enough for another one.
        if (in_blocks || room == 0) && self.len.saturating_sub(wanted) < self.min {
            wanted = self.len;
        }
        // A folder without room is closed, and the next one has all of it.
        let room = self.most_for(room);
        let count = wanted.min(if room > 0 { room } else { self.most_for(self.max) });
        if count < self.len { self.aligned(count) } else { self.len }
    }

    /// How many items another folder gets where `count` would have extended the last one: that
    /// may be too few.
    #[cold]
    fn anew_slow(self, count: usize) -> usize {
        self.portion(count.max(self.min), 0, true)
    }

    /// Splits behind the first `count` items.
    #[inline]
    fn split_at(self, count: usize) -> (Self, Self) {
        let at = self.at.wrapping_add(count);
        (Self { len: count, ..self }, Self { at, len: self.len - count, ..self })
    }
}

struct Part<P, C>(PhantomData<(P, C)>);

/// What the items so far have become, in their order: first `done`, then what `open` has taken.
struct State<Item, C: Consumer<Item>> {
    done: Option<Done<Item, C>>,
    open: Option<Open<Item, C>>,
    /// Whether the consumer has refused to extend a folder.
    in_blocks: bool,
}

struct Done<Item, C: Consumer<Item>> {
    result: Held<C::Result>,
    /// Joins it with what follows, if anything does.
    seam: Option<C::Reducer>,
}

struct Open<Item, C: Consumer<Item>> {
    folder: C::Folder,
    /// How many items it may still be extended by.
    room: usize,
    /// As in `Done`.
    seam: Option<C::Reducer>,
}

impl<Item, C: Consumer<Item>> State<Item, C> {
    /// How many items the open folder may still be extended by.
    #[inline]
    fn room(&self) -> usize {
        match &self.open {
            Some(open) => open.room,
            None => 0,
        }
    }

    /// Puts `result` behind all the others.
    #[inline]
    fn push(&mut self, result: C::Result, seam: Option<C::Reducer>) {
        let result = match self.done.take() {
            None => result,
            Some(Done { result: left, seam: Some(seam) }) => seam.reduce(left.release(), result),
            Some(Done { seam: None, .. }) => broken("results without a reducer"),
        };
        self.done = Some(Done { result: Held::new(result), seam });
    }

    /// Completes the folder.
    #[inline]
    fn close(&mut self) {
        if let Some(Open { folder, seam, .. }) = self.open.take() {
            self.push(folder.complete(), seam);
        }
    }
}

impl<P: Producer, C: Consumer<P::Item>> Piece for Part<P, C> {
    type Rest = Rest<P, C>;
    type State = State<P::Item, C>;
    type Seam = C::Reducer;
    type Output = C::Result;

    #[inline]
    fn begin(_rest: &Self::Rest) -> Self::State {
        State { done: None, open: None, in_blocks: false }
    }

    #[inline]
    fn left(rest: &Self::Rest) -> usize {
        rest.span.len
    }

    #[inline]
    fn is_full(state: &Self::State, rest: &Self::Rest) -> bool {
        match &state.open {
            Some(open) => open.folder.full(),
            None => rest.consumer.full(),
        }
    }

    #[inline]
    fn give_up(state: &mut Self::State, rest: Self::Rest) {
        let Rest { producer, consumer, .. } = rest;
        drop(producer);
        if state.open.is_none() && state.done.is_none() {
            // Its result has no items, but there must be one.
            let folder = consumer.into_folder();
            state.open = Some(Open { folder, room: 0, seam: None });
        }
    }

    #[inline]
    fn portion(state: &Self::State, rest: &Self::Rest, chunk: usize) -> usize {
        rest.span.portion(chunk, state.room(), state.in_blocks)
    }

    #[inline]
    fn work(state: &mut Self::State, rest: Self::Rest, mut count: usize) -> Option<Self::Rest> {
        let Rest { span, producer, mut consumer } = rest;
        if let Some(open) = &mut state.open {
            let room = span.most_for(open.room);
            if room > 0 && consumer.extend_folder(&mut open.folder, count) {
                open.room = room.saturating_sub(count);
            } else {
                if room > 0 {
                    state.in_blocks = true;
                    count = span.anew_slow(count);
                }
                state.close();
            }
        }
        let room_anew = span.most_for(span.max).saturating_sub(count);
        let is_last = count == span.len;
        let (open, consumer) = match state.open.take() {
            Some(open) => (open, (!is_last).then_some(consumer)),
            None if is_last || consumer.full() => {
                let is_full = consumer.full();
                let open = Open { folder: consumer.into_folder(), room: room_anew, seam: None };
                if is_full {
                    state.open = Some(open);
                    return None;
                }
                (open, None)
            }
            None => {
                let (first, consumer, seam) = consumer.split_at(count);
                let folder = first.into_folder();
                (Open { folder, room: room_anew, seam: Some(seam) }, Some(consumer))
            }
        };
        // One call for all cases: the compiler makes all adapters and ends part of it.
        let (now, later) = match consumer {
            None => (producer, None),
            Some(consumer) => {
                let (now, producer) = producer.split_at(count);
                (now, Some(Rest { span: span.split_at(count).1, producer, consumer }))
            }
        };
        let Open { folder, room, seam } = open;
        let folder = now.fold_with(folder);
        state.open = Some(Open { folder, room, seam });
        later
    }

    #[inline]
    fn halve(rest: Self::Rest) -> (Self::Rest, C::Reducer, Self::Rest) {
        let Rest { span, producer, consumer } = rest;
        let middle = span.aligned(span.len / 2);
        let (before, behind) = span.split_at(middle);
        let (left, right) = producer.split_at(middle);
        let (first, second, reducer) = consumer.split_at(middle);
        let a = Rest { span: before, producer: left, consumer: first };
        (a, reducer, Rest { span: behind, producer: right, consumer: second })
    }

    #[inline]
    fn go_on(state: &mut Self::State, seam: C::Reducer) {
        match (&mut state.open, &mut state.done) {
            (Some(open), _) => open.seam = Some(seam),
            (None, Some(done)) => done.seam = Some(seam),
            (None, None) => {}
        }
    }

    #[inline]
    fn append(state: &mut Self::State, seam: C::Reducer, output: C::Result) {
        // Another worker's result is held while the folder completes.
        let output = Held::new(output);
        state.close();
        Self::go_on(state, seam);
        state.push(output.release(), None);
        // The next consumer is another one.
        state.in_blocks = false;
    }

    #[inline]
    fn end(mut state: Self::State) -> C::Result {
        state.close();
        match state.done {
            Some(Done { result, seam }) => {
                drop(seam);
                result.release()
            }
            None => broken("a part without a result"),
        }
    }
}
