//! Taking free slots and dependencies, and giving them back.

use crate::TaskId;
use crate::heads::Heads;
use crate::layout::Layout;
use crate::list::Chain;
use crate::reserve::{Fresh, MIN_FRESH};
use crate::shed::Shed;
use crate::word::{State, Status};
use sateen_base::prim::Ordering;

impl<T, L: Layout> Shed<T, L> {
    /// Takes a slot for each of `ids`, or none.
    #[inline]
    pub(crate) fn take_slots(&self, ids: &mut [TaskId]) -> bool {
        let taken = self.take_some_slots(ids);
        if taken < ids.len() {
            self.give_slots(&mut ids[..taken]);
        }
        taken == ids.len()
    }

    /// Takes a slot for each of the first of `ids`, and returns how many.
    #[inline]
    pub(crate) fn take_some_slots(&self, ids: &mut [TaskId]) -> usize {
        let list = self.free_slots();
        let mut taken = 0;
        while taken < ids.len() {
            let fresh = Fresh {
                taken: self.memory.head(Heads::<L>::FRESH_SLOTS),
                min: MIN_FRESH,
                all: self.memory.sizes().tasks,
                first_use: |index| {
                    let state = State::new(self.first_generation, Status::Free);
                    self.memory.slot(index).state.store(state.0, Ordering::Relaxed);
                },
            };
            if let Some(chain) = list.take(ids.len() - taken, &fresh) {
                self.each(chain, |index| {
                    // All of them at once: these lines often lie in another core's cache.
                    self.memory.prefetch_slot(index);
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

    /// Puts slots back that hold no task, and clears their names.
    #[cold]
    pub(crate) fn give_slots(&self, ids: &mut [TaskId]) {
        let list = self.free_slots();
        if let Some(chain) = list.chain_of(ids.iter().map(|id| id.index())) {
            list.push(chain);
        }
        ids.fill(TaskId::NONE);
    }

    /// Takes `count` dependencies, linked with each other, or none.
    pub(crate) fn take_edges(&self, count: usize) -> Option<Chain> {
        let list = self.free_edges();
        let mut chain = None;
        let missing = |chain: &Option<Chain>| count - chain.map_or(0, |chain| chain.count as usize);
        while missing(&chain) > 0 {
            let taken = self.memory.head(Heads::<L>::FRESH_EDGES);
            let all = self.memory.sizes().edges;
            // In models the slots show what there is to show.
            let min = if cfg!(loom) { 1 } else { MIN_FRESH };
            let fresh = Fresh { taken, all, first_use: |_| {}, min };
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
