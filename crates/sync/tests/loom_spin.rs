//! Models of the spinlock family: exclusion, and no waiter left behind. Locks that sleep are in
//! `loom_spin_futex.rs`.
#![cfg(loom)]

mod spin_model;

use sateen_sync::spin::{Mcs, Ttas};
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
    ttas_two: Ttas, 3, 2, 2, true;
    ttas_three: Ttas, 1, 3, 1, false;
    mcs_two: Mcs, 2, 2, 2, true;
    mcs_three: Mcs, 2, 3, 1, false;
}
