//! Substitute workers, which take over while other workers are blocked.
//!
//! A worker blocks in `no_suspend`, or in any wait of a runtime that keeps threads. Substitutes
//! follow the regular workers in the runtime's list. Each substitute and its thread are created on
//! first use. Its state changes under the lock:
//!
//! | state | meaning | changed by |
//! |---|---|---|
//! | `UNBORN` | no thread; counts as drained and as exited | a worker that blocks: to `ACTIVE` |
//! | `ACTIVE` | works like any worker | itself, with more active than blocked: to `RETIRING` |
//! | `RETIRING` | only resumes its own fibers | itself, with none left: to `DORMANT` |
//! | | | a worker that blocks: to `ACTIVE` |
//! | `DORMANT` | sleeps on its parker; counts as drained | a worker that blocks: to `ACTIVE` |
//!
//! A worker that activates an `UNBORN` or `DORMANT` substitute first withdraws the substitute's
//! drained report. The activating worker is not drained itself, so the count cannot complete in
//! between.

use crate::root;
use crate::shared::Shared;
use crate::worker_thread;
use sateen_base::SpinLock;
use sateen_base::os;
use sateen_base::prim::{Arc, AtomicU8, AtomicUsize, Ordering};
use sateen_sync::park::ThreadParker;

const UNBORN: u8 = 0;
const ACTIVE: u8 = 1;
const RETIRING: u8 = 2;
const DORMANT: u8 = 3;

#[derive(Default)]
struct Slot {
    /// Changes under the lock.
    state: AtomicU8,
    parker: ThreadParker,
}

/// State under the lock, besides the slots' states.
#[derive(Default)]
struct Counts {
    /// Workers that are blocked.
    blocked: usize,
    /// The first `used` slots have been in use.
    used: usize,
}

/// The substitute that runs while a worker yields.
pub(crate) struct Room {
    /// The active substitute.
    pub(crate) slot: usize,
    /// How many workers count as blocked on its behalf.
    workers: usize,
}

/// The names of the threads.
pub(crate) enum Names {
    Default,
    Given(Vec<String>),
}

/// See the [module's documentation](self).
pub(crate) struct Substitutes {
    counts: SpinLock<Counts>,
    /// Number of `ACTIVE` substitutes. Changes under the lock.
    active: AtomicUsize,
    /// The first `limit` slots, then the reserve: see [`Substitutes::start_beyond`].
    slots: Box<[Slot]>,
    limit: usize,
    names: Names,
}

impl Substitutes {
    /// Creates `limit` substitutes and a `reserve`. [`Names::Given`] holds a name for each.
    pub(crate) fn new(limit: usize, reserve: usize, names: Names) -> Self {
        Self {
            counts: SpinLock::new(Counts::default()),
            active: AtomicUsize::new(0),
            slots: (0..limit + reserve).map(|_| Slot::default()).collect(),
            limit,
            names,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// Number of active substitutes, possibly stale.
    pub(crate) fn active(&self) -> usize {
        // Ordering: Relaxed, a statistic.
        self.active.load(Ordering::Relaxed)
    }

    /// Called by a worker that is about to block. Activates a substitute if one is left.
    pub(crate) fn block(&self, shared: &Arc<Shared>) {
        if self.slots.is_empty() {
            return;
        }
        let begins = {
            let mut counts = self.counts.lock();
            counts.blocked += 1;
            match self.active() < counts.blocked {
                true => self.activate(shared, &mut counts),
                false => None,
            }
        };
        begins.inspect(|&slot| self.begin(shared, slot));
    }

    /// Called by a worker that yields. Activates a substitute that runs until
    /// [`Substitutes::leave_room`] is called with the result.
    ///
    /// Unless `forced`, returns `None` while a surplus substitute is active. Also returns `None` if
    /// no substitute can start.
    pub(crate) fn make_room(&self, shared: &Arc<Shared>, forced: bool) -> Option<Room> {
        let (workers, chosen) = {
            let mut counts = self.counts.lock();
            // Counts enough workers as blocked that the new substitute is not surplus.
            let workers = (self.active() + 1).saturating_sub(counts.blocked).max(1);
            if workers > 1 && !forced {
                return None;
            }
            let chosen = self.activate(shared, &mut counts)?;
            counts.blocked += workers;
            (workers, chosen)
        };
        self.begin(shared, chosen);
        Some(Room { slot: chosen.0, workers })
    }

    /// Called by the worker once its yield is over.
    pub(crate) fn leave_room(&self, shared: &Shared, room: Room) {
        self.unblock_all(shared, room.workers);
    }

    /// Marks a substitute active; the caller then [begins](Self::begin) it. Under the lock.
    fn activate(&self, shared: &Shared, counts: &mut Counts) -> Option<(usize, u8)> {
        if self.has_reserve() {
            let used = &self.slots[..counts.used];
            let awake = used.iter().filter(|slot| slot.is(ACTIVE) || slot.is(RETIRING)).count();
            if awake >= self.limit {
                let slot = used.iter().position(|slot| slot.is(RETIRING))?;
                self.set(slot, ACTIVE);
                return Some((slot, RETIRING));
            }
        }
        self.activate_any(shared, counts)
    }

    fn activate_any(&self, shared: &Shared, counts: &mut Counts) -> Option<(usize, u8)> {
        let (slot, before) = self.find_free(shared, counts.used)?;
        counts.used = counts.used.max(slot + 1);
        if before != RETIRING {
            shared.recall(slot);
        }
        self.set(slot, ACTIVE);
        Some((slot, before))
    }

    /// Whether there are substitutes that start only in a standstill.
    pub(crate) fn has_reserve(&self) -> bool {
        self.slots.len() > self.limit
    }

    /// Called when work waits and nothing starts, because the limit of blocked workers is reached.
    /// The blocked workers may wait for that very work, so one more substitute starts.
    #[cold]
    pub(crate) fn start_beyond(&self, shared: &Arc<Shared>) {
        let begins = {
            let mut counts = self.counts.lock();
            match self.active() < counts.blocked {
                true => self.activate_any(shared, &mut counts),
                false => None,
            }
        };
        begins.inspect(|&chosen| self.begin(shared, chosen));
    }

    /// Wakes a substitute, or starts its thread.
    fn begin(&self, shared: &Arc<Shared>, (slot, before): (usize, u8)) {
        match before {
            UNBORN => self.start(shared, slot),
            _ => {
                self.slots[slot].parker.unpark();
                shared.sleep.notify(shared.regular + slot);
            }
        }
    }

    /// Finds an inactive substitute and its state. A retiring one is preferred, because its thread
    /// is awake. In a strict runtime its queued work may need a lock that the caller holds, so
    /// there it comes last.
    fn find_free(&self, shared: &Shared, used: usize) -> Option<(usize, u8)> {
        let find =
            |state| Some((self.slots[..used].iter().position(|slot| slot.is(state))?, state));
        let unused = || (used < self.slots.len()).then_some((used, UNBORN));
        let idle = || find(DORMANT).or_else(|| find(UNBORN)).or_else(unused);
        match shared.is_strict() {
            true => idle().or_else(|| find(RETIRING)),
            false => find(RETIRING).or_else(idle),
        }
    }

    #[cold]
    fn start(&self, shared: &Arc<Shared>, slot: usize) {
        shared.workers.make(slot);
        let (index, body) = (shared.regular + slot, Arc::clone(shared));
        // Count the thread before it can exit.
        shared.thread_starts();
        let name = match &self.names {
            Names::Default => default_name(index),
            Names::Given(names) => names[slot].clone(),
        };
        let run = move || {
            worker_thread::begin();
            match body.own_stack() {
                Ok(own) => root::worker_main(Arc::clone(&body), index, own),
                Err(_) => body.substitutes.give_up(&body, slot),
            }
            worker_thread::exit_last(body);
        };
        if os::start_thread(Some(name), shared.thread_size(), Box::new(run)).is_err() {
            self.give_up(shared, slot);
            shared.thread_exited();
        }
    }

    /// Substitute `slot` got no thread or no memory. The others continue without it.
    fn give_up(&self, shared: &Shared, slot: usize) {
        shared.leave_out(shared.regular + slot);
        let _counts = self.counts.lock();
        self.set(slot, UNBORN);
    }

    /// Called by a worker that is no longer blocked.
    pub(crate) fn unblock(&self, shared: &Shared) {
        if !self.slots.is_empty() {
            self.unblock_all(shared, 1);
        }
    }

    fn unblock_all(&self, shared: &Shared, workers: usize) {
        let used = {
            let mut counts = self.counts.lock();
            counts.blocked -= workers;
            if self.active() <= counts.blocked {
                return;
            }
            counts.used
        };
        // A sleeping surplus substitute must not be chosen when work arrives, so wake it to retire.
        // A worker announces its sleep and then checks. The lock orders both checks, so one side
        // sees the other.
        let active = self.slots[..used].iter().enumerate().filter(|(_, slot)| slot.is(ACTIVE));
        active.map(|(slot, _)| shared.regular + slot).any(|index| shared.sleep.notify(index));
    }

    /// Whether the calling substitute, `slot`, must take no new work.
    pub(crate) fn is_surplus(&self, slot: usize) -> bool {
        if !self.slots[slot].is(ACTIVE) {
            return true;
        }
        let counts = self.counts.lock();
        let surplus = self.active() > counts.blocked;
        if surplus {
            self.set(slot, RETIRING);
        }
        surplus
    }

    /// Whether substitute `slot` may take new work again.
    pub(crate) fn is_active(&self, slot: usize) -> bool {
        self.slots[slot].is(ACTIVE)
    }

    /// Called by substitute `slot` when it has no work left. Sleeps until it is activated or the
    /// runtime stops.
    pub(crate) fn lie_down(&self, slot: usize, shared: &Shared) {
        {
            let _counts = self.counts.lock();
            if !self.slots[slot].is(RETIRING) || !shared.dismiss(slot) {
                return;
            }
            self.set(slot, DORMANT);
        }
        // The report may have waited for this worker alone.
        shared.rest_dismissed();
        while self.slots[slot].is(DORMANT) && !shared.is_stopped() {
            self.slots[slot].parker.park();
        }
    }

    /// Called when the runtime stops, or when all workers must count themselves again.
    pub(crate) fn wake_all(&self) {
        self.slots.iter().for_each(|slot| slot.parker.unpark());
    }

    /// Under the lock.
    fn set(&self, slot: usize, state: u8) {
        // Ordering: Relaxed, under the lock. Only the slot's own thread reads without the lock, and
        // it checks again under the lock before it acts.
        let before = self.slots[slot].state.swap(state, Ordering::Relaxed);
        let active = self.active() + usize::from(state == ACTIVE) - usize::from(before == ACTIVE);
        self.active.store(active, Ordering::Relaxed);
    }
}

/// The default name of worker `index`'s thread.
pub(crate) fn default_name(index: usize) -> String {
    format!("sateen-{index}")
}

impl Slot {
    fn is(&self, state: u8) -> bool {
        // Ordering: Relaxed, see `Substitutes::set`.
        self.state.load(Ordering::Relaxed) == state
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::DORMANT;
    use crate::{Runtime, no_suspend, spawn};
    use sateen_base::prim::{Arc, thread};
    use sateen_sync::Event;

    #[test]
    fn a_dormant_one_gets_up_again() {
        let rt = Runtime::builder().workers(1).substitutes(1).build().expect("a runtime");
        for _ in 0..3 {
            rt.install(|| {
                let event = Arc::new(Event::new());
                let set = Arc::clone(&event);
                drop(spawn(move || set.set()));
                // Only the substitute can run the task.
                no_suspend(|| event.wait());
            });
            while !rt.shared.substitutes.slots[0].is(DORMANT) {
                thread::yield_now();
            }
        }
        rt.shutdown().expect("an orderly end");
    }
}
