//! Which workers execute which channel.

use crate::RunError;
use std::collections::BTreeMap;

/// Which workers execute the tasks of each channel of a shed.
///
/// All workers execute the channels that are not named, one task at a time. Channels with the same
/// executors share them by priority: a lower number first.
///
/// # Examples
/// ```
/// use sateen::flow::Map;
/// // 0 on every worker, 1 on the first one only, 2 by the thread that waits, 3 on two workers.
/// let map = Map::new().all(0).worker(1, 0).caller(2).workers(3, [0, 1]);
/// # drop(map);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a map does nothing until it is given to `run_on`"]
pub struct Map {
    channels: BTreeMap<u16, Channel>,
    pub(crate) label: Label,
}

/// What the tasks of the shed are called in traces.
#[cfg_attr(not(feature = "trace"), expect(dead_code, reason = "traces show it"))]
#[derive(Clone, Debug, Default)]
pub(crate) enum Label {
    /// The place where the shed was built.
    #[default]
    Place,
    Name(String),
    /// They are not shown: what they run is.
    None,
}

#[derive(Clone, Debug)]
struct Channel {
    executor: Executor,
    batch: u32,
}

impl Default for Channel {
    fn default() -> Self {
        Self { executor: Executor::All, batch: 1 }
    }
}

/// The executor of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Executor {
    #[default]
    All,
    /// These workers, in order.
    Workers(Vec<usize>),
    Caller,
}

/// The channels of each executor, each with its batch, in order of priority.
pub(crate) type Assignments = BTreeMap<Executor, Vec<(u16, u32)>>;

impl Map {
    /// All channels on all workers.
    pub fn new() -> Self {
        Self::default()
    }

    fn channel(&mut self, channel: u16) -> &mut Channel {
        self.channels.entry(channel).or_default()
    }

    fn assign(mut self, channel: u16, executor: Executor) -> Self {
        self.channel(channel).executor = executor;
        self
    }

    /// `channel` on every worker.
    pub fn all(self, channel: u16) -> Self {
        self.assign(channel, Executor::All)
    }

    /// `channel` on the worker with that index only. Its tasks run one after another, except those
    /// that block.
    pub fn worker(self, channel: u16, worker: usize) -> Self {
        self.workers(channel, [worker])
    }

    /// `channel` on these workers only. A task that becomes ready goes to one of them that runs no
    /// task of the shed, if there is one.
    pub fn workers(self, channel: u16, workers: impl IntoIterator<Item = usize>) -> Self {
        let mut workers: Vec<usize> = workers.into_iter().collect();
        workers.sort_unstable();
        workers.dedup();
        self.assign(channel, Executor::Workers(workers))
    }

    /// `channel` on the thread (or in the task) that [waits](crate::Driven::wait), while it waits.
    pub fn caller(self, channel: u16) -> Self {
        self.assign(channel, Executor::Caller)
    }

    /// Takes up to `most` tasks of `channel` at once: 1 (the default) to 65,536.
    ///
    /// Saves an exchange a task. A task that was taken waits for those taken before it, so this is
    /// for short tasks that do not wait for each other.
    pub fn batch(mut self, channel: u16, most: u32) -> Self {
        self.channel(channel).batch = most.clamp(1, 1 << 16);
        self
    }

    /// Calls the shed's tasks `name` in traces (feature `trace`), 64 bytes at most. Without a name
    /// they are called by the place of [`run_on`](crate::RunOn::run_on).
    ///
    /// ```
    /// use sateen::flow::{Map, RunOn};
    /// use sateen::shed::{Outcome, Shed};
    /// let runtime = sateen::Runtime::builder().workers(1).build()?;
    /// let map = Map::new().name("tiles");
    /// let shed = Shed::builder().run_on(&runtime, map, |_, _, _: &mut u32| Outcome::Complete)?;
    /// shed.ready(&shed.create([1, 2]).unwrap())?;
    /// shed.wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.label = Label::Name(name.into());
        self
    }

    /// The tasks are not shown in traces: what they run is.
    pub(crate) fn unnamed(mut self) -> Self {
        self.label = Label::None;
        self
    }

    /// The channels of each executor, in a shed with this many channels.
    pub(crate) fn assignments(
        &self,
        channels: u16,
        workers: usize,
    ) -> Result<Assignments, RunError> {
        if let Some((&channel, _)) = self.channels.range(channels..).next() {
            return Err(RunError::NoChannel { channel, channels });
        }
        let mut assignments = Assignments::new();
        for channel in 0..channels {
            let Channel { executor, batch } =
                self.channels.get(&channel).cloned().unwrap_or_default();
            if let Executor::Workers(named) = &executor {
                match named.last() {
                    None => return Err(RunError::NoWorkers { channel }),
                    Some(&worker) if worker >= workers => {
                        return Err(RunError::NoWorker { channel, worker, workers });
                    }
                    Some(_) => {}
                }
            }
            assignments.entry(executor).or_default().push((channel, batch));
        }
        Ok(assignments)
    }
}
