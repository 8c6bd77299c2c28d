//! What a worker's root does when it has no stack to start work on.
//!
//! The worker moves its queued work aside, where other workers find it. It then naps until a fiber
//! is ready or a stack is free. When all workers stand still like this, nested work gets a stack
//! beyond the limit, and spawned tasks fail. Protocol and proof: `README.md`, "Out of stacks".

use crate::aside::WorkKind;
use crate::context::call_off_fiber;
use crate::entry::{Entry, Work};
use crate::forked;
use crate::metrics::Doing;
use crate::root::{base_fiber, extra_fiber};
use crate::shared::Shared;
use crate::stall::{Rest, State};
use crate::task::{self, Header, JoinError};
use crate::worker::Owner;
use sateen_base::prim::thread;
use sateen_base::prim::time::{Duration, Instant};
use sateen_deque::Steal;

/// The first nap of a worker without a stack. It doubles [`DOUBLINGS`] times.
const NAP: Duration = Duration::from_micros(50);
const DOUBLINGS: u32 = 5;
/// Naps after which a worker acts if all workers are starved and no timer is pending: about 40 ms.
const NAPS: u32 = 30;
/// Naps after which the root of a `CurrentThread` returns to its caller.
pub(crate) const STUCK_NAPS: u32 = 2 * NAPS;
/// Nested work gets a stack after this time, whatever other workers do.
const LONG: Duration = Duration::from_secs(1);
/// Most entries taken from other queues in one nap.
const BATCH: usize = 1000;

/// Waits for a fiber to become ready or a stack to become free. Returns the number of fruitless
/// naps in a row, including this one.
#[cold]
pub(crate) fn starve(worker: &Owner, naps: u32) -> u32 {
    worker.while_doing(Doing::Search, || look_and_nap(worker, naps))
}

fn look_and_nap(worker: &Owner, naps: u32) -> u32 {
    let shared = worker.shared();
    worker.look_through_pinned();
    // A task that sleeps on a timer holds a stack, and perhaps no other worker can wake it.
    let fired = worker.fire_timers();
    shared.foreign.send_away(shared);
    let put = worker.put_all_aside(naps >= NAPS);
    if worker.stall_state() == State::Working {
        worker.set_stall(State::Starved);
        // Sleepers may hold spare stacks. A sleeper that woke before the state was set would not
        // know that it has to give its stack back. Setting the state issues a full fence, for
        // workers that are falling asleep.
        shared.wake_all();
    } else if put {
        // Any worker may take what is aside. `Aside::put` has fenced. Partner: the fence in
        // `Sleepers::announce`.
        shared.sleep.wake_searcher();
    }
    if fired || worker.has_ready() {
        return 1;
    }
    let due = shared.workers.iter().filter_map(|worker| worker.timers.earliest()).min();
    if due.is_none() && naps >= NAPS && shared.is_orphan() {
        // After a fork the other workers are gone, so none returns a stack.
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
    // Only real progress clears `Stuck`, not a worker that wakes briefly and finds no stack either.
    let still = !stalled && worker.stall_state() == State::Stuck;
    worker.set_stall(if stuck || still { State::Stuck } else { State::Starved });
    if let Some(watch) = shared.watch.as_ref().filter(|_| stuck) {
        watch.stuck(shared);
    }
    // A worker that cannot start work must not keep the runtime from ending.
    let drains = shared.is_closing() && !worker.has_started() && !worker.has_deferred();
    if drains {
        shared.drain();
    }
    // Not in the event count: an announced worker is assumed to be able to start work.
    let nap = NAP * 2u32.pow(naps.min(DOUBLINGS));
    shared.stall.rests(Rest::Nap);
    let nap = match due {
        Some(due) => due.saturating_duration_since(Instant::now()).min(NAP * 32),
        // Naps vary in length: a worker detects a standstill only while it alone is awake.
        None => nap + nap * worker.random(8) as u32 / 32,
    };
    worker.while_doing(Doing::Sleep, || thread::sleep(nap));
    shared.stall.wakes(Rest::Nap);
    if drains {
        shared.undrain();
    }
    // A pending timer means that some task will resume.
    if due.is_some() { 1 } else { naps.saturating_add(1) }
}

/// Whether at some moment of the call no worker could make progress and no stack was free. If there
/// is a stack, the worker keeps it, at the base of an idle fiber.
fn stands_still(worker: &Owner) -> bool {
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
        !workers().any(|worker| worker.has_fibers_in_inbox())
            && workers().all(|worker| worker.timers.is_empty())
            && no_stack()
    };
    shared.stall.all_rest(|| shared.sleep.announced(), look)
}

/// Gives one piece of nested work a stack beyond the limit. Returns whether that was possible.
fn start_beyond(worker: &Owner) -> bool {
    // Check before taking: an entry that was taken would have to be put back, which wakes its
    // scope.
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

/// Fails all spawned tasks that are aside, so that their joiners can continue. Returns how many.
fn refuse_spawns(worker: &Owner) -> usize {
    let mut refused = 0;
    while let Some(entry) = worker.take_task_aside() {
        let Work::Task(header) = entry.decode() else {
            sateen_base::abort_with("something else was put aside as a task")
        };
        refused += 1;
        worker.counters.out_of_stacks.bump();
        call_off_fiber(|| {
            // SAFETY: this thread owns the entry's reference to the task.
            unsafe { task::refuse_queued(header, JoinError::OutOfStacks) };
        });
    }
    refused
}

/// Whether `entry` is work that needs a stack and cannot fail. A fiber, which a policy may have
/// dropped, has a stack.
fn is_nested(entry: Entry) -> bool {
    !matches!(entry.decode(), Work::Task(_) | Work::Fiber(_))
}

impl Owner {
    /// Puts an entry that this worker cannot start aside, where workers with a stack find it.
    pub(crate) fn put_aside(&self, entry: Entry) {
        self.put_aside_for(entry, self.is_alone().then_some(self.index()));
    }

    /// [`Owner::put_aside`], for worker `home` alone if one is given.
    fn put_aside_for(&self, entry: Entry, home: Option<usize>) {
        let shared = self.shared();
        // SAFETY: the entry keeps the task or the future, which its header starts.
        let is_pinned = |header: *const Header| unsafe { &*header }.worker().is_some();
        let kind = match entry.decode() {
            Work::Scoped(job) => {
                // SAFETY: the scope waits for the job. No worker can take the job before `look`
                // returns.
                let look = || unsafe { crate::scope::waiter(job) };
                let waiter = shared.aside.put(entry, WorkKind::Scoped, home, look);
                waiter.inspect(|waiter| crate::latch::Waiter::unpark(*waiter));
                return;
            }
            Work::Task(header) if !is_pinned(header.as_ptr()) => WorkKind::Task,
            Work::Future(head) if !is_pinned(head.as_ptr().cast()) => WorkKind::Nested,
            Work::Job(_) | Work::Stack(_) => WorkKind::Nested,
            _ => return self.defer(entry),
        };
        shared.aside.put(entry, kind, home, || ());
    }

    /// Puts aside the contents of this worker's queues and of the injector. If it `steals`, also
    /// some of other workers' entries. Returns whether it found any.
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
        let others = || shared.workers.iter().filter(|other| other.index() != self.index());
        if steals && !self.is_alone() {
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
        while let Some(entry) = self.take_from_policy() {
            self.put_aside(entry);
            put = true;
        }
        put
    }

    /// Handles pinned entries that need no stack or may start elsewhere.
    fn look_through_pinned(&self) {
        call_off_fiber(|| self.answer_surveys());
        // A scope's share for this worker; the scope may take it if it waits here.
        for entry in self.take_pinned_if(|entry| matches!(entry.decode(), Work::Scoped(_))) {
            self.put_aside_for(entry, Some(self.index()));
        }
    }

    /// Answers requests to survey this worker's fibers.
    pub(crate) fn answer_surveys(&self) {
        for entry in self.take_pinned_if(|entry| matches!(entry.decode(), Work::Survey(_))) {
            if let Work::Survey(job) = entry.decode() {
                // SAFETY: taken from the pinned queue, so ours to run, once.
                unsafe { ((*job).run)(job) };
            }
        }
    }

    /// Whether only this worker may start `entry`.
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
        self.shared().aside.has_for(self.index(), &WorkKind::NESTED)
            || self.has_own_waiting(is_nested)
    }

    fn take_nested_aside(&self) -> Option<Entry> {
        let aside = &self.shared().aside;
        WorkKind::NESTED
            .into_iter()
            .find_map(|kind| aside.take_kind(self.index(), kind))
            .or_else(|| self.take_own_waiting(is_nested))
    }

    fn take_task_aside(&self) -> Option<Entry> {
        let is_task = |entry: Entry| matches!(entry.decode(), Work::Task(_));
        let aside = self.shared().aside.take_kind(self.index(), WorkKind::Task);
        aside.or_else(|| self.take_own_waiting(is_task))
    }
}

impl Shared {
    /// Approximate number of entries that wait because a worker could not start them.
    pub(crate) fn waiting_for_stacks(&self) -> usize {
        if !self.stall.any_starved() {
            return 0;
        }
        self.aside.count() + self.workers.iter().map(|worker| worker.stranded()).sum::<usize>()
    }
}
