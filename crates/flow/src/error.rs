//! What can go wrong with a driven shed. Each error names the value that was wrong.

use sateen_base::PanicPayload;
use sateen_shed::BuildError;
use std::fmt;

/// Why a shed could not be driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunError {
    /// The shed could not be built.
    Build(BuildError),
    /// The map names a channel that the shed does not have.
    NoChannel {
        /// The channel that the map names.
        channel: u16,
        /// The shed's channels are below this.
        channels: u16,
    },
    /// The map names a worker that the runtime does not have.
    NoWorker {
        /// The channel that was to run there.
        channel: u16,
        /// The worker that the map names.
        worker: usize,
        /// The runtime's workers are below this.
        workers: usize,
    },
    /// The map gives a channel to no worker at all.
    NoWorkers {
        /// The channel.
        channel: u16,
    },
}

impl From<BuildError> for RunError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => error.fmt(f),
            Self::NoChannel { channel, channels } => {
                write!(f, "channel {channel} is not below {channels}")
            }
            Self::NoWorker { channel, worker, workers } => {
                write!(
                    f,
                    "no worker {worker} for channel {channel}: there are {workers}, counted from 0"
                )
            }
            Self::NoWorkers { channel } => write!(f, "no workers for channel {channel}"),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Build(error) => Some(error),
            _ => None,
        }
    }
}

/// What happened while a thread waited for a driven shed.
#[derive(Debug)]
#[non_exhaustive]
pub enum WaitError {
    /// A task panicked. Tasks that depend on it were cancelled, all others have run.
    Panicked {
        /// The first one's payload, for [`std::panic::resume_unwind`].
        payload: PanicPayload,
        /// How many more tasks panicked.
        others: u64,
    },
    /// The runtime has been shut down, or has no stack to start a task on. Ready tasks stay in the
    /// shed.
    Refused,
    /// The caller is a task of the shed itself, for which it would wait.
    Inside,
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked { payload, others } => {
                f.write_str("a task panicked")?;
                if let Some(text) = payload.message() {
                    write!(f, ": {text}")?;
                }
                if *others > 0 { write!(f, "; so did {others} others") } else { Ok(()) }
            }
            Self::Refused => f.write_str(
                "the runtime was shut down, or has no stack left: ready tasks stay in the shed",
            ),
            Self::Inside => f.write_str("a task cannot wait for the shed that it belongs to"),
        }
    }
}

impl std::error::Error for WaitError {}
