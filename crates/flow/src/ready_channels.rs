//! The channels of a driven shed, and who looks after ready tasks in them: queued runner tasks,
//! threads that wait, panics.

use crate::map::{Assignments, Executor};
use crate::quiescence::Quiescence;
use crate::runner_slot::RunnerSlot;
use sateen_base::prim::{AtomicBool, AtomicU32, Ordering};
use sateen_base::unwind::discard;
use sateen_base::{CachePadded, SpinLock};
use sateen_runtime::{Spawn, Spawner, worker_index};
use sateen_sync::park::context_id;
use std::any::Any;
use std::cell::Cell;
use std::sync::{Arc, OnceLock, Weak};

/// Executes ready tasks on the calling thread.
pub(crate) trait Drain: Send + Sync {
    /// Executes what is ready in that group, until nothing is or others should have a turn.
    fn drain(&self, group: usize);
}

/// All that a driven shed has besides the shed and the closure that runs its tasks.
pub(crate) struct ReadyChannels {
    groups: Box<[CachePadded<Group>]>,
    /// The group of each channel.
    group_of: Box<[u32]>,
    /// The group that only waiting threads execute, if there is one.
    pub(crate) callers: Option<usize>,
    pub(crate) quiet: Quiescence,
    spawner: Spawner,
    /// Set before the shed is given to anybody.
    drain: OnceLock<Weak<dyn Drain>>,
    /// How many started runner tasks there are on each worker, suspended ones included.
    busy: Box<[AtomicU32]>,
    /// A runner task was dropped before it started.
    refused: AtomicBool,
    panics: SpinLock<Panics>,
    /// Contexts that execute tasks: they must not wait for the shed.
    inside: SpinLock<Contexts>,
}

/// The channels of one executor.
pub(crate) struct Group {
    /// In order of priority, each with how many tasks are taken at once.
    pub(crate) channels: Box<[(u16, u32)]>,
    /// Where runner tasks are queued: one slot for all workers, or one for each named worker; none
    /// for waiting threads.
    slots: Box<[(Option<usize>, RunnerSlot)]>,
    /// The slot at which a search begins, if there are several.
    turn: AtomicU32,
}

#[derive(Default)]
struct Contexts {
    /// 0 at an index that is free.
    ids: Vec<u64>,
    free: Vec<usize>,
}

#[derive(Default)]
struct Panics {
    first: Option<Box<dyn Any + Send>>,
    others: u64,
}

/// The thread is at a task's end. It will look itself for the tasks that this makes ready.
#[derive(Clone, Copy)]
struct Completing {
    /// The context at the task's end; 0 for none.
    context: u64,
    /// The group's address.
    group: usize,
    /// A task has become ready.
    owes: bool,
}

const NOTHING: Completing = Completing { context: 0, group: 0, owes: false };

thread_local! {
    static COMPLETING: Cell<Completing> = const { Cell::new(NOTHING) };
}

impl ReadyChannels {
    pub(crate) fn new(
        assignments: Assignments,
        channels: u16,
        workers: usize,
        spawner: Spawner,
    ) -> Self {
        let mut group_of = vec![0; channels.into()];
        let mut callers = None;
        let mut groups = Vec::new();
        for (executor, channels) in assignments {
            for (channel, _) in &channels {
                group_of[usize::from(*channel)] = groups.len() as u32;
            }
            let slots = match executor {
                Executor::All => Box::from([(None, RunnerSlot::new())]),
                Executor::Workers(named) => {
                    named.into_iter().map(|worker| (Some(worker), RunnerSlot::new())).collect()
                }
                Executor::Caller => {
                    callers = Some(groups.len());
                    Box::from([])
                }
            };
            let group = Group { channels: channels.into(), slots, turn: AtomicU32::new(0) };
            groups.push(CachePadded::new(group));
        }
        Self {
            groups: groups.into(),
            group_of: group_of.into(),
            callers,
            quiet: Quiescence::new(),
            spawner,
            drain: OnceLock::new(),
            busy: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            refused: AtomicBool::new(false),
            panics: SpinLock::new(Panics::default()),
            inside: SpinLock::new(Contexts::default()),
        }
    }

    /// Sets what executes tasks. Called once.
    pub(crate) fn set_drain(&self, drain: Weak<dyn Drain>) {
        let set = self.drain.set(drain);
        debug_assert!(set.is_ok());
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().map(|group| &**group)
    }

    pub(crate) fn group(&self, group: usize) -> &Group {
        &self.groups[group]
    }

    /// Distinguishes a group from those of all driven sheds.
    #[inline(always)]
    fn address(&self, group: usize) -> usize {
        std::ptr::from_ref(self.group(group)).addr()
    }

    // ---- Notifying ----

    /// Tasks have become ready: the shed's callback.
    #[inline]
    pub(crate) fn on_ready(self: &Arc<Self>, channel: u16, count: u32) {
        let group = self.group_of[usize::from(channel)] as usize;
        let completing = COMPLETING.with(Cell::get);
        if completing.context != 0
            && completing.group == self.address(group)
            && completing.context == context_id()
        {
            // The caller looks for more tasks before it does anything else.
            COMPLETING.with(|cell| cell.set(Completing { owes: true, ..completing }));
        } else {
            self.notify(group, count);
        }
    }

    /// Ensures that `count` runner tasks of the group are queued, or one for each slot if there are
    /// fewer slots.
    pub(crate) fn notify(self: &Arc<Self>, group: usize, count: u32) {
        match &*self.group(group).slots {
            [] => self.quiet.notify(),
            [(worker, slot)] => {
                RunnerSlot::announce();
                if slot.notify() {
                    self.spawn(group, 0, *worker);
                }
            }
            _ => self.notify_some_slow(group, count),
        }
    }

    /// [`ReadyChannels::notify`] where the worker has to be chosen.
    #[cold]
    fn notify_some_slow(self: &Arc<Self>, group: usize, count: u32) {
        let Group { slots, turn, .. } = self.group(group);
        RunnerSlot::announce();
        let queued = slots.iter().filter(|(_, slot)| slot.is_queued()).count();
        let mut missing = (count as usize).min(slots.len()).saturating_sub(queued);
        let start = turn.fetch_add(1, Ordering::Relaxed) as usize;
        let around = || (0..slots.len()).map(|i| (start.wrapping_add(i)) % slots.len());
        let mut notified = queued > 0;
        for idle in [true, false] {
            for index in around() {
                let (worker, slot) = &slots[index];
                let is_idle = worker.is_none_or(|w| self.busy[w].load(Ordering::Relaxed) == 0);
                // Busy workers are taken only if no other is notified.
                if missing == 0 || is_idle != idle || (notified && !idle) {
                    continue;
                }
                if slot.notify() {
                    self.spawn(group, index, *worker);
                }
                (notified, missing) = (true, missing - 1);
            }
        }
    }

    #[cold]
    fn spawn(self: &Arc<Self>, group: usize, slot: usize, worker: Option<usize>) {
        self.quiet.enter();
        let runner = RunnerTask { ready: Arc::clone(self), group, slot, started: false };
        // Without the driven shed nothing executes tasks. The dropped runner task sets `refused`.
        let Some(drain) = self.drain.get().and_then(Weak::upgrade) else { return };
        let settings = match worker {
            Some(worker) => Spawn::new().on_worker(worker),
            None => Spawn::new(),
        };
        drop(self.spawner.spawn_with(settings, move || runner.run(&*drain)));
    }

    // ---- Around tasks ----

    /// The caller is about to run a task's code, which may wait for anything: another runner task
    /// must know of other `ready` tasks. Checks for them if `look` is set, or if the end of the
    /// last task has made something ready.
    #[inline]
    pub(crate) fn before_task(
        self: &Arc<Self>,
        group: usize,
        look: bool,
        fenced: bool,
        ready: impl FnOnce() -> bool,
    ) {
        let owes = COMPLETING.with(|cell| cell.replace(NOTHING)).owes;
        if (look || owes) && ready() {
            // Other threads have notified for the tasks that they made ready. If a runner task
            // seems queued that has started already, this matters only for tasks that the caller
            // made ready without notifying.
            let queued = self.group(group).slots.iter().any(|(_, slot)| slot.is_queued());
            if !queued || owes || !fenced {
                self.notify(group, 1);
            }
        }
        sateen_runtime::poll_requests();
    }

    /// The task's code has returned. The caller, which is `context`, will look itself for tasks
    /// that this end makes ready.
    #[inline]
    pub(crate) fn after_task(&self, group: usize, context: u64) {
        let completing = Completing { context, group: self.address(group), owes: false };
        COMPLETING.with(|cell| cell.set(completing));
    }

    /// The caller looks for no more tasks.
    pub(crate) fn end_tasks() {
        COMPLETING.with(|cell| cell.set(NOTHING));
    }

    // ---- What went wrong ----

    #[cold]
    pub(crate) fn note_panic(&self, payload: Box<dyn Any + Send>) {
        let mut panics = self.panics.lock();
        if panics.first.is_none() {
            panics.first = Some(payload);
            return;
        }
        panics.others += 1;
        drop(panics);
        discard(payload);
    }

    /// The first panic since the last call, and how many others there were.
    pub(crate) fn take_panics(&self) -> Option<(Box<dyn Any + Send>, u64)> {
        let Panics { first, others } = std::mem::take(&mut *self.panics.lock());
        first.map(|first| (first, others))
    }

    /// Whether a runner task was refused since the last call.
    pub(crate) fn take_refused(&self) -> bool {
        // Relaxed: the caller has seen all runner tasks leave, or is told again.
        self.refused.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// The calling context executes tasks until the guard is dropped.
    pub(crate) fn enter(&self) -> Inside<'_> {
        let context = context_id();
        let Contexts { ids, free } = &mut *self.inside.lock();
        let index = free.pop().unwrap_or(ids.len());
        match ids.get_mut(index) {
            Some(free) => *free = context,
            None => ids.push(context),
        }
        Inside { ready: self, index }
    }

    /// Whether the calling context executes tasks.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.lock().ids.contains(&context_id())
    }
}

/// See [`ReadyChannels::enter`].
pub(crate) struct Inside<'a> {
    ready: &'a ReadyChannels,
    index: usize,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let Contexts { ids, free } = &mut *self.ready.inside.lock();
        ids[self.index] = 0;
        free.push(self.index);
    }
}

/// A task of the runtime that looks for work: queued until it starts.
struct RunnerTask {
    ready: Arc<ReadyChannels>,
    group: usize,
    slot: usize,
    started: bool,
}

impl RunnerTask {
    fn slot(&self) -> &RunnerSlot {
        &self.ready.group(self.group).slots[self.slot].1
    }

    fn run(mut self, drain: &dyn Drain) {
        struct Busy<'a>(Option<&'a AtomicU32>);
        impl Drop for Busy<'_> {
            fn drop(&mut self) {
                self.0.inspect(|busy| _ = busy.fetch_sub(1, Ordering::Relaxed));
            }
        }
        self.started = true;
        self.slot().begin();
        let _inside = self.ready.enter();
        // A substitute for a blocked worker has no entry in the list.
        let busy = Busy(worker_index().and_then(|worker| self.ready.busy.get(worker)));
        busy.0.inspect(|busy| _ = busy.fetch_add(1, Ordering::Relaxed));
        drain.drain(self.group);
    }
}

impl Drop for RunnerTask {
    fn drop(&mut self) {
        if !self.started {
            self.slot().begin();
            self.ready.refused.store(true, Ordering::Relaxed);
        }
        self.ready.quiet.leave();
    }
}
