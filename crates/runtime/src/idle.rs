//! The idle path of a worker whose own queue is empty: search, then sleep.
//!
//! The protocol, and why no wake-up is lost, is in `README.md`, "Sleeping".

use crate::entry::Entry;
use crate::forked;
use crate::join_stack::{Job, JoinStack};
use crate::metrics::Doing;
use crate::offer;
use crate::policy::Sleeper;
use crate::request_word::RequestWord;
use crate::stall::Rest;
use crate::trace;
use crate::worker::{HUNGRY, Owner, Pop, Push, Worker};
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Ordering, fence as full_fence, spin_loop, thread};
use sateen_base::tsc;
use sateen_deque::Steal;
use std::ptr::NonNull;

/// The first, provisional sleep. Most idle periods are shorter, and then need no heavy fence.
const PROVISIONAL_SLEEP: Duration = Duration::from_micros(100);
/// How long a victim may leave a request unanswered. A heavy fence costs the thief 1 to 20 µs.
const ANSWER_TIMEOUT: Duration = Duration::from_micros(5);
/// The least time between two heavy fences for the same victim, each of which costs it 10 µs.
const FORCE_INTERVAL: Duration = Duration::from_micros(200);
/// The worker frees the memory of unused stacks after sleeping this long.
const TRIM_AFTER: Duration = Duration::from_secs(1);
/// Rounds of search between two readings of the clock.
const ROUNDS_PER_LOOK: u32 = 8;
/// Rounds of search between two yields.
const ROUNDS_PER_YIELD: u32 = 16;
/// Pauses between two rounds.
const PAUSES: u32 = 4;
/// If a yield takes longer, the searching worker shares its core with a busy thread.
const SHARES_CORE: Duration = Duration::from_micros(20);
/// Most entries from outside that a worker takes in a row without a search. The search gives other
/// workers' work its turn.
const INJECTED_RUN: u32 = 32;

/// What a worker knows of other workers' private jobs.
#[derive(PartialEq, Eq)]
pub(crate) enum Private {
    None,
    Some,
    Published,
}

/// See [`offer::steal`].
type StealBranch = fn(&JoinStack, &RequestWord) -> Option<(*const Job, *const ())>;

impl Owner {
    /// Searches and sleeps until there is something to do. On `None` the caller checks ready fibers
    /// and the end of the runtime, then comes back.
    #[cold]
    pub(crate) fn idle(&self) -> Option<Entry> {
        let found = self.while_doing(Doing::Search, || self.search_and_sleep());
        self.place.works();
        self.injected_run.set(INJECTED_RUN);
        found
    }

    /// Takes the next work from outside, for a worker whose own queues are empty. A search usually
    /// finds the same, but costs several times as much.
    #[inline(never)]
    pub(crate) fn next_injected(&self) -> Option<Entry> {
        let left = self.injected_run.get();
        let shared = self.shared();
        // In a forked process, the queued work belongs to the parent.
        if left == 0 || self.slot().is_some() || self.is_alone() || shared.is_orphan() {
            return None;
        }
        self.injected_run.set(left - 1);
        shared.take_injected()
    }

    fn search_and_sleep(&self) -> Option<Entry> {
        loop {
            if self.shared().is_orphan() {
                return self.idle_alone();
            }
            if self.rest() {
                return None;
            }
            self.fire_timers();
            let found = self.search();
            if found.is_some() || self.has_ready() {
                return found;
            }
            self.sleep();
            self.fire_timers();
            self.stop_watching();
            // The worker may have been woken for work that others can do. If it has work of its
            // own, it passes the notification on. Otherwise it searches and may find that work.
            if self.sees_own_work() || self.has_ready() {
                self.leave_idle();
                return None;
            }
        }
    }

    /// Idle path in a forked process, where no other worker has work or wakes anything.
    #[cold]
    fn idle_alone(&self) -> Option<Entry> {
        let found = self.pop(Pop::Any);
        if found.is_none() && !self.has_ready() {
            self.nap_alone();
        }
        found
    }

    /// Sleeps until one of this worker's timers is due. If there is none, everything would wait for
    /// ever, so the process ends with a message.
    #[cold]
    fn nap_alone(&self) {
        let Some(at) = self.timers.earliest() else { forked::end_process() };
        thread::sleep(at.saturating_duration_since(Instant::now()));
        self.fire_timers();
    }

    fn search(&self) -> Option<Entry> {
        let shared = self.shared();
        let woken = self.was_woken.take();
        let others = shared.sleep.begin_search();
        let spins = others < shared.spinning_searchers
            || others < shared.regular.min(shared.sleep.cores()) && shared.calls.go_on();
        let found = self.search_rounds(if spins { shared.spin_ticks } else { 0 });
        let last = shared.sleep.end_search();
        if last && (found.is_some() || self.has_ready()) {
            // Others may have relied on this worker as the last searcher. (A worker that found
            // nothing announces its sleep, and then checks again.)
            self.leave_idle();
        } else if woken && found.is_none() && !self.has_ready() {
            shared.foresight.in_vain();
        }
        found
    }

    /// Leaves idleness. The worker wakes another if there is work for it, or if there will probably
    /// be some soon. The last idle worker also starts the monitor, which watches for blocked
    /// workers.
    fn leave_idle(&self) {
        let shared = self.shared();
        self.place.works();
        if !self.pass_on() && shared.foresight.is_likely() && shared.sleep.wake_ahead() {
            self.share();
        }
        self.left_idle.set(tsc::now());
        // Partner: the fence in `Monitor::rest`.
        full_fence(Ordering::SeqCst);
        if !shared.sleep.has_sleepers() && !self.is_alone() {
            shared.monitor.arm(shared);
        }
    }

    /// Wakes a sleeper if there is work that it could take. Returns whether it did.
    pub(crate) fn pass_on(&self) -> bool {
        let shared = self.shared();
        shared.sleep.pass_on(|| shared.has_stealable())
    }

    fn search_rounds(&self, ticks: u64) -> Option<Entry> {
        let shared = self.shared();
        let start = tsc::now();
        let mut rounds = 0u32;
        let mut gives_way = false;
        let mut timeout = tsc::ticks(ANSWER_TIMEOUT);
        loop {
            if let Some(entry) = self.scan() {
                return Some(entry);
            }
            if self.has_ready() || shared.is_stopped() {
                return None;
            }
            rounds += 1;
            if rounds.is_multiple_of(ROUNDS_PER_LOOK) {
                let waited = tsc::now().saturating_sub(start);
                if waited > timeout {
                    // The victims were asked in the first round and have not pushed since.
                    timeout = u64::MAX;
                    self.force_others();
                }
                // A long search must not delay the end of a runtime.
                if waited > ticks || shared.is_closing() {
                    return None;
                }
            }
            // If the machine is oversubscribed, a worker with work may be waiting for this core. So
            // may the caller of a short call from outside, when the call ends. (Frequent yields
            // delay the discovery of work, because the kernel lets other threads run first. With
            // more workers than cores there are such threads.)
            if rounds % ROUNDS_PER_LOOK == 1 {
                gives_way = shared.has_cores_for_all() && shared.calls.may_end_soon();
            }
            if gives_way || rounds.is_multiple_of(ROUNDS_PER_YIELD) {
                self.give_way();
            } else {
                for _ in 0..PAUSES {
                    spin_loop();
                }
            }
        }
    }

    /// Yields the core to other threads.
    fn give_way(&self) {
        let before = tsc::now();
        thread::yield_now();
        let away = tsc::now().saturating_sub(before);
        let shared = self.shared();
        if away > tsc::ticks(SHARES_CORE) && shared.moves_threads && shared.has_cores_for_all() {
            self.make_room();
        }
    }

    /// Checks everything that may hold work, once.
    pub(crate) fn scan(&self) -> Option<Entry> {
        let shared = self.shared();
        self.counters.search_rounds.bump();
        if let Some(entry) = self.pop(Pop::Any) {
            return Some(entry);
        }
        if self.is_alone() {
            return None;
        }
        let (workers, count) = (&shared.workers, shared.workers.len());
        let start = self.random(count);
        for i in 0..count {
            if let Some(victim) = workers.get((start + i) % count)
                && victim.index() != self.index()
                && let Some(entry) = self.steal_from(victim)
            {
                return Some(entry);
            }
        }
        shared.take_injected()
    }

    fn steal_from(&self, victim: &Worker) -> Option<Entry> {
        if let Some(branch) = self.steal_branch(victim, offer::steal) {
            return Some(branch);
        }
        loop {
            match self.steal_tasks(victim) {
                Steal::Success(entry) => return Some(self.older_than(entry, victim)),
                Steal::Retry => spin_loop(),
                Steal::Empty => break,
            }
        }
        victim.request(HUNGRY);
        None
    }

    fn steal_branch(&self, victim: &Worker, steal: StealBranch) -> Option<Entry> {
        let fiber = victim.current_fiber()?;
        let (job, tag) = steal(fiber.join_stack(), victim.requests())?;
        self.counters.branches_stolen.bump();
        trace::stole_branch(self, victim.index());
        self.will_run_branch_of(tag.cast());
        NonNull::new(job.cast_mut()).map(Entry::job)
    }

    /// Returns what must run before `stolen`, which was the victim's. If tasks keep their threads,
    /// a branch around a spawn becomes public before the spawn (see `Owner::push`) and must be
    /// taken first. It may have become public after this worker looked for branches.
    fn older_than(&self, stolen: Entry, victim: &Worker) -> Entry {
        if !self.shared().keeps_threads {
            return stolen;
        }
        match self.steal_branch(victim, offer::steal_surely) {
            Some(branch) => {
                self.push(stolen, Push::Other);
                branch
            }
            None => stolen,
        }
    }

    /// Whether this worker can see a reason to stay awake: work to take or give away, a reason to
    /// rest, or the end of the runtime.
    pub(crate) fn sees_work(&self) -> bool {
        self.sees_own_work() || !self.is_alone() && self.shared().has_stealable()
    }

    /// [`Owner::sees_work`] without the work that others could take as well.
    pub(crate) fn sees_own_work(&self) -> bool {
        self.has_own_arrivals()
            || self.policy_has_ready()
            || self.has_stack_to_give()
            || self.is_surplus()
            || self.shared().is_stopped()
    }

    fn sleep(&self) {
        let shared = self.shared();
        let me = self.index();
        if !shared.sleep.announce(me, || self.sees_work()) {
            return;
        }
        self.counters.parks.bump();
        if self.look_out() {
            return;
        }
        shared.stall.rests(Rest::Sleep);
        self.sleep_announced();
        shared.stall.wakes(Rest::Sleep);
        // The worker was woken for work, but there is no core for it. It becomes the lookout, so
        // that no other worker is woken.
        let looks_out = || shared.sleep.announce(me, || self.sees_own_work()) && !self.look_out();
        if shared.sleep.lacks_lookout() && looks_out() {
            shared.sleep.cancel(me);
        }
    }

    fn sleep_announced(&self) {
        let shared = self.shared();
        let timer = self.watch_timers();
        let limit = timer.map_or(PROVISIONAL_SLEEP, |left| left.min(PROVISIONAL_SLEEP));
        if !shared.is_closing() && !self.is_alone() && self.sleep_for(Some(limit)) {
            return;
        }
        while self.sleep_for_good() {}
    }

    /// Sleeps in the way that the policy chooses. Returns true if notified. Returns false on
    /// timeout or a spurious wake-up; the announcement then stands.
    pub(crate) fn sleep_for(&self, limit: Option<Duration>) -> bool {
        let sleeper = Sleeper::new(&self.shared().sleep, self.index());
        let before = self.turn_to(Doing::Sleep);
        self.place.sleeps();
        match self.custom_policy() {
            None => sleeper.sleep_for(limit),
            Some(policy) => {
                policy.suspend_until(&sleeper, limit.map(|limit| Instant::now() + limit));
                // The policy may not have slept here, but a notification must be consumed all the
                // same.
                sleeper.sleep_for(Some(Duration::ZERO));
            }
        }
        self.turn_to(before);
        let woken = sleeper.was_notified();
        self.was_woken.set(woken);
        if woken && self.shared().moves_threads {
            self.make_room();
        }
        woken
    }

    /// Sleeps once, in a way that misses no work however long it takes. Returns whether to sleep
    /// again.
    fn sleep_for_good(&self) -> bool {
        let shared = self.shared();
        let me = self.index();
        let alone = self.is_alone();
        let others = || shared.workers.iter().filter(|w| w.index() != me && !alone);
        let insist = || others().for_each(|other| _ = other.insist(HUNGRY));
        if !shared.sleep.ask(me, insist, || self.sees_work()) {
            return false;
        }
        let timer = self.watch_timers();
        if timer.is_some_and(|left| left.is_zero()) {
            shared.sleep.cancel(me);
            return false;
        }
        let private = if self.is_alone() { Private::None } else { self.force_others() };
        if private == Private::Published {
            shared.sleep.cancel(me);
            return false;
        }
        // Some jobs could not be forced so soon after the last time.
        let forced = (private == Private::Some).then_some(FORCE_INTERVAL);
        let trims = private == Private::None
            && timer.is_none_or(|left| left > TRIM_AFTER)
            && shared.stacks.has_spare();
        let limit = [timer, forced, trims.then_some(TRIM_AFTER)].into_iter().flatten().min();
        let watch = shared.watch.as_ref().filter(|_| private == Private::None);
        if watch.is_some_and(|watch| watch.rests(shared)) {
            shared.sleep.cancel(me);
            return false;
        }
        let drains = shared.is_closing() && !self.has_started();
        if drains && shared.drain() {
            watch.inspect(|watch| watch.wakes());
            shared.sleep.cancel(me);
            return false;
        }
        let woken = self.sleep_for(limit);
        watch.inspect(|watch| watch.wakes());
        if drains {
            shared.undrain();
        }
        if trims && !woken {
            // Trimming takes a while, and notifications should go to other workers meanwhile.
            shared.sleep.cancel(me);
            shared.stacks.trim();
            return false;
        }
        !woken
    }

    /// Publishes the jobs of one victim that did not answer.
    pub(crate) fn force_others(&self) -> Private {
        let mut private = Private::None;
        for victim in self.shared().workers.iter() {
            let stack = victim.current_join_stack().filter(|stack| stack.has_private());
            if let Some(stack) = stack.filter(|_| victim.index() != self.index()) {
                if self.force(victim, stack) {
                    return Private::Published;
                }
                private = Private::Some;
            }
        }
        private
    }

    /// Publishes the jobs of a victim that did not answer. All thieves together issue at most one
    /// heavy fence per victim in [`FORCE_INTERVAL`].
    fn force(&self, victim: &Worker, stack: &JoinStack) -> bool {
        let now = tsc::now();
        // Ordering: Relaxed; a rate limit that guards no data.
        let before = victim.forced_at.load(Ordering::Relaxed);
        // Wrapping, so that a clock that jumps back does not disable this.
        if now.wrapping_sub(before) < tsc::ticks(FORCE_INTERVAL) {
            return false;
        }
        let won =
            victim.forced_at.compare_exchange(before, now, Ordering::Relaxed, Ordering::Relaxed);
        if won.is_err() {
            return false;
        }
        self.counters.forced_publications.bump();
        stack.force_publish()
    }
}
