//! What the root of a worker does that has no stack to start work on.
//!
//! It puts aside what lies in its queues, so that others find it, and naps until a fiber is ready or a stack is
//! free. When all workers stand still like this, nested work gets a stack beyond the limit, and spawns fail.
//! Protocol and proof: `README.md`, "Out of stacks".

use crate::aside::Kind;
use crate::entry::{Entry, Work};
use crate::forked;
use crate::root::{base_fiber, call_off_fiber, extra_fiber};
use crate::shared::Shared;
use crate::stall::{Rest, State};
use crate::task::{self, Header, JoinError};
use crate::worker::Worker;
use sateen_base::prim::thread;
use sateen_base::prim::time::{Duration, Instant};
use sateen_deque::Steal;

/// How long a worker without a stack waits before it tries again: at first, and how often it doubles.
const NAP: Duration = Duration::from_micros(50);
const DOUBLINGS: u32 = 5;
/// Naps after which, with every worker starved and nobody waiting in time, something is done: about 40 ms.
const NAPS: u32 = 30;
/// Naps after which the root of a thread that is a runtime goes back to its caller.
pub(crate) const STUCK_NAPS: u32 = 2 * NAPS;
/// Nested work that no stack has been free for gets one after so long, whoever sleeps or wakes meanwhile.
const LONG: Duration = Duration::from_secs(1);
/// Entries taken from others' queues, or from outside, in one nap.
const BATCH: usize = 1000;

/// No stack to start work on: wait for a fiber to become ready or a stack to become free.
/// Returns how often in a row it was in vain.
#[cold]
pub(crate) fn starve(worker: &Worker, naps: u32) -> u32 {
    let shared = worker.shared();
    worker.look_through_pinned();
    // Who sleeps in time holds a stack, and nobody else may be there to wake it.
    let fired = worker.fire_timers();
    shared.foreign.send_away(shared);
    let put = worker.put_all_aside(naps >= NAPS);
    if worker.stall_state() == State::Working {
        worker.set_stall(State::Starved);
        // Sleepers may hold spare stacks. Those who woke before the state was set would not know
        // that they have to give them; it fences, for those who fall asleep.
        shared.wake_all();
    } else if put {
        // What is aside is for any worker; `Aside::put` has fenced. Partner: the fence in `Sleepers::announce`.
        shared.sleep.wake_searcher();
    }
    if fired || worker.has_ready() {
        return 1;
    }
    let due = shared.workers.iter().filter_map(|worker| worker.timers.earliest()).min();
    if due.is_none() && naps >= NAPS && shared.is_orphan() {
        // The others are not there, so nobody gives a stack back.
        forked::end_process();
    }
    worker.count_stranded();
    let stalled = naps >= NAPS && due.is_none() && stands_still(worker);
    if worker.with_idle(|idle| !idle.is_empty()) {
        worker.set_stall(State::Working);
        return 0;
    }
    if (stalled || worker.starved_for() > LONG) && start_beyond(worker) {
        worker.set_stall(State::Working);
        return 0;
    }
    let stuck = stalled && refuse_spawns(worker) == 0;
    // Until it goes on: that another is awake for a moment, to look for a stack in vain, changes
    // nothing.
    let still = !stalled && worker.stall_state() == State::Stuck;
    worker.set_stall(if stuck || still { State::Stuck } else { State::Starved });
    if let Some(watch) = shared.watch.as_ref().filter(|_| stuck) {
        watch.stuck(shared);
    }
    // It may not be able to start work, but it must not keep the runtime from ending.
    let drains = shared.is_closing() && !worker.has_started() && !worker.has_deferred();
    if drains {
        shared.drain();
    }
    // Not through the event count: whoever is announced there is taken for somebody who can start work.
    let nap = NAP * 2u32.pow(naps.min(DOUBLINGS));
    shared.stall.rests(Rest::Nap);
    thread::sleep(match due {
        Some(due) => due.saturating_duration_since(Instant::now()).min(NAP * 32),
        // Not in step with others: one that is awake sees nobody stand still but itself.
        None => nap + nap * worker.random(8) as u32 / 32,
    });
    shared.stall.wakes(Rest::Nap);
    if drains {
        shared.undrain();
    }
    // While somebody waits in time, nobody waits in vain.
    if due.is_some() { 1 } else { naps.saturating_add(1) }
}

/// Whether at some moment of the call no worker could go on with anything, and there was no stack.
/// If there is one the worker has it from then on, at the base of an idle fiber.
fn stands_still(worker: &Worker) -> bool {
    let shared = worker.shared();
    let workers = || shared.workers.iter();
    let no_stack = || match base_fiber(worker) {
        Some(fiber) => {
            worker.with_idle(|idle| idle.push(fiber));
            false
        }
        None => true,
    };
    let look = || {
        !workers().any(Worker::has_fibers_in_inbox)
            && workers().all(|worker| worker.timers.is_empty())
            && no_stack()
    };
    shared.stall.all_rest(|| shared.sleep.announced(), look)
}

/// Gives one piece of nested work a stack beyond the limit; whether that was possible.
fn start_beyond(worker: &Worker) -> bool {
    // In this order: what is taken would have to be put back, and wake its scope for that.
    if !worker.has_nested_aside() {
        return false;
    }
    let Some(fiber) = extra_fiber(worker) else { return false };
    worker.with_idle(|idle| idle.push(fiber));
    if let Some(entry) = worker.take_nested_aside() {
        worker.set_next(entry);
    }
    true
}

/// The spawns in reach fail, so that whoever waits for them can go on; how many. All are aside.
fn refuse_spawns(worker: &Worker) -> usize {
    let mut refused = 0;
    while let Some(entry) = worker.take_task_aside() {
        let Work::Task(header) = entry.decode() else {
            sateen_base::abort_with("something else was put aside as a task")
        };
        refused += 1;
        worker.counters.out_of_stacks.bump();
        call_off_fiber(|| {
            // SAFETY: the entry's reference to the task is ours.
            unsafe { task::refuse_queued(header, JoinError::OutOfStacks) };
        });
    }
    refused
}

/// Whether it is work to start that cannot fail. A fiber, which a policy may have dropped, needs no
/// stack.
fn is_nested(entry: Entry) -> bool {
    !matches!(entry.decode(), Work::Task(_) | Work::Fiber(_))
}

impl Worker {
    /// Puts an entry that cannot be started where it is found by those who can start it.
    pub(crate) fn put_aside(&self, entry: Entry) {
        let shared = self.shared();
        let home = self.policy.is_alone().then_some(self.index());
        // SAFETY: the entry keeps the task or the future, which its header starts.
        let is_pinned = |header: *const Header| unsafe { &*header }.worker().is_some();
        let kind = match entry.decode() {
            Work::Scoped(job) => {
                // SAFETY: the scope waits for the job, which nobody can take before this has looked.
                let look = || unsafe { crate::scope::waiter(job) };
                let waiter = shared.aside.put(entry, Kind::Scoped, home, look);
                waiter.inspect(|waiter| crate::latch::Waiter::unpark(*waiter));
                return;
            }
            Work::Task(header) if !is_pinned(header.as_ptr()) => Kind::Task,
            Work::Future(head) if !is_pinned(head.as_ptr().cast()) => Kind::Nested,
            Work::Job(_) | Work::Stack(_) => Kind::Nested,
            _ => return self.defer(entry),
        };
        shared.aside.put(entry, kind, home, || ());
    }

    /// Puts aside what waits in queues of this worker, those for all and, if it `steals`, some of others'. Whether
    /// anything did.
    fn put_all_aside(&self, steals: bool) -> bool {
        let shared = self.shared();
        let mut put = self.put_policy_aside();
        for entry in self.take_deferred() {
            put |= !self.is_own(entry);
            self.put_aside(entry);
        }
        for _ in 0..BATCH {
            let Some(entry) = shared.take_injected() else { break };
            self.put_aside(entry);
            put = true;
        }
        let others = || shared.workers().iter().filter(|other| other.index() != self.index());
        if steals && !self.policy.is_alone() {
            for other in others() {
                if let Steal::Success(entry) = self.steal_tasks(other) {
                    self.put_aside(entry);
                    put = true;
                }
            }
            self.put_policy_aside();
        }
        put
    }

    fn put_policy_aside(&self) -> bool {
        let mut put = false;
        while let Some(entry) = self.policy.pick_next() {
            match entry.as_fiber() {
                // The policy has it, but it is not yet its turn.
                Some(fiber) => {
                    self.policy.awaken_fiber(fiber);
                    break;
                }
                None => self.put_aside(entry),
            }
            put = true;
        }
        put
    }

    /// Looks through the pinned queue for what needs no stack, or may go elsewhere.
    fn look_through_pinned(&self) {
        for entry in self.take_pinned_if(|entry| matches!(entry.decode(), Work::Survey(_))) {
            if let Work::Survey(job) = entry.decode() {
                // SAFETY: taken from the pinned queue, so ours to run, once.
                call_off_fiber(|| unsafe { ((*job).run)(job) });
            }
        }
        for entry in self.take_pinned_if(|entry| matches!(entry.decode(), Work::Scoped(_))) {
            self.put_aside(entry);
        }
    }

    /// Whether `entry` may be started by this worker only.
    fn is_own(&self, entry: Entry) -> bool {
        // SAFETY: as in `put_aside`.
        let is_pinned = |header: *const Header| unsafe { &*header }.worker().is_some();
        match entry.decode() {
            Work::Task(header) => is_pinned(header.as_ptr()),
            Work::Future(head) => is_pinned(head.as_ptr().cast()),
            Work::Scoped(_) | Work::Job(_) | Work::Stack(_) => false,
            _ => true,
        }
    }

    fn has_nested_aside(&self) -> bool {
        self.shared().aside.has_for(self.index(), &[Kind::Scoped, Kind::Nested])
            || self.has_own_waiting(is_nested)
    }

    fn take_nested_aside(&self) -> Option<Entry> {
        let aside = &self.shared().aside;
        aside
            .take_kind(self.index(), Kind::Nested)
            .or_else(|| aside.take_kind(self.index(), Kind::Scoped))
            .or_else(|| self.take_own_waiting(is_nested))
    }

    fn take_task_aside(&self) -> Option<Entry> {
        let is_task = |entry: Entry| matches!(entry.decode(), Work::Task(_));
        let aside = self.shared().aside.take_kind(self.index(), Kind::Task);
        aside.or_else(|| self.take_own_waiting(is_task))
    }
}

impl Shared {
    /// Entries that some worker could not start, and that wait still, about.
    pub(crate) fn waiting_for_stacks(&self) -> usize {
        if !self.stall.any_starved() {
            return 0;
        }
        self.aside.count() + self.workers.iter().map(Worker::stranded).sum::<usize>()
    }
}
