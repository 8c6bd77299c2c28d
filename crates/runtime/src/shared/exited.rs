//! Tracks which threads of a runtime have exited, and waits for them.

use super::Shared;
use crate::task::{self, JoinError};
use crate::unwind::run_and_discard;
use sateen_base::prim::time::Instant;
use sateen_sync::park;
use std::sync::PoisonError;
use std::task::Waker;

/// The threads that have left their loops, and those that wait for that.
pub(super) struct Exited {
    /// Number of workers' threads that have left or do not exist.
    pub(super) count: usize,
    /// Threads of the timekeeper and the monitor that have not left.
    pub(super) helpers: usize,
    /// Whether all have left and released everything they held.
    pub(super) done: bool,
    pub(super) wakers: Vec<Waker>,
}

impl Exited {
    fn are_all(&self, workers: usize) -> bool {
        self.count == workers && self.helpers == 0
    }
}

impl Shared {
    /// Counts a substitute's thread that is about to start. The caller's thread has not left.
    pub(crate) fn thread_starts(&self) {
        self.exited.lock().unwrap_or_else(PoisonError::into_inner).count -= 1;
    }

    /// Counts a worker's thread that has left its loop, or will never run.
    pub(crate) fn thread_exited(&self) {
        self.left(|exited| exited.count += 1);
    }

    /// Counts another thread that is about to start. The caller's thread has not left.
    pub(crate) fn helper_starts(&self) {
        self.exited.lock().unwrap_or_else(PoisonError::into_inner).helpers += 1;
    }

    /// Counts another thread that has left, or will never run.
    pub(crate) fn helper_left(&self) {
        self.left(|exited| exited.helpers -= 1);
    }

    fn left(&self, count: impl FnOnce(&mut Exited)) {
        let mut exited = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        count(&mut exited);
        let all = exited.are_all(self.workers.possible());
        drop(exited);
        let mut wakers = Vec::new();
        if all {
            if !self.is_stopped() {
                self.end_unattended();
            }
            // Fibers and the shared part keep each other alive; break the cycle. No worker is left
            // to need them, unless one never leaves.
            if !self.has_resident.is_raised() {
                self.forget_fibers();
            }
            // Before any thread learns of the end, because others may keep the shared part for
            // long.
            run_and_discard(|| self.stacks.close());
            let mut exited = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
            exited.done = true;
            wakers = std::mem::take(&mut exited.wakers);
        }
        self.changed.notify_all();
        wakers.into_iter().for_each(|waker| run_and_discard(|| waker.wake()));
        if all {
            self.close_timers();
        }
    }

    /// No worker ever ran, nor will. Refuses new work, and the work accepted so far.
    #[cold]
    fn end_unattended(&self) {
        self.gate.shut();
        self.stop();
        while let Some(entry) = self.take_injected() {
            // SAFETY: taken, so ours; without workers it came from outside.
            unsafe { task::refuse_outside(self, JoinError::ShutDown, entry) };
        }
    }

    /// Waits until all threads have left: blocks a thread, suspends a task (of another runtime).
    /// Returns false at `deadline`.
    pub(crate) fn wait_all_exited(&self, deadline: Option<Instant>) -> bool {
        let waker = park::current_waker();
        // Cloned and dropped outside of the lock, because it may be the user's.
        let mut kept = Some(waker.clone());
        loop {
            {
                let mut exited = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
                if exited.done {
                    return true;
                }
                if !exited.wakers.iter().any(|other| other.will_wake(&waker)) {
                    exited.wakers.extend(kept.take());
                }
            }
            match deadline {
                None => park::park(),
                Some(deadline) if deadline <= Instant::now() => return false,
                Some(deadline) => park::park_until(deadline),
            }
        }
    }

    /// Blocks the thread until `count` regular threads and all started substitutes have left.
    /// Returns false at `deadline`.
    pub(crate) fn wait_exited(&self, count: usize, deadline: Instant) -> bool {
        let mut exited = self.exited.lock().unwrap_or_else(PoisonError::into_inner);
        while exited.count < count + self.substitutes.count() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            exited =
                self.changed.wait_timeout(exited, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}
