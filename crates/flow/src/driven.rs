//! Sheds whose tasks are executed by the workers of a runtime.

use crate::drain::{ShedExecutor, any_ready, is_ready};
use crate::ready_channels::{Drain, ReadyChannels};
use crate::trace::Tasks;
use crate::{Map, RunError, WaitError};
use sateen_base::unwind::discard;
use sateen_runtime::Runtime;
use sateen_shed::{Builder, Central, Layout, Outcome, Shed, TaskId};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Builds a shed together with what executes its tasks.
pub trait RunOn<T: Send + 'static, L: Layout> {
    /// Builds the shed. The workers that `map` names, of `runtime`, execute its tasks: they call
    /// `run` with the shed, the task's name and its payload.
    ///
    /// Workers without work sleep. When tasks become ready, as many workers wake as there is work,
    /// one waking the next.
    ///
    /// A task may block, as any task of the runtime may: its worker goes on with others. A task may
    /// also return [`Outcome::Blocked`]; it is executed again once some thread makes it ready. Code
    /// that only the shed calls (destructors of payloads, `on_cancel`) should not wait for tasks of
    /// the shed.
    ///
    /// The shed does not keep the runtime alive. Once the runtime is shut down, tasks that are
    /// ready stay in the shed ([`WaitError::Refused`]).
    ///
    /// # Cost
    /// Some allocations. For each batch of tasks that becomes ready a load, and a fence unless the
    /// end of a task readies the batch. An idle worker is woken by spawning a task.
    ///
    /// # Errors
    /// [`RunError`]: the shed could not be built, or the map names a channel or a worker that does
    /// not exist.
    ///
    /// # Examples
    /// ```
    /// use sateen::flow::{Map, RunOn};
    /// use sateen::Runtime;
    /// use sateen::shed::{Outcome, Shed};
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// static SUM: AtomicU32 = AtomicU32::new(0);
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let shed = Shed::builder().tasks(100).channels(2).run_on(
    ///     &runtime,
    ///     Map::new().caller(1),
    ///     |_, _, number| {
    ///         SUM.fetch_add(*number, Ordering::Relaxed);
    ///         Outcome::Complete
    ///     },
    /// )?;
    /// let numbers = shed.create([1, 2, 3, 4]).unwrap();
    /// let [last] = shed.create([90]).unwrap();
    /// shed.set_channel(&[last], 1)?; // by the thread that waits
    /// shed.depend(&[last], &numbers)?;
    /// shed.ready(&numbers)?;
    /// shed.wait()?;
    /// assert_eq!(SUM.load(Ordering::Relaxed), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg_attr(feature = "trace", track_caller)]
    fn run_on<R>(self, runtime: &Runtime, map: Map, run: R) -> Result<Driven<T, L>, RunError>
    where
        R: Fn(&Shed<T, L>, TaskId, &mut T) -> Outcome + Send + Sync + 'static;
}

impl<T: Send + 'static, L: Layout> RunOn<T, L> for Builder<T, L> {
    #[cfg_attr(feature = "trace", track_caller)]
    fn run_on<R>(self, runtime: &Runtime, map: Map, run: R) -> Result<Driven<T, L>, RunError>
    where
        R: Fn(&Shed<T, L>, TaskId, &mut T) -> Outcome + Send + Sync + 'static,
    {
        // Only the first call has an effect; later ones install the same hook.
        sateen_shed::set_runner_hook(sateen_runtime::fiber_number);
        // A number out of range fails in `build` below.
        let channels = u16::try_from(self.channel_count()).unwrap_or(1);
        let assignments = map.assignments(channels, runtime.workers())?;
        let ready = Arc::new(ReadyChannels::new(
            assignments,
            channels,
            runtime.workers(),
            runtime.spawner(),
        ));
        let bell = Arc::clone(&ready);
        let shed = self.on_ready(move |channel, count| bell.on_ready(channel, count)).build()?;
        let shed = Arc::new(shed);
        let label = Tasks::new(map);
        let drain: Arc<dyn Drain> = Arc::new(ShedExecutor {
            shed: Arc::clone(&shed),
            ready: Arc::clone(&ready),
            run,
            label,
        });
        ready.set_drain(Arc::downgrade(&drain));
        Ok(Driven { shed, ready, drain })
    }
}

/// A [`Shed`] whose tasks are executed by the workers of a runtime: see [`RunOn::run_on`].
///
/// All operations of the shed can be used, except those that execute tasks: they would take tasks
/// away from workers that were woken for them.
///
/// When it is dropped, it waits as [`wait`](Self::wait) does, unless one of its own tasks drops it.
/// Panics that no caller of `wait` has taken are dropped then.
pub struct Driven<T: Send + 'static, L: Layout = Central> {
    shed: Arc<Shed<T, L>>,
    ready: Arc<ReadyChannels>,
    drain: Arc<dyn Drain>,
}

impl<T: Send + 'static, L: Layout> Driven<T, L> {
    /// Waits until no task is ready or running, and executes the tasks of the
    /// [caller's](Map::caller) channels meanwhile.
    ///
    /// Blocks a thread, suspends a task of a runtime. Tasks that are neither ready nor running,
    /// blocked ones for instance, are not waited for. Tasks that other threads make ready meanwhile
    /// may be waited for or not.
    ///
    /// # Errors
    /// [`WaitError`]. All tasks that could run have run also then.
    ///
    /// # Examples
    /// ```
    /// use sateen::flow::{Map, RunOn, WaitError};
    /// use sateen::shed::Shed;
    /// let runtime = sateen::Runtime::builder().workers(1).build()?;
    /// let shed = Shed::builder().run_on(&runtime, Map::new(), |_, _, ()| panic!("so what"))?;
    /// shed.ready(&shed.create([(), ()]).unwrap())?;
    /// assert!(matches!(shed.wait(), Err(WaitError::Panicked { others: 1, .. })));
    /// assert!(shed.wait().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait(&self) -> Result<(), WaitError> {
        self.wait_until(|| false)
    }

    /// As [`wait`](Self::wait), but returns once `done` returns true. `done` is called again each
    /// time that `quiet` of [X.
    pub(crate) fn wait_until(&self, done: impl Fn() -> bool) -> Result<(), WaitError> {
        if self.ready.is_inside() {
            return Err(WaitError::Inside);
        }
        // From earlier: tried again below.
        self.ready.take_refused();
        let refused = loop {
            self.execute_own();
            if done() || self.is_idle() {
                break false;
            }
            if self.ready.quiet.is_quiet() && self.ready.take_refused() {
                break true;
            }
            if self.ready.quiet.is_quiet() {
                // Left behind when the runtime refused a runner task, or a thread is about to
                // notify.
                self.notify_all();
                if self.ready.is_refused() {
                    continue;
                }
            }
            self.ready.quiet.wait_unless(|| {
                done()
                    || self.has_own()
                    || (self.ready.quiet.is_quiet() && (self.is_idle() || self.ready.is_refused()))
            });
        };
        match self.ready.take_panics() {
            Some((payload, others)) => Err(WaitError::Panicked { payload: payload.into(), others }),
            None if refused => Err(WaitError::Refused),
            None => Ok(()),
        }
    }

    /// The shed, for owners that keep it, such as a template that is installed in it. Tasks that
    /// become ready after `self` was dropped are not executed.
    pub fn shared(&self) -> &Arc<Shed<T, L>> {
        &self.shed
    }

    pub(crate) fn ready(&self) -> &Arc<ReadyChannels> {
        &self.ready
    }

    /// Whether nothing is ready or running.
    fn is_idle(&self) -> bool {
        // In this order: a runner task leaves after what it made ready is in its list.
        self.ready.quiet.is_quiet()
            && !self.ready.groups().any(|group| any_ready(&self.shed, group))
    }

    /// Whether something is ready that only the caller executes.
    fn has_own(&self) -> bool {
        self.ready.callers.is_some_and(|group| any_ready(&self.shed, self.ready.group(group)))
    }

    fn execute_own(&self) {
        struct Leave<'a>(&'a ReadyChannels);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.quiet.leave();
            }
        }
        while self.has_own() {
            self.ready.quiet.enter();
            let _leave = Leave(&self.ready);
            let _inside = self.ready.enter();
            if let Some(group) = self.ready.callers {
                self.drain.drain(group);
            }
        }
    }

    #[cold]
    fn notify_all(&self) {
        for channel in 0..self.shed.channels() {
            if is_ready(&self.shed, channel) {
                self.ready.on_ready(channel, 1);
            }
        }
    }
}

impl<T: Send + 'static, L: Layout> Deref for Driven<T, L> {
    type Target = Shed<T, L>;

    fn deref(&self) -> &Shed<T, L> {
        &self.shed
    }
}

impl<T: Send + 'static, L: Layout> Drop for Driven<T, L> {
    fn drop(&mut self) {
        // No caller is left to receive the error.
        discard(self.wait());
    }
}

impl<T: Send + 'static, L: Layout> fmt::Debug for Driven<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driven").field("shed", &self.shed).finish_non_exhaustive()
    }
}
