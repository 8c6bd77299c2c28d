//! Where a folder's state comes from: a function, or a value that is cloned.

use sateen_base::unwind::Held;

/// Makes the state of each folder.
pub(crate) trait Seed: Send + Sized {
    /// The state.
    type State;

    /// The state of this piece's folder.
    fn state(self) -> Self::State;

    /// The seed of a piece that is split off.
    fn split_off(&self) -> Self;
}

/// Calls a function for each state.
pub(crate) struct Init<'f, F>(pub(crate) &'f F);

impl<T, F: Fn() -> T + Sync> Seed for Init<'_, F> {
    type State = T;

    #[inline]
    fn state(self) -> T {
        (self.0)()
    }

    #[inline]
    fn split_off(&self) -> Self {
        Self(self.0)
    }
}

/// Clones a value for each state but the last.
pub(crate) struct With<T>(Held<T>);

impl<T> With<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Held::new(value))
    }
}

impl<T: Clone + Send> Seed for With<T> {
    type State = T;

    #[inline]
    fn state(self) -> T {
        self.0.release()
    }

    #[inline]
    fn split_off(&self) -> Self {
        Self::new(T::clone(&self.0))
    }
}
