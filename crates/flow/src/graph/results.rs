//! Where results lie, from the task to those who use them.

use sateen_base::prim::{AtomicU64, Ordering};
use sateen_sync::{RwLock, RwLockReadGuard};
use std::fmt;
use std::ops::Deref;

/// Which run it is: results of another do not count.
#[derive(Debug, Default)]
pub(super) struct Runs(AtomicU64);

impl Runs {
    pub(super) fn begin(&self) {
        // Ordering: Relaxed; who runs a task has learned of the run through the shed.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn current(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A task's result, and the run that it is of. Written by the task, read by those that come after it, and by the graph's owner between runs: so nobody
/// ever waits for the lock.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "not part of the interface")]
pub struct Slot<R>(RwLock<Option<(u64, R)>>);

impl<R> Slot<R> {
    pub(super) fn new() -> Self {
        Self(RwLock::new(None))
    }

    pub(super) fn set(&self, run: u64, result: R) {
        let before = self.0.write().replace((run, result));
        // The user's code, after the lock was left.
        drop(before);
    }

    pub(super) fn get(&self, run: u64) -> Option<Output<'_, R>> {
        let guard = self.0.read();
        guard.as_ref().is_some_and(|(of, _)| *of == run).then_some(Output(guard))
    }

    pub(super) fn take(&self, run: u64) -> Option<R> {
        let taken = self.0.write().take_if(|(of, _)| *of == run);
        taken.map(|(_, result)| result)
    }

    /// The result, for a task that comes after.
    pub(super) fn need(&self) -> Output<'_, R> {
        Output(self.0.read())
    }
}

/// A task's result, borrowed from its graph.
pub struct Output<'g, R>(RwLockReadGuard<'g, Option<(u64, R)>>);

impl<R> Deref for Output<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        match &*self.0 {
            Some((_, result)) => result,
            None => sateen_base::abort_with("a task of a graph ran before one that it comes after"),
        }
    }
}

impl<R: fmt::Debug> fmt::Debug for Output<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
