//! Spinlocks that a user would not choose: each shows what one decision is worth.
//!
//! They exclude as those of `sateen::sync::spin` do, with the same limits of the spinning.

#![expect(unsafe_code, reason = "a lock promises that it excludes; each use is argued")]

mod adaptive;
mod futex;
mod kernel;
mod os_mutex;
mod ticket;
mod wait;

pub(crate) use adaptive::TtasAdaptive;
pub(crate) use futex::TtasFutex;
pub(crate) use kernel::Kernel;
pub(crate) use os_mutex::OsMutex;
pub(crate) use ticket::Ticket;

/// The interface. The type has `new`, `take`, `take_slow`, `try_take` and `give`; each use says why
/// the kind excludes.
macro_rules! raw_mutex {
    ($kind:ident) => {
        // SAFETY: argued where this is used.
        unsafe impl lock_api::RawMutex for $kind {
            #[allow(clippy::declare_interior_mutable_const)]
            const INIT: Self = Self::new();

            type GuardMarker = lock_api::GuardSend;

            #[inline]
            fn lock(&self) {
                if !self.take() {
                    self.take_slow();
                }
            }

            #[inline]
            fn try_lock(&self) -> bool {
                self.try_take()
            }

            #[inline]
            unsafe fn unlock(&self) {
                self.give();
            }
        }
    };
}
use raw_mutex;

#[cfg(test)]
mod tests {
    use crate::ours::RawKind;
    use crate::registry::for_each;
    use lock_api::Mutex;
    use std::thread;

    /// Two numbers have a sum that never changes if one section runs at a time.
    fn conserves<K: RawKind + Send + Sync>(threads: usize) {
        const SECTIONS: usize = 2_000;
        let accounts = Mutex::<K, _>::new((SECTIONS * threads, 0));
        let section = |(from, to): &mut (usize, usize)| {
            assert_eq!(*from + *to, SECTIONS * threads, "{}", K::NAME);
            *from -= 1;
            std::hint::spin_loop();
            *to += 1;
        };
        thread::scope(|s| {
            for _ in 0..threads {
                s.spawn(|| {
                    for turn in 0..SECTIONS {
                        let tried = if turn % 8 == 0 { accounts.try_lock() } else { None };
                        section(&mut tried.unwrap_or_else(|| accounts.lock()));
                    }
                });
            }
        });
        assert_eq!(*accounts.try_lock().expect("nobody is left"), (0, SECTIONS * threads));
    }

    fn excludes<K: RawKind + Send + Sync>() {
        let lock = Mutex::<K, _>::new(7);
        let held = lock.lock();
        assert!(lock.try_lock().is_none(), "{}", K::NAME);
        drop(held);
        [1, 2, 4].into_iter().for_each(conserves::<K>);
    }

    #[test]
    fn each_kind_excludes() {
        for_each!(K in raw_locks(false) => { excludes::<K>(); });
    }
}
