//! Tags: a word of the user's for each task, to find, count and cancel tasks by.

use crate::canary::relaxed_if;
use crate::create::refusal;
use crate::layout::Layout;
use crate::memory::{Place, flag};
use crate::shed::{Heads, Shed};
use crate::thread::is_runner;
use crate::word::{State, Status};
use crate::{Error, TaskId};
use sateen_base::Backoff;
use sateen_base::canary;
use sateen_base::prim::Ordering;

impl<T, L: Layout> Shed<T, L> {
    /// Gives tasks a tag, instead of the one they may have: all or none, unless another thread runs, cancels or ends one of them during the call: then the
    /// error names it, and those before it have the tag. Several tasks may have the same. A task loses its tag with its end.
    ///
    /// Cost: three exchanges for each.
    ///
    /// # Errors
    /// [`Error::Running`] for a task that somebody else executes (without `std`: also inside the task itself); one that was cancelled or has ended.
    ///
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(3).build()?;
    /// let [a, b, c] = shed.create(["a", "b", "c"]).unwrap();
    /// shed.set_tag(&[a, b], 7)?;
    /// assert_eq!((shed.tag(a)?, shed.tag(c)?), (Some(7), None));
    /// assert_eq!(shed.count_tag(7), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_tag(&self, tasks: &[TaskId], tag: u64) -> Result<(), Error> {
        for &task in tasks {
            taggable(task, self.known(task)?)?;
        }
        tasks.iter().try_for_each(|&task| self.set_one(task, tag))
    }

    /// Writes a tag while nobody can give the place to another task: who does waits until [`flag::TAGGING`] is gone.
    fn set_one(&self, task: TaskId, tag: u64) -> Result<(), Error> {
        let flags = &self.memory.place(task.index()).flags;
        let own = flag::tagging(task.generation());
        let (mut seen, mut backoff) = (flags.load(Ordering::Relaxed), Backoff::new());
        loop {
            if seen & flag::TAGGING != 0 {
                self.known(task)?;
                backoff.snooze();
                seen = flags.load(Ordering::Relaxed);
                continue;
            }
            // Ordering: Acquire, with the Release below, so that tags follow each other.
            match flags.compare_exchange_weak(
                seen,
                seen | own,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        // Replaces the state with itself: what the exchange has released is acquired by who runs, cancels or frees the task, so that who has the
        // place next sees the mark. (A task that somebody else runs ends without an exchange: hence it is refused.)
        let held = if seen & flag::MILESTONE != 0 {
            // It is for us to tag, but nobody was given its name.
            Err(Error::UnknownTask(task))
        } else if canary!("tag_hold") {
            self.known(task).map(drop)
        } else {
            self.change(task, |state| taggable(task, state)).map(drop)
        };
        if held.is_ok() {
            // Ordering: Release, with the Acquire of who reads it and then looks whose it is.
            self.memory
                .tag(task.index())
                .store(tag, relaxed_if(canary!("tag_store"), Ordering::Release));
        }
        let mut seen = flags.load(Ordering::Relaxed);
        // Another mark: the task had ended, and a new one's flags have replaced ours.
        while seen & flag::TAGGING_OF == own {
            let new = seen & !flag::TAGGING_OF | if held.is_ok() { flag::TAGGED } else { 0 };
            // Ordering: Release, with the Acquire of the next that tags, of who reads the tag, and of `set_flags`.
            match flags.compare_exchange_weak(
                seen,
                new,
                relaxed_if(canary!("tag_flag"), Ordering::Release),
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        held
    }

    /// Sets the flags of a new task, whose place is the caller's.
    #[inline(always)]
    pub(crate) fn set_flags(&self, place: &Place<T>, flags: u32) {
        // Ordering: Acquire, with the Release of who tagged an earlier task here: its tag comes before any of the new task's.
        if place.flags.load(Ordering::Acquire) & flag::TAGGING != 0 {
            wait_for_tag_slow(place);
        }
        let release = relaxed_if(canary!("tag_none"), Ordering::Release);
        // Ordering: Release, with the Acquire of who reads the flags of an earlier task here: then finds that it has ended, not that it has no tag.
        if cfg!(loom) {
            // The model knows no order among a store and others' exchanges.
            place.flags.swap(flags, release);
        } else {
            place.flags.store(flags, release);
        }
    }

    /// The task's tag.
    ///
    /// # Errors
    /// [`Error::StaleTask`], [`Error::UnknownTask`].
    pub fn tag(&self, task: TaskId) -> Result<Option<u64>, Error> {
        self.known(task)?;
        let tag = self.tag_at(task.index());
        // Still the same task, so the tag was its.
        self.known(task)?;
        Ok(tag)
    }

    /// The tag of the task that was seen at `index`, if it still is there; else maybe that of a later one, whose state is then seen by who looks again.
    fn tag_at(&self, index: u32) -> Option<u64> {
        // Ordering: Acquire, with the Release of `set_one`: the tag is there before the flag; and with that of `set_flags`.
        let tagged = self.memory.place(index).flags.load(Ordering::Acquire) & flag::TAGGED != 0;
        // Ordering: Acquire, with the Release of the store in `set_one`: a later task's tag brings that task's state along.
        tagged.then(|| self.memory.tag(index).load(Ordering::Acquire))
    }

    /// How many tasks with this tag there are that have neither ended nor been cancelled. Tasks that are created, tagged, cancelled or end during the call may be counted
    /// or not; each of the others is counted once.
    ///
    /// Cost: a look at each place that was ever used.
    #[must_use]
    pub fn count_tag(&self, tag: u64) -> u32 {
        let mut count = 0;
        self.each_tagged(tag, |task| count += u32::from(self.known(task).is_ok()));
        count
    }

    /// [Cancels](Self::cancel) each task with this tag: returns how many will not run (again) because of that. Those that are running run on, and what depends on
    /// them is cancelled when they end.
    ///
    /// What holds while other threads go on: a task that had the tag before the call, and keeps it, is cancelled unless it ends, or is cancelled, before the call comes to it.
    /// One that is created or tagged during the call may be found or not. No task is cancelled that did not have the tag at some time during the call, except
    /// those that depend on such tasks, which are not counted. Cost: a look at each place that was ever used, and that of [`cancel`](Self::cancel) for each found.
    ///
    /// ```
    /// use sateen::shed::{Outcome, Shed};
    /// let shed = Shed::builder().tasks(4).build()?;
    /// let [a, b, c] = shed.create(["a", "b", "c"]).unwrap();
    /// shed.set_tag(&[a, c], 7)?;
    /// shed.ready(&[a, b])?;
    /// assert_eq!(shed.cancel_tag(7), 2);
    /// assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete)?, Some(b));
    /// assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel_tag(&self, tag: u64) -> u32 {
        let mut count = 0;
        // An error says that the task has ended, or was cancelled, by another thread or as one that depends on another of these.
        self.each_tagged(tag, |task| count += u32::from(self.cancel(task) == Ok(true)));
        count
    }

    /// Calls `found` with the names of tasks that seem to have this tag: with the right name if it is still known.
    fn each_tagged(&self, tag: u64, mut found: impl FnMut(TaskId)) {
        let fresh = self.memory.head(Heads::<L>::FRESH_PLACES).load(Ordering::Relaxed) as u32;
        for index in 0..fresh {
            // Ordering: Acquire, with the Release of `create`: its flags are there, no earlier task's.
            let state = State(self.memory.place(index).state.load(Ordering::Acquire));
            let alive = matches!(
                state.status(),
                Status::Idle | Status::Ready | Status::Running | Status::Blocked
            );
            if alive && self.tag_at(index) == Some(tag) {
                found(self.name(index, state));
            }
        }
    }
}

/// Whether a task in this state can be tagged: the state again, for an exchange.
fn taggable(task: TaskId, state: State) -> Result<State, Error> {
    match state.status() {
        Status::Idle | Status::Ready | Status::Blocked => Ok(state),
        Status::Running if is_runner(state.pending()) => Ok(state),
        status => Err(refusal(task, status)),
    }
}

#[cold]
fn wait_for_tag_slow<T>(place: &Place<T>) {
    let mut backoff = Backoff::new();
    // Ordering: Acquire, as in `set_flags`.
    while place.flags.load(Ordering::Acquire) & flag::TAGGING != 0 {
        backoff.snooze();
    }
}
