//! Saying what waits for what.

use crate::end::Ending;
use crate::index::OptIndex;
use crate::layout::Layout;
use crate::list::Chain;
use crate::shed::{Shed, refusal};
use crate::word::{Dependents, State, Status};
use crate::{Error, TaskId};
use sateen_base::prim::Ordering;

impl<T, L: Layout> Shed<T, L> {
    /// Lets each of `successors` wait for each of `predecessors`: all or none.
    ///
    /// A successor becomes ready by itself once all its predecessors have ended. So name all its
    /// predecessors before the first of them is made ready.
    ///
    /// # Errors
    /// - [`Error::SelfDependency`], [`Error::NoDependencies`], [`Error::TooManyDependencies`].
    /// - [`Error::Cycle`], with [`checks`](crate::Builder::checks).
    /// - [`Error::Kept`] for a template's task.
    /// - A task that is ready already, running, cancelled, or has ended.
    ///
    /// If another thread makes a predecessor ready *during* this call, it may end before the call
    /// comes to it. Then the error names it and nothing depends on it, but the other dependencies
    /// hold.
    ///
    /// # Cost
    /// An exchange for each successor, two for each predecessor, and a dependency for each pair.
    /// With [`checks`](crate::Builder::checks), a search through all that waits for the successors.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Error, Shed};
    /// let shed = Shed::builder().tasks(3).dependencies(2).build()?;
    /// let [a, b, c] = shed.create(["a", "b", "c"]).unwrap();
    /// shed.depend(&[c], &[a, b])?;
    /// assert_eq!(shed.ready(&[c]), Err(Error::Waiting { task: c, in_degree: 2 }));
    /// assert_eq!(shed.depend(&[a], &[a]), Err(Error::SelfDependency(a)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn depend(&self, successors: &[TaskId], predecessors: &[TaskId]) -> Result<(), Error> {
        if successors.is_empty() || predecessors.is_empty() {
            return Ok(());
        }
        if let Some(&task) = successors.iter().find(|successor| predecessors.contains(successor)) {
            return Err(Error::SelfDependency(task));
        }
        let asked = successors.len() as u64 * predecessors.len() as u64;
        let capacity = self.memory.max_edges();
        let full = Error::NoDependencies { asked, capacity: capacity.into() };
        let by = u32::try_from(predecessors.len()).map_err(|_| full)?;
        if asked > capacity.into() {
            return Err(full);
        }
        // All their lines at once: each exchange below would wait for its own.
        self.prefetch(successors);
        self.prefetch(predecessors);
        for predecessor in predecessors.iter().filter(|predecessor| self.memory.has(**predecessor))
        {
            self.memory.prefetch_dependents(predecessor.index());
        }
        // From here on the ends of the predecessors look for dependents. If this call fails, that
        // costs them a little and has no other effect.
        for &predecessor in predecessors {
            self.link(predecessor)?;
        }
        let checked = self.checks.as_ref().map(|adding| adding.lock());
        if checked.is_some() {
            self.check_cycle(successors, predecessors)?;
        }
        let Some(edges) = self.take_edges(asked as usize) else {
            return Err(full);
        };
        for (done, &successor) in successors.iter().enumerate() {
            if let Err(error) = self.raise(successor, by) {
                drop(checked);
                self.free_edges().push(edges);
                self.undepend_slow(&successors[..done], by);
                return Err(error);
            }
        }
        let (mut result, mut late) = (Ok(()), 0);
        let mut next = OptIndex::some(edges.first);
        for &predecessor in predecessors {
            let own = self.fill_edges(&mut next, successors);
            if !self.push_dependents(predecessor, own) {
                // Another thread has seen it through since `link`: nothing depends on it.
                self.free_edges().push(own);
                (result, late) = (Err(Error::StaleTask(predecessor)), late + 1);
            }
        }
        // What follows may call user code.
        drop(checked);
        if late > 0 {
            self.undepend_slow(successors, late);
        }
        result
    }

    /// Has the processor fetch what other calls will need of `tasks`, a few calls ahead.
    ///
    /// This speeds up the building of a large graph, whose tasks lie all over the memory. It
    /// changes nothing, and wrong names do not matter.
    ///
    /// # Cost
    /// A few instructions for each task.
    ///
    /// # Examples
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(2).dependencies(1).build()?;
    /// let [paint, wall] = shed.create(["paint", "wall"]).unwrap();
    /// shed.prefetch(&[paint, wall]);
    /// shed.depend(&[paint], &[wall])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn prefetch(&self, tasks: &[TaskId]) {
        for task in tasks.iter().filter(|task| self.memory.has(**task)) {
            self.memory.prefetch_slot(task.index());
        }
    }

    /// Announces that something may depend on an idle task.
    #[inline]
    fn link(&self, predecessor: TaskId) -> Result<(), Error> {
        let seen = self.known(predecessor)?;
        if self.is_kept(predecessor.index()) {
            return Err(Error::Kept(predecessor));
        }
        if seen.is(Status::Idle) && seen.linked() {
            // Announced before: the thread that did so has released it with the state seen here.
            return Ok(());
        }
        self.change(predecessor, |state| match state.status() {
            Status::Idle => Ok(state.link()),
            status => Err(refusal(predecessor, status)),
        })?;
        Ok(())
    }

    /// Lets an idle task wait for `by` more.
    #[inline]
    fn raise(&self, successor: TaskId, by: u32) -> Result<(), Error> {
        self.change(successor, |state| match state.status() {
            Status::Idle if self.is_kept(successor.index()) => Err(Error::Kept(successor)),
            Status::Idle if by > State::MAX_PREDECESSORS - state.in_degree() => {
                Err(Error::TooManyDependencies(successor))
            }
            Status::Idle => Ok(state.with_in_degree(state.in_degree() + by)),
            status => Err(refusal(successor, status)),
        })?;
        Ok(())
    }

    /// Takes one dependency for each successor, from `next` on, and writes the successors into
    /// them.
    #[inline]
    fn fill_edges(&self, next: &mut OptIndex, successors: &[TaskId]) -> Chain {
        let first = next.index();
        let mut own = Chain { first, last: first, count: successors.len() as u32 };
        for successor in successors {
            own.last = next.index();
            let edge = self.memory.edge(own.last);
            edge.successor.store(successor.index(), Ordering::Relaxed);
            // Meaningless after the last of all, and not used then.
            *next = edge.next.get();
        }
        own
    }

    /// Adds dependencies to the list of a task. `false`: that has ended.
    #[inline]
    fn push_dependents(&self, predecessor: TaskId, Chain { first, last, .. }: Chain) -> bool {
        let word = self.memory.dependents(predecessor.index());
        // Ordering: Acquire, with the Release of the thread that ended the predecessor, or first
        // used the word for a later task there. After reading that word, this thread must find
        // `predecessor` stale, or it would discard another task's dependents.
        let mut seen = Dependents(word.load(Ordering::Acquire));
        loop {
            let new = if seen.is_of(predecessor.generation()) {
                if seen.is_closed() {
                    return false;
                }
                self.memory.edge(last).next.set(seen.first());
                seen.with_first(first)
            } else {
                // The word of an earlier task there, if the predecessor still exists: then this
                // exchange is its first use.
                if self.known(predecessor).is_err() {
                    return false;
                }
                self.memory.edge(last).next.set(OptIndex::NONE);
                Dependents::new(predecessor.generation(), OptIndex::some(first))
            };
            // Ordering: Release, for the Acquire of the thread that ends the predecessor and reads
            // the dependencies; on failure as above.
            match word.compare_exchange_weak(seen.0, new.0, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => seen = Dependents(now),
            }
        }
    }

    /// Takes back that `successors` wait for `by` more.
    #[cold]
    fn undepend_slow(&self, successors: &[TaskId], by: u32) {
        Ending::new(self).undepended(successors, by);
    }
}
