//! Parts of a slice or a text that end where a rule of the user's says so.

use crate::iter::plumbing::{Folder, UnindexedProducer};
use std::ops::Range;

/// How data falls into parts. A rule that contradicts itself changes only where parts end.
///
/// Places are indices of items in slices, and of bytes in texts.
pub(crate) trait Rule<D>: Sync {
    /// A place where an item begins, near the middle of a range of whole items.
    fn middle(data: &D, range: &Range<usize>) -> usize;

    /// The first item of a range at which a part ends.
    fn first_end(&self, data: &D, range: Range<usize>) -> Option<Range<usize>>;

    /// The last item of a range at which a part ends.
    fn last_end(&self, data: &D, range: Range<usize>) -> Option<Range<usize>>;

    /// Cuts at the item at `end`, where a part ends. The second half begins behind it.
    fn cut(data: D, end: &Range<usize>) -> (D, D);

    /// All parts, in order.
    fn parts(&self, data: D) -> impl Iterator<Item = D>;

    /// Whether data without an end within is one part, even if it is empty.
    fn is_one_part(data: &D) -> bool;
}

/// Parts that nobody has begun.
pub(crate) struct Parts<'r, D, R> {
    data: D,
    rule: &'r R,
    /// How many places, from the first on, were not yet looked at. So a search for a cut sees each
    /// item at most once.
    unseen: usize,
    /// Whether all items behind them were seen. No part ends there.
    is_tail_seen: bool,
}

impl<'r, D, R> Parts<'r, D, R> {
    pub(crate) fn new(data: D, len: usize, rule: &'r R) -> Self {
        Self { data, rule, unseen: len, is_tail_seen: false }
    }
}

impl<D: Send, R: Rule<D>> UnindexedProducer for Parts<'_, D, R> {
    type Item = D;

    fn split(mut self) -> (Self, Option<Self>) {
        let end = self.unseen;
        let middle = R::middle(&self.data, &(0..end));
        // The end that is nearest behind the middle, else the one nearest before it.
        let (at, left, rest, is_tail_seen) = match self.rule.first_end(&self.data, middle..end) {
            Some(at) => (at.clone(), middle, end - at.end, self.is_tail_seen),
            None => match self.rule.last_end(&self.data, 0..middle) {
                Some(at) => (at.clone(), at.start, 0, true),
                None => {
                    (self.unseen, self.is_tail_seen) = (0, true);
                    return (self, None);
                }
            },
        };
        let rule = self.rule;
        let (first, second) = R::cut(self.data, &at);
        let second = Self { data: second, rule, unseen: rest, is_tail_seen };
        (Self { data: first, rule, unseen: left, is_tail_seen: true }, Some(second))
    }

    fn fold_with<F: Folder<D>>(self, mut folder: F) -> F {
        let Self { data, rule, unseen, is_tail_seen } = self;
        if !is_tail_seen {
            return folder.consume_iter(rule.parts(data));
        }
        // The last part begins behind the last end among the unseen items.
        let last = match rule.last_end(&data, 0..unseen) {
            None => data,
            Some(at) => {
                let (parts, last) = R::cut(data, &at);
                folder = folder.consume_iter(rule.parts(parts));
                last
            }
        };
        if folder.full() || !R::is_one_part(&last) {
            return folder;
        }
        folder.consume(last)
    }
}
