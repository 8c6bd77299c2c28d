//! Why a runtime could not be built.

use crate::builder::{MAX_WORKERS, STRICT_VARIABLE, WORKERS_VARIABLE};
use crate::stack::StackSizeError;
use std::io;

/// Why a runtime could not be built. A failed build leaves nothing behind.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The number of workers is 0 or above [`MAX_WORKERS`].
    Workers(usize),
    /// The environment variable `SATEEN_WORKERS` holds this instead of a number from 1 to
    /// [`MAX_WORKERS`].
    Variable(String),
    /// The environment variable `SATEEN_STRICT` holds this instead of 0 or 1.
    StrictVariable(String),
    /// The runtime was to be [strict](crate::Builder::strict) and to have a custom policy.
    StrictPolicy,
    /// The stack size, in bytes, is above 1 GiB.
    StackSize(usize),
    /// The name of a worker's thread contains a NUL, which would end the name.
    Name {
        /// The worker's index.
        worker: usize,
        /// The name.
        name: String,
    },
    /// Fewer stacks are allowed than there are workers.
    Stacks {
        /// Most stacks that may exist.
        stacks: usize,
        /// The number of workers, each of which needs a stack.
        workers: usize,
    },
    /// The thread of this worker could not be started.
    Thread {
        /// The worker's index.
        worker: usize,
        /// The system's reason.
        source: io::Error,
    },
    /// Workers were to be pinned to cores, and the system does not support or allow it.
    Pin(io::Error),
    /// There was no memory for the first stack.
    Stack(io::Error),
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Workers(n) => {
                write!(f, "cannot run {n} workers: 1 to {MAX_WORKERS} are possible")
            }
            Self::Variable(value) => {
                write!(f, "{WORKERS_VARIABLE}={value} is not a number from 1 to {MAX_WORKERS}")
            }
            Self::StrictVariable(value) => {
                write!(f, "{STRICT_VARIABLE}={value} is neither 0 nor 1")
            }
            Self::StrictPolicy => f.write_str("a strict runtime cannot have a custom policy"),
            Self::StackSize(size) => StackSizeError(*size).fmt(f),
            Self::Name { worker, name } => {
                write!(f, "cannot name the thread of worker {worker} {name:?}: it contains a NUL")
            }
            Self::Stacks { stacks, workers } => {
                write!(f, "cannot run {workers} workers with {stacks} stacks: each needs one")
            }
            Self::Thread { worker, source } => {
                write!(f, "cannot start the thread of worker {worker}: {source}")
            }
            Self::Pin(source) => write!(f, "cannot pin workers to cores: {source}"),
            Self::Stack(source) => write!(f, "cannot reserve a stack: {source}"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread { source, .. } | Self::Pin(source) | Self::Stack(source) => Some(source),
            _ => None,
        }
    }
}
