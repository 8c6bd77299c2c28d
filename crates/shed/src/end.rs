//! How tasks end: what depended on them becomes ready, or is cancelled in turn.

use crate::TaskId;
use crate::heads::Count;
use crate::in_degree::{How, Lowered};
use crate::index::{Link, OptIndex};
use crate::layout::Layout;
use crate::list::{Chain, List};
use crate::plan::EndOfRun;
use crate::shed::Shed;
use crate::word::{Dependents, State, Status};
use core::mem::needs_drop;
use sateen_base::prim::Ordering;
use sateen_base::unwind::run_to_end;

/// Tasks that the caller has taken and is about to execute.
pub(crate) struct Taken {
    pub(crate) channel: u16,
    pub(crate) tasks: Chain,
    /// How many more the caller would execute.
    pub(crate) room: u32,
}

impl Taken {
    pub(crate) const EMPTY: Self =
        Self { channel: 0, tasks: Chain { first: 0, last: 0, count: 0 }, room: 0 };

    /// Whether a task that has become ready bypasses the ready list: only if the caller would take
    /// it from there next, so that it waits for nothing.
    #[inline(always)]
    fn wants(&self, channel: u16) -> bool {
        self.tasks.count == 0 && self.room > 0 && self.channel == channel
    }

    /// Takes the next task.
    #[inline(always)]
    pub(crate) fn take<'a, T, L: Layout>(
        &mut self,
        list: &List<'a, T, L, impl Fn(u32) -> &'a Link>,
    ) -> Option<u32> {
        self.tasks.count = self.tasks.count.checked_sub(1)?;
        let index = self.tasks.first;
        if self.tasks.count > 0 {
            self.tasks.first = list.next(index);
        }
        Some(index)
    }
}

/// The successors of a task that has ended which have not been told yet.
struct Successors {
    /// The next dependency in the task's list.
    next: OptIndex,
    how: How,
    edges: Edges,
}

/// What becomes of the dependencies in a list once the successors have been told.
#[derive(PartialEq, Eq)]
enum Edges {
    Freed,
    /// The list is a template's, for its next run.
    Kept,
}

/// What an ending is to do with the caller's tasks, after all else.
#[derive(Clone, Copy)]
enum Later {
    /// Remove them: the caller owns them.
    Remove,
    /// Lower the in-degree of each by that number: as many predecessors were removed.
    Lower(u32),
}

/// Tasks that end together. Nothing here recurses: successors that end in turn are linked with each
/// other and worked off.
///
/// What is to be done next is in a field before user code is called. So if a callback or a
/// payload's destructor panics, dropping this does the rest. Ready tasks are still announced then;
/// tasks that are cancelled from then on are not.
pub(crate) struct Ending<'a, T, L: Layout> {
    pub(crate) shed: &'a Shed<T, L>,
    /// The task to end first.
    root: Option<(u32, How)>,
    /// The successor whose in-degree is to be lowered next, and by how much.
    lowering: Option<(u32, u32)>,
    successors: Successors,
    /// Tasks to be ended that nothing else names any more, linked with each other.
    over: OptIndex,
    /// Tasks of the caller's, and what is to be done with them after all that.
    others: &'a [TaskId],
    later: Later,
    /// Tasks that became ready, of one channel.
    ready: Option<(u16, Chain)>,
    /// Dependencies to be freed.
    edges: Option<Chain>,
    /// Slots to be freed.
    slots: Option<Chain>,
    pub(crate) taken: Taken,
    /// Whether this is being dropped, by a panic or at the end of a batch: then cancelled tasks are
    /// not reported. A batch has none left.
    unwinding: bool,
    /// Whether the user is being told of ready tasks, or a panic came from that.
    announcing: bool,
}

impl<'a, T, L: Layout> Ending<'a, T, L> {
    #[inline]
    pub(crate) fn new(shed: &'a Shed<T, L>) -> Self {
        Self::with(shed, Taken::EMPTY)
    }

    /// For several ends, between which the caller executes what it has taken. What becomes ready is
    /// announced after each end, what becomes free is freed after the last.
    #[inline]
    pub(crate) fn with(shed: &'a Shed<T, L>, taken: Taken) -> Self {
        Self {
            shed,
            root: None,
            lowering: None,
            successors: Successors {
                next: OptIndex::NONE,
                how: How::Complete,
                edges: Edges::Freed,
            },
            over: OptIndex::NONE,
            others: &[],
            later: Later::Remove,
            ready: None,
            edges: None,
            slots: None,
            taken,
            unwinding: false,
            announcing: false,
        }
    }

    /// Ends a task that has run, which the caller owns.
    pub(crate) fn complete(mut self, index: u32) {
        self.complete_next(index);
        self.finish();
    }

    /// As [`complete`](Self::complete), and others follow.
    #[inline(always)]
    pub(crate) fn complete_next(&mut self, index: u32) {
        if needs_drop::<T>() {
            self.root = Some((index, How::Complete));
            self.drop_payload(index);
            self.root = None;
        }
        self.end(index, How::Complete);
        // As `work`, without what is rare.
        while self.successors.how == How::Complete
            && let Some(successor) = self.take_edge()
        {
            self.release(successor, 1);
        }
        if !self.successors.next.is_none() || !self.over.is_none() {
            self.work();
        }
        if self.ready.is_some() {
            self.push_ready();
        }
    }

    /// Frees a slot that nothing names any more.
    #[inline]
    pub(crate) fn free_slot(&mut self, index: u32) {
        self.shed.free_slots().append_to(&mut self.slots, index);
    }

    /// Ends a task that has panicked, which the caller owns.
    pub(crate) fn panicked(mut self, index: u32) {
        self.root = Some((index, How::Cancelled));
        self.report(index);
        self.finish();
    }

    /// Removes tasks that never ran, which the caller owns.
    pub(crate) fn removed(mut self, tasks: &'a [TaskId]) {
        (self.others, self.later) = (tasks, Later::Remove);
        self.finish();
    }

    /// Lets go of a task that the caller has just made `Cancelled`, counting itself in the
    /// in-degree.
    pub(crate) fn cancelled(mut self, index: u32) {
        self.lowering = Some((index, 1));
        self.report(index);
        self.finish();
    }

    /// Lowers the in-degree of a cancelled task that is no longer in a list. This calls no user
    /// code: what follows from it is done later.
    pub(crate) fn left_list(&mut self, index: u32) {
        self.release(index, 1);
    }

    /// Takes back that each of `successors` waits for `by` more.
    pub(crate) fn undepended(mut self, successors: &'a [TaskId], by: u32) {
        (self.others, self.later) = (successors, Later::Lower(by));
        self.finish();
    }

    /// Does everything that was begun.
    pub(crate) fn finish(mut self) {
        self.work();
        self.flush();
        // Nothing is left for `drop`, which is for panics and for the end of a batch.
        core::mem::forget(self);
    }

    fn work(&mut self) {
        loop {
            if let Some((index, how)) = self.root {
                self.root = None;
                self.end(index, how);
            } else if let Some((successor, by)) = self.lowering {
                self.lowering = None;
                self.release(successor, by);
            } else if let Some(successor) = self.take_edge() {
                self.lowering = Some((successor, 1));
                if self.successors.how == How::Cancelled && self.shed.cancel_dependent(successor) {
                    self.report(successor);
                }
            } else if let Some(index) = self.over.get() {
                self.over = self.shed.memory.link(index).get();
                let cancelled = State(self.shed.memory.slot(index).state.load(Ordering::Relaxed))
                    .is(Status::Cancelled);
                self.end(index, if cancelled { How::Cancelled } else { How::Complete });
            } else if let Some((task, others)) = self.others.split_first() {
                self.others = others;
                self.begin_other(task.index());
            } else {
                return;
            }
        }
    }

    /// Begins with one of the caller's tasks.
    fn begin_other(&mut self, index: u32) {
        match self.later {
            Later::Remove => {
                self.root = Some((index, How::Removed));
                self.drop_payload(index);
            }
            Later::Lower(by) => {
                self.lowering = Some((index, by));
                self.successors.how = How::Removed;
            }
        }
    }

    fn flush(&mut self) {
        if let Some(edges) = self.edges.take() {
            self.shed.free_edges().push(edges);
        }
        if let Some(slots) = self.slots.take() {
            self.shed.free_slots().push(slots);
        }
        let taken = core::mem::replace(&mut self.taken, Taken::EMPTY);
        if taken.tasks.count > 0 {
            self.shed.put_back(taken.channel, taken.tasks);
            if !self.announcing {
                self.shed.announce(taken.channel, taken.tasks.count);
            }
        }
        self.push_ready();
    }

    /// Ends a task that nothing else names: no predecessor is open, it lies in no list, and its
    /// payload is gone, or kept.
    #[inline(always)]
    fn end(&mut self, index: u32, mut how: How) {
        if self.shed.is_kept(index) {
            return self.end_kept(index, how);
        }
        let state = State(self.shed.memory.slot(index).state.load(Ordering::Relaxed));
        let mut first = OptIndex::NONE;
        if state.linked() {
            let dependents = self.take_dependents(index, state.generation());
            first = dependents.first();
            if dependents.is_poisoned() {
                how = How::Cancelled;
            }
        }
        self.shed.vacate(index, state);
        self.free_slot(index);
        self.shed.prefetch_successors(first);
        self.successors = Successors { next: first, how, edges: Edges::Freed };
    }

    /// Takes the list of a task's dependents, and closes it.
    #[inline(always)]
    fn take_dependents(&self, index: u32, generation: u32) -> Dependents {
        let word = self.shed.memory.dependents(index);
        // Ordering: Acquire, with the Release of `depend`, for the dependencies in the list.
        // Release, so that a thread that finds the list closed knows that the task has run.
        let before = Dependents(word.swap(Dependents::closed(generation).0, Ordering::AcqRel));
        // Another generation's: a thread meant to depend on this task, and has not pushed yet.
        if before.is_of(generation) { before } else { Dependents::new(generation, OptIndex::NONE) }
    }

    /// Ends a task of an instance, whose slot and dependencies stay as they are. The instance
    /// cannot start again before this list has been worked off, as it waits for the tasks in it.
    fn end_kept(&mut self, index: u32, mut how: How) {
        let slot = self.shed.memory.slot(index);
        let state = State(slot.state.load(Ordering::Relaxed));
        // Looked up now: once the milestone is done, its instance may be gone.
        let run = self.shed.is_milestone(index).then(|| EndOfRun::of(self.shed, index));
        let done = State::new(state.generation(), Status::Done).link();
        let done = if how == How::Cancelled { done.mark() } else { done };
        // Ordering: Release, for the Acquire of a thread that sees that the run has ended. Through
        // the exchanges that lower in-degrees, it is also for the thread that ends the milestone,
        // which must find all of this done. Acquire, with the Release of the thread that has
        // dropped the instance: this thread then owns its plan.
        let before = State(slot.state.swap(done.0, Ordering::AcqRel));
        if before.poisoned() {
            how = How::Cancelled;
        }
        let first = Dependents(self.shed.memory.dependents(index).load(Ordering::Relaxed)).first();
        self.successors = Successors { next: first, how, edges: Edges::Kept };
        if let Some(run) = run {
            self.successors.next = OptIndex::NONE;
            run.conclude_slow(before.poisoned());
        }
    }

    /// Takes the next dependency off the list, and frees it unless the list is kept. Returns its
    /// successor.
    #[inline(always)]
    fn take_edge(&mut self) -> Option<u32> {
        let index = self.successors.next.get()?;
        let edge = self.shed.memory.edge(index);
        self.successors.next = edge.next.get();
        if self.successors.edges == Edges::Freed {
            match &mut self.edges {
                None => self.edges = Some(Chain::of(index)),
                Some(edges) => {
                    edge.next.set(OptIndex::some(edges.first));
                    (edges.first, edges.count) = (index, edges.count + 1);
                }
            }
        }
        Some(edge.successor.load(Ordering::Relaxed))
    }

    /// Lowers the in-degree of a successor, and sees to it if it waits no more.
    #[inline(always)]
    fn release(&mut self, successor: u32, by: u32) {
        match self.shed.lower(successor, self.successors.how, by) {
            Lowered::Waits => {}
            Lowered::Ready => self.make_ready(successor),
            Lowered::Over => {
                self.shed.memory.link(successor).set(self.over);
                self.over = OptIndex::some(successor);
            }
        }
    }

    #[inline(always)]
    fn make_ready(&mut self, index: u32) {
        let channel = self.shed.channel_at(index);
        if self.taken.wants(channel) {
            self.taken.room -= 1;
            self.taken.tasks = Chain::of(index);
            return self.shed.count(channel, Count::Readied, 1);
        }
        match &mut self.ready {
            Some((of, chain)) if *of == channel => self.shed.free_slots().append(chain, index),
            _ => {
                let before = self.ready.replace((channel, Chain::of(index)));
                self.push(before);
            }
        }
    }

    /// Pushes the tasks that became ready, and announces them.
    fn push_ready(&mut self) {
        let ready = self.ready.take();
        self.push(ready);
    }

    fn push(&mut self, ready: Option<(u16, Chain)>) {
        let Some((channel, chain)) = ready else { return };
        if self.announcing {
            return self.shed.put_ready(channel, chain);
        }
        // A callback that panics is not called again on the way out: that would end the process.
        self.announcing = true;
        self.shed.push_ready(channel, chain);
        self.announcing = false;
    }

    /// Tells the user that a task was cancelled, whose payload is the caller's, and drops the
    /// payload, even if telling panics.
    fn report(&self, index: u32) {
        let slot = self.shed.memory.slot(index);
        if self.shed.is_milestone(index) {
            return;
        }
        self.shed.count(self.shed.channel_at(index), Count::Cancelled, 1);
        let mut on_cancel = self.shed.callbacks.cancel.as_ref().filter(|_| !self.unwinding);
        let mut dropped = false;
        run_to_end(|| {
            if let Some(on_cancel) = on_cancel.take() {
                let state = State(slot.state.load(Ordering::Relaxed));
                // SAFETY: the caller made the task `Cancelled`, or runs it: either way its payload
                // is there and the caller's.
                slot.payload.with_mut(|p| unsafe {
                    on_cancel(self.shed.name(index, state), (*p).assume_init_mut());
                });
            } else if !core::mem::replace(&mut dropped, true) {
                self.drop_payload(index);
            }
            !dropped
        });
    }

    /// Drops the payload of a task that is the caller's, unless it is kept.
    fn drop_payload(&self, index: u32) {
        let slot = self.shed.memory.slot(index);
        if !self.shed.is_kept(index) {
            // SAFETY: the caller owns the task, and says that its payload is there; this is the
            // last look at it.
            slot.payload.with_mut(|p| unsafe { (*p).assume_init_drop() });
        }
    }
}

impl<T, L: Layout> Drop for Ending<'_, T, L> {
    fn drop(&mut self) {
        self.unwinding = true;
        // What panics has been taken off its field before, so this ends.
        run_to_end(|| {
            self.work();
            false
        });
        run_to_end(|| {
            self.flush();
            false
        });
    }
}

impl<T, L: Layout> Shed<T, L> {
    /// Has the processor fetch the first successors in a list, all at once. Otherwise each exchange
    /// of an in-degree would wait for its own line.
    #[inline]
    pub(crate) fn prefetch_successors(&self, first: OptIndex) {
        const MOST: usize = 16;
        let memory = &self.memory;
        let mut next = first;
        for _ in 0..MOST {
            let Some(index) = next.get() else { return };
            let edge = memory.edge(index);
            memory.prefetch_slot(edge.successor.load(Ordering::Relaxed));
            next = edge.next.get();
        }
    }
}
