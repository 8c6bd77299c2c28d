//! Work set *aside* because its worker had no stack for it.
//!
//! A worker that runs out of stacks moves the contents of its queues here, and workers with a stack
//! take entries from here. A scope that waits for its end takes its own jobs and runs them on the
//! stack on which it waits. Protocol and proof: `README.md`, "Out of stacks".
//!
//! All lists change under the lock. `count` is the sum of their lengths: exact under the lock, a
//! hint without it.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::searched::AtomicUsize;
use sateen_base::prim::{Ordering, fence};
use sateen_base::{RawSpinLock, SpinLock};
use std::collections::VecDeque;

/// What kind of work an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// A job of a scope, which the scope itself may take.
    Scoped,
    /// Other work that cannot fail: branches, calls from outside, futures.
    Nested,
    /// A call made by a task that helps while it waits. It is here even if there is a stack for it,
    /// so that a task that it helps may take it.
    Called,
    /// A spawned task, which can fail for lack of a stack.
    Task,
}

const KINDS: usize = 4;

impl WorkKind {
    /// The kinds that cannot fail.
    pub const NESTED: [Self; 3] = [Self::Nested, Self::Called, Self::Scoped];
}

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct Aside<E> {
    lists: SpinLock<Lists<E>>,
    count: AtomicUsize,
}

#[derive(Debug)]
struct Lists<E> {
    of: [VecDeque<Put<E>>; KINDS],
    /// The list that the next `take` starts with.
    turn: usize,
}

#[derive(Debug)]
struct Put<E> {
    entry: E,
    /// The only worker that may take it; `None` if any may.
    home: Option<usize>,
}

impl<E> Put<E> {
    fn is_for(&self, worker: usize) -> bool {
        self.home.is_none_or(|home| home == worker)
    }
}

impl<E: Copy> Aside<E> {
    /// Creates empty lists.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let lists = Lists { of: std::array::from_fn(|_| VecDeque::new()), turn: 0 };
        let lists = SpinLock::from_raw(RawSpinLock::new(), lists);
        Self { lists, count: AtomicUsize::new(0) }
    }

    /// Approximate number of entries.
    #[inline]
    pub fn count(&self) -> usize {
        // Ordering: Relaxed, a hint. Sleepers look after a fence.
        self.count.load(Ordering::Relaxed)
    }

    fn with<R>(&self, f: impl FnOnce(&mut Lists<E>) -> R) -> R {
        let mut lists = self.lists.lock();
        let result = f(&mut lists);
        self.recount(&lists);
        result
    }

    /// Under the lock.
    fn recount(&self, lists: &Lists<E>) {
        // Ordering: Relaxed, see `count`.
        self.count.store(lists.of.iter().map(VecDeque::len).sum(), Ordering::Relaxed);
    }

    /// Adds `entry`, issues a full fence, then calls `look`. No thread can take the entry before
    /// `look` returns, so what the entry keeps alive stays valid.
    pub fn put<R>(
        &self,
        entry: E,
        kind: WorkKind,
        home: Option<usize>,
        look: impl FnOnce() -> R,
    ) -> R {
        let mut lists = self.lists.lock();
        lists.of[kind as usize].push_back(Put { entry, home });
        self.recount(&lists);
        // Orders the store of the count before the reads of `look`. Partner: the fence in
        // `take_scoped`.
        fence(Ordering::SeqCst);
        let seen = look();
        drop(lists);
        seen
    }

    /// Takes an entry for worker `index`, rotating through the kinds.
    pub fn take(&self, index: usize) -> Option<E> {
        if self.count() == 0 {
            return None;
        }
        self.with(|lists| {
            lists.turn = (lists.turn + 1) % KINDS;
            let first = lists.turn;
            (0..KINDS).find_map(|i| lists.take((first + i) % KINDS, |put| put.is_for(index)))
        })
    }

    /// Takes an entry of `kind` for worker `index`.
    pub fn take_kind(&self, index: usize, kind: WorkKind) -> Option<E> {
        if self.count() == 0 {
            return None;
        }
        self.with(|lists| lists.take(kind as usize, |put| put.is_for(index)))
    }

    /// Whether there is an entry of one of `kinds` for worker `index`.
    pub fn has_for(&self, index: usize, kinds: &[WorkKind]) -> bool {
        let has = |lists: &mut Lists<E>, kind: WorkKind| {
            lists.of[kind as usize].iter().any(|put| put.is_for(index))
        };
        self.count() != 0 && self.with(|lists| kinds.iter().any(|&kind| has(lists, kind)))
    }

    /// Takes the first call that is `mine`. What the call keeps alive stays valid while `mine`
    /// runs.
    pub fn take_called(&self, mine: impl Fn(E) -> bool) -> Option<E> {
        if self.count() == 0 {
            return None;
        }
        self.with(|lists| lists.take(WorkKind::Called as usize, |put| mine(put.entry)))
    }

    /// Takes the first scoped job for worker `index` that is `mine`. If this misses a `put`, the
    /// `look` of that `put` sees all earlier writes of the caller.
    pub fn take_scoped(&self, index: usize, mine: impl Fn(E) -> bool) -> Option<E> {
        // Orders the caller's writes before the read of the count. Partner: the fence in `put`.
        fence(Ordering::SeqCst);
        if self.count() == 0 {
            return None;
        }
        let fits = |put: &Put<E>| put.is_for(index) && mine(put.entry);
        self.with(|lists| lists.take(WorkKind::Scoped as usize, fits))
    }
}

impl<E: Copy> Lists<E> {
    fn take(&mut self, kind: usize, fits: impl Fn(&Put<E>) -> bool) -> Option<E> {
        let list = &mut self.of[kind];
        let index = list.iter().position(fits)?;
        list.remove(index).map(|put| put.entry)
    }
}
