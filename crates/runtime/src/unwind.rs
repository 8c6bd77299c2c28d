//! Panics that go nowhere, and values that must not meet one.

pub(crate) use sateen_base::unwind::{Held, discard, run_and_discard};

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
