//! Which workers execute which channel.

use crate::RunError;
use std::collections::BTreeMap;

/// Who executes the tasks of each channel of a shed. Channels that are not named are executed by all workers, one task at a time.
///
/// Channels with the same place share it by priority: a lower number first.
///
/// ```
/// use sateen::flow::Map;
/// // 0 on every worker, 1 on the first one only, 2 by the thread that waits, 3 on two of them.
/// let map = Map::new().all(0).worker(1, 0).caller(2).workers(3, [0, 1]);
/// # drop(map);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a map does nothing until it is given to `run_on`"]
pub struct Map {
    channels: BTreeMap<u16, Channel>,
}

#[derive(Clone, Debug)]
struct Channel {
    place: Place,
    batch: u32,
}

impl Default for Channel {
    fn default() -> Self {
        Self { place: Place::All, batch: 1 }
    }
}

/// Who executes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    #[default]
    All,
    /// These workers, in order.
    Workers(Vec<usize>),
    Caller,
}

/// Channels of one place, each with its batch, in order of priority.
pub(crate) type Places = BTreeMap<Place, Vec<(u16, u32)>>;

impl Map {
    /// All channels on all workers.
    pub fn new() -> Self {
        Self::default()
    }

    fn channel(&mut self, channel: u16) -> &mut Channel {
        self.channels.entry(channel).or_default()
    }

    fn place(mut self, channel: u16, place: Place) -> Self {
        self.channel(channel).place = place;
        self
    }

    /// `channel` on every worker.
    pub fn all(self, channel: u16) -> Self {
        self.place(channel, Place::All)
    }

    /// `channel` on the worker with that index only. Its tasks run one after another, but for those that block.
    pub fn worker(self, channel: u16, worker: usize) -> Self {
        self.workers(channel, [worker])
    }

    /// `channel` on these workers only. A task that becomes ready goes to one of them on which nothing of the shed runs, if there is one.
    pub fn workers(self, channel: u16, workers: impl IntoIterator<Item = usize>) -> Self {
        let mut workers: Vec<usize> = workers.into_iter().collect();
        workers.sort_unstable();
        workers.dedup();
        self.place(channel, Place::Workers(workers))
    }

    /// `channel` on the thread (or in the task) that [waits](crate::Driven::wait), while it does.
    pub fn caller(self, channel: u16) -> Self {
        self.place(channel, Place::Caller)
    }

    /// Up to `most` tasks of `channel` are taken at once: 1 (the default) to 65,536. What was taken waits for what runs before it; so for short tasks that
    /// do not wait for each other. Costs one exchange less a task.
    pub fn batch(mut self, channel: u16, most: u32) -> Self {
        self.channel(channel).batch = most.clamp(1, 1 << 16);
        self
    }

    /// Who executes what, in a shed with so many channels.
    pub(crate) fn places(&self, channels: u16, workers: usize) -> Result<Places, RunError> {
        if let Some((&channel, _)) = self.channels.range(channels..).next() {
            return Err(RunError::NoChannel { channel, channels });
        }
        let mut places = Places::new();
        for channel in 0..channels {
            let Channel { place, batch } = self.channels.get(&channel).cloned().unwrap_or_default();
            if let Place::Workers(named) = &place {
                match named.last() {
                    None => return Err(RunError::NoWorkers { channel }),
                    Some(&worker) if worker >= workers => {
                        return Err(RunError::NoWorker { channel, worker, workers });
                    }
                    Some(_) => {}
                }
            }
            places.entry(place).or_default().push((channel, batch));
        }
        Ok(places)
    }
}
