//! What a worker runs next: its policy's choice, pinned and deferred work, and work from outside.

use super::Worker;
use crate::context;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::join_stack::Stolen;
use crate::request_word::HUNGRY;
use crate::root::start_apart;
use crate::task::{self, Header, JoinError, Running};
use sateen_base::prim::Ordering;
use sateen_deque::Steal;
use std::collections::VecDeque;
use std::ptr::NonNull;

/// Look at the pinned queue and the injector at least every so many takes, so that nothing outside waits for ever.
const INJECTOR_TURN: u32 = 61;

impl Worker {
    /// Gives independent work to the policy and wakes a sleeper for it.
    pub(crate) fn push_entry(&self, entry: Entry) {
        self.policy.awakened(entry);
        self.wake_for_entry();
    }

    /// [`Worker::push_entry`] for a new task of normal priority.
    #[inline]
    pub(crate) fn push_new(&self, entry: Entry) {
        self.policy.spawned(entry);
        self.wake_for_entry();
    }

    #[inline]
    fn wake_for_entry(&self) {
        if !self.policy.is_alone() {
            self.wake_for_push();
        }
    }

    /// Gives a future that was woken to the policy and wakes a sleeper for it.
    #[inline]
    pub(crate) fn push_woken(&self, entry: Entry) {
        self.policy.awakened_again(entry);
        if !self.policy.is_alone() {
            self.wake_for_push();
        }
    }

    /// Puts the branches of a fiber that suspends where they are found.
    #[cold]
    pub(super) fn list_branches(&self, fiber: &Fiber) {
        let entry = Entry::stack(fiber);
        if self.policy.stealing().is_some() {
            self.push_entry(entry);
        } else if self.policy.is_alone() {
            self.defer(entry);
        } else {
            self.shared().submit_inside(entry);
        }
    }

    /// The youngest thing spawned here that nobody has started.
    #[inline]
    pub(crate) fn pop_youngest(&self) -> Option<Entry> {
        self.policy.pop_youngest()
    }

    /// Takes the entry of `task` off the run queue if it is the youngest, not counting stale ones,
    /// which it takes off on the way.
    #[inline]
    pub(crate) fn pop_task(&self, task: NonNull<Header>) -> bool {
        self.policy.pop_task(task)
    }

    /// Puts an entry back that was popped and belongs to somebody else. It was gone for a moment, in
    /// which a sleeper may have looked: so this is a push like any other.
    pub(crate) fn unpop_entry(&self, entry: Entry) {
        self.push_entry(entry);
    }

    /// Moves some of the victim's oldest tasks to the own queue and returns one of them.
    pub(crate) fn steal_tasks(&self, victim: &Worker) -> Steal<Entry> {
        match (self.policy.stealing(), victim.policy.stealing()) {
            (Some(own), Some(other)) => own.steal_from(other),
            _ => match victim.policy.take_staged() {
                Some(entry) => Steal::Success(entry),
                None => Steal::Empty,
            },
        }
    }

    /// Keeps `entry` for when there is nothing else.
    pub(crate) fn defer(&self, entry: Entry) {
        // SAFETY: worker's thread; the reference ends here.
        self.own.deferred.with_mut(|deferred| unsafe { (*deferred).push_back(entry) });
    }

    /// All that is deferred.
    pub(crate) fn take_deferred(&self) -> VecDeque<Entry> {
        // SAFETY: as above.
        self.own.deferred.with_mut(|deferred| unsafe { std::mem::take(&mut *deferred) })
    }

    fn pop_deferred(&self) -> Option<Entry> {
        // SAFETY: as above.
        self.own.deferred.with_mut(|deferred| unsafe { (*deferred).pop_front() })
    }

    /// Whether something was put aside that this worker could run.
    pub(crate) fn has_deferred(&self) -> bool {
        // SAFETY: as above.
        self.own.deferred.with(|deferred| unsafe { !(*deferred).is_empty() })
    }

    pub(super) fn deferred_count(&self) -> usize {
        // SAFETY: as above.
        self.own.deferred.with(|deferred| unsafe { (*deferred).len() })
    }

    /// Whether the pinned queue or the deferred list hold an entry that is `wanted`.
    pub(crate) fn has_own_waiting(&self, wanted: impl Fn(Entry) -> bool) -> bool {
        let any = |list: &VecDeque<Entry>| list.iter().any(|&entry| wanted(entry));
        // SAFETY: as above.
        self.own.deferred.with(|deferred| any(unsafe { &*deferred })) || any(&self.pinned.lock())
    }

    /// Takes an entry that is `wanted` from the deferred list or the pinned queue.
    pub(crate) fn take_own_waiting(&self, wanted: impl Fn(Entry) -> bool) -> Option<Entry> {
        let take = |list: &mut VecDeque<Entry>| {
            let index = list.iter().position(|&entry| wanted(entry))?;
            list.remove(index)
        };
        // SAFETY: as above.
        let deferred = self.own.deferred.with_mut(|deferred| take(unsafe { &mut *deferred }));
        deferred.or_else(|| {
            let mut pinned = self.pinned.lock();
            let entry = take(&mut pinned);
            self.has_pinned.store(!pinned.is_empty(), Ordering::Relaxed);
            entry
        })
    }

    /// Takes the entries that are `wanted` from the pinned queue.
    pub(crate) fn take_pinned_if(&self, wanted: impl Fn(Entry) -> bool) -> Vec<Entry> {
        // Ordering: Relaxed, a hint; the truth is under the lock.
        if !self.has_pinned.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let mut pinned = self.pinned.lock();
        let (taken, kept): (Vec<_>, _) = pinned.drain(..).partition(|&entry| wanted(entry));
        *pinned = VecDeque::from(kept);
        self.has_pinned.store(!pinned.is_empty(), Ordering::Relaxed);
        taken
    }

    /// What runs next, whatever the policy says.
    pub(crate) fn set_next(&self, entry: Entry) {
        let before = self.own.next.replace(Some(entry));
        debug_assert!(before.is_none(), "something was handed over already");
    }

    #[inline]
    pub(crate) fn take_next(&self) -> Option<Entry> {
        self.own.next.take()
    }

    #[inline]
    fn note_picked(&self, entry: Entry) {
        if entry.is_fiber() {
            self.own.ready.set(self.own.ready.get() - 1);
        }
    }

    /// A fiber of this worker can go on, or will, with its next turn.
    #[inline]
    pub(crate) fn awaken(&self, fiber: &Fiber) {
        self.own.ready.set(self.own.ready.get() + 1);
        self.policy.awaken_fiber(fiber);
    }

    /// [`Worker::awaken`] for one that waited, and may let some new work go first.
    #[inline]
    pub(crate) fn wake(&self, fiber: &Fiber) {
        self.own.ready.set(self.own.ready.get() + 1);
        self.policy.woken_fiber(fiber);
    }

    /// Whether a fiber of this worker can go on.
    #[inline]
    pub(crate) fn has_ready(&self) -> bool {
        !self.inbox.is_empty() || self.own.ready.get() != 0 && self.policy.gives_fibers()
    }

    /// Whether a fiber of this worker waits, or can go on, or is withheld by its policy.
    pub(crate) fn has_started(&self) -> bool {
        self.suspended() != 0 || self.own.ready.get() != 0 || !self.inbox.is_empty()
    }

    /// Whether a fiber of this worker can go on, or something waits that it could start.
    pub(crate) fn has_runnable(&self) -> bool {
        self.has_ready()
            || self.policy.has_ready()
            || self.has_own_arrivals()
            || self.has_deferred()
            || self.shared().aside.count() != 0
    }

    /// Takes over the fibers that others have made ready.
    #[inline]
    pub(super) fn take_inbox(&self) {
        if !self.inbox.is_empty() {
            self.take_inbox_slow();
        }
    }

    #[cold]
    fn take_inbox_slow(&self) {
        // The youngest first: turned around on the way, through the links that are ours now.
        let mut fibers: Vec<*const Fiber> = Vec::new();
        self.inbox.take(|fiber| fibers.push(fiber));
        for fiber in fibers.into_iter().rev() {
            // SAFETY: fibers live as long as the runtime.
            self.wake(unsafe { &*fiber });
        }
    }

    /// What runs next without a search: a fiber that can go on, or work to start. Mail and work from
    /// outside have a turn now and then.
    #[inline]
    pub(crate) fn pick(&self) -> Option<Entry> {
        self.take_inbox();
        let takes = self.own.takes.get().wrapping_add(1);
        self.own.takes.set(takes);
        if takes.is_multiple_of(INJECTOR_TURN)
            && let Some(entry) = self.take_seldom()
        {
            return Some(entry);
        }
        let entry = self.policy.pick_next().or_else(|| self.take_aside())?;
        self.note_picked(entry);
        Some(entry)
    }

    #[cold]
    fn take_seldom(&self) -> Option<Entry> {
        self.fire_timers();
        self.take_aside()
            .or_else(|| self.shared().take_injected())
            .inspect(|&entry| self.note_picked(entry))
    }

    /// What is neither the policy's nor to be stolen.
    pub(super) fn pick_aside(&self) -> Option<Entry> {
        self.take_aside().inspect(|&entry| self.note_picked(entry))
    }

    fn take_aside(&self) -> Option<Entry> {
        let own = self.pop_pinned().or_else(|| self.pop_deferred());
        own.or_else(|| self.shared().aside.take(self.index()))
    }

    /// A fiber that can go on; what the policy would have run before it is given back. For a worker that
    /// has no stack to start work on.
    #[cold]
    pub(crate) fn pick_fiber(&self) -> Option<Entry> {
        self.take_inbox();
        let mut others = Vec::new();
        let mut found = None;
        while self.own.ready.get() != 0 && found.is_none() {
            match self.policy.pick_next() {
                Some(entry) if entry.is_fiber() => found = Some(entry),
                Some(entry) => others.push(entry),
                // Those that a policy has dropped lie in the pinned queue or the deferred list.
                None => {
                    found = self.take_own_waiting(Entry::is_fiber);
                    break;
                }
            }
        }
        if let Some(entry) = found {
            self.note_picked(entry);
        }
        others.into_iter().rev().for_each(|entry| self.push_entry(entry));
        found
    }

    fn pop_pinned(&self) -> Option<Entry> {
        // Ordering: Relaxed, a hint; the truth is under the lock.
        if !self.has_pinned.load(Ordering::Relaxed) {
            return None;
        }
        let mut pinned = self.pinned.lock();
        let entry = pinned.pop_front();
        self.has_pinned.store(!pinned.is_empty(), Ordering::Relaxed);
        entry
    }

    /// A branch was stolen from a fiber that runs `owning_task`: for [`Worker::execute`], which follows.
    pub(crate) fn will_run_branch_of(&self, owning_task: *const Header) {
        self.own.owning_task.set(owning_task);
    }

    /// Starts what was taken from a queue, on the calling fiber.
    pub(crate) fn execute(&self, fiber: &Fiber, entry: Entry) {
        self.counters.tasks.bump();
        self.own.ready_seen.take();
        self.announce_timer();
        match entry.decode() {
            Work::Task(header) if self.shared().is_cancelling() => {
                // SAFETY: the entry's reference to the task is ours now.
                unsafe { task::refuse_queued(header, JoinError::Cancelled) };
            }
            Work::Task(header) => {
                // SAFETY: the entry's reference to the task is ours now.
                match unsafe { header.as_ref() }.stack_size() {
                    Some(size) if size > fiber.stack_size() => start_apart(self, header, size),
                    // SAFETY: as above.
                    _ => unsafe { task::run_queued(header) },
                }
            }
            Work::Job(job) | Work::Here(job) | Work::Survey(job) => {
                let owning_task = self.own.owning_task.replace(std::ptr::null());
                // SAFETY: an entry is taken once, and its job is valid until it has run.
                Running::branch(fiber, owning_task, || unsafe { ((*job).run)(job) });
            }
            // SAFETY: as above; the scope waits for it.
            Work::Scoped(job) => unsafe { crate::scope::run(fiber, job) },
            // SAFETY: fibers live as long as the runtime.
            Work::Stack(suspended) => self.take_from_listed(fiber, unsafe { &*suspended }),
            // SAFETY: an entry is taken once.
            Work::Future(future) => unsafe { task::poll_queued(self, fiber, future) },
            Work::Fiber(_) => sateen_base::abort_with("a started fiber was to be started"),
        }
    }

    /// An entry that stands for the branches of a suspended task.
    fn take_from_listed(&self, fiber: &Fiber, suspended: &Fiber) {
        if let Stolen::Job(job, more) = suspended.join_stack().steal_listed() {
            if more {
                self.list_branches(suspended);
            } else {
                // The stack may be in use again; see `feed`.
                suspended.worker().insist(HUNGRY);
            }
            self.counters.join_steals.bump();
            // SAFETY: stolen, so ours to run, once; its frame waits.
            Running::branch(fiber, suspended.owning_task(), || unsafe { ((*job).run)(job) });
        }
    }
}

/// The calling thread's fiber and its worker, if it runs one.
#[inline]
pub(crate) fn here() -> Option<(&'static Worker, &'static Fiber)> {
    context::with(|c| Some((c.worker()?, c.fiber()?)))
}
