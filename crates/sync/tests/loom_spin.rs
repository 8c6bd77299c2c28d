//! Models of the spinlock family: exclusion, and no waiter left behind.
#![cfg(loom)]

use lock_api::RawMutex;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use sateen_sync::spin::{Kernel, Mcs, Ticket, Ttas, TtasAdaptive, TtasAdaptiveFutex, TtasFutex};

struct Guarded<K> {
    lock: K,
    value: UnsafeCell<usize>,
}

// SAFETY: `value` is used by the holder alone; that is what is modelled.
unsafe impl<K: Sync> Sync for Guarded<K> {}
// SAFETY: as above.
unsafe impl<K: Send> Send for Guarded<K> {}

impl<K: RawMutex> Guarded<K> {
    fn section(&self) {
        // SAFETY: the lock is held.
        self.value.with_mut(|value| unsafe { *value += 1 });
        // SAFETY: locked by the caller.
        unsafe { self.lock.unlock() };
    }
}

/// `threads` lock, twice each if `twice`; one more tries to.
fn model<K: RawMutex + Default + Send + Sync + 'static>(
    preemptions: usize,
    threads: usize,
    turns: usize,
    tries: bool,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.max_branches = 20_000;
    model.check(move || {
        let shared = Arc::new(Guarded { lock: K::default(), value: UnsafeCell::new(0) });
        let lock = move |shared: &Guarded<K>| {
            for _ in 0..turns {
                shared.lock.lock();
                shared.section();
            }
        };
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || lock(&shared))
            })
            .collect();
        let mut done = threads * turns;
        if tries && shared.lock.try_lock() {
            done += 1;
            shared.section();
        }
        lock(&shared);
        others.into_iter().for_each(|other| other.join().unwrap());
        // SAFETY: all threads are joined.
        assert_eq!(shared.value.with(|value| unsafe { *value }), done);
        assert!(shared.lock.try_lock(), "free in the end");
    });
}

macro_rules! kinds {
    ($($name:ident: $kind:ty, $preemptions:literal, $threads:literal, $turns:literal, $tries:literal;)*) => { $(
        #[test]
        fn $name() {
            model::<$kind>($preemptions, $threads, $turns, $tries);
        }
    )* };
}

kinds! {
    ttas_two: Ttas, 3, 2, 2, true;
    ttas_three: Ttas, 1, 3, 1, false;
    adaptive_two: TtasAdaptive, 3, 2, 2, true;
    ticket_two: Ticket, 3, 2, 2, true;
    ticket_three: Ticket, 1, 3, 1, false;
    mcs_two: Mcs, 2, 2, 2, true;
    mcs_three: Mcs, 2, 3, 1, false;
    futex_two: TtasFutex, 3, 2, 2, true;
    futex_three: TtasFutex, 2, 3, 1, false;
    adaptive_futex_two: TtasAdaptiveFutex, 3, 2, 2, true;
    adaptive_futex_three: TtasAdaptiveFutex, 2, 3, 1, false;
    kernel_two: Kernel, 3, 2, 1, true;
    kernel_three: Kernel, 2, 3, 1, false;
}
