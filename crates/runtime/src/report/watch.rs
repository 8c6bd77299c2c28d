//! Detects that a runtime cannot make progress by itself.
//!
//! A runtime is *blocked* if it has fibers or futures, all of them wait, nothing is queued and no
//! timer is pending. Two surveys establish that for one moment: a fiber that waits in both, and was
//! not suspended in between, has waited all the time.

use super::survey::{Answers, Survey};
use super::{Blocked, FiberState, Report};
use crate::drain::DrainCount;
use crate::fiber::Fiber;
use crate::shared::Shared;
use sateen_base::prim::{Arc, AtomicU64, AtomicUsize, Ordering};
use std::collections::HashSet;

/// A number that changes whenever a task starts or is suspended.
pub(super) fn activity(shared: &Shared) -> u64 {
    let each = shared.workers.iter().map(|worker| {
        let counters = &worker.counters;
        let begun = counters.taken.get().wrapping_sub(counters.surveys.get());
        begun.wrapping_add(counters.suspensions.get())
    });
    each.fold(0, u64::wrapping_add)
}

/// Whether the runtime is blocked. `report` is what the survey saw; `before` is the activity before
/// it.
pub(super) fn blocked(shared: &Shared, report: &Report, before: u64) -> Option<Blocked> {
    let all_wait = report.fibers.iter().all(|fiber| fiber.state == FiberState::Waiting);
    let futures = shared.futures.count();
    let none = report.fibers.is_empty() && futures == 0;
    if report.busy > 0 || none || !all_wait || has_timers(shared) {
        return None;
    }
    let seen: HashSet<u64> = report.fibers.iter().map(|fiber| fiber.id).collect();
    let outer = report.fibers.iter().filter(|fiber| fiber.is_outer).count();
    let waits = |fiber: &Fiber| fiber.is_parked() && seen.contains(&fiber.context_id());
    let waiting = shared.fibers.lock().iter().filter(|fiber| waits(fiber)).count();
    let stuck = shared.stall.any_stuck();
    if waiting + outer != seen.len()
        || (shared.has_work_from_outside() && !stuck)
        || activity(shared) != before
        || shared.workers.iter().any(|worker| worker.has_fibers_in_inbox())
    {
        return None;
    }
    let queued = if stuck { report.waiting_for_stacks } else { 0 };
    let could_be_woken = report.fibers.iter().filter(|fiber| {
        let owner = fiber.waits_for.as_ref().and_then(|wait| wait.owner.as_ref());
        fiber.has_waker && !fiber.is_outer && owner.is_none_or(|owner| !seen.contains(&owner.id))
    });
    Some(Blocked { outside_wakers: could_be_woken.count(), futures, queued })
}

fn has_timers(shared: &Shared) -> bool {
    shared.timed_waits.are_some() || shared.workers.iter().any(|worker| !worker.timers.is_empty())
}

/// Prints a report when the runtime becomes blocked; see
/// [`Builder::report_blocked`](crate::Builder::report_blocked).
pub(crate) struct Watch {
    /// Workers that sleep without a time limit, have no thread, or are dismissed. In a strict
    /// runtime also those whose tasks wait without a time limit.
    resting: DrainCount,
    /// The activity when the workers were last asked.
    asked: AtomicU64,
}

/// Number of tasks that keep their threads and wait with a time limit; no timer records that.
#[derive(Default)]
pub(crate) struct TimedWaits(AtomicUsize);

impl TimedWaits {
    /// The calling task begins such a wait.
    pub(crate) fn enter(&self) {
        // Ordering: Relaxed; a survey that finds the task asleep has taken the fiber's lock after
        // it. The same holds below.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn leave(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn are_some(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { resting: DrainCount::new(), asked: AtomicU64::new(0) }
    }

    /// A worker is about to sleep without a time limit. Returns true if it was the last one, the
    /// runtime may be blocked, and the workers were asked; then it does not sleep. Returns false if
    /// it sleeps; [`Watch::wakes`] follows the sleep.
    pub(crate) fn rests(&self, shared: &Shared) -> bool {
        if !self.resting.drain(shared.workers.possible(), || shared.has_work())
            || has_timers(shared)
        {
            return false;
        }
        let now = activity(shared);
        let parked = || shared.fibers.lock().iter().any(|fiber| fiber.is_parked());
        let waits = || shared.futures.count() != 0 || parked();
        // Ordering: Relaxed; the last worker to rest is alone, and the drain word passes the number
        // on.
        if self.asked.load(Ordering::Relaxed) == now || !waits() {
            return false;
        }
        self.asked.store(now, Ordering::Relaxed);
        self.wakes();
        Survey::begin(shared, tell);
        true
    }

    /// A worker has run out of options for work that lacks a stack. Asks the workers, once.
    pub(crate) fn stuck(&self, shared: &Shared) {
        let now = activity(shared);
        // Ordering: Relaxed; it does not matter which of these workers asks.
        if self.asked.swap(now, Ordering::Relaxed) != now {
            Survey::begin(shared, tell);
        }
    }

    pub(crate) fn wakes(&self) {
        self.resting.undrain();
    }

    /// A worker will never run.
    pub(crate) fn absent(&self) {
        self.resting.absent();
    }
}

/// Called on the last worker to answer.
fn tell(shared: &Arc<Shared>, answers: Answers) {
    let Some(watch) = &shared.watch else { return };
    let before = watch.asked.load(Ordering::Relaxed);
    let mut report = Report::new(shared, answers, 0);
    report.blocked = blocked(shared, &report, before);
    if report.blocked.is_some() {
        sateen_base::os::write_stderr(format!("sateen: {report}").as_bytes());
    }
}
