//! Models of the spinlocks that sleep: exclusion, and no sleeper left behind.
#![cfg(loom)]

mod spin_model;

use sateen_sync::spin::TtasAdaptiveFutex;
use spin_model::model;

macro_rules! kinds {
    // The numbers of preemptions, threads and turns, and whether the threads also try to lock.
    ($($name:ident: $kind:ty, $($how:literal),*;)*) => { $(
        #[test]
        fn $name() {
            model::<$kind>($($how),*);
        }
    )* };
}

kinds! {
    // Two turns. One thread sleeps during the other's first turn, wakes during its second turn, and
    // goes back to sleep.
    adaptive_futex_two: TtasAdaptiveFutex, 3, 2, 2, false;
    // Three turns. In the third one the sleeper has lost often enough, and the lock is handed over.
    adaptive_futex_due: TtasAdaptiveFutex, 2, 2, 3, false;
    adaptive_futex_tried: TtasAdaptiveFutex, 2, 2, 1, true;
    adaptive_futex_three: TtasAdaptiveFutex, 1, 3, 1, false;
}
