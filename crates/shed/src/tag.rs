//! Tags: a word of the user's for each task, by which tasks are found, counted and cancelled.

use crate::block::{Slot, flag};
use crate::layout::Layout;
use crate::shed::{Shed, refusal};
use crate::thread::is_runner;
use crate::word::{State, Status};
use crate::{Error, TaskId};
use sateen_base::Backoff;
use sateen_base::prim::Ordering;

impl<T, L: Layout> Shed<T, L> {
    /// Gives tasks a tag, instead of any that they have. Several tasks may have the same tag. A
    /// task loses its tag when it ends.
    ///
    /// All or none, unless another thread runs, cancels or ends one of the tasks during the call.
    /// Then the error names that task, and those before it have the tag.
    ///
    /// # Errors
    /// [`Error::Running`] for a task that another thread executes (without `std`: also inside the
    /// task itself); a task that was cancelled or has ended.
    ///
    /// # Cost
    /// Three exchanges for each task.
    ///
    /// # Examples
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

    /// Writes a tag while the slot cannot go to another task: `create` waits there until
    /// [`flag::TAGGING`] is gone.
    fn set_one(&self, task: TaskId, tag: u64) -> Result<(), Error> {
        let flags = &self.memory.slot(task.index()).flags;
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
        // Replaces the state with itself. What this exchange releases is acquired by the thread
        // that runs, cancels or frees the task, so the slot's next owner sees the mark. (A task
        // that another thread runs ends without an exchange: hence it is refused.)
        let held = if seen & flag::MILESTONE != 0 {
            // Its tag is the shed's own, and its name was given to no user.
            Err(Error::UnknownTask(task))
        } else {
            self.change(task, |state| taggable(task, state)).map(drop)
        };
        if held.is_ok() {
            // Ordering: Release, with the Acquire of a thread that reads it and then looks whose it
            // is.
            self.memory.tag(task.index()).store(tag, Ordering::Release);
        }
        let mut seen = flags.load(Ordering::Relaxed);
        // Another mark: the task had ended, and a new task's flags have replaced this one's.
        while seen & flag::TAGGING_OF == own {
            let new = seen & !flag::TAGGING_OF | if held.is_ok() { flag::TAGGED } else { 0 };
            // Ordering: Release, with the Acquire of the next thread that tags, of one that reads
            // the tag, and of `set_flags`.
            match flags.compare_exchange_weak(seen, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        held
    }

    /// Sets the flags of a new task, whose slot is the caller's.
    #[inline(always)]
    pub(crate) fn set_flags(&self, slot: &Slot<T>, flags: u32) {
        // Ordering: Acquire, with the Release of a thread that tagged an earlier task here: its tag
        // comes before any of the new task's.
        if slot.flags.load(Ordering::Acquire) & flag::TAGGING != 0 {
            wait_for_tag_slow(slot);
        }
        // Ordering: Release, with the Acquire of a thread that reads the flags of an earlier task
        // here. That thread then finds that the task has ended, not that it has no tag.
        if cfg!(loom) {
            // The model knows no order among a store and other threads' exchanges.
            slot.flags.swap(flags, Ordering::Release);
        } else {
            slot.flags.store(flags, Ordering::Release);
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

    /// The tag of the task that was seen at `index`, if it is still there. Otherwise it may be that
    /// of a later task, whose state a thread that looks again then sees.
    pub(crate) fn tag_at(&self, index: u32) -> Option<u64> {
        // Ordering: Acquire, with the Release of `set_one`: the tag is there before the flag; and
        // with that of `set_flags`.
        let tagged = self.memory.slot(index).flags.load(Ordering::Acquire) & flag::TAGGED != 0;
        // Ordering: Acquire, with the Release of the store in `set_one`: a later task's tag brings
        // that task's state along.
        tagged.then(|| self.memory.tag(index).load(Ordering::Acquire))
    }

    /// How many tasks with this tag there are that have neither ended nor been cancelled.
    ///
    /// Tasks that are created, tagged, cancelled or end during the call may be counted or not. Each
    /// of the others is counted once.
    ///
    /// # Cost
    /// A look at each slot that was ever used.
    #[must_use]
    pub fn count_tag(&self, tag: u64) -> u32 {
        let mut count = 0;
        self.each_tagged(tag, |task| count += u32::from(self.known(task).is_ok()));
        count
    }

    /// [Cancels](Self::cancel) each task with this tag. Returns how many will not run (again)
    /// because of that. Running tasks run on, and their dependents are cancelled when they end.
    ///
    /// While other threads go on:
    /// - A task that had the tag before the call, and keeps it, is cancelled, unless it ends or is
    ///   cancelled before the call comes to it.
    /// - A task that is created or tagged during the call may be found or not.
    /// - No task is cancelled that did not have the tag at some time during the call, except
    ///   dependents of those that had it, which are not counted.
    ///
    /// # Cost
    /// A look at each slot that was ever used, and that of [`cancel`](Self::cancel) for each task
    /// found.
    ///
    /// # Examples
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
        // An error: the task has ended, or was cancelled, by another thread or with its
        // predecessor.
        self.each_tagged(tag, |task| count += u32::from(self.cancel(task) == Ok(true)));
        count
    }

    /// Calls `found` with the names of tasks that seem to have this tag. The tag is theirs if the
    /// name is still known.
    fn each_tagged(&self, tag: u64, mut found: impl FnMut(TaskId)) {
        for index in 0..self.used_slots() {
            // Ordering: Acquire, with the Release of `create`: its flags are there, no earlier
            // task's.
            let state = State(self.memory.slot(index).state.load(Ordering::Acquire));
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
        Status::Running if is_runner(state.in_degree()) => Ok(state),
        status => Err(refusal(task, status)),
    }
}

#[cold]
fn wait_for_tag_slow<T>(slot: &Slot<T>) {
    let mut backoff = Backoff::new();
    // Ordering: Acquire, as in `set_flags`.
    while slot.flags.load(Ordering::Acquire) & flag::TAGGING != 0 {
        backoff.snooze();
    }
}
