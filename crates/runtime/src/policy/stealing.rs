//! Work stealing: a deque for each priority, and the worker's own fibers.

use super::Runnable;
use super::ready::ReadyFibers;
use crate::entry::{Entry, Work};
use crate::fiber::Fiber;
use crate::task::{self, Header, Priority};
use sateen_base::prim::time::Duration;
use sateen_base::tsc;
use sateen_deque::{Steal, Worker as Queue};
use std::cell::Cell;
use std::ptr::NonNull;

/// Most tasks moved by one theft.
const STEAL_BATCH: usize = 32;
/// Fibers resumed in a row before new work gets a turn. Without the limit, fibers that wake each
/// other for ever would starve new work.
const RESUMES: u32 = 61;
/// Most tasks started before a fiber that was woken when nothing else was ready resumes. A fiber
/// that waits for many tasks then finds the results of several, instead of being resumed for each.
const LEAD: u32 = 32;
/// The time limit for these tasks, too short for the waiting fiber to notice.
const LEAD_TIME: Duration = Duration::from_micros(4);
/// The run queue's stage; `docs/decisions/18-spawned-tasks-join-in-place.md` explains why.
type Stage = sateen_deque::Asymmetric;
const NORMAL: usize = Priority::Normal as usize;
const HIGH: usize = Priority::High as usize;
const LOW: usize = Priority::Low as usize;

pub(crate) struct Stealing {
    queues: [Queue<Entry, Stage>; Priority::COUNT],
    /// Futures that were woken. The oldest comes first, so that futures that wake each other or
    /// themselves do not starve the others.
    woken: Queue<Entry, Stage>,
    /// Whether `woken` may hold something.
    has_woken: Cell<bool>,
    stealer: Stealer,
    fibers: ReadyFibers,
    /// Whether a queue other than the normal one may hold something.
    unusual: Cell<bool>,
    resumes: Cell<u32>,
    /// How many tasks may still go before the fibers.
    lead: Cell<u32>,
    /// The end of that permission, in ticks.
    lead_end: Cell<u64>,
}

/// What thieves use of a worker's queues.
#[derive(Clone)]
pub(crate) struct Stealer {
    queues: [sateen_deque::Stealer<Entry, Stage>; Priority::COUNT],
    woken: sateen_deque::Stealer<Entry, Stage>,
}

impl Stealer {
    pub(super) fn is_empty(&self) -> bool {
        self.queues.iter().all(sateen_deque::Stealer::is_empty) && self.woken.is_empty()
    }

    /// Approximate number of entries.
    pub(super) fn len(&self) -> usize {
        self.queues.iter().chain([&self.woken]).map(sateen_deque::Stealer::len).sum()
    }
}

impl Stealing {
    pub(crate) fn new() -> Self {
        let queues = [(); Priority::COUNT].map(|()| Queue::staged_lifo());
        let woken = Queue::staged_fifo();
        let stealer =
            Stealer { queues: queues.each_ref().map(Queue::stealer), woken: woken.stealer() };
        Self {
            queues,
            woken,
            has_woken: Cell::new(false),
            stealer,
            fibers: ReadyFibers::new(),
            unusual: Cell::new(false),
            resumes: Cell::new(0),
            lead: Cell::new(0),
            lead_end: Cell::new(0),
        }
    }

    pub(super) fn stealer(&self) -> &Stealer {
        &self.stealer
    }

    /// Moves some of the victim's oldest tasks here, or only one if `sparingly`, and returns one of
    /// them. (Woken futures change their worker freely.)
    pub(crate) fn steal_from(&self, victim: &Stealer, sparingly: bool) -> Steal<Entry> {
        let limit = if sparingly { 1 } else { STEAL_BATCH };
        if !victim.woken.is_empty() {
            let taken = victim.woken.steal_batch_with_limit_and_pop(&self.woken, STEAL_BATCH);
            if taken != Steal::Empty {
                self.has_woken.set(true);
                return taken;
            }
        }
        for level in [HIGH, NORMAL, LOW] {
            let (from, to) = (&victim.queues[level], &self.queues[level]);
            if level != NORMAL && from.is_empty() {
                continue;
            }
            match from.steal_batch_with_limit_and_pop(to, limit) {
                Steal::Empty => {}
                other => {
                    if level != NORMAL {
                        self.unusual.set(true);
                    }
                    return other;
                }
            }
        }
        Steal::Empty
    }

    #[inline(always)]
    pub(super) fn push_fiber(&self, fiber: &Fiber) {
        self.fibers.push(Entry::fiber(fiber), fiber.priority());
    }

    /// Adds a fiber that was woken. Some new tasks may go first.
    #[inline]
    pub(super) fn push_woken_fiber(&self, fiber: &Fiber) {
        if self.fibers.is_empty() {
            self.lead.set(LEAD);
        }
        self.push_fiber(fiber);
    }

    /// Takes a task that goes before the fibers.
    #[inline]
    fn pop_lead(&self) -> Option<Entry> {
        let left = self.lead.replace(0);
        if left == 0 || (self.queues[NORMAL].is_empty() && !self.unusual.get()) {
            return None;
        }
        self.pop_lead_slow(left)
    }

    #[cold]
    fn pop_lead_slow(&self, left: u32) -> Option<Entry> {
        // Reading the clock costs as much as a short task. So it is read before the first task, and
        // after 1, 2, 4 and so on.
        let gone = LEAD - left;
        if gone == 0 {
            self.lead_end.set(tsc::now() + tsc::ticks(LEAD_TIME));
        } else if gone.is_power_of_two() && tsc::now() > self.lead_end.get() {
            return None;
        }
        let task = self.pop_any_task()?;
        self.lead.set(left - 1);
        Some(task)
    }

    #[inline(always)]
    pub(super) fn push_normal(&self, entry: Entry) {
        self.queues[NORMAL].push(entry);
    }

    pub(super) fn share(&self) {
        self.queues[NORMAL].share_coming();
    }

    #[inline]
    pub(crate) fn pop_youngest(&self) -> Option<Entry> {
        self.queues[NORMAL].pop()
    }

    #[inline]
    pub(crate) fn pop_task(&self, task: NonNull<Header>) -> bool {
        pop_task(task, || self.pop_youngest(), |entry| self.queues[NORMAL].push(entry))
    }

    #[inline]
    fn pop_any_task(&self) -> Option<Entry> {
        if self.unusual.get() { self.pop_unusual() } else { self.pop_youngest() }
    }

    #[cold]
    fn pop_unusual(&self) -> Option<Entry> {
        let found = [HIGH, NORMAL, LOW].iter().find_map(|&level| self.queues[level].pop());
        if self.queues[HIGH].is_empty() && self.queues[LOW].is_empty() {
            self.unusual.set(false);
        }
        found
    }

    /// Adds a woken future.
    pub(crate) fn awakened_again(&self, runnable: Runnable) {
        let priority = runnable.priority();
        let entry = runnable.into_entry();
        if priority == Priority::Normal {
            self.has_woken.set(true);
            self.woken.push(entry);
        } else {
            self.push_unusual(entry, priority);
        }
    }

    /// Takes fibers and woken futures in turn.
    #[cold]
    fn pop_started(&self) -> Option<Entry> {
        if !self.has_woken.get() {
            return self.fibers.pop();
        }
        let fiber_first = self.resumes.get().is_multiple_of(2);
        fiber_first.then(|| self.fibers.pop()).flatten().or_else(|| {
            self.woken.pop().or_else(|| {
                self.has_woken.set(false);
                self.fibers.pop()
            })
        })
    }

    #[cold]
    fn push_unusual(&self, entry: Entry, priority: Priority) {
        self.unusual.set(true);
        self.queues[priority as usize].push(entry);
    }

    #[inline]
    pub(super) fn awakened(&self, runnable: Runnable) {
        let priority = runnable.priority();
        let entry = runnable.into_entry();
        if entry.is_fiber() {
            self.fibers.push(entry, priority);
        } else if priority == Priority::Normal {
            self.queues[NORMAL].push(entry);
        } else {
            self.push_unusual(entry, priority);
        }
    }

    #[inline]
    pub(super) fn pick_next(&self) -> Option<Runnable> {
        if !self.fibers.is_empty() || self.has_woken.get() {
            if let Some(task) = self.pop_lead() {
                return Some(Runnable::new(task));
            }
            let resumes = self.resumes.get() + 1;
            self.resumes.set(resumes);
            let started = match (resumes <= RESUMES, self.has_woken.get()) {
                (true, true) => self.pop_started(),
                (true, false) => self.fibers.pop(),
                (false, _) => None,
            };
            if started.is_some() {
                return started.map(Runnable::new);
            }
        }
        self.resumes.set(0);
        self.pop_any_task().or_else(|| self.pop_started()).map(Runnable::new)
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.fibers.is_empty() || !self.stealer.is_empty()
    }
}

impl Stealing {
    /// See [`WorkerPolicy::take_stale`](super::WorkerPolicy::take_stale).
    #[cold]
    pub(super) fn take_stale(&self, stale: &mut Vec<Entry>) -> usize {
        let mut kept = 0;
        for queue in &self.queues {
            let all = std::iter::from_fn(|| queue.pop()).collect();
            let live = part_stale(all, stale);
            kept += live.len();
            live.into_iter().rev().for_each(|entry| queue.push(entry));
        }
        kept
    }
}

/// Moves stale `entries` to `stale`, and returns the others in order.
pub(crate) fn part_stale(entries: Vec<Entry>, stale: &mut Vec<Entry>) -> Vec<Entry> {
    let (gone, live) = entries.into_iter().partition(|&entry| is_stale(entry));
    let gone: Vec<Entry> = gone;
    stale.extend(gone);
    live
}

/// Drops a stale entry, which the caller owns.
pub(crate) fn discard_stale(entry: Entry) {
    if let Work::Task(header) = entry.decode() {
        // SAFETY: the caller owns the entry's reference to the task.
        unsafe { task::run_queued(header) };
    }
}

/// Whether the task of `entry`, which the caller owns, was claimed by its joiner.
pub(crate) fn is_stale(entry: Entry) -> bool {
    match entry.decode() {
        // SAFETY: the entry's reference keeps the task.
        Work::Task(header) => unsafe { header.as_ref() }.is_started(),
        _ => false,
    }
}

/// Takes `task` if it is the youngest. Stale entries are removed on the way and do not count.
#[inline]
pub(super) fn pop_task(
    task: NonNull<Header>,
    pop: impl Fn() -> Option<Entry>,
    unpop: impl Fn(Entry),
) -> bool {
    let wanted = Entry::task(task);
    while let Some(entry) = pop() {
        if entry == wanted {
            return true;
        }
        if !is_stale(entry) {
            unpop(entry);
            return false;
        }
        discard_stale(entry);
    }
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::join_stack::Job;

    #[test]
    fn a_sparing_thief_takes_one_task() {
        const TASKS: usize = 2 * STEAL_BATCH;
        let job = Job { run: |_| {} };
        let (victim, thief) = (Stealing::new(), Stealing::new());
        for _ in 0..TASKS {
            victim.push_normal(Entry::job(NonNull::from(&job)));
        }
        victim.share();
        let left = || victim.queues[NORMAL].len();
        assert!(matches!(thief.steal_from(victim.stealer(), true), Steal::Success(_)));
        assert_eq!((left(), thief.queues[NORMAL].len()), (TASKS - 1, 0));
        assert!(matches!(thief.steal_from(victim.stealer(), false), Steal::Success(_)));
        let taken = thief.queues[NORMAL].len();
        assert!(taken > 0, "one of many");
        assert_eq!(left() + taken + 2, TASKS);
    }
}
