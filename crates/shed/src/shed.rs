//! The shed, and what all its operations share.

use crate::block::{Sizes, align, flag};
use crate::heads::{ExtraHeads, Heads};
use crate::index::Link;
use crate::layout::{Central, Layout};
use crate::list::{Chain, List};
use crate::memory::Memory;
use crate::word::{State, Status};
use crate::{Error, TaskId};
use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Deref;
use sateen_base::SpinLock;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;

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
/// All operations may be called from any thread, and from inside a task that is being executed.
/// None allocates, except those that look for cycles, copy, or install templates.
///
/// # Examples
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
/// # Threads
/// Payloads go from thread to thread, and one thread at a time has each. So they must be `Send` for
/// the shed to be `Send` and `Sync`, but need not be `Sync`:
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
/// # Borrows
/// What payloads borrow must outlive the shed, and an executed payload cannot be kept:
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
pub struct Shed<T, L: Layout = Central> {
    pub(crate) memory: Memory<T, L>,
    pub(crate) channels: u16,
    pub(crate) first_generation: u32,
    pub(crate) callbacks: Callbacks<T>,
    /// Held by the thread that adds dependencies, if these are checked for cycles.
    pub(crate) checks: Option<SpinLock<()>>,
    /// How many instances of templates have slots here.
    pub(crate) instances: AtomicU32,
    pub(crate) extra: ExtraHeads,
}

/// What a task is doing, as of a moment ago.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// Created; waits for nothing but to be made ready.
    Idle,
    /// The task waits for this many predecessors.
    Waiting(u32),
    /// Will be executed by a thread that asks its channel.
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

impl<T, L: Layout> Shed<T, L> {
    /// What the buffer of [`build_in`](crate::Builder::build_in) must be aligned to, in bytes.
    pub const ALIGN: usize = align::<T>();

    /// How many bytes a shed of these sizes needs, with all other settings at their defaults.
    /// `None`: more than can be addressed, or a size out of its range.
    ///
    /// For other settings see [`Builder::required_size`](crate::Builder::required_size).
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
        let heads = ExtraHeads::new::<L>(channels as u16, false, false).heads;
        Sizes { tasks: tasks as u32, edges: dependencies as u32, heads }.bytes::<T, L>()
    }

    pub(crate) fn new(
        memory: Memory<T, L>,
        channels: u16,
        first_generation: Option<u32>,
        callbacks: Callbacks<T>,
        extra: ExtraHeads,
    ) -> Self {
        let first_generation = first_generation.unwrap_or_else(salt);
        let instances = AtomicU32::new(0);
        Self { memory, channels, first_generation, callbacks, checks: None, instances, extra }
    }

    /// How many tasks there can be at a time. A [growing](crate::Builder::growing) shed grows when
    /// it needs more.
    pub fn capacity(&self) -> u32 {
        self.memory.sizes().tasks
    }

    /// How many channels there are.
    pub fn channels(&self) -> u16 {
        self.channels
    }

    /// What `task` is doing. If it has ended, that is an error, and all that the task did is
    /// visible to the caller.
    ///
    /// # Errors
    /// [`Error::StaleTask`], [`Error::UnknownTask`].
    ///
    /// # Cost
    /// A load.
    pub fn state(&self, task: TaskId) -> Result<TaskState, Error> {
        let state = self.known(task)?;
        Ok(match state.status() {
            Status::Idle if state.in_degree() > 0 => TaskState::Waiting(state.in_degree()),
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
        // Ordering: Acquire, with the Release of `create`: names may travel without
        // synchronisation.
        let state = State(self.memory.slot(task.index()).state.load(Ordering::Acquire));
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

    /// Replaces the task's state with what `to` makes of it, and tries again whenever another
    /// thread was faster. Returns what was replaced.
    #[inline(always)]
    pub(crate) fn change(
        &self,
        task: TaskId,
        mut to: impl FnMut(State) -> Result<State, Error>,
    ) -> Result<State, Error> {
        let mut seen = self.known(task)?;
        loop {
            let new = to(seen)?;
            // Ordering: Acquire, with the Release of `create`, and of the threads that blocked or
            // ended the task. Release, for the thread that executes or ends it, and for the Acquire
            // of a thread that blocks.
            match self.memory.slot(task.index()).state.compare_exchange_weak(
                seen.0,
                new.0,
                Ordering::AcqRel,
                Ordering::Acquire,
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

    /// Whether the task at `index` is part of an instance.
    #[inline(always)]
    pub(crate) fn is_kept(&self, index: u32) -> bool {
        self.memory.slot(index).flags.load(Ordering::Relaxed) & flag::KEPT != 0
    }

    #[inline(always)]
    pub(crate) fn is_milestone(&self, index: u32) -> bool {
        self.memory.slot(index).flags.load(Ordering::Relaxed) & flag::MILESTONE != 0
    }

    /// Marks the slot of a task that the caller owns as free: it can be put into the list of free
    /// slots.
    #[inline(always)]
    pub(crate) fn vacate(&self, index: u32, state: State) {
        let free = State::new(state.generation().wrapping_add(1), Status::Free);
        // Ordering: Release, for the Acquire of a thread that finds the name stale: all that the
        // task did is visible to it. (The next owner has the slot from the list.)
        self.memory.slot(index).state.store(free.0, Ordering::Release);
    }

    /// The list of tasks with that head.
    #[inline(always)]
    pub(crate) fn tasks_at<'a>(
        &'a self,
        head: usize,
    ) -> List<'a, T, L, impl Fn(u32) -> &'a Link + use<'a, T, L>> {
        List::new(&self.memory, head, |index| self.memory.link(index))
    }

    /// The list of free slots.
    #[inline(always)]
    pub(crate) fn free_slots<'a>(
        &'a self,
    ) -> List<'a, T, L, impl Fn(u32) -> &'a Link + use<'a, T, L>> {
        self.tasks_at(Heads::<L>::FREE_SLOTS)
    }

    /// The list of free dependencies.
    #[inline(always)]
    pub(crate) fn free_edges<'a>(
        &'a self,
    ) -> List<'a, T, L, impl Fn(u32) -> &'a Link + use<'a, T, L>> {
        List::new(&self.memory, Heads::<L>::FREE_EDGES, |index| &self.memory.edge(index).next)
    }

    /// How many slots have been taken at least once.
    #[inline]
    pub(crate) fn used_slots(&self) -> u32 {
        self.memory.head(Heads::<L>::FRESH_SLOTS).load(Ordering::Relaxed) as u32
    }

    /// Calls with the index of each of `tasks`, which are the caller's.
    #[inline(always)]
    pub(crate) fn each(&self, tasks: Chain, mut call: impl FnMut(u32)) {
        let mut index = tasks.first;
        call(index);
        for _ in 1..tasks.count {
            index = self.memory.link(index).get().index();
            call(index);
        }
    }
}

/// Why a task that is not idle cannot be changed.
#[cold]
pub(crate) fn refusal(task: TaskId, status: Status) -> Error {
    match status {
        Status::Ready => Error::AlreadyReady(task),
        Status::Running => Error::Running(task),
        Status::Blocked => Error::Blocked(task),
        Status::Cancelled => Error::Cancelled(task),
        Status::Done => Error::Kept(task),
        Status::Idle | Status::Free | Status::Freeing => Error::StaleTask(task),
    }
}

/// Where a shed's generations start, so that names of one shed are stale in another. Also the
/// number of a template.
pub(crate) fn salt() -> u32 {
    #[cfg(not(loom))]
    {
        static SHEDS: AtomicU32 = AtomicU32::new(0);
        SHEDS.fetch_add(0x9E37_79B9, Ordering::Relaxed)
    }
    #[cfg(loom)]
    0
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

/// A [`Shed`] in memory of the user's: see [`Builder::build_in`](crate::Builder::build_in).
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
pub struct ShedIn<'m, T, L: Layout = Central> {
    pub(crate) shed: Shed<T, L>,
    memory: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

impl<'m, T, L: Layout> ShedIn<'m, T, L> {
    pub(crate) fn new(shed: Shed<T, L>) -> Self {
        Self { shed, memory: PhantomData }
    }
}

impl<T, L: Layout> Drop for ShedIn<'_, T, L> {
    /// Does nothing. It exists so that the compiler knows that dropping this uses the memory: the
    /// shed inside does.
    fn drop(&mut self) {}
}

impl<T, L: Layout> Deref for ShedIn<'_, T, L> {
    type Target = Shed<T, L>;

    fn deref(&self) -> &Shed<T, L> {
        &self.shed
    }
}
