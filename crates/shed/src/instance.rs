//! Templates in a shed.

use crate::layout::Layout;
use crate::plan::{Freeing, Plan};
use crate::shed::Shed;
use crate::word::{State, Status};
use crate::{Node, StillRunning, TaskId, TemplateError};
use alloc::sync::Arc;
use core::fmt;
use core::ops::Deref;
use sateen_base::prim::Ordering;

/// How an [`Instance`] holds on to its shed: `&Shed` or `Arc<Shed>`. The trait is sealed.
pub trait ShedRef:
    sealed::Sealed + Deref<Target = Shed<<Self as ShedRef>::Payload, <Self as ShedRef>::Layout>>
{
    /// The shed's payload.
    type Payload;
    /// The shed's layout.
    type Layout: Layout;
}

impl<T, L: Layout> ShedRef for &Shed<T, L> {
    type Payload = T;
    type Layout = L;
}

impl<T, L: Layout> ShedRef for Arc<Shed<T, L>> {
    type Payload = T;
    type Layout = L;
}

mod sealed {
    use crate::layout::Layout;
    use crate::shed::Shed;
    use alloc::sync::Arc;

    pub trait Sealed {}
    impl<T, L: Layout> Sealed for &Shed<T, L> {}
    impl<T, L: Layout> Sealed for Arc<Shed<T, L>> {}
}

/// A [`Template`](crate::Template) that has slots in a shed, and can be started.
///
/// # Tasks
/// Its tasks are executed like others. They block and are made ready again like others, and can be
/// cancelled like others, in this run: the next run has them again. Only [`depend`](Shed::depend)
/// and [`free`](Shed::free) refuse them ([`Error::Kept`](crate::Error::Kept)). A payload stays as
/// an execution left it, even one that panicked.
///
/// # Dropping
/// Dropping the instance frees the slots. If a run has not ended, dropping cancels it. The slots
/// are then freed when the run ends: once running tasks have ended, and what lies in lists was
/// taken out.
pub struct Instance<S: ShedRef> {
    shed: S,
    plan: Arc<Plan>,
}

impl<S: ShedRef> Instance<S> {
    pub(crate) fn new(shed: S, plan: Arc<Plan>) -> Self {
        Self { shed, plan }
    }

    /// The shed that it is in.
    pub fn shed(&self) -> &S {
        &self.shed
    }

    /// Begins a run: all tasks wait for their predecessors, and those without any are ready, in one
    /// push for each channel.
    ///
    /// # Errors
    /// [`StillRunning`]: the last run has not ended.
    ///
    /// # Cost
    /// Two stores for each task, one exchange, and one for each channel.
    #[inline]
    pub fn start(&self) -> Result<(), StillRunning> {
        let (shed, plan) = (&*self.shed, &*self.plan);
        if plan.roots.is_empty() {
            plan.on_done.iter().for_each(|done| done());
            return Ok(());
        }
        let milestone = &shed.memory.slot(plan.milestone.index).state;
        let seen = State(milestone.load(Ordering::Relaxed));
        let begun = plan.milestone.state;
        // Ordering: Acquire, with the Release of the thread that ended the last run. That thread no
        // longer does anything to the tasks.
        if !seen.is(Status::Done)
            || milestone
                .compare_exchange(seen.0, begun.0, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
        {
            return Err(StillRunning);
        }
        for task in &plan.tasks {
            let slot = shed.memory.slot(task.index);
            slot.channel.store(task.channel, Ordering::Relaxed);
            // Ordering: Release, for a thread that cancels the task by its name: the payload is as
            // the last run left it.
            slot.state.store(task.state.0, Ordering::Release);
        }
        if let Some(chain) = shed.free_slots().chain_of(plan.roots.iter().copied()) {
            shed.push_ranges(chain);
        }
        Ok(())
    }

    /// Whether no run is under way. A load.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.milestone().is(Status::Done)
    }

    /// Whether the last run has ended, and a task was cancelled in it or has panicked. A load.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        let milestone = self.milestone();
        milestone.is(Status::Done) && milestone.marked()
    }

    fn milestone(&self) -> State {
        let milestone = &self.shed.memory.slot(self.plan.milestone.index).state;
        // Ordering: Acquire, with the Release of the thread that ended the run: a caller that
        // learns that the tasks are done sees what they did.
        State(milestone.load(Ordering::Acquire))
    }

    /// The name of a task in the shed, the same in each run: to cancel it, or to make it ready
    /// after it has blocked.
    ///
    /// # Errors
    /// [`TemplateError::UnknownNode`].
    pub fn task(&self, node: Node) -> Result<TaskId, TemplateError> {
        let tasks = &self.plan.tasks;
        match tasks.get(node.index as usize) {
            Some(task) if node.template == self.plan.template => {
                Ok(self.shed.name(task.index, task.state))
            }
            _ => Err(TemplateError::UnknownNode(node)),
        }
    }

    /// Cancels the run: tasks that are not running will not run. The next run has all tasks again.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Outcome, Shed, Template};
    /// let mut template = Template::new();
    /// template.task(());
    /// let shed = Shed::builder().build()?;
    /// let instance = template.install(&shed)?;
    /// instance.start()?;
    /// instance.cancel();
    /// assert_eq!(shed.execute_one(0, |_, ()| Outcome::Complete)?, None);
    /// assert!(instance.is_cancelled());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&self) {
        let shed = &*self.shed;
        for task in &self.plan.tasks {
            // Refused: it has ended, or was cancelled with another.
            let _ = shed.cancel(shed.name(task.index, task.state));
        }
    }

    /// A task's payload, between two runs.
    ///
    /// # Errors
    /// [`TemplateError::StillRunning`], [`TemplateError::UnknownNode`].
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Outcome, Shed, Template};
    /// let mut template = Template::new();
    /// let square = template.task(3);
    /// let shed = Shed::builder().build()?;
    /// let mut instance = template.install(&shed)?;
    /// instance.start()?;
    /// shed.execute_one(0, |_, n| { *n *= *n; Outcome::Complete })?;
    /// assert_eq!(*instance.payload_mut(square)?, 9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn payload_mut(&mut self, node: Node) -> Result<&mut S::Payload, TemplateError> {
        let index = self.task(node)?.index();
        if !self.is_done() {
            return Err(TemplateError::StillRunning);
        }
        let payload = &self.shed.memory.slot(index).payload;
        // SAFETY: kept tasks keep theirs. No run is under way, and none begins while this borrows
        // the instance.
        Ok(payload.with_mut(|p| unsafe { (*p).assume_init_mut() }))
    }
}

impl<S: ShedRef> Drop for Instance<S> {
    fn drop(&mut self) {
        let shed = &*self.shed;
        let milestone = self.plan.milestone.index;
        let word = &shed.memory.slot(milestone).state;
        // Ordering: Acquire, with the Release of the thread that ended the run: the tasks are this
        // thread's.
        let mut seen = State(word.load(Ordering::Acquire));
        while !seen.is(Status::Done) {
            // Ordering: Release, for the thread that ends the run, and with it the instance;
            // Acquire on failure as above.
            match word.compare_exchange_weak(
                seen.0,
                seen.poison().0,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return self.cancel(),
                Err(now) => seen = State(now),
            }
        }
        // SAFETY: no run is under way, and only this instance could begin one.
        unsafe { Freeing::new(shed, milestone) }.work();
    }
}

impl<S: ShedRef> fmt::Debug for Instance<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("tasks", &self.plan.tasks.len())
            .field("done", &self.is_done())
            .finish_non_exhaustive()
    }
}
