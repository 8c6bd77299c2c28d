//! Adapter for `spin`: its default mutex, a test and test-and-set without back-off.

use crate::adapter::Guarded;

pub(super) use spin::Mutex;

impl<T: Send + 'static> Guarded<T> for Mutex<T> {
    const NAME: &'static str = "spin";

    fn new(value: T) -> Self {
        Self::new(value)
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock())
    }
}
