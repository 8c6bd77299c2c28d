//! Making tasks ready, and their channels.

use crate::canary::relaxed_if;
use crate::create::refusal;
use crate::end::Ending;
use crate::layout::Layout;
use crate::list::Chain;
use crate::shed::{Heads, Shed};
use crate::thread::is_runner;
use crate::word::{State, Status};
use crate::{Error, TaskId};
use sateen_base::canary;
use sateen_base::prim::Ordering;

impl<T, L: Layout> Shed<T, L> {
    /// Sets the channel that tasks will be ready on: all or none. Also from inside a task, for itself. Not while another thread sees the task through: the channel might
    /// become that of the next task in its place.
    ///
    /// # Errors
    /// [`Error::NoChannel`]; a task that is ready already, or has ended.
    ///
    /// ```
    /// use sateen::shed::{Outcome, Shed};
    /// let shed = Shed::builder().tasks(1).channels(2).build()?;
    /// let tasks = shed.create([()]).unwrap();
    /// shed.set_channel(&tasks, 1)?;
    /// shed.ready(&tasks)?;
    /// assert_eq!(shed.execute_one(0, |_, _| Outcome::Complete)?, None);
    /// assert_eq!(shed.execute_one(1, |_, _| Outcome::Complete)?, Some(tasks[0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn set_channel(&self, tasks: &[TaskId], channel: u16) -> Result<(), Error> {
        self.check_channel(channel)?;
        for &task in tasks {
            let state = self.known(task)?;
            if !state.is(Status::Idle)
                && !matches!(state.status(), Status::Running | Status::Blocked)
            {
                return Err(refusal(task, state.status()));
            }
        }
        for &task in tasks {
            self.memory.place(task.index()).channel.store(channel.into(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// The channel that `task` is or will be ready on.
    ///
    /// # Errors
    /// [`Error::StaleTask`], [`Error::UnknownTask`].
    pub fn channel(&self, task: TaskId) -> Result<u16, Error> {
        self.known(task)?;
        Ok(self.channel_at(task.index()))
    }

    #[inline(always)]
    pub(crate) fn channel_at(&self, index: u32) -> u16 {
        self.memory.place(index).channel.load(Ordering::Relaxed) as u16
    }

    /// Makes tasks ready to be executed, in that order: idle ones that depend on nothing, and blocked ones: all or none. For one that is
    /// running and then blocks, it counts as if it came after.
    ///
    /// Cost: an exchange for each, and one for each range of tasks of the same channel.
    ///
    /// # Errors
    /// A task that is ready already, waits for others ([`Error::Waiting`]), is the one that calls this or executes what does ([`Error::Running`]), was
    /// cancelled or has ended. Without the feature `std` nobody can tell who calls: what makes itself ready and then blocks is ready at once.
    ///
    /// ```
    /// use sateen::shed::{Error, Shed};
    /// let shed = Shed::builder().tasks(1).build()?;
    /// let [task] = shed.create([()]).unwrap();
    /// shed.ready(&[task])?;
    /// assert_eq!(shed.ready(&[task]), Err(Error::AlreadyReady(task)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn ready(&self, tasks: &[TaskId]) -> Result<(), Error> {
        // Those that are in our hands, linked with each other; and whether they have the same channel.
        let (mut chain, mut channel, mut uniform) = (None::<Chain>, 0, true);
        let list = self.tasks_at(Heads::<L>::FREE_PLACES);
        let mut add = |chain: &mut Option<Chain>, task: TaskId| {
            let own = self.channel_at(task.index());
            match chain {
                None => (*chain, channel) = (Some(Chain::of(task.index())), own),
                Some(chain) => {
                    list.append(chain, task.index());
                    uniform &= own == channel;
                }
            }
        };
        let mut running = false;
        for &task in tasks {
            match self.take_ready(task) {
                Ok(true) => add(&mut chain, task),
                Ok(false) => running = true,
                Err(error) => {
                    if let Some(chain) = chain {
                        self.unready_slow(chain);
                    }
                    return Err(error);
                }
            }
        }
        if running {
            // Only now, as that cannot be undone.
            tasks
                .iter()
                .filter(|task| self.wake_slow(**task))
                .for_each(|task| add(&mut chain, *task));
        }
        match chain {
            Some(chain) if uniform => self.push_ready(channel, chain),
            Some(chain) => self.push_ranges(chain),
            None => {}
        }
        Ok(())
    }

    /// Wakes a task that was running a moment ago. `true`: it has blocked since, and is `Ready` for the caller to put into its list.
    #[cold]
    fn wake_slow(&self, task: TaskId) -> bool {
        let before = self.change(task, |state| match state.status() {
            Status::Running => Ok(state.mark()),
            Status::Blocked => Ok(state.to(Status::Ready).mark()),
            status => Err(refusal(task, status)),
        });
        before.is_ok_and(|before| before.is(Status::Blocked))
    }

    /// Makes a task `Ready`, for the caller to put into its list. `false`: it is running, and nothing has been done.
    #[inline(always)]
    fn take_ready(&self, task: TaskId) -> Result<bool, Error> {
        if self.memory.has(task) {
            let word = &self.memory.place(task.index()).state;
            let seen = State(word.load(Ordering::Relaxed));
            // Ordering: as in `change`.
            if seen.is_idle(task.generation())
                && word
                    .compare_exchange(
                        seen.0,
                        seen.to(Status::Ready).0,
                        relaxed_if(canary!("ready"), Ordering::AcqRel),
                        Ordering::Relaxed,
                    )
                    .is_ok()
            {
                return Ok(true);
            }
        }
        self.take_ready_slow(task)
    }

    #[cold]
    fn take_ready_slow(&self, task: TaskId) -> Result<bool, Error> {
        let before = self.change(task, |state| match state.status() {
            Status::Idle if state.pending() > 0 => {
                Err(Error::Waiting { task, open: state.pending() })
            }
            Status::Idle => Ok(state.to(Status::Ready)),
            Status::Blocked => Ok(state.to(Status::Ready).mark()),
            Status::Running if !is_runner(state.pending()) => Ok(state),
            status => Err(refusal(task, status)),
        })?;
        Ok(!before.is(Status::Running))
    }

    /// Whether any task is ready on `channel`, as of a moment ago; also if all that are have been cancelled since. A load for each stripe.
    ///
    /// What others made ready is seen for certain if a sequentially consistent fence lies between that and their next access, and one between the
    /// caller's last access and this.
    ///
    /// # Errors
    /// [`Error::NoChannel`].
    ///
    /// ```
    /// let shed = sateen::shed::Shed::builder().build()?;
    /// assert!(!shed.has_ready(0)?);
    /// shed.ready(&shed.create(["task"]).unwrap())?;
    /// assert!(shed.has_ready(0)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn has_ready(&self, channel: u16) -> Result<bool, Error> {
        self.check_channel(channel)?;
        Ok(!self.none_ready(channel))
    }

    /// Puts tasks whose status is `Ready` into the list of their channel, and says so.
    #[inline(always)]
    pub(crate) fn push_ready(&self, channel: u16, chain: Chain) {
        self.put_ready(channel, chain);
        self.say_ready(channel, chain.count);
    }

    #[inline(always)]
    pub(crate) fn say_ready(&self, channel: u16, count: u32) {
        if let Some(on_ready) = &self.callbacks.ready {
            on_ready(channel, count);
        }
    }

    /// As [`push_ready`](Self::push_ready) for tasks of different channels. If the user's callback panics, all are pushed nevertheless.
    pub(crate) fn push_ranges(&self, chain: Chain) {
        struct Ranges<'a, T, L: Layout> {
            shed: &'a Shed<T, L>,
            next: u32,
            left: u32,
        }
        impl<T, L: Layout> Ranges<'_, T, L> {
            fn take(&mut self) -> Option<(u16, Chain)> {
                if self.left == 0 {
                    return None;
                }
                // One for sure: a channel that is set meanwhile may read differently each time.
                let channel = self.shed.channel_at(self.next);
                let mut range = Chain::of(self.next);
                loop {
                    self.left -= 1;
                    if self.left == 0 {
                        break;
                    }
                    self.next = self.shed.memory.link(self.next).load(Ordering::Relaxed) - 1;
                    if self.shed.channel_at(self.next) != channel {
                        break;
                    }
                    (range.last, range.count) = (self.next, range.count + 1);
                }
                Some((channel, range))
            }
        }
        impl<T, L: Layout> Drop for Ranges<'_, T, L> {
            fn drop(&mut self) {
                while let Some((channel, range)) = self.take() {
                    self.shed.put_ready(channel, range);
                }
            }
        }
        let mut ranges = Ranges { shed: self, next: chain.first, left: chain.count };
        while let Some((channel, range)) = ranges.take() {
            self.push_ready(channel, range);
        }
    }

    /// Undoes what was done to tasks that no list has seen.
    #[cold]
    fn unready_slow(&self, chain: Chain) {
        let mut ending = Ending::new(self);
        let mut next = chain.first;
        for _ in 0..chain.count {
            let index = next;
            next = self.memory.link(index).load(Ordering::Relaxed).wrapping_sub(1);
            let state = &self.memory.place(index).state;
            let mut seen = State(state.load(Ordering::Acquire));
            while seen.is(Status::Ready) {
                let status = if seen.marked() { Status::Blocked } else { Status::Idle };
                // Ordering: Release, so that the link that the next owner writes comes after ours.
                // The caller reads nothing of the task's; the failure's Acquire is for the end of
                // one that was cancelled.
                match state.compare_exchange_weak(
                    seen.0,
                    seen.to(status).0,
                    Ordering::Release,
                    Ordering::Acquire,
                ) {
                    Ok(_) => break,
                    Err(now) => seen = State(now),
                }
            }
            if seen.is(Status::Cancelled) {
                ending.left_list(index);
            }
        }
        ending.finish();
    }
}
