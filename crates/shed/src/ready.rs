//! Making tasks ready, and their channels.

use crate::end::Ending;
use crate::index::OptIndex;
use crate::layout::Layout;
use crate::list::Chain;
use crate::shed::{Shed, refusal};
use crate::thread::is_runner;
use crate::word::{State, Status};
use crate::{Error, TaskId};
use sateen_base::prim::Ordering;

impl<T, L: Layout> Shed<T, L> {
    /// Sets the channel that tasks will be ready on: all or none.
    ///
    /// A task may set its own channel while it runs. Do not call this while another thread sees the
    /// task through: it may then set the channel of the next task in the same slot.
    ///
    /// # Errors
    /// [`Error::NoChannel`]; a task that is ready already, or has ended.
    ///
    /// # Examples
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
            self.memory.slot(task.index()).channel.store(channel.into(), Ordering::Relaxed);
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

    /// Makes tasks ready to be executed, in that order: all or none.
    ///
    /// They may be idle and depend on nothing, or blocked. If a task is running and blocks later,
    /// the call counts as if it came after that.
    ///
    /// # Errors
    /// - A task that is ready already, was cancelled or has ended.
    /// - [`Error::Waiting`] for a task that waits for others.
    /// - [`Error::Running`] for the task that makes this call, directly or in a task that it
    ///   executes. Without the feature `std` that is not noticed: a task that makes itself ready
    ///   and then blocks is ready at once.
    ///
    /// # Cost
    /// An exchange for each task, and one for each range of tasks of the same channel.
    ///
    /// # Examples
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
        // Those taken so far, linked with each other; and whether they have the same channel.
        let (mut chain, mut channel, mut uniform) = (None::<Chain>, 0, true);
        let list = self.free_slots();
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
            // Last, as a wake cannot be undone.
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

    /// Wakes a task that was running a moment ago. `true`: it has blocked since, and is `Ready` for
    /// the caller to put into its list.
    #[cold]
    fn wake_slow(&self, task: TaskId) -> bool {
        let before = self.change(task, |state| match state.status() {
            Status::Running => Ok(state.mark()),
            Status::Blocked => Ok(state.to(Status::Ready).mark()),
            status => Err(refusal(task, status)),
        });
        before.is_ok_and(|before| before.is(Status::Blocked))
    }

    /// Makes a task `Ready`, for the caller to put into its list. `false`: it is running, and
    /// nothing has been done.
    #[inline(always)]
    fn take_ready(&self, task: TaskId) -> Result<bool, Error> {
        if self.memory.has(task) {
            let word = &self.memory.slot(task.index()).state;
            let seen = State(word.load(Ordering::Relaxed));
            // Ordering: as in `change`.
            if seen.is_idle(task.generation())
                && word
                    .compare_exchange(
                        seen.0,
                        seen.to(Status::Ready).0,
                        Ordering::AcqRel,
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
            Status::Idle if state.in_degree() > 0 => {
                Err(Error::Waiting { task, in_degree: state.in_degree() })
            }
            Status::Idle => Ok(state.to(Status::Ready)),
            Status::Blocked => Ok(state.to(Status::Ready).mark()),
            Status::Running if !is_runner(state.in_degree()) => Ok(state),
            status => Err(refusal(task, status)),
        })?;
        Ok(!before.is(Status::Running))
    }

    /// Whether any task is ready on `channel`, as of a moment ago. Tasks that were cancelled while
    /// they were ready may count.
    ///
    /// The call is certain to see what another thread made ready if a sequentially consistent fence
    /// lies between that and the other thread's next access, and another one between the caller's
    /// last access and this call.
    ///
    /// # Errors
    /// [`Error::NoChannel`].
    ///
    /// # Cost
    /// A load for each stripe.
    ///
    /// # Examples
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

    /// Undoes what was done to tasks that are not in a list yet.
    #[cold]
    fn unready_slow(&self, chain: Chain) {
        let mut ending = Ending::new(self);
        let mut next = OptIndex::some(chain.first);
        for _ in 0..chain.count {
            let index = next.index();
            // Meaningless after the last, and not used then.
            next = self.memory.link(index).get();
            let state = &self.memory.slot(index).state;
            let mut seen = State(state.load(Ordering::Acquire));
            while seen.is(Status::Ready) {
                let status = if seen.marked() { Status::Blocked } else { Status::Idle };
                // Ordering: Release, so that the link that the next owner writes comes after this
                // thread's. The caller reads nothing of the task's; the failure's Acquire is for
                // the end of a task that was cancelled.
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
