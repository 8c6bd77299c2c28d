//! Our locks around a value.

use crate::adapter::{Family, Guarded, GuardedVisitor, Kind, OURS};
use sateen::sync::spin::{Kernel, Ttas, TtasAdaptiveFutex};
use sateen::sync::{Mutex, RwLock};

impl<T: Send + 'static> Guarded<T> for Mutex<T> {
    const NAME: &'static str = OURS;

    fn new(value: T) -> Self {
        Self::new(value)
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock())
    }
}

impl<T: Send + Sync + 'static> Guarded<T> for RwLock<T> {
    const NAME: &'static str = OURS;

    fn new(value: T) -> Self {
        Self::new(value)
    }

    #[inline(always)]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.write())
    }

    #[inline(always)]
    fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        f(&RwLock::read(self))
    }
}

impl Kind for Ttas {
    const NAME: &'static str = "ttas";
}

impl Kind for TtasAdaptiveFutex {
    const NAME: &'static str = "ttas-adaptive-futex";
}

impl Kind for Kernel {
    const NAME: &'static str = "kernel";
}

/// Shows `visitor` our locks of `family`.
pub(crate) fn visit_guarded<T: Send + Sync + 'static>(
    family: Family,
    visitor: &mut impl GuardedVisitor<T>,
) {
    match family {
        Family::Spinning => visitor.visit::<lock_api::Mutex<Ttas, T>>(),
        Family::Adaptive => {
            visitor.visit::<Mutex<T>>();
            visitor.visit::<lock_api::Mutex<TtasAdaptiveFutex, T>>();
        }
        Family::Kernel => visitor.visit::<lock_api::Mutex<Kernel, T>>(),
        Family::ReadWrite => visitor.visit::<RwLock<T>>(),
    }
}
