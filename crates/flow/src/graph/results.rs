//! Where results lie, from the task to those who use them.

use sateen_base::prim::{AtomicU64, Ordering};
use sateen_sync::{RwLock, RwLockReadGuard};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

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

/// A task's result, and the run that it is of.
///
/// Written by the task, read by those that come after it, and by the graph's owner between runs: so nobody ever waits for
/// the lock. What the owner reads is shared with it instead of locked, for it may leak what it has got: then the next run
/// puts its result elsewhere.
#[allow(missing_debug_implementations, reason = "not part of the interface")]
pub struct Slot<R>(RwLock<Option<(u64, Arc<R>)>>);

impl<R> Slot<R> {
    pub(super) fn new() -> Self {
        Self(RwLock::new(None))
    }

    pub(super) fn set(&self, run: u64, result: R) {
        let mut slot = self.0.write();
        // Dropped, which is the user's code, after the lock was left.
        let (_shared, _before);
        match &mut *slot {
            Some((of, place)) => {
                *of = run;
                match Arc::get_mut(place) {
                    Some(place) => _before = std::mem::replace(place, result),
                    None => _shared = std::mem::replace(place, Arc::new(result)),
                }
            }
            none => *none = Some((run, Arc::new(result))),
        }
        drop(slot);
    }

    pub(super) fn get(&self, run: u64) -> Option<Output<'_, R>> {
        let slot = self.0.read();
        let (_, result) = slot.as_ref().filter(|(of, _)| *of == run)?;
        Some(Output { result: Arc::clone(result), graph: PhantomData })
    }

    /// Takes the result of that run, if it has one; not if somebody has leaked it.
    pub(super) fn take(&self, run: u64) -> Option<Option<R>> {
        let mut slot = self.0.write();
        let (of, result) = slot.take_if(|(of, _)| *of == run)?;
        Some(match Arc::try_unwrap(result) {
            Ok(result) => Some(result),
            Err(held) => {
                *slot = Some((of, held));
                None
            }
        })
    }

    /// The result, for a task that comes after.
    pub(super) fn need(&self) -> Needed<'_, R> {
        Needed(self.0.read())
    }
}

/// A task's result, while a task that comes after it runs. Never given to anybody.
pub(super) struct Needed<'a, R>(RwLockReadGuard<'a, Option<(u64, Arc<R>)>>);

impl<R> Deref for Needed<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        match &*self.0 {
            Some((_, result)) => result,
            None => sateen_base::abort_with("a task of a graph ran before one that it comes after"),
        }
    }
}

/// A task's result, borrowed from its graph.
pub struct Output<'g, R> {
    result: Arc<R>,
    graph: PhantomData<&'g R>,
}

impl<R> Deref for Output<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.result
    }
}

impl<R: fmt::Debug> fmt::Debug for Output<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
