//! Making tasks, and freeing those that never ran.

use crate::canary::relaxed_if;
use crate::end::Ending;
use crate::layout::Layout;
use crate::list::{Chain, List};
use crate::reserve::{Fresh, LEAST};
use crate::shed::{Heads, Shed};
use crate::word::{Dependents, State, Status};
use crate::{Error, Full, TaskId};
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::unwind::run_to_end;

impl<T, L: Layout> Shed<T, L> {
    /// Creates as many tasks as there are payloads, on channel 0: all or none. They run once they are [`ready`](Self::ready), or
    /// once all that they [`depend`](Self::depend) on has ended.
    ///
    /// Cost: one exchange, and a store for each.
    ///
    /// # Errors
    /// [`Full`], with the payloads: there are not that many places. (Also while another thread holds some for a batch that turns out not to fit.)
    ///
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(3).build()?;
    /// let [a, b] = shed.create(["a", "b"]).unwrap();
    /// let full = shed.create(["c", "d"]).unwrap_err();
    /// assert_eq!(full.payloads, ["c", "d"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create<const N: usize>(&self, payloads: [T; N]) -> Result<[TaskId; N], Full<[T; N]>> {
        let mut ids = [TaskId::NONE; N];
        if !self.take_places(&mut ids) {
            return Err(Full { payloads, asked: N, capacity: self.capacity() });
        }
        self.fill(&mut ids, &mut payloads.into_iter());
        Ok(ids)
    }

    /// Creates as many tasks as `ids` has room for: all or none. Returns how many: fewer only if `payloads` ends before. The names after
    /// those are [`TaskId::NONE`] then.
    ///
    /// # Errors
    /// [`Full`]: there are not that many places, and nothing was taken from `payloads`.
    ///
    /// # Panics
    /// If `payloads` panics: then none is created.
    ///
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
        if !self.take_places(ids) {
            return Err(Full { payloads: (), asked: ids.len(), capacity: self.capacity() });
        }
        Ok(self.fill(ids, payloads))
    }

    /// As [`create_all`](Self::create_all), but as many as there are places for: returns how many were created. The other
    /// payloads are still in the iterator.
    ///
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
        let places = self.take_some_places(ids);
        self.fill(&mut ids[..places], payloads)
    }

    /// Takes a place for each of `ids`, or none.
    #[inline]
    pub(crate) fn take_places(&self, ids: &mut [TaskId]) -> bool {
        let taken = self.take_some_places(ids);
        if taken < ids.len() {
            self.give_places(&mut ids[..taken]);
        }
        taken == ids.len()
    }

    /// Takes a place for each of the first of `ids`, and returns how many.
    #[inline]
    fn take_some_places(&self, ids: &mut [TaskId]) -> usize {
        let list = self.tasks_at(Heads::<L>::FREE_PLACES);
        let mut taken = 0;
        while taken < ids.len() {
            let fresh = Fresh {
                taken: self.memory.head(Heads::<L>::FRESH_PLACES),
                least: LEAST,
                all: self.memory.sizes().tasks,
                first_use: |index| {
                    let state = State::new(self.first_generation, Status::Free);
                    self.memory.place(index).state.store(state.0, Ordering::Relaxed);
                },
            };
            if let Some(chain) = list.take(ids.len() - taken, &fresh) {
                self.each(chain, |index| {
                    // All of them at once: these lines often lie in another core's cache.
                    self.memory.prefetch_place(index);
                    ids[taken] = TaskId::new(index, 0);
                    taken += 1;
                });
            }
            if taken < ids.len() && !self.memory.grow_tasks(fresh.all) {
                break;
            }
        }
        taken
    }

    /// Puts places back that no task is in, which then have no name.
    #[cold]
    pub(crate) fn give_places(&self, ids: &mut [TaskId]) {
        let list = self.tasks_at(Heads::<L>::FREE_PLACES);
        if let Some(chain) = chain(&list, ids.iter().map(|id| id.index())) {
            list.push(chain);
        }
        ids.fill(TaskId::NONE);
    }

    /// Puts a task into each place of `ids`, until `payloads` ends; returns how many.
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
            self.give_places(&mut filling.ids[filled..]);
        }
        filled
    }

    /// Puts a task into a place that the caller has taken.
    #[inline(always)]
    fn begin(&self, index: u32, payload: T) -> TaskId {
        let place = self.memory.place(index);
        let generation = State(place.state.load(Ordering::Relaxed)).generation();
        // SAFETY: taken, so nobody else looks at the payload; there is none in a free place.
        place.payload.with_mut(|p| unsafe { (*p).write(payload) });
        place.channel.store(0, Ordering::Relaxed);
        self.set_flags(place, 0);
        if Dependents::begins_anew(generation) {
            let release =
                if canary!("dependents-anew") { Ordering::Relaxed } else { Ordering::Release };
            let before = Dependents::closed(generation.wrapping_sub(1));
            // Ordering: Release, for the Acquire of who is late to depend on a task here long ago: it must find that one stale.
            self.memory.dependents(index).store(before.0, release);
        }
        let release = if canary!("create") { Ordering::Relaxed } else { Ordering::Release };
        // Ordering: Release, for the Acquire of whoever learns the name, in whatever way.
        place.state.store(State::new(generation, Status::Idle).0, release);
        TaskId::new(index, generation)
    }

    /// Frees tasks that never ran: all or none. What depended on them is as if it never had; if that leaves nothing it waits for, and something
    /// it depended on has ended before, it becomes ready.
    ///
    /// # Errors
    /// A task that is not idle; [`Error::Waiting`] for one that still depends on others: free those in a call before.
    ///
    /// # Panics
    /// If dropping a payload panics: all are freed nevertheless.
    ///
    /// ```
    /// let shed = sateen::shed::Shed::builder().tasks(2).dependencies(1).build()?;
    /// let [successor, predecessor] = shed.create(["successor", "predecessor"]).unwrap();
    /// shed.depend(&[successor], &[predecessor])?;
    /// assert!(shed.free(&[successor]).is_err());
    /// shed.free(&[predecessor])?;
    /// shed.free(&[successor])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn free(&self, tasks: &[TaskId]) -> Result<(), Error> {
        for (done, &task) in tasks.iter().enumerate() {
            let change = self.change(task, |state| match state.status() {
                Status::Idle if state.pending() > 0 => {
                    Err(Error::Waiting { task, open: state.pending() })
                }
                Status::Idle => Ok(state.with_status(Status::Freeing)),
                status => Err(refusal(task, status)),
            });
            if let Err(error) = change {
                for &task in &tasks[..done] {
                    // Nobody changes a task in this status but its owner.
                    let state = &self.memory.place(task.index()).state;
                    let idle = State(state.load(Ordering::Relaxed)).with_status(Status::Idle);
                    // Ordering: Release, as in `begin`.
                    state.store(idle.0, relaxed_if(canary!("free_undone"), Ordering::Release));
                }
                return Err(error);
            }
        }
        Ending::new(self).removed(tasks);
        Ok(())
    }

    /// Takes `count` dependencies, linked with each other, or none.
    pub(crate) fn take_edges(&self, count: usize) -> Option<Chain> {
        let list = self.free_edges();
        let mut chain = None;
        let missing = |chain: &Option<Chain>| count - chain.map_or(0, |chain| chain.count as usize);
        while missing(&chain) > 0 {
            let taken = self.memory.head(Heads::<L>::FRESH_EDGES);
            let all = self.memory.sizes().edges;
            // Models show with places what there is to show.
            let least = if cfg!(loom) { 1 } else { LEAST };
            let fresh = Fresh { taken, all, first_use: |_| {}, least };
            let more = list.take(missing(&chain), &fresh);
            list.join(&mut chain, more);
            if missing(&chain) > 0 && !self.memory.grow_edges(fresh.all) {
                break;
            }
        }
        let chain = chain?;
        if chain.count as usize == count {
            return Some(chain);
        }
        list.push(chain);
        None
    }
}

/// Why a task that is not idle cannot be changed.
#[cold]
pub(crate) fn refusal(task: TaskId, status: Status) -> Error {
    match status {
        Status::Ready => Error::AlreadyReady(task),
        Status::Running => Error::Running(task),
        Status::Blocked => Error::Blocked(task),
        Status::Cancelled => Error::Cancelled(task),
        Status::Done => Error::Kept(task),
        Status::Idle | Status::Free | Status::Freeing => Error::StaleTask(task),
    }
}

/// `indices`, linked.
fn chain<'a, T, L: Layout>(
    list: &List<'a, T, L, impl Fn(u32) -> &'a AtomicU32>,
    mut indices: impl Iterator<Item = u32>,
) -> Option<Chain> {
    let mut chain = Chain::of(indices.next()?);
    indices.for_each(|index| list.append(&mut chain, index));
    Some(chain)
}

/// Tasks that are being created: all of them go if the user's iterator panics, but those that it has made ready, cancelled
/// or freed: names can be guessed.
struct Filling<'a, T, L: Layout> {
    shed: &'a Shed<T, L>,
    ids: &'a mut [TaskId],
    filled: usize,
}

impl<T, L: Layout> Drop for Filling<'_, T, L> {
    fn drop(&mut self) {
        let (filled, empty) = self.ids.split_at_mut(self.filled);
        self.shed.give_places(empty);
        let mut tasks = filled.iter_mut();
        run_to_end(|| {
            // An error: it is somebody's who has guessed its name.
            tasks
                .next()
                .map(|task| self.shed.free(&[core::mem::replace(task, TaskId::NONE)]))
                .is_some()
        });
    }
}
