//! Executing what is ready.

use crate::end::{Ending, Taken};
use crate::heads::Count;
use crate::layout::Layout;
use crate::list::Chain;
use crate::shed::Shed;
use crate::thread::runner;
use crate::word::{Dependents, State, Status};
use crate::{Error, TaskId};
use core::mem::ManuallyDrop;
use sateen_base::prim::Ordering;

/// How an execution of a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The task has ended. Its payload is dropped, its slot freed, and successors that depend on
    /// nothing else are made ready.
    Complete,
    /// The task is to be executed again, with the same payload, once it is made
    /// [`ready`](Shed::ready).
    Blocked,
}

impl<T, L: Layout> Shed<T, L> {
    /// Executes one task that is ready on `channel`: calls `run` with its name and payload. Returns
    /// its name, or `None` if no task is ready.
    ///
    /// Inside `run` all operations of the shed may be called. The task itself cannot be made ready,
    /// depended on, freed or waited for. On a plain thread `run` should not block for long: return
    /// [`Outcome::Blocked`] instead.
    ///
    /// # Errors
    /// [`Error::NoChannel`].
    ///
    /// # Panics
    /// If `run` or dropping the payload panics. After a panic of `run` the task counts as
    /// cancelled, with all that depends on it.
    ///
    /// # Cost
    /// Three exchanges, and one for each successor.
    #[inline]
    pub fn execute_one(
        &self,
        channel: u16,
        run: impl FnOnce(TaskId, &mut T) -> Outcome,
    ) -> Result<Option<TaskId>, Error> {
        self.check_channel(channel)?;
        let claimed = self.claim_one(runner(), channel);
        Ok(claimed.map(|(index, state)| self.execute(channel, index, state, run)))
    }

    /// As [`execute_one`](Self::execute_one), on the first of `channels` that has a task. So
    /// channels serve as priorities: tasks of the first are executed before those of the second.
    ///
    /// # Errors
    /// [`Error::NoChannel`], once it comes to that channel: then nothing was executed.
    ///
    /// # Panics
    /// As [`execute_one`](Self::execute_one).
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Outcome, Shed};
    /// let (urgent, usual, idle) = (0, 1, 2);
    /// let shed = Shed::builder().tasks(3).channels(3).build()?;
    /// let tasks = shed.create(["tidy", "work", "save"]).unwrap();
    /// for (task, channel) in tasks.iter().zip([idle, usual, urgent]) {
    ///     shed.set_channel(&[*task], channel)?;
    /// }
    /// shed.ready(&tasks)?;
    /// let mut order = vec![];
    /// let mut run = |_, what: &mut &'static str| { order.push(*what); Outcome::Complete };
    /// while shed.execute_any([urgent, usual, idle], &mut run)?.is_some() {}
    /// assert_eq!(order, ["save", "work", "tidy"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn execute_any(
        &self,
        channels: impl IntoIterator<Item = u16>,
        run: impl FnOnce(TaskId, &mut T) -> Outcome,
    ) -> Result<Option<TaskId>, Error> {
        let runner = runner();
        for channel in channels {
            self.check_channel(channel)?;
            if let Some((index, state)) = self.claim_one(runner, channel) {
                return Ok(Some(self.execute(channel, index, state, run)));
            }
        }
        Ok(None)
    }

    /// Takes a task that is ready, and makes it `Running`.
    #[inline(always)]
    fn claim_one(&self, runner: u32, channel: u16) -> Option<(u32, State)> {
        while let Some(index) = self.pop_ready(channel) {
            if let Some(state) = self.claim(index, runner) {
                return Some((index, state));
            }
        }
        None
    }

    /// Executes one task that the caller has claimed.
    #[inline(always)]
    fn execute(
        &self,
        channel: u16,
        index: u32,
        state: State,
        run: impl FnOnce(TaskId, &mut T) -> Outcome,
    ) -> TaskId {
        let outcome = self.call(index, state, run);
        let counted = match outcome {
            Outcome::Complete => Count::Completed,
            Outcome::Blocked => Count::Blocked,
        };
        self.count(channel, counted, 1);
        match self.after(index, state, outcome) {
            After::Blocked => {}
            After::Free => self.free_slots().push(Chain::of(index)),
            After::Linked => self.complete_slow(index),
        }
        self.name(index, state)
    }

    /// As [`execute_one`](Self::execute_one) for up to `most` tasks, one after the other. Returns
    /// how many were executed.
    ///
    /// The call takes what is ready at once. These tasks wait for the caller, so take few if some
    /// run long. If one panics, the others are made ready again.
    ///
    /// When all of them have run, the call goes on with a task that the last of them has made
    /// ready, unless the channel hands out the oldest task first.
    /// [`on_ready`](crate::Builder::on_ready) does not learn of that task, as no other thread need
    /// come for it. Slots and dependencies of tasks that have ended are free when the call returns.
    ///
    /// # Errors
    /// [`Error::NoChannel`].
    ///
    /// # Panics
    /// As [`execute_one`](Self::execute_one).
    ///
    /// # Cost
    /// Three exchanges for all, and one for each task. For a task with successors, one more, and
    /// one for each of them.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Outcome, Shed};
    /// let shed = Shed::builder().tasks(10).build()?;
    /// shed.ready(&shed.create([1, 2, 3]).unwrap())?;
    /// let mut sum = 0;
    /// let ran = shed.execute_batch(0, 16, |_, n| { sum += *n; Outcome::Complete })?;
    /// assert_eq!((ran, sum), (3, 6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn execute_batch(
        &self,
        channel: u16,
        most: u32,
        mut run: impl FnMut(TaskId, &mut T) -> Outcome,
    ) -> Result<u32, Error> {
        self.check_channel(channel)?;
        if most == 0 {
            return Ok(0);
        }
        let Some(tasks) = self.pop_ready_some(channel, most as usize) else {
            return Ok(0);
        };
        self.warm(tasks);
        let slots = self.free_slots();
        // Where the oldest come first, what becomes ready now comes last.
        let room = if self.is_fifo(channel) { 0 } else { most - tasks.count };
        let taken = Taken { channel, tasks, room };
        let mut batch = Batch { ending: Ending::with(self, taken), ended: [0; 2] };
        let (mut ran, runner, counting) = (0, runner(), self.extra.counters != 0);
        while let Some(index) = batch.ending.taken.take(&slots) {
            let Some(state) = self.claim(index, runner) else { continue };
            ran += 1;
            let outcome = self.call(index, state, &mut run);
            if counting {
                batch.ended[usize::from(outcome == Outcome::Complete)] += 1;
            }
            match self.after(index, state, outcome) {
                After::Blocked => {}
                After::Free => batch.ending.free_slot(index),
                After::Linked => batch.ending.complete_next(index),
            }
        }
        Ok(ran)
    }

    /// Has the processor fetch what a batch will need, step by step but for all tasks at once:
    /// their slots, their words of dependents, and the slots of their successors. Otherwise each
    /// task would wait for its own lines, one after another.
    #[inline(always)]
    fn warm(&self, tasks: Chain) {
        if tasks.count > 1 {
            self.each(tasks, |index| self.memory.prefetch_slot(index));
            if self.memory.max_edges() > 0 {
                self.warm_dependents(tasks);
            }
        }
    }

    fn warm_dependents(&self, tasks: Chain) {
        let linked = |index| State(self.memory.slot(index).state.load(Ordering::Relaxed)).linked();
        let first =
            |index| Dependents(self.memory.dependents(index).load(Ordering::Relaxed)).first();
        let mut count = 0;
        self.each(tasks, |index| {
            if linked(index) {
                count += 1;
                self.memory.prefetch_dependents(index);
            }
        });
        if count > 0 {
            // For a task that is not linked this fetches an earlier task's, which is harmless.
            self.each(tasks, |index| {
                if let Some(first) = first(index).get() {
                    self.memory.prefetch_edge(first);
                }
            });
            self.each(tasks, |index| self.prefetch_successors(first(index)));
        }
    }

    /// Makes a task that was taken out of its list `Running`; or ends it, if it was cancelled.
    #[inline(always)]
    fn claim(&self, index: u32, runner: u32) -> Option<State> {
        let word = &self.memory.slot(index).state;
        let mut seen = State(word.load(Ordering::Relaxed));
        while seen.is(Status::Ready) {
            let running = seen.to(Status::Running).with_in_degree(runner);
            // Ordering: Acquire, with the Release of the thread that made the task ready (that of
            // the list covers it too). Before that, it pairs with the end of each task that this
            // one waited for.
            match word.compare_exchange_weak(
                seen.0,
                running.0,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(running),
                Err(now) => seen = State(now),
            }
        }
        self.skip_slow(index);
        None
    }

    /// The task was cancelled while it lay in the list.
    #[cold]
    fn skip_slow(&self, index: u32) {
        let mut ending = Ending::new(self);
        ending.left_list(index);
        ending.finish();
    }

    /// Calls `run` with a task that the caller has claimed.
    #[inline(always)]
    fn call(
        &self,
        index: u32,
        state: State,
        run: impl FnOnce(TaskId, &mut T) -> Outcome,
    ) -> Outcome {
        let running = Running { shed: self, index };
        let (name, payload) = (self.name(index, state), &self.memory.slot(index).payload);
        // SAFETY: the status `Running` makes the payload the caller's; it is there, as the task has
        // neither ended nor been cancelled.
        let outcome = payload.with_mut(|p| unsafe { run(name, (*p).assume_init_mut()) });
        core::mem::forget(running);
        outcome
    }

    /// Sees to a task that has been called. It is then the caller's, unless it has blocked.
    #[inline(always)]
    fn after(&self, index: u32, state: State, outcome: Outcome) -> After {
        if outcome == Outcome::Blocked {
            self.block(index);
            return After::Blocked;
        }
        if state.linked() {
            return After::Linked;
        }
        let completed = Completed { shed: self, index, state };
        // SAFETY: it has run, so it is still the caller's; this is the last look at it.
        self.memory.slot(index).payload.with_mut(|p| unsafe { (*p).assume_init_drop() });
        let _ = ManuallyDrop::new(completed);
        self.vacate(index, state);
        After::Free
    }

    /// The task has run and waits for `ready`, which may have come already.
    #[cold]
    fn block(&self, index: u32) {
        let word = &self.memory.slot(index).state;
        let mut seen = State(word.load(Ordering::Relaxed));
        loop {
            let status = if seen.marked() { Status::Ready } else { Status::Blocked };
            // Ordering: Release, for the thread that executes, cancels or frees it next: it touches
            // the payload. An exchange passes on what the one before released: what the waker did
            // is visible to the next execution, too.
            match word.compare_exchange_weak(
                seen.0,
                seen.to(status).0,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) if status == Status::Ready => {
                    return self.push_ready(self.channel_at(index), Chain::of(index));
                }
                Ok(_) => return,
                Err(now) => seen = State(now),
            }
        }
    }

    /// The end of a task that others may depend on, or that a template keeps.
    #[cold]
    fn complete_slow(&self, index: u32) {
        Ending::new(self).complete(index);
    }
}

/// A task that the user's closure has: cancelled if that panics.
struct Running<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    index: u32,
}

impl<T, L: Layout> Drop for Running<'_, T, L> {
    fn drop(&mut self) {
        Ending::new(self.shed).panicked(self.index);
    }
}

/// A task whose payload is being dropped: its slot is freed even if that panics.
struct Completed<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    index: u32,
    state: State,
}

impl<T, L: Layout> Drop for Completed<'_, T, L> {
    fn drop(&mut self) {
        self.shed.vacate(self.index, self.state);
        self.shed.free_slots().push(Chain::of(self.index));
    }
}

/// What is still to be done with a task that has been called.
enum After {
    Blocked,
    /// Only its slot is to be put into the list of free ones.
    Free,
    /// It may have successors, or is part of an instance: to be ended.
    Linked,
}

/// Tasks taken at once. If one panics, the others are made ready again. What their ends free is
/// freed together.
struct Batch<'a, T, L: Layout> {
    ending: Ending<'a, T, L>,
    /// How many have blocked, and how many completed; counted only if the shed does.
    ended: [u32; 2],
}

impl<T, L: Layout> Drop for Batch<'_, T, L> {
    fn drop(&mut self) {
        let Ending { shed, taken: Taken { channel, .. }, .. } = self.ending;
        shed.count(channel, Count::Blocked, self.ended[0]);
        shed.count(channel, Count::Completed, self.ended[1]);
    }
}
