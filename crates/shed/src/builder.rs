//! Building a shed.

use crate::layout::{Layout, Pausing};
use crate::memory::{Memory, Sizes};
use crate::shed::{Callbacks, Heads, Shed, ShedIn};
use crate::{BuildError, TaskId};
use alloc::boxed::Box;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Most tasks, and most dependencies.
const MOST: u64 = 1 << 31;

/// Sizes and choices of a [`Shed`] to be.
pub struct Builder<T, L = Pausing> {
    tasks: u64,
    dependencies: u64,
    channels: u64,
    first_generation: Option<u32>,
    callbacks: Callbacks<T>,
    layout: PhantomData<L>,
}

impl<T> Default for Builder<T> {
    fn default() -> Self {
        Self {
            tasks: 1024,
            dependencies: 1024,
            channels: 1,
            first_generation: None,
            callbacks: Callbacks::default(),
            layout: PhantomData,
        }
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

    /// What [`channels`](Self::channels) has set.
    #[doc(hidden)]
    #[must_use]
    pub fn channel_count(&self) -> u64 {
        self.channels
    }

    /// Called with a channel and how many tasks have become ready on it, after each push of ready tasks: by who
    /// made them ready, or ended what they depended on. Cost: an indirect call for each range of tasks of one channel.
    /// Set again, both are called, the first one first.
    #[must_use]
    pub fn on_ready(mut self, ready: impl Fn(u16, u32) + Send + Sync + 'static) -> Self {
        self.callbacks.ready = Some(match self.callbacks.ready.take() {
            None => Box::new(ready),
            Some(first) => Box::new(move |channel, count| {
                first(channel, count);
                ready(channel, count);
            }),
        });
        self
    }

    /// Called with each task that is cancelled, whether itself or because of what it depends on, and with its payload, before
    /// that is dropped: by who cancelled it, or executed what panicked.
    #[must_use]
    pub fn on_cancel(mut self, cancel: impl Fn(TaskId, &mut T) + Send + Sync + 'static) -> Self {
        self.callbacks.cancel = Some(Box::new(cancel));
        self
    }

    /// With another [`Layout`].
    #[must_use]
    pub fn layout<M: Layout>(self) -> Builder<T, M> {
        Builder {
            tasks: self.tasks,
            dependencies: self.dependencies,
            channels: self.channels,
            first_generation: self.first_generation,
            callbacks: self.callbacks,
            layout: PhantomData,
        }
    }

    /// For tests of what happens when generations wrap around.
    #[doc(hidden)]
    #[must_use]
    pub fn first_generation(mut self, generation: u32) -> Self {
        self.first_generation = Some(generation);
        self
    }

    fn check(&self) -> Result<Sizes, BuildError> {
        if !(1..=MOST).contains(&self.tasks) {
            return Err(BuildError::Tasks(self.tasks));
        }
        if self.dependencies > MOST {
            return Err(BuildError::Dependencies(self.dependencies));
        }
        if !(1..=u64::from(u16::MAX)).contains(&self.channels) {
            return Err(BuildError::Channels(self.channels));
        }
        Ok(sizes::<L>(self.tasks as u32, self.dependencies as u32, self.channels as u16))
    }

    /// The shed, in memory of its own, taken here once: about 36 bytes a task besides the payload, and 8 a dependency.
    ///
    /// # Errors
    /// A size out of its range, or too little memory.
    pub fn build(self) -> Result<Shed<T, L>, BuildError> {
        let memory = Memory::new(self.check()?)?;
        Ok(Shed::new(memory, self.channels as u16, self.first_generation, self.callbacks))
    }

    /// The shed, in `buffer`: see [`Shed::required_size`].
    ///
    /// # Errors
    /// A size out of its range, or a buffer that is too small or not aligned to [`Shed::ALIGN`].
    pub fn build_in(self, buffer: &mut [MaybeUninit<u8>]) -> Result<ShedIn<'_, T, L>, BuildError> {
        let sizes = self.check()?;
        // SAFETY: the result borrows the buffer for as long as it lives.
        let memory = unsafe { Memory::new_in(sizes, buffer)? };
        let shed = Shed::new(memory, self.channels as u16, self.first_generation, self.callbacks);
        Ok(ShedIn::new(shed))
    }
}

pub(crate) const fn sizes<L: Layout>(tasks: u32, dependencies: u32, channels: u16) -> Sizes {
    Sizes { tasks, edges: dependencies, heads: Heads::<L>::channel(channels) }
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
