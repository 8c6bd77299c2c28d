//! Posts one piece of work to each worker of a runtime.

use crate::entry::Entry;
use crate::shared::Shared;

impl Shared {
    /// Puts `entries[i]` into the pinned queue of worker *i*. Two calls have the same order at all
    /// workers, so jobs of two broadcasts may wait for each other's. Returns the workers that
    /// accepted theirs. [`Shared::announce_posted`] follows.
    pub(crate) fn post_each(&self, entries: &[Entry]) -> Vec<usize> {
        let mut posted = Vec::with_capacity(entries.len());
        let order = self.posting.lock();
        for (index, &entry) in entries.iter().enumerate() {
            if self.workers[index].put(entry) {
                posted.push(index);
            }
        }
        drop(order);
        posted
    }

    /// Wakes the workers that have received something.
    pub(crate) fn announce_posted(&self, posted: &[usize]) {
        posted.iter().for_each(|&index| _ = self.sleep.wake_owner(index));
    }
}
