//! What has become of each channel's tasks, counted.

use crate::Error;
use crate::heads::Count;
use crate::layout::Layout;
use crate::shed::Shed;
use sateen_base::prim::Ordering;

/// What has happened on a channel since the shed was built: see [`Shed::progress`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many times a task became ready. Counted before any thread can execute it.
    pub readied: u64,
    /// How many tasks have completed. Counted after they have run; a batch's tasks together, after
    /// the last.
    pub completed: u64,
    /// How many times a task was executed and blocked. Counted as completed tasks are.
    pub blocked: u64,
    /// How many tasks were cancelled, or panicked. Counted before their successors are.
    pub cancelled: u64,
}

impl<T, L: Layout> Shed<T, L> {
    /// What has happened on `channel`. `None`: [`Builder::progress`](crate::Builder::progress) was
    /// not set, so nothing is counted.
    ///
    /// Once nothing is ready or running there, `readied` is the sum of `completed`, `blocked`, and
    /// the tasks that panicked or were cancelled while they were ready. While other threads go on,
    /// the counts are of slightly different moments; `readied` is of the last.
    ///
    /// # Errors
    /// [`Error::NoChannel`].
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Outcome, Shed};
    /// let shed = Shed::builder().tasks(3).progress(true).build()?;
    /// shed.ready(&shed.create(["a", "b", "c"]).unwrap())?;
    /// shed.execute_batch(0, 2, |_, _| Outcome::Complete)?;
    /// let progress = shed.progress(0)?.unwrap();
    /// assert_eq!((progress.readied, progress.completed), (3, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn progress(&self, channel: u16) -> Result<Option<Progress>, Error> {
        self.check_channel(channel)?;
        if self.extra.counters == 0 {
            return Ok(None);
        }
        // Ordering: Acquire, with the Release of `count_slow`: a thread that sees the end of a task
        // counted also sees that it became ready.
        let count = |what| self.memory.head(self.counter(channel, what)).load(Ordering::Acquire);
        let (completed, blocked) = (count(Count::Completed), count(Count::Blocked));
        let cancelled = count(Count::Cancelled);
        Ok(Some(Progress { completed, blocked, cancelled, readied: count(Count::Readied) }))
    }

    /// Counts, if this shed does.
    #[inline(always)]
    pub(crate) fn count(&self, channel: u16, what: Count, by: u32) {
        if self.extra.counters != 0 {
            self.count_slow(channel, what, by);
        }
    }

    #[cold]
    fn count_slow(&self, channel: u16, what: Count, by: u32) {
        if by > 0 {
            // Ordering: Release, as in `progress`.
            self.memory.head(self.counter(channel, what)).fetch_add(by.into(), Ordering::Release);
        }
    }

    fn counter(&self, channel: u16, what: Count) -> usize {
        self.extra.counters + usize::from(channel) * Count::ALL + what as usize
    }
}
