//! The operations by which a worker's owner moves work: push, pop, resume.
//!
//! | operation | options | does |
//! |---|---|---|
//! | [`Owner::push`] | [`Push`] | gives new or woken work to the policy, wakes a sleeper for it |
//! | [`Owner::pop`] | [`Pop`] | takes what runs next, without a search |
//! | [`Owner::resume`] | [`After`] | gives the policy a ready fiber of this worker |
//!
//! A joiner also takes its own task or spawn off the run queue ([`Owner::pop_task`],
//! [`Owner::pop_youngest`]), and a worker without work steals ([`Owner::steal_tasks`]; the search
//! is in `idle.rs`). `worker.rs` describes the lists.

use super::{Owner, Worker};
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::policy;
use crate::task::Header;
use crate::trace;
use sateen_base::prim::Ordering;
use sateen_deque::Steal;
use std::ptr::NonNull;

/// Once in this many pops the worker fires timers, and serves one of the lists that the policy does
/// not order: the pinned queue, the deferred list, work aside, or the injector. They take turns,
/// and an empty list passes its turn to the next. So no entry in them waits for ever, whatever
/// keeps arriving elsewhere. (In a runtime with `posted_last`, pinned work waits for the run
/// queue.)
const SELDOM: u32 = 61;

/// If a worker has this many more waiting fibers than its victim, it steals only one task at a
/// time. Started tasks stay on their worker. Otherwise tasks that block at once would gather at the
/// thief, which has time to start more of them than the worker that still spawns.
const UNEVEN: usize = 64;

/// Minimum number of stale entries before the worker sweeps.
pub(super) const SWEEP_LEAST: usize = 1024;

/// What is pushed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Push {
    /// A new task of normal priority, the usual case; the task itself is not inspected.
    New,
    /// A future that was woken.
    Woken,
    /// Any other startable work. Also an entry that the caller has popped and returns: a sleeper
    /// may have checked while it was gone.
    Other,
}

/// What is popped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pop {
    /// A ready fiber, or work to start: what the policy picks. If it has none, then pinned,
    /// deferred or aside work, in this order. Once in [`SELDOM`] pops, one of these or work from
    /// outside goes before the policy.
    Any,
    /// The same for a regular worker, and for a substitute that is needed. Under work stealing a
    /// surplus substitute takes the same, because its run queue is its own. Under other policies it
    /// only takes a ready fiber of its own, or pinned, deferred or aside work.
    Needed,
    /// A ready fiber, for a worker without a stack to start work on.
    Fiber,
}

/// Why a fiber did not run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum After {
    /// It yielded, or has not started: it resumes in its turn.
    Yield,
    /// It waited and was woken: the policy may let some new work go first.
    Wait,
}

impl Owner {
    /// Gives work to the policy and wakes a sleeper for it.
    #[inline(always)]
    pub(crate) fn push(&self, entry: Entry, what: Push) {
        if self.shared().keeps_threads {
            self.publish_older();
        }
        match what {
            Push::New => self.policy.spawned(entry),
            Push::Woken => self.policy.awakened_again(entry),
            Push::Other => self.policy.awakened(entry),
        }
        if !self.is_alone() {
            self.wake_for_push();
        }
    }

    /// If tasks keep their threads, the branches around a spawn become public before the spawn
    /// does, and so are taken first. The spawn may need a lock that is free only after they have
    /// run.
    #[cold]
    fn publish_older(&self) {
        if let Some(stack) = self.current_join_stack()
            && stack.has_private()
        {
            stack.publish_all();
        }
    }

    /// Gives the policy a ready fiber of this worker.
    #[inline(always)]
    pub(crate) fn resume(&self, fiber: &Fiber, after: After) {
        self.set_ready(self.ready_len() + 1);
        match after {
            After::Yield => self.policy.awaken_fiber(fiber),
            After::Wait => self.policy.woken_fiber(fiber),
        }
    }

    /// Takes what runs next, without a search. The caller runs it.
    #[inline(always)]
    pub(crate) fn pop(&self, what: Pop) -> Option<Entry> {
        match what {
            Pop::Any => self.pop_any(),
            Pop::Needed if self.is_surplus() => self.pop_surplus(),
            Pop::Needed => self.pop_any(),
            Pop::Fiber => self.pop_fiber(),
        }
    }

    #[inline]
    fn pop_any(&self) -> Option<Entry> {
        self.take_inbox();
        let pops = self.pops.get().wrapping_add(1);
        self.pops.set(pops);
        if pops.is_multiple_of(SELDOM)
            && let Some(entry) = self.pop_seldom(pops / SELDOM)
        {
            return Some(entry);
        }
        let entry = self.policy.pick_next().or_else(|| self.take_unordered())?;
        self.note_popped(entry);
        Some(entry)
    }

    /// Fires timers, and takes what the policy does not order. `turn` selects the first list.
    #[cold]
    fn pop_seldom(&self, turn: u32) -> Option<Entry> {
        self.fire_timers();
        trace::sampled(self);
        (0..4)
            .find_map(|i| match turn.wrapping_add(i) % 4 {
                0 if self.shared().posted_last => None,
                0 => self.pop_pinned(),
                1 => self.pop_deferred(),
                2 => self.shared().aside.take(self.index()),
                _ => self.shared().take_injected(),
            })
            .inspect(|&entry| self.note_popped(entry))
    }

    /// See [`Pop::Needed`].
    #[cold]
    #[inline(never)]
    fn pop_surplus(&self) -> Option<Entry> {
        if self.policy.stealing().is_some() {
            // The run queue is its own, with what it has pushed or stolen before.
            return self.pop_any();
        }
        let other = || self.take_unordered().inspect(|&entry| self.note_popped(entry));
        self.pop_fiber().or_else(other)
    }

    /// Takes the policy's first fiber. Entries that the policy would have run before are returned
    /// to it.
    #[cold]
    fn pop_fiber(&self) -> Option<Entry> {
        self.take_inbox();
        let mut others = Vec::new();
        let mut found = None;
        while self.ready_len() != 0 && found.is_none() {
            match self.policy.pick_next() {
                Some(entry) if entry.is_fiber() => found = Some(entry),
                Some(entry) => others.push(entry),
                // Fibers that a policy has dropped are in the pinned queue or the deferred list.
                None => {
                    found = self.take_own_waiting(Entry::is_fiber);
                    break;
                }
            }
        }
        if let Some(entry) = found {
            self.note_popped(entry);
        }
        others.into_iter().rev().for_each(|entry| self.push(entry, Push::Other));
        found
    }

    #[inline(always)]
    fn set_ready(&self, count: usize) {
        // Ordering: Relaxed, see `ready_len`.
        self.ready.store(count, Ordering::Relaxed);
    }

    #[inline]
    fn note_popped(&self, entry: Entry) {
        if entry.is_fiber() {
            self.set_ready(self.ready_len() - 1);
        }
    }

    /// Takes work that the policy does not order: pinned, deferred, or aside.
    fn take_unordered(&self) -> Option<Entry> {
        let own = self.pop_pinned().or_else(|| self.pop_deferred());
        own.or_else(|| self.shared().aside.take(self.index()))
    }

    /// Takes what the policy would run next. Stops at a fiber, which is returned to the policy.
    pub(crate) fn take_from_policy(&self) -> Option<Entry> {
        let entry = self.policy.pick_next()?;
        if let Some(fiber) = entry.as_fiber() {
            self.policy.awaken_fiber(fiber);
            return None;
        }
        Some(entry)
    }

    /// Makes the branches of a suspending fiber visible through a run queue.
    #[cold]
    pub(super) fn list_branches(&self, fiber: &Fiber) {
        let entry = Entry::stack(fiber);
        if self.policy.stealing().is_some() {
            self.push(entry, Push::Other);
        } else if self.is_alone() {
            self.defer(entry);
        } else {
            self.shared().submit_inside(entry);
        }
    }

    // ---- for joiners and thieves ----

    /// Takes the youngest task or spawn that was queued here and has not started.
    #[inline]
    pub(crate) fn pop_youngest(&self) -> Option<Entry> {
        self.policy.pop_youngest()
    }

    /// A joiner has claimed a task of the runtime whose entry is still queued.
    #[inline]
    pub(crate) fn leaves_stale_entry(&self) {
        let left = self.until_sweep.get() - 1;
        self.until_sweep.set(left);
        if left == 0 {
            self.sweep();
        }
    }

    /// Removes stale entries. Otherwise a task that joins others for long would leave one for each
    /// that was not its worker's youngest.
    #[cold]
    fn sweep(&self) {
        let shared = self.shared();
        self.until_sweep.set(SWEEP_LEAST);
        if shared.is_orphan() {
            // Threads that are missing here may have left a shared queue inconsistent.
            return;
        }
        let mut stale = Vec::new();
        let kept = self.policy.take_stale(&mut stale);
        stale.extend(self.take_pinned_if(policy::is_stale));
        let outside = std::iter::from_fn(|| shared.take_injected()).collect();
        let outside = policy::part_stale(outside, &mut stale);
        // So a join inspects one entry on average.
        self.until_sweep.set(SWEEP_LEAST.max(kept + outside.len()));
        // Other workers did not see these entries for a moment.
        shared.put_back_injected(outside);
        if kept > 0 && !self.is_alone() {
            self.wake_for_push();
        }
        // This may run the user's destructors.
        stale.into_iter().for_each(policy::discard_stale);
    }

    /// Removes the entry of `task` from the run queue if it is the youngest. Stale entries are
    /// removed on the way and do not count.
    #[inline]
    pub(crate) fn pop_task(&self, task: NonNull<Header>) -> bool {
        self.policy.pop_task(task)
    }

    /// Moves some of the victim's oldest tasks to this worker's run queue and returns one of them.
    pub(crate) fn steal_tasks(&self, victim: &Worker) -> Steal<Entry> {
        let stolen = match (self.policy.stealing(), victim.policy_view.stealer()) {
            (Some(own), Some(stealer)) => {
                // Most of what this worker has started is waiting, and stays here when it resumes.
                let sparingly = self.suspended_len() > victim.suspended_len() + UNEVEN;
                own.steal_from(stealer, sparingly)
            }
            _ => match victim.policy_view.take_staged() {
                Some(entry) => Steal::Success(entry),
                None => Steal::Empty,
            },
        };
        if let Steal::Success(_) = stolen {
            self.counters.thefts.bump();
            trace::stole_task(self, victim.index());
        }
        stolen
    }
}
