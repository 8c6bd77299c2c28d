//! Work that lies *aside*: no worker had a stack for it, and every worker finds it here.
//!
//! A worker that runs out of stacks puts aside what lies in its queues. A worker with a stack takes
//! it from here. A scope that waits for its end takes its own jobs from here, and runs them on the
//! stack that it waits on. Protocol and proof: `README.md`, "Out of stacks".
//!
//! All lists change under the lock. `count` is their sum, exact under the lock and a hint without
//! it.

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
    /// A call of a task that helps while it waits. It lies here though there is a stack for it: a
    /// task that it helps may take it.
    Called,
    /// A spawned task, which can fail for want of a stack.
    Task,
}

const KINDS: usize = 4;

impl WorkKind {
    /// What cannot fail.
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
    /// The list that the next call looks at first.
    turn: usize,
}

#[derive(Debug)]
struct Put<E> {
    entry: E,
    /// The one worker that may take it; none if any may.
    home: Option<usize>,
}

impl<E> Put<E> {
    fn is_for(&self, worker: usize) -> bool {
        self.home.is_none_or(|home| home == worker)
    }
}

impl<E: Copy> Aside<E> {
    /// Nothing.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let lists = Lists { of: std::array::from_fn(|_| VecDeque::new()), turn: 0 };
        let lists = SpinLock::from_raw(RawSpinLock::new(), lists);
        Self { lists, count: AtomicUsize::new(0) }
    }

    /// How many entries there are, about.
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

    /// Adds `entry`, fences fully, then calls `look`. No thread can take the entry before `look`
    /// has returned, so what the entry keeps is there.
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
        // Between the count and what `look` reads. Partner: the fence in `take_scoped`.
        fence(Ordering::SeqCst);
        let seen = look();
        drop(lists);
        seen
    }

    /// Takes an entry for worker `index`, of each kind in turn.
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

    /// Takes the first call that is `mine`. While `mine` runs, what the call keeps is there.
    pub fn take_called(&self, mine: impl Fn(E) -> bool) -> Option<E> {
        if self.count() == 0 {
            return None;
        }
        self.with(|lists| lists.take(WorkKind::Called as usize, |put| mine(put.entry)))
    }

    /// Takes the first scoped job for worker `index` that is `mine`. If this misses a put, that
    /// put's `look` sees all that the caller wrote before.
    pub fn take_scoped(&self, index: usize, mine: impl Fn(E) -> bool) -> Option<E> {
        // Between what the caller wrote and the count. Partner: the fence in `put`.
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
