//! `chunks`, `fold_chunks` and `fold_chunks_with`: one item made of every so many.

use super::IndexedParallelIterator;
use super::indexed::indexed;
use super::plumbing::{Producer, ProducerCallback};
use super::seed::{Init, Seed, With};
use sateen_base::unwind::Held;
use std::fmt;

/// Vectors of items: what [`chunks`](IndexedParallelIterator::chunks) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct Chunks<I> {
    base: I,
    /// Not 0.
    chunk_size: usize,
}

/// A value for each chunk: what [`fold_chunks`](IndexedParallelIterator::fold_chunks) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct FoldChunks<I, ID, F> {
    base: I,
    /// Not 0.
    chunk_size: usize,
    identity: ID,
    fold_op: F,
}

/// A value for each chunk, which begins with a clone:
/// what [`fold_chunks_with`](IndexedParallelIterator::fold_chunks_with) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone)]
pub struct FoldChunksWith<I, T, F> {
    base: I,
    /// Not 0.
    chunk_size: usize,
    item: T,
    fold_op: F,
}

#[track_caller]
fn check(chunk_size: usize) {
    assert!(chunk_size != 0, "chunk_size must not be zero");
}

impl<I> Chunks<I> {
    #[track_caller]
    pub(super) fn new(base: I, chunk_size: usize) -> Self {
        check(chunk_size);
        Self { base, chunk_size }
    }
}

impl<I, ID, F> FoldChunks<I, ID, F> {
    #[track_caller]
    pub(super) fn new(base: I, chunk_size: usize, identity: ID, fold_op: F) -> Self {
        check(chunk_size);
        Self { base, chunk_size, identity, fold_op }
    }
}

impl<I, T, F> FoldChunksWith<I, T, F> {
    #[track_caller]
    pub(super) fn new(base: I, chunk_size: usize, item: T, fold_op: F) -> Self {
        check(chunk_size);
        Self { base, chunk_size, item, fold_op }
    }
}

impl<I: fmt::Debug, ID, F> fmt::Debug for FoldChunks<I, ID, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FoldChunks");
        shown.field("base", &self.base).field("chunk_size", &self.chunk_size);
        shown.finish_non_exhaustive()
    }
}

impl<I: fmt::Debug, T: fmt::Debug, F> fmt::Debug for FoldChunksWith<I, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("FoldChunksWith");
        shown.field("base", &self.base).field("chunk_size", &self.chunk_size);
        shown.field("item", &self.item).finish_non_exhaustive()
    }
}

indexed! {
    impl[I] Chunks<I> => Vec<I::Item>;
    where { I: IndexedParallelIterator }
    len = |this| this.base.len().div_ceil(this.chunk_size);
    with_producer = |this, callback| {
        let (len, size) = (this.base.len(), this.chunk_size);
        this.base.with_producer(Callback { callback, len, size, make: Collect })
    };
}

indexed! {
    impl[I, T, ID, F] FoldChunks<I, ID, F> => T;
    where {
        I: IndexedParallelIterator,
        T: Send,
        ID: Fn() -> T + Sync + Send,
        F: Fn(T, I::Item) -> T + Sync + Send,
    }
    len = |this| this.base.len().div_ceil(this.chunk_size);
    with_producer = |this, callback| {
        let (len, size) = (this.base.len(), this.chunk_size);
        let make = FoldAll { seed: Init(&this.identity), fold_op: &this.fold_op };
        this.base.with_producer(Callback { callback, len, size, make })
    };
}

indexed! {
    impl[I, T, F] FoldChunksWith<I, T, F> => T;
    where {
        I: IndexedParallelIterator,
        T: Clone + Send,
        F: Fn(T, I::Item) -> T + Sync + Send,
    }
    len = |this| this.base.len().div_ceil(this.chunk_size);
    with_producer = |this, callback| {
        let (len, size) = (this.base.len(), this.chunk_size);
        let make = FoldAll { seed: With::new(this.item), fold_op: &this.fold_op };
        this.base.with_producer(Callback { callback, len, size, make })
    };
}

/// What becomes of the items of a chunk.
trait Make<T>: Send + Sized {
    type Out;

    fn make(&self, items: impl Iterator<Item = T>) -> Self::Out;

    /// The same for another piece.
    fn split_off(&self) -> Self;
}

struct Collect;

impl<T> Make<T> for Collect {
    type Out = Vec<T>;

    #[inline]
    fn make(&self, items: impl Iterator<Item = T>) -> Vec<T> {
        items.collect()
    }

    fn split_off(&self) -> Self {
        Self
    }
}

struct FoldAll<'f, S, F> {
    seed: S,
    fold_op: &'f F,
}

impl<T, S: Seed, F: Fn(S::State, T) -> S::State + Sync> Make<T> for FoldAll<'_, S, F> {
    type Out = S::State;

    #[inline]
    fn make(&self, items: impl Iterator<Item = T>) -> S::State {
        let state = Held::new(self.seed.split_off().state());
        items.fold(state, |state, item| Held::new((self.fold_op)(state.release(), item))).release()
    }

    fn split_off(&self) -> Self {
        Self { seed: self.seed.split_off(), fold_op: self.fold_op }
    }
}

struct Callback<CB, M> {
    callback: CB,
    len: usize,
    size: usize,
    make: M,
}

impl<T, CB, M> ProducerCallback<T> for Callback<CB, M>
where
    M: Make<T>,
    CB: ProducerCallback<M::Out>,
{
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        let Self { callback, len, size, make } = self;
        callback.callback(Chunked { base, len, size, make })
    }
}

/// The `len` items of `base`, in chunks of `size`. The last may be shorter.
struct Chunked<P, M> {
    base: P,
    len: usize,
    size: usize,
    make: M,
}

impl<P: Producer, M: Make<P::Item>> Producer for Chunked<P, M> {
    type Item = M::Out;
    type IntoIter = ChunkIter<P, M>;

    fn into_iter(self) -> Self::IntoIter {
        let Self { base, len, size, make } = self;
        ChunkIter { base: Some(base), len, size, make }
    }

    fn min_len(&self) -> usize {
        self.base.min_len().div_ceil(self.size)
    }

    fn max_len(&self) -> usize {
        (self.base.max_len() / self.size).max(1)
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { base, len, size, make } = self;
        let middle = index.saturating_mul(size).min(len);
        let others = make.split_off();
        let (left, right) = base.split_at(middle);
        let left = Self { base: left, len: middle, size, make };
        (left, Self { base: right, len: len - middle, size, make: others })
    }
}

struct ChunkIter<P, M> {
    /// There until all items are taken.
    base: Option<P>,
    len: usize,
    size: usize,
    make: M,
}

impl<P: Producer, M: Make<P::Item>> Iterator for ChunkIter<P, M> {
    type Item = M::Out;

    fn next(&mut self) -> Option<M::Out> {
        if self.len == 0 {
            return None;
        }
        let base = self.base.take()?;
        if self.len <= self.size {
            self.len = 0;
            return Some(self.make.make(base.into_iter()));
        }
        let (chunk, rest) = base.split_at(self.size);
        self.base = Some(rest);
        self.len -= self.size;
        Some(self.make.make(chunk.into_iter()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.len.div_ceil(self.size);
        (len, Some(len))
    }
}

impl<P: Producer, M: Make<P::Item>> DoubleEndedIterator for ChunkIter<P, M> {
    fn next_back(&mut self) -> Option<M::Out> {
        if self.len == 0 {
            return None;
        }
        let last = match self.len % self.size {
            0 => self.size,
            shorter => shorter,
        };
        let (rest, chunk) = self.base.take()?.split_at(self.len - last);
        self.base = Some(rest);
        self.len -= last;
        Some(self.make.make(chunk.into_iter()))
    }
}

impl<P: Producer, M: Make<P::Item>> ExactSizeIterator for ChunkIter<P, M> {}
