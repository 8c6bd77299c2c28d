//! What can go wrong with templates.

use crate::Node;
use crate::word::State;
use alloc::vec::Vec;
use core::fmt;

/// Why an operation on a template, or an instance of one, was refused. All is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateError {
    /// The task is another template's.
    UnknownNode(Node),
    /// A task cannot depend on itself.
    SelfDependency(Node),
    /// Each of these waits for the next, and the last for the first.
    Cycle(Vec<Node>),
    /// A task is on a channel that the shed does not have.
    NoChannel {
        /// The task's channel.
        channel: u16,
        /// The shed's channels are below this.
        channels: u16,
    },
    /// The shed has too few free slots.
    Full {
        /// How many were asked for: one for each task, and one more.
        asked: usize,
        /// How many slots the shed has in all.
        capacity: u32,
    },
    /// The shed has too few free dependencies.
    NoDependencies {
        /// How many were asked for: one for each dependency, and for each task without successors.
        asked: u64,
        /// How many the shed has, used or not.
        capacity: u64,
    },
    /// The task would wait for more than 2^26 - 2 others.
    TooManyDependencies(Node),
    /// More than 2^26 - 2 tasks have no successors.
    TooManyLast(usize),
    /// The instance's run has not ended.
    StillRunning,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode(task) => write!(f, "task {task} is one of another template"),
            Self::SelfDependency(task) => write!(f, "task {task} cannot depend on itself"),
            Self::Cycle(tasks) => {
                write!(f, "tasks wait for each other:")?;
                tasks.iter().try_for_each(|task| write!(f, " {task}"))
            }
            Self::NoChannel { channel, channels } => {
                write!(f, "channel {channel} is not below {channels}")
            }
            Self::Full { asked, capacity } => {
                write!(
                    f,
                    "no place for {asked} slots, one for each task and one more, of {capacity} in \
                     all"
                )
            }
            Self::NoDependencies { asked, capacity } => {
                write!(
                    f,
                    "no place for {asked} dependencies, one for each last task counted, of \
                     {capacity} in all"
                )
            }
            Self::TooManyDependencies(task) => write!(
                f,
                "task {task} would depend on more than {} others",
                State::MAX_PREDECESSORS
            ),
            Self::TooManyLast(tasks) => write!(
                f,
                "nothing depends on {tasks} tasks, which is more than {}",
                State::MAX_PREDECESSORS
            ),
            Self::StillRunning => StillRunning.fmt(f),
        }
    }
}

impl core::error::Error for TemplateError {}

/// The instance's last run has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StillRunning;

impl fmt::Display for StillRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the instance's last run has not ended")
    }
}

impl core::error::Error for StillRunning {}
