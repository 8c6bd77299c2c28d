//! First in, first out, on a queue whose owner takes the youngest.
//!
//! Each job that is queued here is also announced to the pool by one entry. Whoever takes an entry
//! runs the oldest job that is queued then, not the one that came with the entry. So the order of
//! the entries does not matter, and other spawns keep theirs.
//!
//! Source: `rayon-core`, which does the same.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// A job of a [`JobFifo`].
pub(crate) type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// A queue of jobs. The lock is held for a push or a pop, and no job runs or is dropped under it.
#[derive(Default)]
pub(crate) struct JobFifo<'a>(Mutex<VecDeque<Job<'a>>>);

impl<'a> JobFifo<'a> {
    /// Queues `job`. One entry that calls [`JobFifo::run_oldest`] follows.
    pub(crate) fn push(&self, job: Job<'a>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(job);
    }

    /// Runs the oldest job, for one entry.
    pub(crate) fn run_oldest(&self) {
        let job = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        if let Some(job) = job {
            job();
        }
    }
}
