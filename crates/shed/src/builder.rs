//! Building a shed.

use crate::block::Sizes;
use crate::heads::ExtraHeads;
use crate::layout::{Central, Growing, Layout};
use crate::memory::Memory;
use crate::shed::{Callbacks, Shed, ShedIn};
use crate::word::Head;
use crate::{BuildError, TaskId};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use sateen_base::prim::Ordering;
use sateen_base::unwind::run_to_end;
use sateen_base::{RawSpinLock, SpinLock};

/// The largest number of tasks, and of dependencies.
const MAX: u64 = 1 << 31;

/// Sizes and choices of a [`Shed`] that is to be built: see [`Shed::builder`].
pub struct Builder<T, L = Central> {
    tasks: u64,
    dependencies: u64,
    channels: u64,
    fifo: FifoChannels,
    progress: bool,
    checks: bool,
    first_generation: Option<u32>,
    callbacks: Callbacks<T>,
    layout: PhantomData<L>,
}

/// Which channels hand out the oldest task first.
#[derive(Debug)]
enum FifoChannels {
    These(Vec<u16>),
    All,
}

impl FifoChannels {
    const NONE: Self = Self::These(Vec::new());

    fn any(&self) -> bool {
        !matches!(self, Self::These(channels) if channels.is_empty())
    }

    fn has(&self, channel: u16) -> bool {
        match self {
            Self::These(channels) => channels.contains(&channel),
            Self::All => true,
        }
    }
}

impl<T> Default for Builder<T> {
    fn default() -> Self {
        Self {
            tasks: 1024,
            dependencies: 1024,
            channels: 1,
            fifo: FifoChannels::NONE,
            progress: false,
            checks: false,
            first_generation: None,
            callbacks: Callbacks::default(),
            layout: PhantomData,
        }
    }
}

impl<T> Shed<T> {
    /// Begins to build a shed.
    #[must_use]
    pub fn builder() -> Builder<T> {
        Builder::default()
    }
}

impl<T, L: Layout> Builder<T, L> {
    /// How many tasks there can be at a time: 1 to 2^31. 1,024 unless set.
    #[must_use]
    pub fn tasks(mut self, tasks: u64) -> Self {
        self.tasks = tasks;
        self
    }

    /// How many dependencies there can be at a time: 0 to 2^31. 1,024 unless set.
    #[must_use]
    pub fn dependencies(mut self, dependencies: u64) -> Self {
        self.dependencies = dependencies;
        self
    }

    /// How many channels there are: 1 to 65,535. 1 unless set.
    #[must_use]
    pub fn channels(mut self, channels: u64) -> Self {
        self.channels = channels;
        self
    }

    /// Has `channel` hand out the oldest ready task first, in all layouts.
    ///
    /// Otherwise the task that became ready last comes first, which is the fastest order, as its
    /// memory is still near. Tasks that were made ready in one go keep their order either way.
    ///
    /// The order is exact, with any number of consumers. Unlike others, this channel is not
    /// lock-free: a consumer that finds only fresh tasks reverses their list, and meanwhile other
    /// consumers of the channel wait. That writes each task's link once more.
    ///
    /// # Errors
    /// [`BuildError::NoChannel`], when it is built.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Outcome, Shed};
    /// let shed = Shed::builder().fifo(0).build()?;
    /// for number in 0..3 {
    ///     shed.ready(&shed.create([number]).unwrap())?;
    /// }
    /// let mut order = vec![];
    /// shed.execute_batch(0, 10, |_, number| { order.push(*number); Outcome::Complete })?;
    /// assert_eq!(order, [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fifo(mut self, channel: u16) -> Self {
        if let FifoChannels::These(channels) = &mut self.fifo {
            channels.push(channel);
        }
        self
    }

    /// As [`fifo`](Self::fifo), for all channels.
    #[must_use]
    pub fn fifo_all(mut self) -> Self {
        self.fifo = FifoChannels::All;
        self
    }

    /// Whether [`Shed::progress`] counts what becomes of each channel's tasks. Not unless set.
    ///
    /// # Cost
    /// An addition to a word that all threads share: for each range of tasks that become ready, and
    /// for each batch, or task, that is executed. Four words a channel, as far apart as list heads.
    #[must_use]
    pub fn progress(mut self, counted: bool) -> Self {
        self.progress = counted;
        self
    }

    /// What [`channels`](Self::channels) has set.
    #[doc(hidden)]
    #[must_use]
    pub fn channel_count(&self) -> u64 {
        self.channels
    }

    /// Sets what is called with a channel and how many tasks have become ready on it.
    ///
    /// It is called after each push of ready tasks, by the thread that made them ready or ended
    /// their last predecessor. It does not learn of a task that
    /// [`execute_batch`](Shed::execute_batch) goes on with by itself. If this is set twice, both
    /// are called, the first one first, and the second even if the first panics.
    ///
    /// # Cost
    /// An indirect call for each range of tasks of one channel.
    #[must_use]
    pub fn on_ready(mut self, ready: impl Fn(u16, u32) + Send + Sync + 'static) -> Self {
        self.callbacks.ready = Some(match self.callbacks.ready.take() {
            None => Box::new(ready),
            Some(first) => Box::new(move |channel, count| {
                let calls: [&dyn Fn(u16, u32); 2] = [&*first, &ready];
                let mut calls = calls.into_iter();
                // The second may be what wakes a worker: it has to know even if the first panics.
                run_to_end(|| calls.next().map(|call| call(channel, count)).is_some());
            }),
        });
        self
    }

    /// Sets what is called with each task that is cancelled, itself or with its predecessor, and
    /// with its payload before that is dropped.
    ///
    /// The thread that cancels calls it, or the one that executes a task that panics.
    #[must_use]
    pub fn on_cancel(mut self, cancel: impl Fn(TaskId, &mut T) + Send + Sync + 'static) -> Self {
        self.callbacks.cancel = Some(Box::new(cancel));
        self
    }

    /// Whether [`depend`](Shed::depend) refuses a dependency that would close a cycle, with
    /// [`Error::Cycle`](crate::Error::Cycle). Off unless set.
    ///
    /// Without this, [`find_cycle`](Shed::find_cycle) finds cycles afterwards.
    ///
    /// # Cost
    /// Each call searches all that waits for its successors, directly or not, and may allocate for
    /// that. Calls from several threads wait for each other, on a spinlock, so that no two close a
    /// cycle together.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Error, Shed};
    /// let shed = Shed::builder().checks(true).build()?;
    /// let [a, b, c] = shed.create(["a", "b", "c"]).unwrap();
    /// shed.depend(&[a], &[b])?;
    /// shed.depend(&[b], &[c])?;
    /// let cycle = Error::Cycle { successor: c, predecessor: a };
    /// assert_eq!(shed.depend(&[c], &[a]), Err(cycle));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn checks(mut self, checks: bool) -> Self {
        self.checks = checks;
        self
    }

    /// Chooses another [`Layout`].
    #[must_use]
    pub fn layout<M: Layout>(self) -> Builder<T, M> {
        Builder {
            tasks: self.tasks,
            dependencies: self.dependencies,
            channels: self.channels,
            fifo: self.fifo,
            progress: self.progress,
            checks: self.checks,
            first_generation: self.first_generation,
            callbacks: self.callbacks,
            layout: PhantomData,
        }
    }

    /// Has the shed take another block of memory, as large as all before, whenever slots for tasks
    /// or for dependencies run out: up to 2^31 of each. Nothing moves.
    ///
    /// The sizes that were set are where it starts, rounded up to powers of two. Growing is part of
    /// the shed's type: [`Growing`], of the layout chosen before.
    ///
    /// # Cost
    /// A comparison at each access to a task, and more for tasks after the first block. While one
    /// thread takes memory, others that have run out wait for it.
    ///
    /// # Errors
    /// [`BuildError::CannotGrow`], in [`build_in`](Self::build_in).
    ///
    /// # Examples
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(4).growing().build()?;
    /// let tasks = shed.create([0; 100]).unwrap();
    /// assert_eq!(shed.capacity(), 128);
    /// shed.ready(&tasks)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn growing(self) -> Builder<T, Growing<L>> {
        self.layout()
    }

    /// Sets the generation that slots begin with, to test what happens when generations wrap.
    #[doc(hidden)]
    #[must_use]
    pub fn first_generation(mut self, generation: u32) -> Self {
        self.first_generation = Some(generation);
        self
    }

    /// With the heads that a snapshot has, which brings their words too.
    pub(crate) fn extra(mut self, extra: ExtraHeads) -> Self {
        self.fifo = if extra.inboxes == 0 { FifoChannels::NONE } else { FifoChannels::All };
        self.progress = extra.counters != 0;
        self
    }

    fn check(&self) -> Result<(Sizes, ExtraHeads), BuildError> {
        if !(1..=MAX).contains(&self.tasks) {
            return Err(BuildError::Tasks(self.tasks));
        }
        if self.dependencies > MAX {
            return Err(BuildError::Dependencies(self.dependencies));
        }
        if !(1..=u64::from(u16::MAX)).contains(&self.channels) {
            return Err(BuildError::Channels(self.channels));
        }
        let channels = self.channels as u16;
        if let FifoChannels::These(these) = &self.fifo
            && let Some(&channel) = these.iter().find(|&&channel| channel >= channels)
        {
            return Err(BuildError::NoChannel { channel, channels });
        }
        let extra = ExtraHeads::new::<L>(channels, self.fifo.any(), self.progress);
        let (mut tasks, mut edges) = (self.tasks as u32, self.dependencies as u32);
        if L::GROWS {
            (tasks, edges) = (tasks.next_power_of_two(), edges.next_power_of_two());
        }
        Ok((Sizes { tasks, edges, heads: extra.heads }, extra))
    }

    /// How many bytes [`build_in`](Self::build_in) needs.
    ///
    /// # Errors
    /// A size out of its range, or more than can be addressed.
    ///
    /// ```
    /// let builder = sateen::shed::Shed::<u64>::builder().tasks(10).channels(3);
    /// let usual = builder.required_size()?;
    /// assert!(builder.fifo(2).required_size()? > usual);
    /// # Ok::<(), sateen::shed::BuildError>(())
    /// ```
    pub fn required_size(&self) -> Result<usize, BuildError> {
        let (sizes, _) = self.check()?;
        sizes.bytes::<T, L>().ok_or_else(|| sizes.too_large())
    }

    /// Builds the shed in memory of its own, taken here once: about 36 bytes a task besides the
    /// payload, and 8 a dependency.
    ///
    /// # Errors
    /// A size out of its range, or too little memory.
    pub fn build(self) -> Result<Shed<T, L>, BuildError> {
        let (sizes, extra) = self.check()?;
        Ok(self.within(Memory::new(sizes)?, extra))
    }

    /// Builds the shed in `buffer`: see [`Shed::required_size`].
    ///
    /// # Errors
    /// A size out of its range, a buffer that is too small or not aligned to [`Shed::ALIGN`], or a
    /// [growing](Self::growing) layout.
    pub fn build_in(self, buffer: &mut [MaybeUninit<u8>]) -> Result<ShedIn<'_, T, L>, BuildError> {
        let (sizes, extra) = self.check()?;
        if L::GROWS {
            return Err(BuildError::CannotGrow);
        }
        // SAFETY: the result borrows the buffer for as long as it lives.
        let memory = unsafe { Memory::new_in(sizes, buffer)? };
        Ok(ShedIn::new(self.within(memory, extra)))
    }

    fn within(self, memory: Memory<T, L>, extra: ExtraHeads) -> Shed<T, L> {
        let channels = self.channels as u16;
        if self.fifo.any() {
            for channel in (0..channels).filter(|&channel| !self.fifo.has(channel)) {
                let inbox = memory.head(extra.inboxes + usize::from(channel));
                inbox.store(Head(0).marked().0, Ordering::Relaxed);
            }
        }
        let mut shed = Shed::new(memory, channels, self.first_generation, self.callbacks, extra);
        shed.checks = self.checks.then(|| SpinLock::from_raw(RawSpinLock::new(), ()));
        shed
    }
}

impl<T, L: Layout> fmt::Debug for Builder<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("tasks", &self.tasks)
            .field("dependencies", &self.dependencies)
            .field("channels", &self.channels)
            .field("layout", &L::NAME)
            .finish_non_exhaustive()
    }
}
