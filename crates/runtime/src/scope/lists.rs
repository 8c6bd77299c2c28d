//! A scope's own list, in parts: one for the scope's own worker, and more once other workers spawn.
//!
//! With a single part, workers that take small spawns would contend for its lock.

use crate::own_list::{OwnList, Shell};
use crate::worker::Owner;
use sateen_base::CachePadded;
use std::sync::OnceLock;

/// The most parts for other workers, which share parts if there are more workers.
const PARTS: usize = 16;

/// See the [module's documentation](self).
#[derive(Debug)]
pub(super) struct OwnLists {
    /// For spawns of the scope's own worker, and of threads that are not workers.
    first: OwnList,
    /// The index of the scope's own worker.
    home: usize,
    others: OnceLock<Box<[CachePadded<OwnList>]>>,
}

impl OwnLists {
    /// Creates empty lists for a scope opened at worker `home`.
    pub(super) fn new(home: usize) -> Self {
        Self { first: OwnList::new(), home, others: OnceLock::new() }
    }

    /// The part for spawns of `spawner`, a worker of the scope's runtime, or of another thread.
    #[inline]
    pub(super) fn of(&self, spawner: Option<&Owner>) -> &OwnList {
        match spawner {
            Some(worker) if worker.index() != self.home => self.of_other(worker),
            _ => &self.first,
        }
    }

    fn of_other(&self, worker: &Owner) -> &OwnList {
        let part = |_| CachePadded::new(OwnList::new());
        let parts = || (0..worker.shared().workers.possible().min(PARTS)).map(part).collect();
        let others = self.others.get_or_init(parts);
        &others[worker.index() % others.len()]
    }

    fn parts(&self) -> impl Iterator<Item = &OwnList> {
        let others = self.others.get().into_iter().flatten();
        std::iter::once(&self.first).chain(others.map(|part| &**part))
    }

    /// Whether no spawn waits to start, possibly stale.
    pub(super) fn is_empty(&self) -> bool {
        self.parts().all(OwnList::is_empty)
    }

    /// See [`OwnList::take_youngest`]. Spawns of the scope's own worker come first.
    pub(super) fn take_youngest(&self) -> Option<*const Shell> {
        self.parts().find_map(OwnList::take_youngest)
    }
}
