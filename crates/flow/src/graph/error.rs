//! Why a graph gave no results.

use crate::RunError;
use sateen_base::PanicPayload;
use sateen_shed::TemplateError;
use std::fmt;

/// Why a graph did not run to its end, or has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum GraphError {
    /// Each of these tasks comes after the next, and the last after the first.
    Cycle(Vec<String>),
    /// The task belongs to another graph.
    Foreign {
        /// Its name.
        task: String,
    },
    /// The task is to run on a worker that does not exist.
    NoWorker {
        /// Its name.
        task: String,
        /// The worker it asks for.
        worker: usize,
        /// Workers are below this.
        workers: usize,
    },
    /// A task panicked. Tasks that come after it have not run.
    Panicked {
        /// Its name.
        task: String,
        /// For [`std::panic::resume_unwind`].
        payload: PanicPayload,
        /// How many other tasks panicked.
        others: u64,
    },
    /// The task has no result: the last run did not run it, or the result was taken.
    NoResult {
        /// Its name.
        task: String,
    },
    /// The task's result cannot be taken, because an [`Output`](super::Output) of it was leaked. It
    /// can still be read, and the next run makes another.
    Held {
        /// Its name.
        task: String,
    },
    /// The runtime ended by force while tasks were running.
    Cancelled,
    /// The runtime has been shut down, or has no stack to start a task on.
    Refused,
    /// No shed could be built for it.
    Run(RunError),
    /// The graph is too large for a shed.
    Template(TemplateError),
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycle(tasks) => {
                write!(f, "tasks come after each other in a cycle: {}", tasks.join(", "))
            }
            Self::Foreign { task } => write!(f, "{task} is a task of another graph"),
            Self::NoWorker { task, worker, workers } => {
                write!(f, "no worker {worker} for {task}: there are {workers}, counted from 0")
            }
            Self::Panicked { task, payload, others } => {
                write!(f, "{task} panicked")?;
                if let Some(text) = payload.message() {
                    write!(f, ": {text}")?;
                }
                if *others > 0 { write!(f, "; so did {others} others") } else { Ok(()) }
            }
            Self::NoResult { task } => write!(f, "{task} has no result"),
            Self::Held { task } => write!(f, "the result of {task} is shared with an output"),
            Self::Cancelled => f.write_str("the runtime ended while the graph was running"),
            Self::Refused => {
                f.write_str("the runtime was shut down, or has no stack left to start a task on")
            }
            Self::Run(error) => error.fmt(f),
            Self::Template(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GraphError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Run(error) => Some(error),
            Self::Template(error) => Some(error),
            _ => None,
        }
    }
}
