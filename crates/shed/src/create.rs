//! Making tasks, and freeing those that never ran.

use crate::end::Ending;
use crate::layout::Layout;
use crate::shed::{Shed, refusal};
use crate::word::{Dependents, State, Status};
use crate::{Error, Full, TaskId};
use sateen_base::prim::Ordering;
use sateen_base::unwind::run_to_end;

impl<T, L: Layout> Shed<T, L> {
    /// Creates as many tasks as there are payloads, on channel 0: all or none.
    ///
    /// They run once they are [`ready`](Self::ready), or once all that they
    /// [`depend`](Self::depend) on has ended.
    ///
    /// # Errors
    /// [`Full`], with the payloads: there are not enough free slots. This may also happen while
    /// another thread holds some for a batch that turns out not to fit.
    ///
    /// # Cost
    /// One exchange, and a store for each task.
    ///
    /// # Examples
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(3).build()?;
    /// let [a, b] = shed.create(["a", "b"]).unwrap();
    /// let full = shed.create(["c", "d"]).unwrap_err();
    /// assert_eq!(full.payloads, ["c", "d"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create<const N: usize>(&self, payloads: [T; N]) -> Result<[TaskId; N], Full<[T; N]>> {
        let mut ids = [TaskId::NONE; N];
        if !self.take_slots(&mut ids) {
            return Err(Full { payloads, asked: N, capacity: self.capacity() });
        }
        self.fill(&mut ids, &mut payloads.into_iter());
        Ok(ids)
    }

    /// Creates as many tasks as `ids` has room for: all or none. Returns how many.
    ///
    /// There are fewer only if `payloads` ends before; the names after those are [`TaskId::NONE`]
    /// then.
    ///
    /// # Errors
    /// [`Full`]: there are not enough free slots, and nothing was taken from `payloads`.
    ///
    /// # Panics
    /// If `payloads` panics: then no task is created.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Shed, TaskId};
    /// let shed = Shed::builder().tasks(100).build()?;
    /// let mut ids = [TaskId::NONE; 60];
    /// assert_eq!(shed.create_all(&mut (0..), &mut ids)?, 60);
    /// assert!(shed.create_all(&mut (0..), &mut ids).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_all(
        &self,
        payloads: &mut impl Iterator<Item = T>,
        ids: &mut [TaskId],
    ) -> Result<usize, Full<()>> {
        if !self.take_slots(ids) {
            return Err(Full { payloads: (), asked: ids.len(), capacity: self.capacity() });
        }
        Ok(self.fill(ids, payloads))
    }

    /// As [`create_all`](Self::create_all), but creates as many tasks as there are slots for.
    /// Returns how many; the other payloads are still in the iterator.
    ///
    /// # Examples
    /// ```
    /// use sateen::shed::{Shed, TaskId};
    /// let shed = Shed::builder().tasks(100).build()?;
    /// let (mut ids, mut payloads) = ([TaskId::NONE; 60], 0..);
    /// assert_eq!(shed.create_some(&mut payloads, &mut ids), 60);
    /// assert_eq!(shed.create_some(&mut payloads, &mut ids), 40);
    /// assert_eq!(payloads.next(), Some(100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_some(&self, payloads: &mut impl Iterator<Item = T>, ids: &mut [TaskId]) -> usize {
        let slots = self.take_some_slots(ids);
        self.fill(&mut ids[..slots], payloads)
    }

    /// Puts a task into each slot of `ids`, until `payloads` ends. Returns how many.
    #[inline]
    fn fill(&self, ids: &mut [TaskId], payloads: &mut impl Iterator<Item = T>) -> usize {
        let mut filling = Filling { shed: self, ids, filled: 0 };
        while filling.filled < filling.ids.len() {
            let Some(payload) = payloads.next() else { break };
            filling.ids[filling.filled] = self.begin(filling.ids[filling.filled].index(), payload);
            filling.filled += 1;
        }
        let filled = filling.filled;
        let mut filling = core::mem::ManuallyDrop::new(filling);
        if filled < filling.ids.len() {
            self.give_slots(&mut filling.ids[filled..]);
        }
        filled
    }

    /// Puts a task into a slot that the caller has taken.
    #[inline(always)]
    fn begin(&self, index: u32, payload: T) -> TaskId {
        let slot = self.memory.slot(index);
        let generation = State(slot.state.load(Ordering::Relaxed)).generation();
        // SAFETY: the slot was taken, so no other thread looks at the payload; a free slot has
        // none.
        slot.payload.with_mut(|p| unsafe { (*p).write(payload) });
        slot.channel.store(0, Ordering::Relaxed);
        self.set_flags(slot, 0);
        if Dependents::begins_anew(generation) {
            let before = Dependents::closed(generation.wrapping_sub(1));
            // Ordering: Release, for the Acquire of a thread that is late to depend on a task here
            // long ago: it must find that one stale.
            self.memory.dependents(index).store(before.0, Ordering::Release);
        }
        // Ordering: Release, for the Acquire of a thread that learns the name, in whatever way.
        slot.state.store(State::new(generation, Status::Idle).0, Ordering::Release);
        TaskId::new(index, generation)
    }

    /// Frees tasks that never ran: all or none. Their successors are as if they had never depended
    /// on them.
    ///
    /// A successor that then waits for nothing becomes ready if another of its predecessors has
    /// ended before.
    ///
    /// # Errors
    /// A task that is not idle. [`Error::Waiting`] for one that still depends on others: free those
    /// in a call before.
    ///
    /// # Panics
    /// If dropping a payload panics: all are freed nevertheless.
    ///
    /// # Examples
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(2).dependencies(1).build()?;
    /// let [paint, wall] = shed.create(["paint", "wall"]).unwrap();
    /// shed.depend(&[paint], &[wall])?;
    /// assert!(shed.free(&[paint]).is_err());
    /// shed.free(&[wall])?;
    /// shed.free(&[paint])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn free(&self, tasks: &[TaskId]) -> Result<(), Error> {
        for (done, &task) in tasks.iter().enumerate() {
            let change = self.change(task, |state| match state.status() {
                Status::Idle if state.in_degree() > 0 => {
                    Err(Error::Waiting { task, in_degree: state.in_degree() })
                }
                Status::Idle => Ok(state.with_status(Status::Freeing)),
                status => Err(refusal(task, status)),
            });
            if let Err(error) = change {
                for &task in &tasks[..done] {
                    // In this status only its owner, the caller, changes a task.
                    let state = &self.memory.slot(task.index()).state;
                    let idle = State(state.load(Ordering::Relaxed)).with_status(Status::Idle);
                    // Ordering: Release, as in `begin`.
                    state.store(idle.0, Ordering::Release);
                }
                return Err(error);
            }
        }
        Ending::new(self).removed(tasks);
        Ok(())
    }
}

/// Tasks that are being created. If the user's iterator panics, all of them go, except those that
/// it has made ready, cancelled or freed itself: names can be guessed.
struct Filling<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    ids: &'a mut [TaskId],
    filled: usize,
}

impl<T, L: Layout> Drop for Filling<'_, T, L> {
    fn drop(&mut self) {
        let (filled, empty) = self.ids.split_at_mut(self.filled);
        self.shed.give_slots(empty);
        let mut tasks = filled.iter_mut();
        run_to_end(|| {
            // An error: user code has guessed its name, and has seen to it.
            tasks
                .next()
                .map(|task| self.shed.free(&[core::mem::replace(task, TaskId::NONE)]))
                .is_some()
        });
    }
}
