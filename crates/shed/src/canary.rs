//! Orderings that canaries weaken: see `tests/canaries.txt`.

use sateen_base::prim::Ordering;

/// `order`; in the canary, relaxed.
#[inline(always)]
pub(crate) const fn relaxed_if(canary: bool, order: Ordering) -> Ordering {
    if canary { Ordering::Relaxed } else { order }
}
