//! What can go wrong, each with the value that was wrong.

use crate::TaskId;
use crate::word::State;
use core::fmt;

/// Why an operation on tasks was refused. The shed is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The task has ended, was freed, or belongs to another shed.
    StaleTask(TaskId),
    /// No shed of this size ever gave that name.
    UnknownTask(TaskId),
    /// The task is ready already.
    AlreadyReady(TaskId),
    /// The task is being executed; inside it, it cannot be made ready, depended on, or freed.
    Running(TaskId),
    /// The task has run and waits to be made ready again.
    Blocked(TaskId),
    /// The task was cancelled.
    Cancelled(TaskId),
    /// The task belongs to a template's instance, which alone frees it and says what it depends on.
    Kept(TaskId),
    /// The task still depends on others.
    Waiting {
        /// The task.
        task: TaskId,
        /// How many it waits for.
        in_degree: u32,
    },
    /// A task cannot depend on itself.
    SelfDependency(TaskId),
    /// The dependency would close a cycle (found only with [`checks`](crate::Builder::checks)).
    Cycle {
        /// The task that would wait for `predecessor`.
        successor: TaskId,
        /// The task that waits for `successor` already.
        predecessor: TaskId,
    },
    /// There are not enough free dependencies.
    NoDependencies {
        /// How many were asked for.
        asked: u64,
        /// How many the shed has, used or not.
        capacity: u64,
    },
    /// The task would wait for more than 2^26 - 2 others.
    TooManyDependencies(TaskId),
    /// There is no such channel.
    NoChannel {
        /// What was asked for.
        channel: u16,
        /// Channels are below this.
        channels: u16,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StaleTask(task) => {
                write!(f, "task {task} has ended, was freed, or is another shed's")
            }
            Self::UnknownTask(task) => write!(f, "task {task} is not of this shed"),
            Self::AlreadyReady(task) => write!(f, "task {task} is ready already"),
            Self::Running(task) => write!(f, "task {task} is running"),
            Self::Blocked(task) => write!(f, "task {task} is blocked and waits to be made ready"),
            Self::Cancelled(task) => write!(f, "task {task} was cancelled"),
            Self::Kept(task) => write!(f, "task {task} belongs to an instance of a template"),
            Self::Waiting { task, in_degree } => {
                write!(f, "task {task} still depends on {in_degree} others")
            }
            Self::SelfDependency(task) => write!(f, "task {task} cannot depend on itself"),
            Self::Cycle { successor, predecessor } => {
                write!(
                    f,
                    "task {successor} cannot depend on task {predecessor}, which waits for it"
                )
            }
            Self::NoDependencies { asked, capacity } => {
                write!(f, "no place for {asked} more dependencies, of {capacity} in all")
            }
            Self::TooManyDependencies(task) => write!(
                f,
                "task {task} would depend on more than {} others",
                State::MAX_PREDECESSORS
            ),
            Self::NoChannel { channel, channels } => {
                write!(f, "channel {channel} is not below {channels}")
            }
        }
    }
}

impl core::error::Error for Error {}

/// The shed has too few free slots: what was to be created comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<P> {
    /// What could not be created.
    pub payloads: P,
    /// How many slots were asked for.
    pub asked: usize,
    /// How many slots the shed has in all, at present.
    pub capacity: u32,
}

impl<P> fmt::Debug for Full<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Full")
            .field("asked", &self.asked)
            .field("capacity", &self.capacity)
            .finish_non_exhaustive()
    }
}

impl<P> fmt::Display for Full<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no place for {} more tasks, of {} in all", self.asked, self.capacity)
    }
}

impl<P> core::error::Error for Full<P> {}

/// Why a shed could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildError {
    /// Not 1 to 2^31 tasks.
    Tasks(u64),
    /// Not 0 to 2^31 dependencies.
    Dependencies(u64),
    /// Not 1 to 65,535 channels.
    Channels(u64),
    /// A setting names a channel that the shed does not have.
    NoChannel {
        /// What was named.
        channel: u16,
        /// Channels are below this.
        channels: u16,
    },
    /// A shed in a buffer cannot grow.
    CannotGrow,
    /// The sizes need more bytes than can be addressed.
    TooLarge {
        /// Tasks asked for.
        tasks: u64,
        /// Dependencies asked for.
        dependencies: u64,
    },
    /// There is not that much memory.
    OutOfMemory {
        /// What was needed.
        bytes: usize,
    },
    /// The buffer is too small.
    BufferTooSmall {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
    },
    /// The buffer does not begin at a multiple of the alignment.
    BufferMisaligned {
        /// Where it begins.
        address: usize,
        /// What it should be a multiple of.
        align: usize,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tasks(n) => write!(f, "{n} tasks: must be 1 to 2147483648"),
            Self::Dependencies(n) => write!(f, "{n} dependencies: must be 0 to 2147483648"),
            Self::Channels(n) => write!(f, "{n} channels: must be 1 to 65535"),
            Self::NoChannel { channel, channels } => {
                write!(f, "channel {channel} is not below {channels}")
            }
            Self::CannotGrow => write!(f, "a shed in a given buffer cannot grow"),
            Self::TooLarge { tasks, dependencies } => write!(
                f,
                "{tasks} tasks with {dependencies} dependencies need more bytes than can be \
                 addressed"
            ),
            Self::OutOfMemory { bytes } => write!(f, "no memory for {bytes} bytes"),
            Self::BufferTooSmall { needed, given } => {
                write!(f, "the buffer has {given} bytes, {needed} are needed")
            }
            Self::BufferMisaligned { address, align } => {
                write!(f, "the buffer begins at {address:#x}, which is no multiple of {align}")
            }
        }
    }
}

impl core::error::Error for BuildError {}

/// A snapshot cannot be restored: it is of a shed of other sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherSizes {
    /// The shed's tasks, dependencies and channels.
    pub shed: (u32, u32, u16),
    /// The snapshot's.
    pub snapshot: (u32, u32, u16),
}

impl fmt::Display for OtherSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shed: (tasks, dependencies, channels), snapshot } = self;
        write!(
            f,
            "a snapshot of {} tasks, {} dependencies and {} channels for a shed of {tasks}, \
             {dependencies} and {channels}",
            snapshot.0, snapshot.1, snapshot.2
        )
    }
}

impl core::error::Error for OtherSizes {}
