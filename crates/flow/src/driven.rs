//! Sheds whose tasks are executed by the workers of a runtime.

use crate::drain::{Drainer, any_ready, is_ready};
use crate::hub::{Drain, Hub};
use crate::{Map, RunError, WaitError};
use sateen_base::unwind::discard;
use sateen_runtime::Runtime;
use sateen_shed::{Builder, Layout, Outcome, Pausing, Shed, TaskId};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Builds a shed together with what executes its tasks.
pub trait RunOn<T: Send + 'static, L: Layout> {
    /// The shed, whose tasks the workers of `runtime` execute, as `map` says, by calling `run` with the shed, the task's name and its payload.
    ///
    /// Workers without work sleep. When tasks become ready as many are woken as there is work, one waking the next. A task may block, as any task of the
    /// runtime may: its worker goes on with others. It may also return [`Outcome::Blocked`], and is executed again once somebody
    /// makes it ready. What only the shed calls (destructors of payloads, `on_cancel`) should not wait for tasks of the shed.
    ///
    /// The runtime is not kept: once it is shut down, what is ready stays ([`WaitError::Refused`]).
    ///
    /// Cost: some allocations. For each batch of tasks that becomes ready a fence, if somebody else than the end of a task readies it, and a look
    /// at a word; an idle worker is woken by spawning a task.
    ///
    /// # Errors
    /// [`RunError`]: the shed could not be built, or the map names what does not exist.
    ///
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
    fn run_on<R>(self, runtime: &Runtime, map: Map, run: R) -> Result<Driven<T, L>, RunError>
    where
        R: Fn(&Shed<T, L>, TaskId, &mut T) -> Outcome + Send + Sync + 'static;
}

impl<T: Send + 'static, L: Layout> RunOn<T, L> for Builder<T, L> {
    fn run_on<R>(self, runtime: &Runtime, map: Map, run: R) -> Result<Driven<T, L>, RunError>
    where
        R: Fn(&Shed<T, L>, TaskId, &mut T) -> Outcome + Send + Sync + 'static,
    {
        // The first time; later ones say the same.
        sateen_shed::set_runner_hook(sateen_runtime::fiber_number);
        // What is out of range fails below.
        let channels = u16::try_from(self.channel_count()).unwrap_or(1);
        let places = map.places(channels, runtime.workers())?;
        let hub = Arc::new(Hub::new(places, channels, runtime.workers(), runtime.spawner()));
        let bell = Arc::clone(&hub);
        let shed = self.on_ready(move |channel, count| bell.on_ready(channel, count)).build()?;
        let shed = Arc::new(shed);
        let drain = Arc::new(Drainer { shed: Arc::clone(&shed), hub: Arc::clone(&hub), run });
        let drain: Arc<dyn Drain> = drain;
        hub.set_drain(Arc::downgrade(&drain));
        Ok(Driven { shed, hub, drain })
    }
}

/// A [`Shed`] whose tasks are executed by the workers of a runtime: see [`RunOn::run_on`]. All operations of the shed can be used, but for
/// executing tasks, which would take them away from those who were woken for them.
///
/// Dropped, it waits as [`wait`](Self::wait) does, unless one of its own tasks drops it. Panics that nobody has asked for are dropped then.
pub struct Driven<T: Send + 'static, L: Layout = Pausing> {
    shed: Arc<Shed<T, L>>,
    hub: Arc<Hub>,
    drain: Arc<dyn Drain>,
}

impl<T: Send + 'static, L: Layout> Driven<T, L> {
    /// Waits until no task is ready or running, and executes the tasks of the [caller's](Map::caller) channels meanwhile. Tasks that wait for
    /// something else, blocked ones for instance, are not waited for. Blocks a thread, suspends a task of a runtime.
    ///
    /// What other threads make ready meanwhile may be waited for or not.
    ///
    /// # Errors
    /// [`WaitError`]. Everything that can be done has been done also then.
    ///
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

    /// As [`wait`](Self::wait), but no longer than until `done`, which is asked again after [`Hub`]'s `quiet` was told something.
    pub(crate) fn wait_until(&self, done: impl Fn() -> bool) -> Result<(), WaitError> {
        if self.hub.is_inside() {
            return Err(WaitError::Inside);
        }
        // From earlier: tried again below.
        self.hub.take_refused();
        let refused = loop {
            self.execute_own();
            if done() || self.is_idle() {
                break false;
            }
            if self.hub.quiet.is_quiet() && self.hub.take_refused() {
                break true;
            }
            if self.hub.quiet.is_quiet() {
                // Left behind when the runtime refused it before, or somebody is about to ring for it.
                self.ring_for_all();
                if self.hub.is_refused() {
                    continue;
                }
            }
            self.hub.quiet.wait_unless(|| {
                done()
                    || self.has_own()
                    || (self.hub.quiet.is_quiet() && (self.is_idle() || self.hub.is_refused()))
            });
        };
        match self.hub.take_panics() {
            Some((payload, others)) => Err(WaitError::Panicked { payload, others }),
            None if refused => Err(WaitError::Refused),
            None => Ok(()),
        }
    }

    /// The shed, for who has to keep it: a template that is installed in it, for example. What becomes ready after `self` was dropped is executed by nobody.
    pub fn shared(&self) -> &Arc<Shed<T, L>> {
        &self.shed
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Whether nothing is ready or running.
    fn is_idle(&self) -> bool {
        // In this order: what those at work make ready is there before they leave.
        self.hub.quiet.is_quiet() && !self.hub.groups().any(|group| any_ready(&self.shed, group))
    }

    /// Whether something is ready that only the caller executes.
    fn has_own(&self) -> bool {
        self.hub.callers.is_some_and(|group| any_ready(&self.shed, self.hub.group(group)))
    }

    fn execute_own(&self) {
        struct Leave<'a>(&'a Hub);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.quiet.leave();
            }
        }
        while self.has_own() {
            self.hub.quiet.enter();
            let _leave = Leave(&self.hub);
            let _inside = self.hub.enter();
            if let Some(group) = self.hub.callers {
                self.drain.drain(group);
            }
        }
    }

    #[cold]
    fn ring_for_all(&self) {
        for channel in 0..self.shed.channels() {
            if is_ready(&self.shed, channel) {
                self.hub.on_ready(channel, 1);
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
        // Whatever there is to say, nobody is there to hear it.
        discard(self.wait());
    }
}

impl<T: Send + 'static, L: Layout> fmt::Debug for Driven<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driven").field("shed", &self.shed).finish_non_exhaustive()
    }
}
