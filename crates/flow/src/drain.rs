//! Executing a group's tasks, one after another.

use crate::ready_channels::{Drain, Group, ReadyChannels};
use crate::trace;
use sateen_runtime::Cancelled;
use sateen_shed::{Layout, Outcome, Shed, TaskId};
use sateen_sync::park::context_id;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Looks after which a runner task lets others have its worker. (Suspended fibers there need not
/// wait for that.)
const TURNS: u32 = 128;

/// Executes the tasks of a shed.
pub(crate) struct ShedExecutor<T, L: Layout, R> {
    pub(crate) shed: Arc<Shed<T, L>>,
    pub(crate) ready: Arc<ReadyChannels>,
    pub(crate) run: R,
    pub(crate) label: trace::Tasks,
}

impl<T, L, R> Drain for ShedExecutor<T, L, R>
where
    T: Send + 'static,
    L: Layout,
    R: Fn(&Shed<T, L>, TaskId, &mut T) -> Outcome + Send + Sync + 'static,
{
    fn drain(&self, group: usize) {
        let (mut turns, context) = (TURNS, context_id());
        let mut take = || self.take_turns(group, context, &mut turns);
        while let Err(panic) = catch_unwind(AssertUnwindSafe(&mut take)) {
            // This drops the note of what the task's end made ready.
            ReadyChannels::end_tasks();
            self.notify_for_rest(group);
            if panic.is::<Cancelled>() {
                // The runtime ends by force. The new runner task is refused, and waiting threads
                // learn of it.
                resume_unwind(panic);
            }
            self.ready.note_panic(panic);
        }
        ReadyChannels::end_tasks();
        if turns == 0 {
            self.notify_for_rest(group);
        }
    }
}

impl<T, L, R> ShedExecutor<T, L, R>
where
    T: Send + 'static,
    L: Layout,
    R: Fn(&Shed<T, L>, TaskId, &mut T) -> Outcome + Send + Sync + 'static,
{
    /// Executes until nothing is ready, or the turns are used up.
    fn take_turns(&self, group: usize, context: u64, turns: &mut u32) {
        let channels = &self.ready.group(group).channels;
        while *turns > 0 {
            *turns -= 1;
            let mut channels = channels.iter();
            if !channels.any(|&(channel, batch)| self.execute(group, context, channel, batch)) {
                *turns = u32::MAX;
                return;
            }
        }
    }

    /// Executes the first tasks of a channel. Returns whether there were any.
    #[inline]
    fn execute(&self, group: usize, context: u64, channel: u16, batch: u32) -> bool {
        if !is_ready(&self.shed, channel) {
            return false;
        }
        // While tasks move from another stripe to the own one no thread sees them. An exchange
        // moves them, which on x86-64 is the fence that is needed.
        let fenced = L::STRIPES == 1 || cfg!(target_arch = "x86_64");
        // After the first task of a batch, a runner task knows of all ready tasks, except those
        // that the end of the last task has made ready.
        let mut first = true;
        let run = |task: TaskId, payload: &mut T| {
            let look = std::mem::take(&mut first);
            self.ready.before_task(group, look, fenced, || {
                any_ready(&self.shed, self.ready.group(group))
            });
            let outcome = {
                let _slice = self.label.begins(task);
                (self.run)(&self.shed, task, payload)
            };
            self.ready.after_task(group, context);
            outcome
        };
        // No error is possible: the channel exists.
        if batch == 1 {
            matches!(self.shed.execute_one(channel, run), Ok(Some(_)))
        } else {
            self.shed.execute_batch(channel, batch, run).is_ok_and(|ran| ran > 0)
        }
    }

    #[cold]
    fn notify_for_rest(&self, group: usize) {
        if any_ready(&self.shed, self.ready.group(group)) {
            self.ready.notify(group, 1);
        }
    }
}

#[inline]
pub(crate) fn is_ready<T, L: Layout>(shed: &Shed<T, L>, channel: u16) -> bool {
    shed.has_ready(channel).unwrap_or(false)
}

#[inline]
pub(crate) fn any_ready<T, L: Layout>(shed: &Shed<T, L>, group: &Group) -> bool {
    group.channels.iter().any(|(channel, _)| is_ready(shed, *channel))
}
