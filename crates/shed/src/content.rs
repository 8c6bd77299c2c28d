//! What lies in the slots of a shed that stands still, and how a shed is dropped.

use crate::layout::Layout;
use crate::plan::Plan;
use crate::shed::Shed;
use crate::word::{State, Status};
use sateen_base::prim::Ordering;
use sateen_base::unwind::run_to_end;

/// What a slot holds in addition to its words, in a shed that stands still.
pub(crate) enum Content {
    Nothing,
    Payload,
    /// Of an instance that was forgotten, or dropped during a run that has not ended.
    Milestone,
}

impl<T, L: Layout> Shed<T, L> {
    pub(crate) fn content(&self, index: u32) -> Content {
        let state = &self.memory.slot(index).state;
        match State(state.load(Ordering::Relaxed)).status() {
            Status::Free => Content::Nothing,
            _ if self.is_milestone(index) => Content::Milestone,
            Status::Cancelled if !self.is_kept(index) => Content::Nothing,
            // The call that executes or frees it was forgotten, or left by a panic in `Drop`.
            Status::Running | Status::Freeing => Content::Nothing,
            _ => Content::Payload,
        }
    }

    /// Drops what is in a slot of a shed that no other thread sees any more.
    fn drop_content(&self, index: u32) {
        match self.content(index) {
            Content::Nothing => {}
            Content::Payload => {
                let payload = &self.memory.slot(index).payload;
                // SAFETY: it is there, and this is the last look at the shed.
                payload.with_mut(|p| unsafe { (*p).assume_init_drop() });
            }
            // SAFETY: it is one, and this is the last look at the shed.
            Content::Milestone => drop(unsafe { Plan::detach(self, index) }),
        }
    }
}

impl<T, L: Layout> Drop for Shed<T, L> {
    fn drop(&mut self) {
        // Instances that were forgotten, or whose run has not ended.
        let instances = self.instances.load(Ordering::Relaxed) > 0;
        if core::mem::needs_drop::<T>() || instances {
            let mut slots = 0..self.used_slots();
            run_to_end(|| slots.next().map(|index| self.drop_content(index)).is_some());
        }
    }
}
