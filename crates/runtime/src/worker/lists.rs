//! The private lists of a worker, which only its owner starts or resumes from.
//!
//! `worker.rs` describes the lists.

use super::{After, Owner};
use crate::entry::Entry;
use crate::fiber::Fiber;
use sateen_base::prim::Ordering;
use std::collections::VecDeque;

impl Owner {
    // ---- the next slot ----

    /// Makes `entry` run next, whatever the policy says.
    pub(crate) fn set_next(&self, entry: Entry) {
        let before = self.next.replace(Some(entry));
        debug_assert!(before.is_none(), "the next slot was in use");
    }

    #[inline]
    pub(crate) fn take_next(&self) -> Option<Entry> {
        self.next.take()
    }

    // ---- the inbox ----

    /// Moves fibers that others have made ready into the run queue.
    #[inline]
    pub(super) fn take_inbox(&self) {
        if !self.inbox.is_empty() {
            self.take_inbox_slow();
        }
    }

    #[cold]
    fn take_inbox_slow(&self) {
        // The inbox returns the youngest first; the oldest must run first.
        let mut fibers: Vec<*const Fiber> = Vec::new();
        self.inbox.take(|fiber| fibers.push(fiber));
        for fiber in fibers.into_iter().rev() {
            // SAFETY: fibers live as long as the runtime.
            self.resume(unsafe { &*fiber }, After::Wait);
        }
    }

    // ---- the pinned queue ----

    pub(crate) fn pop_pinned(&self) -> Option<Entry> {
        // Ordering: Relaxed, a hint; the lock guards the queue.
        if !self.has_pinned.load(Ordering::Relaxed) {
            return None;
        }
        let mut pinned = self.pinned.lock();
        let entry = pinned.pop_front();
        self.has_pinned.store(!pinned.is_empty(), Ordering::Relaxed);
        entry
    }

    /// Takes the first pinned entry that is `wanted`.
    pub(crate) fn take_pinned(&self, wanted: impl Fn(Entry) -> bool) -> Option<Entry> {
        // Ordering: Relaxed, a hint; the lock guards the queue.
        if !self.has_pinned.load(Ordering::Relaxed) {
            return None;
        }
        let mut pinned = self.pinned.lock();
        let index = pinned.iter().position(|&entry| wanted(entry))?;
        let entry = pinned.remove(index);
        self.has_pinned.store(!pinned.is_empty(), Ordering::Relaxed);
        entry
    }

    /// Takes the pinned entries that are `wanted`.
    pub(crate) fn take_pinned_if(&self, wanted: impl Fn(Entry) -> bool) -> Vec<Entry> {
        // Ordering: Relaxed, a hint; the lock guards the queue.
        if !self.has_pinned.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let mut pinned = self.pinned.lock();
        let (taken, kept): (Vec<_>, _) = pinned.drain(..).partition(|&entry| wanted(entry));
        *pinned = VecDeque::from(kept);
        self.has_pinned.store(!pinned.is_empty(), Ordering::Relaxed);
        taken
    }

    // ---- the deferred list ----

    /// Keeps `entry` until the run queue is empty, or the list gets its turn.
    pub(crate) fn defer(&self, entry: Entry) {
        self.with_deferred(|deferred| deferred.push_back(entry));
    }

    pub(super) fn pop_deferred(&self) -> Option<Entry> {
        self.with_deferred(VecDeque::pop_front)
    }

    /// Takes all deferred entries.
    pub(crate) fn take_deferred(&self) -> VecDeque<Entry> {
        self.with_deferred(std::mem::take)
    }

    pub(crate) fn has_deferred(&self) -> bool {
        self.deferred_count() != 0
    }

    pub(super) fn deferred_count(&self) -> usize {
        self.with_deferred(|deferred| deferred.len())
    }

    fn with_deferred<R>(&self, f: impl FnOnce(&mut VecDeque<Entry>) -> R) -> R {
        // SAFETY: one thread has the owner, and `f` does not come back here.
        self.deferred.with_mut(|deferred| f(unsafe { &mut *deferred }))
    }

    // ---- both ----

    /// Whether the deferred list or the pinned queue holds an entry that is `wanted`.
    pub(crate) fn has_own_waiting(&self, wanted: impl Fn(Entry) -> bool) -> bool {
        let any = |list: &VecDeque<Entry>| list.iter().any(|&entry| wanted(entry));
        self.with_deferred(|deferred| any(deferred)) || any(&self.pinned.lock())
    }

    /// Takes an entry that is `wanted` from the deferred list or the pinned queue.
    pub(crate) fn take_own_waiting(&self, wanted: impl Fn(Entry) -> bool) -> Option<Entry> {
        let take = |list: &mut VecDeque<Entry>| {
            let index = list.iter().position(|&entry| wanted(entry))?;
            list.remove(index)
        };
        self.with_deferred(take).or_else(|| {
            let mut pinned = self.pinned.lock();
            let entry = take(&mut pinned);
            self.has_pinned.store(!pinned.is_empty(), Ordering::Relaxed);
            entry
        })
    }

    // ---- is there something to run? ----

    /// Whether a fiber of this worker is ready.
    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        !self.inbox.is_empty() || self.ready_len() != 0 && self.policy.gives_fibers()
    }

    /// Whether a fiber of this worker waits, is ready, or is withheld by its policy.
    pub(crate) fn has_started(&self) -> bool {
        self.suspended() != 0 || self.ready_len() != 0 || !self.inbox.is_empty()
    }

    /// Whether the policy holds something that can run.
    pub(crate) fn policy_has_ready(&self) -> bool {
        self.policy.has_ready()
    }

    /// Whether a fiber of this worker is ready, or it has something to start.
    pub(crate) fn has_runnable(&self) -> bool {
        self.has_ready()
            || self.policy_has_ready()
            || self.has_own_arrivals()
            || self.has_deferred()
            || self.shared().aside.count() != 0
    }
}
