//! What can go wrong with templates.

use crate::{Node, Template};
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
    /// The shed has too few free places.
    Full {
        /// How many were asked for: one for each task, and one.
        asked: usize,
        /// How many tasks the shed has place for in all.
        capacity: u32,
    },
    /// The shed has too few free places for dependencies.
    NoDependencies {
        /// How many were asked for: one for each dependency, and for each task that nothing depends on.
        asked: u64,
        /// How many the shed has, used or not.
        capacity: u64,
    },
    /// The task would wait for more than 2^26 - 2 others.
    TooManyDependencies(Node),
    /// More than 2^26 - 2 tasks that nothing depends on.
    TooManyLast(usize),
    /// The instance's run has not ended.
    StillRunning,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownNode(task) => write!(f, "task {task} is not of this template"),
            Self::SelfDependency(task) => write!(f, "task {task} cannot depend on itself"),
            Self::Cycle(tasks) => {
                write!(f, "tasks wait for each other:")?;
                tasks.iter().try_for_each(|task| write!(f, " {task}"))
            }
            Self::NoChannel { channel, channels } => {
                write!(f, "channel {channel} is not below {channels}")
            }
            Self::Full { asked, capacity } => {
                write!(f, "no place for {asked} more tasks, of {capacity} in all")
            }
            Self::NoDependencies { asked, capacity } => {
                write!(f, "no place for {asked} more dependencies, of {capacity} in all")
            }
            Self::TooManyDependencies(task) => write!(
                f,
                "task {task} would depend on more than {} others",
                crate::word::State::MOST_OPEN
            ),
            Self::TooManyLast(tasks) => write!(
                f,
                "nothing depends on {tasks} tasks, which is more than {}",
                crate::word::State::MOST_OPEN
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

/// A template that a shed has refused.
pub struct NotInstalled<T> {
    /// As it was.
    pub template: Template<T>,
    /// Why.
    pub error: TemplateError,
}

impl<T> fmt::Debug for NotInstalled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NotInstalled").field(&self.error).finish()
    }
}

impl<T> fmt::Display for NotInstalled<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the template cannot be installed: {}", self.error)
    }
}

impl<T> core::error::Error for NotInstalled<T> {}
