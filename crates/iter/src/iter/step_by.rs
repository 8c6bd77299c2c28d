//! `step_by`.

use super::IndexedParallelIterator;
use super::indexed::indexed;
use super::plumbing::{Producer, ProducerCallback};

/// Every so many items: what [`step_by`](IndexedParallelIterator::step_by) returns.
#[must_use = "a parallel iterator does nothing until an end drives it"]
#[derive(Clone, Debug)]
pub struct StepBy<I> {
    base: I,
    /// Not 0.
    step: usize,
}

impl<I> StepBy<I> {
    pub(super) fn new(base: I, step: usize) -> Self {
        assert!(step != 0, "`step` of `step_by` must not be 0");
        Self { base, step }
    }
}

indexed! {
    impl[I] StepBy<I> => I::Item;
    where { I: IndexedParallelIterator }
    len = |this| this.base.len().div_ceil(this.step);
    with_producer = |this, callback| {
        let len = this.base.len();
        this.base.with_producer(Callback { callback, step: this.step, len })
    };
}

struct Callback<CB> {
    callback: CB,
    step: usize,
    len: usize,
}

impl<T, CB: ProducerCallback<T>> ProducerCallback<T> for Callback<CB> {
    type Output = CB::Output;

    fn callback<P: Producer<Item = T>>(self, base: P) -> CB::Output {
        self.callback.callback(Stepped { base, step: self.step, len: self.len })
    }
}

struct Stepped<P> {
    base: P,
    step: usize,
    /// How many items `base` has.
    len: usize,
}

impl<P: Producer> Producer for Stepped<P> {
    type Item = P::Item;
    type IntoIter = std::iter::StepBy<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().step_by(self.step)
    }

    fn min_len(&self) -> usize {
        self.base.min_len().div_ceil(self.step)
    }

    fn max_len(&self) -> usize {
        (self.base.max_len() / self.step).max(1)
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let Self { base, step, len } = self;
        // The last step may reach beyond the end.
        let middle = index.saturating_mul(step).min(len);
        let (left, right) = base.split_at(middle);
        (Self { base: left, step, len: middle }, Self { base: right, step, len: len - middle })
    }
}
