//! The lookout, a sleeper that wakes when queued work makes no progress.
//!
//! It exists for runtimes that are oversubscribed. A worker that is woken there finds no free core
//! and preempts a worker that is busy. So publishers wake no worker while as many are awake as
//! there are cores. But an awake worker may be blocked in the system, or compute for long. The
//! lookout detects the first by the workers' CPU time, and the second by the time that has passed.
//!
//! States, and why no work is missed: `sleepers.rs` and `README.md`, "Sleeping".

use crate::shared::Shared;
use crate::worker::Owner;
use sateen_base::prim::time::{Duration, Instant};

/// The time between two checks.
const LOOK: Duration = Duration::from_millis(1);
/// The longest time between two checks. The time doubles while cores are free; beyond this the
/// lookout sleeps like any other worker.
const LONGEST: Duration = Duration::from_millis(16);
/// Checks for which work may wait while no worker makes progress.
const PATIENCE: u32 = 8;
/// Checks for which work may wait while some worker makes progress. That worker takes the work when
/// it runs out of its own; another worker would only preempt it.
const LONG_PATIENCE: u32 = 64;

impl Owner {
    /// Makes an announced worker the lookout, if one is needed, until cores have been free for a
    /// while. Returns whether it woke up; its announcement is withdrawn then.
    ///
    /// There is no lookout while a worker is starved. The starved worker relies on sleepers leaving
    /// no work in the queues, and the lookout does.
    pub(crate) fn look_out(&self) -> bool {
        let shared = self.shared();
        let wanted = !shared.is_closing() && !self.is_alone() && !shared.stall.any_starved();
        if !wanted || !shared.sleep.begin_lookout(self.index()) {
            return false;
        }
        let gets_up = self.wait_for_cores();
        shared.sleep.end_lookout();
        // Publishers have relied on the lookout until now, so it checks once more.
        let me = self.index();
        gets_up || !shared.sleep.cancel(me) || !shared.sleep.announce(me, || self.sees_work())
    }

    /// Returns true when this worker was notified, or woke up and withdrew its announcement.
    fn wait_for_cores(&self) -> bool {
        let shared = self.shared();
        let mut before = CpuTime::of(shared);
        let mut progress = progress_of(shared);
        let (mut waited, mut stuck, mut nap) = (0, 0, LOOK);
        while nap <= LONGEST && !shared.is_closing() && !shared.stall.any_starved() {
            let timer = self.watch_timers();
            if timer.is_some_and(|left| left.is_zero()) {
                break;
            }
            if self.sleep_for(Some(timer.map_or(nap, |left| left.min(nap)))) {
                return true;
            }
            let waits = shared.leaves_work(self.index());
            let latest = progress_of(shared);
            let goes_on = std::mem::replace(&mut progress, latest) != latest;
            waited = if waits { waited + 1 } else { 0 };
            stuck = if waits && !goes_on { stuck + 1 } else { 0 };
            nap = if waited > 0 || shared.sleep.is_crowded() { LOOK } else { 2 * nap };
            let now = CpuTime::of(shared);
            let idle = now.cores_since(&before) < shared.sleep.cores() as f64 - 0.5;
            before = now;
            let too_long = stuck >= PATIENCE || waited >= LONG_PATIENCE;
            if (waited > 1 && idle) || too_long || self.sees_own_work() {
                shared.sleep.cancel(self.index());
                return true;
            }
        }
        false
    }
}

/// A number that probably changes whenever a worker starts something or joins its own branches.
fn progress_of(shared: &Shared) -> u64 {
    let stacks = shared.workers.iter().filter_map(|worker| worker.current_join_stack());
    stacks.fold(shared.started(), |sum, stack| {
        sum.wrapping_mul(31).wrapping_add(stack.height() as u64)
    })
}

/// CPU time used by the workers.
struct CpuTime {
    at: Instant,
    used: Duration,
}

impl CpuTime {
    fn of(shared: &Shared) -> Self {
        let times = shared.workers.iter().filter_map(|worker| worker.clock.get()?.time());
        Self { at: Instant::now(), used: times.sum() }
    }

    /// The number of cores they have kept busy since `before`. It is 0 where the system does not
    /// report CPU time. It is too low where another thread stands in for a worker
    /// (`own_thread.rs`), and the lookout then wakes up too early.
    fn cores_since(&self, before: &Self) -> f64 {
        let time = self.at.saturating_duration_since(before.at).max(Duration::from_nanos(1));
        self.used.saturating_sub(before.used).as_secs_f64() / time.as_secs_f64()
    }
}
