//! How a value and its state word lie in a block.

use super::state::State;
use crate::Strategy;
use std::alloc::Layout;
use std::ptr::NonNull;

/// The value lies first, where a free block has the strategy's bytes. The [`State`] lies behind
/// both, so it keeps its generation while the block is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) layout: Layout,
    /// The offset of the state. `None` if blocks do not keep anything while free: then there are no
    /// keys.
    state: Option<usize>,
}

impl Slot {
    pub(crate) const fn of<T, S: Strategy>() -> Self {
        let value = Layout::new::<T>();
        let (value, align) = (value.size(), value.align());
        let (size, align, state) = if S::OWN_MEMORY {
            let word = Layout::new::<State>();
            let front = if value > S::LEAST { value } else { S::LEAST };
            let offset = front.next_multiple_of(word.align());
            let align = if align > word.align() { align } else { word.align() };
            (offset + word.size(), align, Some(offset))
        } else {
            (if value > 0 { value } else { 1 }, align, None)
        };
        match Layout::from_size_align(size, align) {
            Ok(layout) => Self { layout, state },
            Err(_) => panic!("the value is as large as the address space"),
        }
    }

    /// The state word of a block.
    ///
    /// # Safety
    /// The block has this layout and lies in a pool's own memory, which stays for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn state<'a>(&self, block: NonNull<u8>) -> &'a State {
        let offset = self.state.expect("pools whose blocks keep nothing have no keys");
        // SAFETY: within the block, and aligned, as the layout has at least the word's alignment.
        // Initialised: zeros are a state, and neither values nor the strategy write as far.
        unsafe { block.add(offset).cast::<State>().as_ref() }
    }

    /// Makes the state of a fresh block. Outside of models its zeros are a state, and memory that
    /// is not touched costs nothing.
    #[cfg(loom)]
    pub(crate) fn prepare(&self, block: NonNull<u8>) {
        let offset = self.state.expect("only pools with memory of their own come here");
        // SAFETY: as in `state`; no other thread knows the block yet.
        unsafe { block.add(offset).cast::<State>().write(State::new()) };
    }
}
