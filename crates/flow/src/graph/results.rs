//! Where results lie, between the task that makes them and their users.

use sateen_base::prim::{AtomicU64, Ordering};
use sateen_sync::{RwLock, RwLockReadGuard};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

/// The number of the current run: results of other runs do not count.
#[derive(Debug, Default)]
pub(super) struct Runs(AtomicU64);

impl Runs {
    pub(super) fn begin(&self) {
        // Relaxed: the shed carries it to the workers that run tasks.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn current(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A task's result, and the run that made it.
///
/// The task writes it. Tasks that come after it read it, and so does the graph's owner between
/// runs: so no thread ever waits for the lock. The owner shares the result instead of locking it,
/// for it may leak what it reads. The next run then puts its result into a new allocation.
#[allow(missing_debug_implementations, reason = "not part of the interface")]
pub struct Slot<R>(RwLock<Option<(u64, Arc<R>)>>);

impl<R> Slot<R> {
    pub(super) fn new() -> Self {
        Self(RwLock::new(None))
    }

    pub(super) fn set(&self, run: u64, result: R) {
        let mut slot = self.0.write();
        // Dropped after the lock is released: dropping is user code.
        let (_shared, _before);
        match &mut *slot {
            Some((of, kept)) => {
                *of = run;
                match Arc::get_mut(kept) {
                    Some(kept) => _before = std::mem::replace(kept, result),
                    None => _shared = std::mem::replace(kept, Arc::new(result)),
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

    /// Takes the result of that run, if there is one; `Some(None)` if an output of it was leaked.
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

/// A task's result, while a task that comes after it runs. Users never get one.
pub(super) struct Needed<'a, R>(RwLockReadGuard<'a, Option<(u64, Arc<R>)>>);

impl<R> Deref for Needed<'_, R> {
    type Target = R;

    fn deref(&self) -> &R {
        match &*self.0 {
            Some((_, result)) => result,
            None => panic!("a task of a graph ran before one that it comes after"),
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
