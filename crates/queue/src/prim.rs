//! What this crate uses of the facade: loops of loads and exchanges want the searched atomics.

pub(crate) use sateen_base::prim::searched::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
};
pub(crate) use sateen_base::prim::{Arc, Ordering, UnsafeCell};

/// Declares a constructor that is `const`, except in models, whose atomics are made when the program runs.
macro_rules! const_except_loom {
    ($(#[$meta:meta])* $vis:vis const fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $vis const fn $($rest)*
        #[cfg(loom)]
        $(#[$meta])*
        $vis fn $($rest)*
    };
}
pub(crate) use const_except_loom;
