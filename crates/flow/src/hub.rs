//! What a driven shed and those who execute its tasks share: who is on the way, who waits, what went wrong.

use crate::map::{Place, Places};
use crate::quiet::Quiet;
use crate::seat::Seat;
use sateen_base::prim::{AtomicBool, AtomicU32, Ordering};
use sateen_base::unwind::discard;
use sateen_base::{CachePadded, SpinLock};
use sateen_runtime::{Spawn, Spawner, worker_index};
use sateen_sync::park::context_id;
use std::any::Any;
use std::cell::Cell;
use std::sync::{Arc, OnceLock, Weak};

/// Executes what is ready, on the calling thread.
pub(crate) trait Drain: Send + Sync {
    /// What is ready for that group, until nothing is or others should have a turn.
    fn drain(&self, group: usize);
}

/// Everything but the shed and what runs its tasks.
pub(crate) struct Hub {
    groups: Box<[CachePadded<Group>]>,
    /// The group of each channel.
    group_of: Box<[u32]>,
    /// The group of what only those execute who wait, if there is one.
    pub(crate) callers: Option<usize>,
    pub(crate) quiet: Quiet,
    spawner: Spawner,
    /// Set before the shed is given to anybody.
    drain: OnceLock<Weak<dyn Drain>>,
    /// How many drainers there are on each worker, those that wait included.
    busy: Box<[AtomicU32]>,
    /// A stand-in was dropped that had not started.
    refused: AtomicBool,
    panics: SpinLock<Panics>,
    /// Contexts that execute tasks, for telling who would wait for itself.
    inside: SpinLock<Contexts>,
}

/// The channels of one place.
pub(crate) struct Group {
    /// In order of priority, each with how many tasks are taken at once.
    pub(crate) channels: Box<[(u16, u32)]>,
    /// Where stand-ins are queued: one seat for all workers, or one for each of the named; none for those who wait.
    seats: Box<[(Option<usize>, Seat)]>,
    /// Where the search for a seat begins, if there are several.
    turn: AtomicU32,
}

#[derive(Default)]
struct Contexts {
    /// 0 in a place that is free.
    places: Vec<u64>,
    free: Vec<usize>,
}

#[derive(Default)]
struct Panics {
    first: Option<Box<dyn Any + Send>>,
    others: u64,
}

/// What the calling thread is in the middle of, if that is bringing about that tasks become ready which it will look for itself.
#[derive(Clone, Copy)]
struct Completing {
    /// The context that does; 0 for none.
    context: u64,
    /// The group's address.
    group: usize,
    /// Something has become ready.
    owes: bool,
}

const NOTHING: Completing = Completing { context: 0, group: 0, owes: false };

thread_local! {
    static COMPLETING: Cell<Completing> = const { Cell::new(NOTHING) };
}

impl Hub {
    pub(crate) fn new(places: Places, channels: u16, workers: usize, spawner: Spawner) -> Self {
        let mut group_of = vec![0; channels.into()];
        let mut callers = None;
        let mut groups = Vec::new();
        for (place, channels) in places {
            for (channel, _) in &channels {
                group_of[usize::from(*channel)] = groups.len() as u32;
            }
            let seats = match place {
                Place::All => Box::from([(None, Seat::new())]),
                Place::Workers(named) => {
                    named.into_iter().map(|worker| (Some(worker), Seat::new())).collect()
                }
                Place::Caller => {
                    callers = Some(groups.len());
                    Box::from([])
                }
            };
            let group = Group { channels: channels.into(), seats, turn: AtomicU32::new(0) };
            groups.push(CachePadded::new(group));
        }
        Self {
            groups: groups.into(),
            group_of: group_of.into(),
            callers,
            quiet: Quiet::new(),
            spawner,
            drain: OnceLock::new(),
            busy: (0..workers).map(|_| AtomicU32::new(0)).collect(),
            refused: AtomicBool::new(false),
            panics: SpinLock::new(Panics::default()),
            inside: SpinLock::new(Contexts::default()),
        }
    }

    /// Says who executes. Once.
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

    /// Tells a group from those of all hubs.
    #[inline(always)]
    fn address(&self, group: usize) -> usize {
        std::ptr::from_ref(self.group(group)).addr()
    }

    // ---- Ringing ----

    /// Tasks have become ready: the shed's callback.
    #[inline]
    pub(crate) fn on_ready(self: &Arc<Self>, channel: u16, count: u32) {
        let group = self.group_of[usize::from(channel)] as usize;
        let completing = COMPLETING.with(Cell::get);
        if completing.context != 0
            && completing.group == self.address(group)
            && completing.context == context_id()
        {
            // The caller looks for more before anything else.
            COMPLETING.with(|cell| cell.set(Completing { owes: true, ..completing }));
        } else {
            self.ring(group, count);
        }
    }

    /// Makes sure that `count` will be looked for, or as many as there can be, if that many are not on their way.
    pub(crate) fn ring(self: &Arc<Self>, group: usize, count: u32) {
        match &*self.group(group).seats {
            [] => self.quiet.tell(),
            [(worker, seat)] => {
                Seat::announce();
                if seat.ring() {
                    self.spawn(group, 0, *worker);
                }
            }
            _ => self.ring_some_slow(group, count),
        }
    }

    /// [`Hub::ring`] where the worker has to be chosen.
    #[cold]
    fn ring_some_slow(self: &Arc<Self>, group: usize, count: u32) {
        let Group { seats, turn, .. } = self.group(group);
        Seat::announce();
        let queued = seats.iter().filter(|(_, seat)| seat.is_queued()).count();
        let mut missing = (count as usize).min(seats.len()).saturating_sub(queued);
        let start = turn.fetch_add(1, Ordering::Relaxed) as usize;
        let around = || (0..seats.len()).map(|i| (start.wrapping_add(i)) % seats.len());
        let mut rung = queued > 0;
        for idle in [true, false] {
            for index in around() {
                let (worker, seat) = &seats[index];
                let is_idle = worker.is_none_or(|w| self.busy[w].load(Ordering::Relaxed) == 0);
                // Those with something to do come into question only if there is nobody else.
                if missing == 0 || is_idle != idle || (rung && !idle) {
                    continue;
                }
                if seat.ring() {
                    self.spawn(group, index, *worker);
                }
                (rung, missing) = (true, missing - 1);
            }
        }
    }

    #[cold]
    fn spawn(self: &Arc<Self>, group: usize, seat: usize, worker: Option<usize>) {
        self.quiet.enter();
        let stand_in = StandIn { hub: Arc::clone(self), group, seat, started: false };
        // Nobody is left to execute once the driver is gone: dropping the stand-in says so.
        let Some(drain) = self.drain.get().and_then(Weak::upgrade) else { return };
        let settings = match worker {
            Some(worker) => Spawn::new().on_worker(worker),
            None => Spawn::new(),
        };
        drop(self.spawner.spawn_with(settings, move || stand_in.run(&*drain)));
    }

    // ---- Around tasks ----

    /// The caller is about to run a task's code, which may wait for anything: others have to know of what is `ready` besides. Looks for that if it
    /// is to `look`, or the end of its last task has made something ready.
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
            // What others made ready they have rung for; so if a stand-in seems to be queued that has begun already, that matters
            // only for what the caller has put there without a word.
            let queued = self.group(group).seats.iter().any(|(_, seat)| seat.is_queued());
            if !queued || owes || !fenced {
                self.ring(group, 1);
            }
        }
        sateen_runtime::poll();
    }

    /// The task's code is over. What its end makes ready the caller, which is `context`, will look for itself.
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

    /// Whether a stand-in was refused since the last call.
    pub(crate) fn take_refused(&self) -> bool {
        // Ordering: Relaxed; who asks has seen all stand-ins leave, or is told again.
        self.refused.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn is_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }

    /// The calling context executes tasks until the guard is dropped.
    pub(crate) fn enter(&self) -> Inside<'_> {
        let context = context_id();
        let Contexts { places, free } = &mut *self.inside.lock();
        let place = free.pop().unwrap_or(places.len());
        match places.get_mut(place) {
            Some(free) => *free = context,
            None => places.push(context),
        }
        Inside { hub: self, place }
    }

    /// Whether the calling context executes tasks.
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.lock().places.contains(&context_id())
    }
}

/// See [`Hub::enter`].
pub(crate) struct Inside<'a> {
    hub: &'a Hub,
    place: usize,
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let Contexts { places, free } = &mut *self.hub.inside.lock();
        places[self.place] = 0;
        free.push(self.place);
    }
}

/// Somebody on the way to look for work; a *drainer* once it has started.
struct StandIn {
    hub: Arc<Hub>,
    group: usize,
    seat: usize,
    started: bool,
}

impl StandIn {
    fn seat(&self) -> &Seat {
        &self.hub.group(self.group).seats[self.seat].1
    }

    fn run(mut self, drain: &dyn Drain) {
        struct Busy<'a>(Option<&'a AtomicU32>);
        impl Drop for Busy<'_> {
            fn drop(&mut self) {
                self.0.inspect(|busy| _ = busy.fetch_sub(1, Ordering::Relaxed));
            }
        }
        self.started = true;
        self.seat().begin();
        let _inside = self.hub.enter();
        // A substitute for a blocked worker has no place in the list.
        let busy = Busy(worker_index().and_then(|worker| self.hub.busy.get(worker)));
        busy.0.inspect(|busy| _ = busy.fetch_add(1, Ordering::Relaxed));
        drain.drain(self.group);
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        if !self.started {
            self.seat().begin();
            self.hub.refused.store(true, Ordering::Relaxed);
        }
        self.hub.quiet.leave();
    }
}
