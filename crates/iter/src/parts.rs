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
    /// The items that were not yet looked at. So a search for a cut sees each item at most once.
    unseen: Range<usize>,
}

impl<'r, D, R> Parts<'r, D, R> {
    pub(crate) fn new(data: D, len: usize, rule: &'r R) -> Self {
        Self { data, rule, unseen: 0..len }
    }
}

impl<D: Send, R: Rule<D>> UnindexedProducer for Parts<'_, D, R> {
    type Item = D;

    fn split(mut self) -> (Self, Option<Self>) {
        let Range { start, end } = self.unseen;
        let middle = R::middle(&self.data, &self.unseen);
        // The end that is nearest behind the middle, else the one nearest before it.
        let (at, left, rest) = match self.rule.first_end(&self.data, middle..end) {
            Some(at) => (at.clone(), start..middle, at.end..end),
            None => match self.rule.last_end(&self.data, start..middle) {
                Some(at) => (at.clone(), start..at.start, end..end),
                None => {
                    self.unseen = end..end;
                    return (self, None);
                }
            },
        };
        let (first, second) = R::cut(self.data, &at);
        let unseen = rest.start - at.end..rest.end - at.end;
        let rule = self.rule;
        let second = Self { data: second, rule, unseen };
        (Self { data: first, rule, unseen: left }, Some(second))
    }

    fn fold_with<F: Folder<D>>(self, folder: F) -> F {
        if self.unseen.is_empty() && R::is_one_part(&self.data) {
            return folder.consume(self.data);
        }
        folder.consume_iter(self.rule.parts(self.data))
    }
}
