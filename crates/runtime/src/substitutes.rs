//! Substitutes: workers that take over while others are blocked in `no_suspend`.
//!
//! They follow the regular workers in the runtime's list. Their threads start when first needed.
//! The state of one changes under the lock:
//!
//! | state | meaning | moved on by |
//! |---|---|---|
//! | `UNBORN` | no thread; counts as drained and as exited | a worker that blocks: to `ACTIVE` |
//! | `ACTIVE` | works like any worker | itself, with more active than blocked: to `RETIRING` |
//! | `RETIRING` | only resumes its own fibers | itself, with none left: to `DORMANT` |
//! | | | a worker that blocks: to `ACTIVE` |
//! | `DORMANT` | sleeps on its parker; counts as drained | a worker that blocks: to `ACTIVE` |
//!
//! The worker that moves a substitute on from `UNBORN` or `DORMANT` first takes back its report of
//! being drained. That worker is not drained itself, so the count never completes in between.

use crate::root;
use crate::shared::Shared;
use sateen_base::SpinLock;
use sateen_base::prim::{Arc, AtomicU8, AtomicUsize, Ordering, thread};
use sateen_sync::park::ThreadParker;

const UNBORN: u8 = 0;
const ACTIVE: u8 = 1;
const RETIRING: u8 = 2;
const DORMANT: u8 = 3;

struct Slot {
    /// Changes under the lock.
    state: AtomicU8,
    parker: ThreadParker,
    name: String,
}

/// See the [module's documentation](self).
pub(crate) struct Substitutes {
    /// How many workers are blocked.
    blocked: SpinLock<usize>,
    /// How many substitutes are `ACTIVE`. Changes under the lock.
    active: AtomicUsize,
    /// How many slots have had a thread: the first ones.
    born: AtomicUsize,
    slots: Box<[Slot]>,
}

impl Substitutes {
    /// One substitute for each name of a thread.
    pub(crate) fn new(names: Vec<String>) -> Self {
        let slot = |name| Slot { state: AtomicU8::new(UNBORN), parker: ThreadParker::new(), name };
        Self {
            blocked: SpinLock::new(0),
            active: AtomicUsize::new(0),
            born: AtomicUsize::new(0),
            slots: names.into_iter().map(slot).collect(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// How many have ever worked. Recent.
    pub(crate) fn born(&self) -> usize {
        // Ordering: Relaxed, a figure. The same holds for the others outside of the lock.
        self.born.load(Ordering::Relaxed)
    }

    /// How many work like any worker. Recent.
    pub(crate) fn active(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    /// The calling worker is about to block: a substitute takes over, if one is left.
    pub(crate) fn block(&self, shared: &Arc<Shared>) {
        if self.slots.is_empty() {
            return;
        }
        let (slot, before) = {
            let mut blocked = self.blocked.lock();
            *blocked += 1;
            let active = self.active();
            // A started substitute before one without a thread.
            let free = [RETIRING, DORMANT, UNBORN].iter().find_map(|&state| {
                self.slots.iter().position(|slot| slot.is(state)).zip(Some(state))
            });
            let Some((slot, before)) = free.filter(|_| active < *blocked) else { return };
            if before != RETIRING {
                shared.recall(slot);
            }
            self.set(slot, ACTIVE);
            (slot, before)
        };
        match before {
            UNBORN => self.start(shared, slot),
            _ => {
                self.slots[slot].parker.unpark();
                shared.sleep.notify(shared.regular + slot);
            }
        }
    }

    #[cold]
    fn start(&self, shared: &Arc<Shared>, slot: usize) {
        let (index, body) = (shared.regular + slot, Arc::clone(shared));
        // Before its thread may end.
        shared.thread_starts();
        self.born.fetch_max(slot + 1, Ordering::Relaxed);
        let thread = thread::Builder::new().name(self.slots[slot].name.clone());
        let run = move || {
            root::worker_main(Arc::clone(&body), index);
            body.thread_exited();
        };
        let started = sateen_base::os::before_thread().and_then(|()| thread.spawn(run));
        if started.is_err() {
            // The others go on alone.
            shared.leave_out(index);
            {
                let _blocked = self.blocked.lock();
                self.set(slot, UNBORN);
            }
            shared.thread_exited();
        }
    }

    /// The calling worker is blocked no more.
    pub(crate) fn unblock(&self, shared: &Shared) {
        if self.slots.is_empty() {
            return;
        }
        let surplus = {
            let mut blocked = self.blocked.lock();
            *blocked -= 1;
            if self.active() <= *blocked {
                return;
            }
            self.slots.iter().position(|slot| slot.is(ACTIVE))
        };
        // If it sleeps, it should not be among those that are woken for work. A worker announces
        // its sleep and looks then; the lock orders the looks, so one of the two sees the other.
        surplus.map(|slot| shared.sleep.notify(shared.regular + slot));
    }

    /// Whether substitute `slot`, the caller, is to take nothing new.
    pub(crate) fn is_surplus(&self, slot: usize) -> bool {
        if !self.slots[slot].is(ACTIVE) {
            return true;
        }
        let blocked = self.blocked.lock();
        let surplus = self.active() > *blocked;
        if surplus {
            self.set(slot, RETIRING);
        }
        surplus
    }

    /// Whether substitute `slot` may take new work again.
    pub(crate) fn is_active(&self, slot: usize) -> bool {
        self.slots[slot].is(ACTIVE)
    }

    /// Substitute `slot`, the caller, has nothing left. Sleeps until it is needed or the runtime is
    /// stopped.
    pub(crate) fn lie_down(&self, slot: usize, shared: &Shared) {
        {
            let _blocked = self.blocked.lock();
            if !self.slots[slot].is(RETIRING) || !shared.dismiss(slot) {
                return;
            }
            self.set(slot, DORMANT);
        }
        // It may have been the last worker that the report waited for.
        shared.rest_dismissed();
        while self.slots[slot].is(DORMANT) && !shared.is_stopped() {
            self.slots[slot].parker.park();
        }
    }

    /// The runtime is stopped, or all workers are to count themselves once more.
    pub(crate) fn wake_all(&self) {
        self.slots.iter().for_each(|slot| slot.parker.unpark());
    }

    /// Under the lock.
    fn set(&self, slot: usize, state: u8) {
        // Ordering: Relaxed, under the lock. Only the slot's own thread looks without the lock, and
        // it acts on what it sees under it.
        let before = self.slots[slot].state.swap(state, Ordering::Relaxed);
        let active = self.active() + usize::from(state == ACTIVE) - usize::from(before == ACTIVE);
        self.active.store(active, Ordering::Relaxed);
    }
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
