//! What this crate uses of the facade. Loops of loads and exchanges want the searched atomics.

pub(crate) use sateen_base::const_except_loom;
pub(crate) use sateen_base::prim::searched::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize,
};
pub(crate) use sateen_base::prim::{Arc, Ordering, UnsafeCell};
