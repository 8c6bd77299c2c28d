//! The raw locks under the traits of `lock_api` 0.5, where a guard holds the result of the
//! acquisition: nothing here.

use crate::RawMutex;
use crate::spin::{Mcs, NoAtomics, SpinConfig, Ttas, TtasAdaptiveFutex};
use lock_api_05::{GuardNoSend, GuardSend};

macro_rules! also {
    ($($kind:ident $(<$c:ident>)?: $guard:ident;)*) => {$(
        // SAFETY: as in the older trait, which does the work.
        unsafe impl $(<$c: SpinConfig>)? lock_api_05::RawMutex for $kind $(<$c>)? {
            #[allow(clippy::declare_interior_mutable_const)]
            const INIT: Self = <Self as lock_api::RawMutex>::INIT;

            type Guard = $guard;

            #[inline]
            fn lock(&self) -> $guard {
                lock_api::RawMutex::lock(self);
                $guard::new()
            }

            #[inline]
            fn try_lock(&self) -> Option<$guard> {
                lock_api::RawMutex::try_lock(self).then($guard::new)
            }

            #[inline]
            unsafe fn unlock(&self, _: $guard) {
                // SAFETY: passed on.
                unsafe { lock_api::RawMutex::unlock(self) }
            }

            fn is_locked(&self) -> bool {
                lock_api::RawMutex::is_locked(self)
            }
        }
    )*};
}

also! {
    RawMutex: GuardSend;
    Ttas<C>: GuardSend;
    TtasAdaptiveFutex<C>: GuardSend;
    Mcs<C>: GuardSend;
    NoAtomics: GuardNoSend;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn works<K: lock_api_05::RawMutex>() {
        let lock = lock_api_05::Mutex::<K, _>::new(1);
        *lock.lock() += 1;
        let guard = lock.try_lock().expect("free");
        assert!(lock.is_locked() && lock.try_lock().is_none());
        drop(guard);
        assert_eq!(lock.into_inner(), 2);
    }

    #[test]
    fn each_kind_locks_and_unlocks() {
        works::<RawMutex>();
        works::<Ttas>();
        works::<TtasAdaptiveFutex>();
        works::<Mcs>();
        works::<NoAtomics>();
    }
}
