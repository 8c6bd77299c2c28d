//! What an activity gets for a few seconds: a runtime, a ledger, and when to stop.

use super::faults::Kind;
use super::ledger::{Item, Ledger};
use crate::error::Error;
use sateen::{JoinError, Runtime};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// One activity's view of the world.
pub(super) struct World<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) ledger: &'a Arc<Ledger>,
    pub(super) over: &'a AtomicBool,
    pub(super) faults: &'a [Kind],
}

/// The payload of panics on purpose.
const PANIC: &str = "soak";

/// Ends the calling task or handler by a panic that no hook reports.
pub(super) fn unwind() -> ! {
    resume_unwind(Box::new(PANIC))
}

impl World<'_> {
    /// Returns whether the activity must end.
    pub(super) fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    pub(super) fn item(&self, value: u64) -> Item {
        Item::new(self.ledger, value)
    }

    /// Returns whether an injected fault may have caused a failure.
    pub(super) fn may_fail(&self, kinds: &[Kind]) -> bool {
        self.faults.iter().any(|kind| kinds.contains(kind))
    }

    /// Returns the result of a task that was not cancelled and panics on purpose only. Returns
    /// `None` if it panicked so, was cancelled, or had no stack because of an injected fault.
    ///
    /// # Errors
    /// The task ended in any other way.
    pub(super) fn ended<T>(&self, result: Result<T, JoinError>) -> Result<Option<T>, Error> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(JoinError::Cancelled) => Ok(None),
            Err(JoinError::Panicked(payload)) if payload.downcast_ref() == Some(&PANIC) => Ok(None),
            Err(JoinError::OutOfStacks) if self.may_fail(&[Kind::Memory, Kind::Threads]) => {
                Ok(None)
            }
            Err(JoinError::Panicked(payload)) => {
                Err(Error::Wrong(format!("a task panicked: {}", payload.message().unwrap_or("?"))))
            }
            Err(error) => Err(Error::Wrong(format!("a task ended with: {error}"))),
        }
    }
}
