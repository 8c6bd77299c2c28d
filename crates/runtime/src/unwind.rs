//! Panics that go nowhere, and values that must not meet one.

pub(crate) use sateen_base::unwind::{discard, run_and_discard};

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// A user's value in a frame of the runtime, while other user code runs. If that code unwinds and
/// the value's destructor panics too, the first panic still goes on.
pub(crate) struct Held<T>(ManuallyDrop<T>);

impl<T> Held<T> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }

    /// The value back.
    #[inline(always)]
    pub(crate) fn release(self) -> T {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: taken once, for `this` is never dropped.
        unsafe { ManuallyDrop::take(&mut this.0) }
    }
}

impl<T> Deref for Held<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Held<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Held<T> {
    #[inline(always)]
    fn drop(&mut self) {
        if std::mem::needs_drop::<T>() {
            // SAFETY: dropped once, and not used afterwards.
            discard(unsafe { ManuallyDrop::take(&mut self.0) });
        }
    }
}

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
