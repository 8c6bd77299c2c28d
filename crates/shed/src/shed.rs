//! The shed, and what all its operations share.

use crate::builder::Builder;
use crate::canary::relaxed_if;
use crate::layout::{Layout, Pausing};
use crate::list::List;
use crate::memory::{Memory, Sizes, align};
use crate::plan::Plan;
use crate::progress::Count;
use crate::snapshot::Content;
use crate::word::{State, Status};
use crate::{Error, TaskId};
use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;
use sateen_base::SpinLock;
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::unwind::run_to_end;

/// Which head is which. A list has [`Layout::STRIPES`] of them, one after the other, a reserve twice as many and a word
/// that counts moves.
pub(crate) struct Heads<L>(PhantomData<L>);

impl<L: Layout> Heads<L> {
    /// No list: how many places have been taken at least once.
    pub(crate) const FRESH_PLACES: usize = 0;
    /// As [`FRESH_PLACES`](Self::FRESH_PLACES).
    pub(crate) const FRESH_EDGES: usize = 1;
    pub(crate) const FREE_PLACES: usize = 2;
    pub(crate) const FREE_EDGES: usize = Self::FREE_PLACES + 2 * L::STRIPES + 1;

    /// Tasks that are ready on a channel. The number of channels gives that of all heads.
    #[inline(always)]
    pub(crate) const fn channel(channel: u16) -> usize {
        Self::FREE_EDGES + 2 * L::STRIPES + 1 + L::STRIPES * channel as usize
    }
}

/// Heads besides those of the lists that every shed has: numbers of the first, 0 for none.
#[derive(Clone, Copy)]
pub(crate) struct Extra {
    /// One for each channel, if some hand out the oldest first: see the module `fifo`.
    pub(crate) inboxes: usize,
    /// [`Count::ALL`] for each channel, if progress is counted. No lists.
    pub(crate) counters: usize,
    /// Of all heads.
    pub(crate) heads: usize,
}

impl Extra {
    pub(crate) const fn new<L: Layout>(channels: u16, fifo: bool, progress: bool) -> Self {
        let mut extra = Self { inboxes: 0, counters: 0, heads: Heads::<L>::channel(channels) };
        if fifo {
            extra.inboxes = extra.heads;
            extra.heads += channels as usize;
        }
        if progress {
            extra.counters = extra.heads;
            extra.heads += channels as usize * Count::ALL;
        }
        extra
    }
}

type OnReady = Box<dyn Fn(u16, u32) + Send + Sync>;
type OnCancel<T> = Box<dyn Fn(TaskId, &mut T) + Send + Sync>;

/// What the user wants to be told.
pub(crate) struct Callbacks<T> {
    pub(crate) ready: Option<OnReady>,
    pub(crate) cancel: Option<OnCancel<T>>,
}

impl<T> Default for Callbacks<T> {
    fn default() -> Self {
        Self { ready: None, cancel: None }
    }
}

/// A scheduler of tasks with dependencies: see the [crate](crate).
///
/// All operations may be called from any thread, also from inside a task that is being executed. None allocates, but
/// those that look for cycles, copy, or make instances.
///
/// ```
/// use sateen::shed::{Outcome, Shed};
///
/// let shed = Shed::builder().tasks(16).dependencies(16).build()?;
/// let [paint, wall, door] = shed.create(["paint", "wall", "door"]).unwrap();
/// shed.depend(&[paint], &[wall, door])?;
/// shed.ready(&[wall, door])?;
/// let mut done = vec![];
/// while shed.execute_one(0, |_, what| { done.push(*what); Outcome::Complete })?.is_some() {}
/// assert_eq!(done.last(), Some(&"paint"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Payloads go from thread to thread, one thread at a time, so they need be `Send` for the shed to be `Send` and `Sync`, not `Sync`:
///
/// ```
/// fn shared<S: Send + Sync>() {}
/// shared::<sateen::shed::Shed<std::cell::Cell<u32>>>();
/// ```
/// ```compile_fail,E0277
/// fn sent<S: Send>() {}
/// sent::<sateen::shed::Shed<std::rc::Rc<u32>>>();
/// ```
/// ```compile_fail,E0277
/// fn shared<S: Sync>() {}
/// shared::<sateen::shed::Shed<std::rc::Rc<u32>>>();
/// ```
///
/// What payloads borrow must outlive the shed, and nobody keeps a payload that he executed:
///
/// ```compile_fail,E0597
/// let shed = sateen::shed::Shed::builder().build().unwrap();
/// let short = 7;
/// shed.create([&short]).unwrap(); // `short` is dropped before `shed`
/// ```
/// ```compile_fail,E0521
/// use sateen::shed::{Outcome, Shed};
/// let shed = Shed::<u32>::builder().build().unwrap();
/// let mut kept = None;
/// let _ = shed.execute_one(0, |_, payload| { kept = Some(payload); Outcome::Complete });
/// ```
/// ```compile_fail
/// use sateen::shed::Shed;
/// fn longer<'a>(shed: Shed<&'a str>) -> Shed<&'static str> { shed }
/// ```
pub struct Shed<T, L: Layout = Pausing> {
    pub(crate) memory: Memory<T, L>,
    pub(crate) channels: u16,
    pub(crate) first_generation: u32,
    pub(crate) callbacks: Callbacks<T>,
    /// Held by who adds dependencies, if these are checked.
    pub(crate) checks: Option<SpinLock<()>>,
    /// How many instances of templates have places here.
    pub(crate) instances: AtomicU32,
    pub(crate) extra: Extra,
}

/// What a task is doing, as of a moment ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// Created, and waits for nothing but to be made ready.
    Idle,
    /// Waits for so many others.
    Waiting(u32),
    /// Will be executed by who asks its channel.
    Ready,
    /// Being executed.
    Running,
    /// Has run, and waits to be made ready again.
    Blocked,
    /// Will not run.
    Cancelled,
    /// Part of a template's instance, and has ended.
    Done,
}

impl<T> Shed<T> {
    /// Sizes and choices first.
    #[must_use]
    pub fn builder() -> Builder<T> {
        Builder::default()
    }
}

impl<T, L: Layout> Shed<T, L> {
    /// What [`build_in`](Builder::build_in)'s buffer must be aligned to, in bytes.
    pub const ALIGN: usize = align::<T>();

    /// How many bytes a shed of these sizes needs, all else as it is by default (for other choices: [`Builder::required_size`]); `None` if that is more than can be addressed, or a size is out of its range.
    ///
    /// ```
    /// const BYTES: usize = sateen::shed::Shed::<[u64; 2]>::required_size(1000, 2000, 1).unwrap();
    /// assert!(BYTES <= 1000 * (40 + 16) + 2000 * 12 + 2048);
    /// ```
    #[must_use]
    pub const fn required_size(tasks: u64, dependencies: u64, channels: u64) -> Option<usize> {
        if tasks == 0 || tasks > 1 << 31 || dependencies > 1 << 31 {
            return None;
        }
        if channels == 0 || channels > u16::MAX as u64 {
            return None;
        }
        let heads = Extra::new::<L>(channels as u16, false, false).heads;
        Sizes { tasks: tasks as u32, edges: dependencies as u32, heads }.bytes::<T, L>()
    }

    pub(crate) fn new(
        memory: Memory<T, L>,
        channels: u16,
        first_generation: Option<u32>,
        callbacks: Callbacks<T>,
        extra: Extra,
    ) -> Self {
        let first_generation = first_generation.unwrap_or_else(salt);
        let instances = AtomicU32::new(0);
        Self { memory, channels, first_generation, callbacks, checks: None, instances, extra }
    }

    /// How many tasks there can be at a time: of a [growing](Builder::growing) shed, before it grows again.
    pub fn capacity(&self) -> u32 {
        self.memory.sizes().tasks
    }

    /// How many channels there are.
    pub fn channels(&self) -> u16 {
        self.channels
    }

    /// What `task` is doing; an error if it has ended: then all that it did is visible to the caller. A load.
    ///
    /// # Errors
    /// [`Error::StaleTask`], [`Error::UnknownTask`].
    pub fn state(&self, task: TaskId) -> Result<TaskState, Error> {
        let state = self.known(task)?;
        Ok(match state.status() {
            Status::Idle if state.pending() > 0 => TaskState::Waiting(state.pending()),
            Status::Idle => TaskState::Idle,
            Status::Ready => TaskState::Ready,
            Status::Running => TaskState::Running,
            Status::Blocked => TaskState::Blocked,
            Status::Cancelled => TaskState::Cancelled,
            Status::Done => TaskState::Done,
            Status::Free | Status::Freeing => return Err(Error::StaleTask(task)),
        })
    }

    /// The task's state, if the name is right.
    #[inline(always)]
    pub(crate) fn known(&self, task: TaskId) -> Result<State, Error> {
        if !self.memory.has(task) {
            return Err(Error::UnknownTask(task));
        }
        // Ordering: Acquire, with the Release of `create`: names may travel without synchronisation.
        let state = State(self.memory.place(task.index()).state.load(Ordering::Acquire));
        self.current(task, state)
    }

    /// `state`, if it is still `task`'s.
    #[inline(always)]
    pub(crate) fn current(&self, task: TaskId, state: State) -> Result<State, Error> {
        if state.generation() == task.generation() && !state.is(Status::Free) {
            Ok(state)
        } else {
            Err(Error::StaleTask(task))
        }
    }

    /// Replaces the task's state with what `to` makes of it, as often as somebody else is faster; returns what was replaced.
    #[inline(always)]
    pub(crate) fn change(
        &self,
        task: TaskId,
        mut to: impl FnMut(State) -> Result<State, Error>,
    ) -> Result<State, Error> {
        let mut seen = self.known(task)?;
        loop {
            let new = to(seen)?;
            let order = match () {
                () if canary!("change") => Ordering::Release,
                () if canary!("wake") => Ordering::Acquire,
                () => Ordering::AcqRel,
            };
            // Ordering: Acquire, with the Release of `create`, of who blocked the task, and of who ended it; Release, for who executes or ends it, and for the
            // Acquire of who blocks.
            match self.memory.place(task.index()).state.compare_exchange_weak(
                seen.0,
                new.0,
                order,
                relaxed_if(canary!("change_seen"), Ordering::Acquire),
            ) {
                Ok(_) => return Ok(seen),
                Err(now) => seen = self.current(task, State(now))?,
            }
        }
    }

    #[inline(always)]
    pub(crate) fn check_channel(&self, channel: u16) -> Result<(), Error> {
        if channel < self.channels {
            Ok(())
        } else {
            Err(Error::NoChannel { channel, channels: self.channels })
        }
    }

    /// The name of the task at `index`, which the caller owns, or whose state it has just seen.
    #[inline(always)]
    pub(crate) fn name(&self, index: u32, state: State) -> TaskId {
        TaskId::new(index, state.generation())
    }

    /// The list of tasks with that head.
    #[inline(always)]
    pub(crate) fn tasks_at<'a>(
        &'a self,
        head: usize,
    ) -> List<'a, T, L, impl Fn(u32) -> &'a AtomicU32 + use<'a, T, L>> {
        List::new(&self.memory, head, |index| self.memory.link(index))
    }

    /// The list of free dependencies.
    #[inline(always)]
    pub(crate) fn free_edges<'a>(
        &'a self,
    ) -> List<'a, T, L, impl Fn(u32) -> &'a AtomicU32 + use<'a, T, L>> {
        List::new(&self.memory, Heads::<L>::FREE_EDGES, |index| &self.memory.edge(index).next)
    }
}

/// Where a shed's generations start: names of one shed are stale in another. And a template's number.
pub(crate) fn salt() -> u32 {
    #[cfg(not(loom))]
    {
        static SHEDS: AtomicU32 = AtomicU32::new(0);
        SHEDS.fetch_add(0x9E37_79B9, Ordering::Relaxed)
    }
    #[cfg(loom)]
    0
}

impl<T, L: Layout> Drop for Shed<T, L> {
    fn drop(&mut self) {
        // Instances that nobody dropped, or whose run has not ended.
        let instances = self.instances.load(Ordering::Relaxed) > 0;
        if core::mem::needs_drop::<T>() || instances {
            let fresh = self.memory.head(Heads::<L>::FRESH_PLACES).load(Ordering::Relaxed) as u32;
            let mut places = 0..fresh;
            run_to_end(|| places.next().map(|index| self.drop_content(index)).is_some());
        }
    }
}

impl<T, L: Layout> Shed<T, L> {
    /// Drops what is in the place of a shed that nobody else sees any more.
    fn drop_content(&self, index: u32) {
        match self.content(index) {
            Content::Nothing => {}
            Content::Payload => {
                let payload = &self.memory.place(index).payload;
                // SAFETY: it is there, and nobody else sees the shed any more.
                payload.with_mut(|p| unsafe { (*p).assume_init_drop() });
            }
            // SAFETY: it is one, and nobody else sees the shed any more.
            Content::Milestone => drop(unsafe { Plan::unsettle(self, index) }),
        }
    }
}

impl<T, L: Layout> fmt::Debug for Shed<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shed")
            .field("tasks", &self.memory.sizes().tasks)
            .field("dependencies", &self.memory.sizes().edges)
            .field("channels", &self.channels)
            .field("layout", &L::NAME)
            .finish_non_exhaustive()
    }
}

/// A [`Shed`] in memory of the user's: see [`Builder::build_in`].
///
/// ```
/// use sateen::shed::{Outcome, Shed};
/// use std::mem::MaybeUninit;
///
/// #[repr(align(128))]
/// struct Room([MaybeUninit<u8>; Shed::<u8>::required_size(10, 10, 1).unwrap()]);
/// let mut room = Room([MaybeUninit::uninit(); _]);
/// let shed = Shed::builder().tasks(10).dependencies(10).build_in(&mut room.0)?;
/// shed.ready(&shed.create([1u8]).unwrap())?;
/// assert!(shed.execute_one(0, |_, _| Outcome::Complete)?.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The memory must outlive the shed, whose payloads lie there:
///
/// ```compile_fail,E0505
/// use sateen::shed::Shed;
/// use std::mem::MaybeUninit;
///
/// let mut room = vec![MaybeUninit::uninit(); 10_000];
/// let shed = Shed::<String>::builder().build_in(&mut room);
/// drop(room); // and then `shed`
/// ```
#[derive(Debug)]
pub struct ShedIn<'m, T, L: Layout = Pausing> {
    pub(crate) shed: Shed<T, L>,
    memory: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

impl<'m, T, L: Layout> ShedIn<'m, T, L> {
    pub(crate) fn new(shed: Shed<T, L>) -> Self {
        Self { shed, memory: PhantomData }
    }
}

impl<T, L: Layout> Drop for ShedIn<'_, T, L> {
    /// Does nothing, but is one: so the compiler knows that the memory is still used when this is dropped, by the shed inside.
    fn drop(&mut self) {}
}

impl<T, L: Layout> Deref for ShedIn<'_, T, L> {
    type Target = Shed<T, L>;

    fn deref(&self) -> &Shed<T, L> {
        &self.shed
    }
}
