//! Panics that go nowhere, values that must not meet one, and programs in which nothing unwinds.

pub(crate) use sateen_base::unwind::{Held, discard, run_and_discard};

/// Whether a panic unwinds. In a program that is built with `panic = "abort"` it ends the process,
/// so nothing may be cancelled by one.
pub(crate) const CAN_UNWIND: bool = cfg!(panic = "unwind");

/// A user's value whose destructor may panic: the panic goes nowhere, wherever the value is
/// dropped.
pub(crate) struct DiscardOnDrop<T>(Option<T>);

impl<T> DiscardOnDrop<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> std::ops::Deref for DiscardOnDrop<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            None => sateen_base::abort_with("used after its end"),
        }
    }
}

impl<T> Drop for DiscardOnDrop<T> {
    fn drop(&mut self) {
        discard(self.0.take());
    }
}
