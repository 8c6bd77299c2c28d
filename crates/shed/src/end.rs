//! How tasks end: what depended on them becomes ready, or is cancelled in turn.

use crate::Error;
use crate::TaskId;
use crate::canary::relaxed_if;
use crate::create::refusal;
use crate::layout::Layout;
use crate::list::{Chain, List};
use crate::plan::EndOfRun;
use crate::progress::Count;
use crate::shed::{Heads, Shed};
use crate::word::{Dependents, State, Status};
use core::mem::needs_drop;
use sateen_base::abort_with;
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::unwind::run_to_end;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Complete,
    /// What depends on it is cancelled too.
    Cancelled,
    /// What depended on it never did.
    Removed,
}

/// Lowering a count.
#[inline(always)]
fn lower() -> Ordering {
    relaxed_if(canary!("lower"), Ordering::AcqRel)
}

/// What lowering the count of a successor has led to.
enum Lowered {
    Open,
    Ready,
    /// It was cancelled, or is a milestone, and is now the caller's to end.
    Over,
}

/// Tasks that the caller has taken and is about to execute.
pub(crate) struct Hand {
    pub(crate) channel: u16,
    pub(crate) tasks: Chain,
    /// How many more it would execute.
    pub(crate) room: u32,
}

impl Hand {
    pub(crate) const EMPTY: Self =
        Self { channel: 0, tasks: Chain { first: 0, last: 0, count: 0 }, room: 0 };

    /// Whether a task that has become ready may go there without anybody knowing: only if it would be the next to be executed by the caller, and
    /// so waits for nobody.
    #[inline(always)]
    fn wants(&self, channel: u16) -> bool {
        self.tasks.count == 0 && self.room > 0 && self.channel == channel
    }

    /// Takes the next.
    #[inline(always)]
    pub(crate) fn take<'a, T, L: Layout>(
        &mut self,
        list: &List<'a, T, L, impl Fn(u32) -> &'a AtomicU32>,
    ) -> Option<u32> {
        self.tasks.count = self.tasks.count.checked_sub(1)?;
        let index = self.tasks.first;
        if self.tasks.count > 0 {
            self.tasks.first = list.next(index);
        }
        Some(index)
    }
}

/// Tasks that end together. Nothing here recurses: successors that end in turn are linked with each other and worked off.
///
/// Whatever is to be done next is in a field before the user's code is called. So if a callback or a payload's destructor panics,
/// dropping this does what is left. Who waits for ready tasks still learns of them; of tasks cancelled from then on the user is not told.
pub(crate) struct Ending<'a, T, L: Layout> {
    pub(crate) shed: &'a Shed<T, L>,
    /// The task to end first: its index plus one.
    root: (u32, How),
    /// Whose count is to be lowered next, by how much: index plus one.
    telling: (u32, u32),
    /// Rest of the list that is being worked off, how the task ended whose list it is, and whether the list is kept.
    list: (u32, How, bool),
    /// Tasks that nobody else knows of any more: index plus one of the first.
    over: u32,
    /// Tasks to be removed after all that, which the caller owns; or, if the number is not 0, whose counts are to be lowered by it.
    others: (&'a [TaskId], u32),
    /// Tasks that became ready, of one channel.
    ready: Option<(u16, Chain)>,
    /// Dependencies to be freed.
    edges: Option<Chain>,
    /// Places to be freed.
    places: Option<Chain>,
    /// Tasks that the caller is about to execute.
    pub(crate) hand: Hand,
    /// Whether a panic is on its way, and whether it came from telling of ready tasks.
    quiet: bool,
    deaf: bool,
}

impl<'a, T, L: Layout> Ending<'a, T, L> {
    #[inline]
    pub(crate) fn new(shed: &'a Shed<T, L>) -> Self {
        Self::with(shed, Hand::EMPTY)
    }

    /// For several ends, between which the caller executes what is in `hand`. What becomes ready is announced after each, what becomes free at the end.
    #[inline]
    pub(crate) fn with(shed: &'a Shed<T, L>, hand: Hand) -> Self {
        Self {
            shed,
            root: (0, How::Complete),
            telling: (0, 0),
            list: (0, How::Complete, false),
            over: 0,
            others: (&[], 0),
            ready: None,
            edges: None,
            places: None,
            hand,
            quiet: false,
            deaf: false,
        }
    }

    /// Says that a task has run: the caller owns it.
    pub(crate) fn complete(mut self, index: u32) {
        self.complete_next(index);
        self.finish();
    }

    /// As [`complete`](Self::complete), and others follow.
    #[inline(always)]
    pub(crate) fn complete_next(&mut self, index: u32) {
        if needs_drop::<T>() {
            self.root = (index + 1, How::Complete);
            self.drop_payload(index);
            self.root.0 = 0;
        }
        self.end(index, How::Complete);
        // What `work` does, but for what is rare.
        while self.list.0 != 0 && self.list.1 == How::Complete {
            let successor = self.take_edge();
            self.tell(successor, 1);
        }
        if self.list.0 != 0 || self.over != 0 {
            self.work();
        }
        if self.ready.is_some() {
            self.announce();
        }
    }

    /// Says that nobody has to do with a place any more.
    #[inline]
    pub(crate) fn free_place(&mut self, index: u32) {
        match &mut self.places {
            None => self.places = Some(Chain::of(index)),
            Some(places) => self.shed.tasks_at(Heads::<L>::FREE_PLACES).append(places, index),
        }
    }

    /// Says that a task has panicked: the caller owns it.
    pub(crate) fn panicked(mut self, index: u32) {
        self.root = (index + 1, How::Cancelled);
        self.report(index);
        self.finish();
    }

    /// Removes tasks that never ran: the caller owns them.
    pub(crate) fn removed(mut self, tasks: &'a [TaskId]) {
        self.others = (tasks, 0);
        self.finish();
    }

    /// Lets go of a task that the caller has just made `Cancelled`, with one pending for the caller.
    pub(crate) fn cancelled(mut self, index: u32) {
        self.telling = (index + 1, 1);
        if canary!("cancel-early") {
            self.work();
            self.flush();
        }
        self.report(index);
        self.finish();
    }

    /// Lowers the count of a cancelled task that is no longer in a list. What follows from it is done later, so this calls no user's code.
    pub(crate) fn left_list(&mut self, index: u32) {
        self.tell(index, 1);
    }

    /// So many that each of `successors` depended on have ended, before they could be told so.
    pub(crate) fn undepended(mut self, successors: &'a [TaskId], by: u32) {
        self.others = (successors, by);
        self.finish();
    }

    /// Everything that was begun.
    pub(crate) fn finish(mut self) {
        self.work();
        self.flush();
    }

    fn work(&mut self) {
        loop {
            if self.root.0 != 0 {
                let (root, how) = core::mem::replace(&mut self.root, (0, How::Complete));
                self.end(root - 1, how);
            } else if self.telling.0 != 0 {
                let (successor, by) = core::mem::take(&mut self.telling);
                self.tell(successor - 1, by);
            } else if self.list.0 != 0 {
                let successor = self.take_edge();
                self.telling = (successor + 1, 1);
                if self.list.1 == How::Cancelled && self.cancel_dependent(successor) {
                    self.report(successor);
                }
            } else if self.over != 0 {
                let index = self.over - 1;
                self.over = self.shed.memory.link(index).load(Ordering::Relaxed);
                let cancelled = State(self.shed.memory.place(index).state.load(Ordering::Relaxed))
                    .is(Status::Cancelled);
                self.end(index, if cancelled { How::Cancelled } else { How::Complete });
            } else if let Some((task, others)) = self.others.0.split_first() {
                self.others.0 = others;
                match self.others.1 {
                    0 => {
                        self.root = (task.index() + 1, How::Removed);
                        self.drop_payload(task.index());
                    }
                    by => (self.telling, self.list.1) = ((task.index() + 1, by), How::Removed),
                }
            } else {
                return;
            }
        }
    }

    fn flush(&mut self) {
        if let Some(edges) = self.edges.take() {
            self.shed.free_edges().push(edges);
        }
        if let Some(places) = self.places.take() {
            self.shed.tasks_at(Heads::<L>::FREE_PLACES).push(places);
        }
        let hand = core::mem::replace(&mut self.hand, Hand::EMPTY);
        if hand.tasks.count > 0 {
            self.shed.put_back(hand.channel, hand.tasks);
            if !self.deaf {
                self.shed.say_ready(hand.channel, hand.tasks.count);
            }
        }
        self.announce();
    }

    fn announce(&mut self) {
        let ready = self.ready.take();
        self.push_ready(ready);
    }

    /// Ends a task that nobody else has to do with: nothing it depends on is open, it lies in no list, and its payload is gone (or kept).
    #[inline(always)]
    fn end(&mut self, index: u32, mut how: How) {
        if self.shed.is_kept(index) {
            return self.end_kept(index, how);
        }
        let state = State(self.shed.memory.place(index).state.load(Ordering::Relaxed));
        let mut first = 0;
        if state.linked() {
            let dependents = self.take_dependents(index, state.generation());
            first = dependents.first();
            if dependents.is_poisoned() {
                how = How::Cancelled;
            }
        }
        self.shed.vacate(index, state);
        self.free_place(index);
        self.shed.prefetch_successors(first);
        self.list = (first, how, false);
    }

    /// The list of who depends on a task, which is closed.
    #[inline(always)]
    fn take_dependents(&self, index: u32, generation: u32) -> Dependents {
        let word = self.shed.memory.dependents(index);
        // Ordering: Acquire, with the Release of `depend`, for the dependencies in the list; Release, so that who finds it closed knows that the task has run.
        let before = Dependents(word.swap(Dependents::closed(generation).0, Ordering::AcqRel));
        // Another generation's: somebody meant to depend on it, and has not come to it.
        if before.is_of(generation) { before } else { Dependents::new(generation, 0) }
    }

    /// Ends a task of an instance, whose place and dependencies stay as they are. The instance cannot start again before we have come to the end of the
    /// list, as it waits for those in the list.
    fn end_kept(&mut self, index: u32, mut how: How) {
        let place = self.shed.memory.place(index);
        let state = State(place.state.load(Ordering::Relaxed));
        // The milestone's owner may be gone once it is done.
        let run = self.shed.is_milestone(index).then(|| EndOfRun::of(self.shed, index));
        let done = State::new(state.generation(), Status::Done).link();
        let done = if how == How::Cancelled { done.mark() } else { done };
        // Ordering: Release, for the Acquire of who sees that the run has ended, and through the exchanges that lower counts for who ends the milestone: it
        // must find all of this done. Acquire, with the Release of who has dropped the instance, whose plan is then ours.
        let before = State(place.state.swap(done.0, Ordering::AcqRel));
        let before = if canary!("end_kept_swap") { state } else { before };
        if before.poisoned() {
            how = How::Cancelled;
        }
        let first = Dependents(self.shed.memory.dependents(index).load(Ordering::Relaxed)).first();
        self.list = (first, how, true);
        if let Some(run) = run {
            self.list.0 = 0;
            run.tell_slow(before.poisoned());
        }
    }

    /// Takes the next dependency off the list, and frees it unless the list is kept: returns the successor.
    #[inline(always)]
    fn take_edge(&mut self) -> u32 {
        let index = self.list.0 - 1;
        let edge = self.shed.memory.edge(index);
        self.list.0 = edge.next.load(Ordering::Relaxed);
        if !self.list.2 {
            match &mut self.edges {
                None => self.edges = Some(Chain::of(index)),
                Some(edges) => {
                    edge.next.store(edges.first + 1, Ordering::Relaxed);
                    (edges.first, edges.count) = (index, edges.count + 1);
                }
            }
        }
        edge.successor.load(Ordering::Relaxed)
    }

    /// Lowers the count of `successor`.
    #[inline(always)]
    fn tell(&mut self, successor: u32, by: u32) {
        match self.lower(successor, self.list.1, by) {
            Lowered::Open => {}
            Lowered::Ready => self.make_ready(successor),
            Lowered::Over => {
                self.shed.memory.link(successor).store(self.over, Ordering::Relaxed);
                self.over = successor + 1;
            }
        }
    }

    #[inline(always)]
    fn lower(&self, successor: u32, how: How, by: u32) -> Lowered {
        let word = &self.shed.memory.place(successor).state;
        let seen = State(word.load(Ordering::Relaxed));
        if seen.is(Status::Idle) && how == How::Complete && seen.pending() > by {
            let new = seen.with_pending(seen.pending() - by).mark();
            // Ordering: as in `lower_slow`.
            if word.compare_exchange(seen.0, new.0, lower(), Ordering::Relaxed).is_ok() {
                return Lowered::Open;
            }
        }
        self.lower_slow(successor, how, by)
    }

    #[cold]
    fn lower_slow(&self, successor: u32, how: How, by: u32) -> Lowered {
        let place = self.shed.memory.place(successor);
        let mut seen = State(place.state.load(Ordering::Relaxed));
        loop {
            let Some(left) = seen.pending().checked_sub(by) else {
                abort_with("a task of the shed was told of more ends than it waits for");
            };
            let (new, lowered) = match (seen.status(), how) {
                (Status::Idle, _) if left > 0 => {
                    let new = seen.with_pending(left);
                    (if how == How::Complete { new.mark() } else { new }, Lowered::Open)
                }
                (Status::Idle, How::Complete) if self.shed.is_milestone(successor) => {
                    // Whatever somebody does with names that nobody gave him: it is ours.
                    (seen.to(Status::Freeing), Lowered::Over)
                }
                (Status::Idle, How::Complete) => (seen.to(Status::Ready), Lowered::Ready),
                // Without this dependency, the last of the others would have made it ready.
                (Status::Idle, _) if seen.marked() => (seen.to(Status::Ready), Lowered::Ready),
                (Status::Idle, _) => (seen.with_pending(0), Lowered::Open),
                (Status::Cancelled, _) => {
                    (seen.with_pending(left), if left == 0 { Lowered::Over } else { Lowered::Open })
                }
                _ => abort_with("a task of the shed runs before what it depends on has ended"),
            };
            // Ordering: Release, so that who lowers the count last, and through it who executes the successor, sees all that the predecessors did; Acquire for the same.
            match place.state.compare_exchange_weak(seen.0, new.0, lower(), Ordering::Relaxed) {
                Ok(_) => return lowered,
                Err(now) => seen = State(now),
            }
        }
    }

    #[inline(always)]
    fn make_ready(&mut self, index: u32) {
        let channel = self.shed.channel_at(index);
        if self.hand.wants(channel) {
            self.hand.room -= 1;
            self.hand.tasks = Chain::of(index);
            return self.shed.count(channel, Count::Readied, 1);
        }
        match &mut self.ready {
            Some((of, chain)) if *of == channel => {
                self.shed.tasks_at(Heads::<L>::FREE_PLACES).append(chain, index);
            }
            _ => {
                let before = self.ready.replace((channel, Chain::of(index)));
                self.push_ready(before);
            }
        }
    }

    fn push_ready(&mut self, ready: Option<(u16, Chain)>) {
        let Some((channel, chain)) = ready else { return };
        if self.deaf {
            return self.shed.put_ready(channel, chain);
        }
        // Until it returns: a callback that panics is not called again on the way out, which would end the process.
        self.deaf = true;
        self.shed.push_ready(channel, chain);
        self.deaf = false;
    }

    /// Marks a task as cancelled whose dependency was: `true` if the caller did, who then owns the payload until the caller lowers the count.
    fn cancel_dependent(&self, successor: u32) -> bool {
        let word = &self.shed.memory.place(successor).state;
        let mut seen = State(word.load(Ordering::Relaxed));
        // It waits for us, so it is idle or cancelled already.
        while seen.is(Status::Idle) {
            // Ordering: Acquire, with the Release of `create`, for the payload.
            match word.compare_exchange_weak(
                seen.0,
                seen.to(Status::Cancelled).with_pending(seen.pending()).0,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => seen = State(now),
            }
        }
        false
    }

    /// Tells the user that a task was cancelled, whose payload is the caller's, and drops it, also if telling panics.
    fn report(&self, index: u32) {
        let place = self.shed.memory.place(index);
        if self.shed.is_milestone(index) {
            return;
        }
        self.shed.count(self.shed.channel_at(index), Count::Cancelled, 1);
        let mut on_cancel = self.shed.callbacks.cancel.as_ref().filter(|_| !self.quiet);
        let mut dropped = false;
        run_to_end(|| {
            if let Some(on_cancel) = on_cancel.take() {
                let state = State(place.state.load(Ordering::Relaxed));
                // SAFETY: the caller made the task `Cancelled`, or runs it: either way its payload is there and the caller's.
                place.payload.with_mut(|p| unsafe {
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
        let place = self.shed.memory.place(index);
        if !self.shed.is_kept(index) {
            // SAFETY: the caller owns the task, and says that its payload is there; after this nobody looks at it.
            place.payload.with_mut(|p| unsafe { (*p).assume_init_drop() });
        }
    }
}

impl<T, L: Layout> Drop for Ending<'_, T, L> {
    fn drop(&mut self) {
        self.quiet = true;
        // What panics has been taken off before.
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
    /// Has the processor fetch the first of those in the list, all at once: each exchange of their counts would wait for its own line.
    #[inline]
    pub(crate) fn prefetch_successors(&self, first: u32) {
        const MOST: usize = 16;
        let memory = &self.memory;
        let mut next = first;
        for _ in 0..MOST {
            let Some(index) = next.checked_sub(1) else { return };
            let edge = memory.edge(index);
            memory.prefetch_place(edge.successor.load(Ordering::Relaxed));
            next = edge.next.load(Ordering::Relaxed);
        }
    }

    /// Cancels a task, and with it all that depends on it. `true`: it will not run (again). `false`: it is running and runs on, but what depends on it is
    /// cancelled when it ends.
    ///
    /// A cancelled task still waits for what it depends on; then it ends, instead of being made ready, and what depends on it is cancelled.
    /// [`Builder::on_cancel`](crate::Builder::on_cancel) learns of each. Cost: one exchange, and that of its end.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if it was cancelled before; a name that is wrong, or of a task that has ended.
    ///
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(2).dependencies(1).build()?;
    /// let [successor, predecessor] = shed.create(["successor", "predecessor"]).unwrap();
    /// shed.depend(&[successor], &[predecessor])?;
    /// assert_eq!(shed.cancel(predecessor), Ok(true));
    /// assert!(shed.state(successor).is_err()); // gone with its predecessor
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(&self, task: TaskId) -> Result<bool, Error> {
        let (mut running, mut kept) = (None, false);
        let change = self.change(task, |state| {
            kept = self.is_kept(task.index());
            // One more pending, until the payload is gone: nobody ends the task before that.
            let held = match state.status() {
                Status::Idle => state.pending() + 1,
                // In a list: whoever takes it out lowers the count.
                Status::Ready => 2,
                Status::Blocked => 1,
                Status::Running if kept => return Ok(state.poison()),
                status => {
                    running = (status == Status::Running).then_some(state);
                    return Err(refusal(task, status));
                }
            };
            Ok(state.to(Status::Cancelled).with_pending(held))
        });
        if let Some(state) = running {
            if state.linked() {
                self.poison(task)?;
            }
            return Ok(false);
        }
        if change?.is(Status::Running) {
            return Ok(false);
        }
        Ending::new(self).cancelled(task.index());
        Ok(true)
    }

    /// Has what depends on a running task cancelled when it ends.
    #[cold]
    fn poison(&self, task: TaskId) -> Result<(), Error> {
        let word = self.memory.dependents(task.index());
        // Ordering: Acquire, to learn that the task has ended if the list is closed.
        let mut seen = Dependents(word.load(relaxed_if(canary!("poison_seen"), Ordering::Acquire)));
        loop {
            let new = if seen.is_of(task.generation()) {
                if seen.is_closed() {
                    return Err(Error::StaleTask(task));
                }
                seen.poison()
            } else {
                self.known(task)?;
                Dependents::new(task.generation(), 0).poison()
            };
            // Ordering: AcqRel, as the list that may already be there is passed on.
            match word.compare_exchange_weak(seen.0, new.0, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => seen = Dependents(now),
            }
        }
    }
}
