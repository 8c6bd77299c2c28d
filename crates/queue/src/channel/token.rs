//! What a selection has chosen, until its caller comes with the item or for it.

use std::mem::MaybeUninit;

/// What a sender holds that was selected without its item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reservation {
    /// Nothing was selected.
    #[default]
    None,
    /// All receivers are gone.
    Disconnected,
    /// There is always room.
    Unlimited,
    /// A slot of a bounded queue, as the word of a `ReservedSlot`.
    Slot(u64),
    /// A meeting with a receiver, as a pointer that owns a count.
    Meeting(*const ()),
}

/// The result of a selected operation: a send uses one field, a receive the other.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Token {
    pub(super) reservation: Reservation,
    pub(super) item: Stored,
}

/// An item of a type that only the receiver knows, or none if there will be none.
#[derive(Debug)]
pub(super) struct Stored {
    present: bool,
    space: MaybeUninit<[usize; Stored::WORDS]>,
}

impl Default for Stored {
    fn default() -> Self {
        Self { present: false, space: MaybeUninit::uninit() }
    }
}

impl Stored {
    const WORDS: usize = 4;

    /// Whether items of this type lie in `space`; larger ones lie on the heap.
    const fn fits<T>() -> bool {
        size_of::<T>() <= size_of::<[usize; Self::WORDS]>()
            && align_of::<T>() <= align_of::<usize>()
    }

    pub(super) fn put<T>(&mut self, item: Option<T>) {
        let Some(item) = item else { return };
        self.present = true;
        let space = self.space.as_mut_ptr();
        // SAFETY: the space is large and aligned enough for either. `fits` checks this for the
        // item, and a pointer is one word.
        unsafe {
            if Self::fits::<T>() {
                space.cast::<T>().write(item);
            } else {
                space.cast::<*mut T>().write(Box::into_raw(Box::new(item)));
            }
        }
    }

    /// The item, once.
    ///
    /// # Safety
    /// An item that was put in was a `T`.
    pub(super) unsafe fn take<T>(&mut self) -> Option<T> {
        if !std::mem::take(&mut self.present) {
            return None;
        }
        let space = self.space.as_ptr();
        // SAFETY: `put` wrote a `T`, or a pointer from a box of one, by the same rule, and it is
        // taken once.
        unsafe {
            if Self::fits::<T>() {
                Some(space.cast::<T>().read())
            } else {
                let boxed = space.cast::<*mut T>().read();
                Some(*Box::from_raw(boxed))
            }
        }
    }
}
