//! The lookout: a sleeper that gets up when awake workers leave work waiting.
//!
//! Where workers outnumber cores, a worker that is woken for each piece of work finds no core: it
//! takes the time of those that work already. So publishers wake none while as many are awake as
//! there are cores. Some of those may be blocked in the system, though, or compute for long. The
//! lookout notices by the CPU time of the workers, or in the end by the time that has passed.
//!
//! The words, and why no work is slept through, are in `sleepers.rs` and `README.md`, "Sleeping".

use crate::shared::Shared;
use crate::worker::Owner;
use sateen_base::prim::time::{Duration, Instant};

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(1);
/// The longest time between two looks, which doubles while there are cores to spare. Then the
/// lookout sleeps like any other worker.
const LONGEST: Duration = Duration::from_millis(16);
/// Work may wait for so many looks while all cores are busy, but no worker gets on.
const PATIENCE: u32 = 8;
/// The same while some get on. They take what waits when they run out of their own work, and one
/// worker more would only take turns with them.
const LONG_PATIENCE: u32 = 64;

impl Owner {
    /// An announced worker looks out, if a lookout is wanted, until there have been cores to spare
    /// for a while. Returns whether it got up; its announcement is taken back then.
    ///
    /// While a worker is starved nobody looks out. The starved worker has to know that a sleeper
    /// leaves no work waiting, and this one does.
    pub(crate) fn look_out(&self) -> bool {
        let shared = self.shared();
        let wanted = !shared.is_closing() && !self.is_alone() && !shared.stall.any_starved();
        if !wanted || !shared.sleep.begin_lookout(self.index()) {
            return false;
        }
        let gets_up = self.wait_for_cores();
        shared.sleep.end_lookout();
        // Publishers have relied on the lookout until now: it looks once more.
        let me = self.index();
        gets_up || !shared.sleep.cancel(me) || !shared.sleep.announce(me, || self.sees_work())
    }

    /// Returns true when this worker is notified, or gets up and has taken its announcement back.
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

/// A number that probably changes while any worker starts something, or joins branches of its own.
fn progress_of(shared: &Shared) -> u64 {
    let stacks = shared.workers.iter().filter_map(|worker| worker.current_join_stack());
    stacks.fold(shared.started(), |sum, stack| {
        sum.wrapping_mul(31).wrapping_add(stack.height() as u64)
    })
}

/// What the workers have used of the processor.
struct CpuTime {
    at: Instant,
    used: Duration,
}

impl CpuTime {
    fn of(shared: &Shared) -> Self {
        let times = shared.workers.iter().filter_map(|worker| worker.clock.get()?.time());
        Self { at: Instant::now(), used: times.sum() }
    }

    /// How many cores they have kept busy since `before`. 0 where the system does not say, and less
    /// than in truth where another thread stands for a worker (`own_thread.rs`): then the lookout
    /// gets up too early.
    fn cores_since(&self, before: &Self) -> f64 {
        let time = self.at.saturating_duration_since(before.at).max(Duration::from_nanos(1));
        self.used.saturating_sub(before.used).as_secs_f64() / time.as_secs_f64()
    }
}
