//! What this crate uses of the facade: loops of loads and exchanges want the searched atomics.

pub(crate) use sateen_base::prim::searched::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64};
pub(crate) use sateen_base::prim::{Arc, Ordering, UnsafeCell, fence, spin_loop};
