//! Panics that go nowhere.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops `value`; a panic in its destructor ends here, and so does one in the panic's own payload.
#[cold]
#[inline(never)]
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Its destructor may panic as well, and there is no end to that: leak it.
        std::mem::forget(payload);
    }
}

/// Calls `f` for its effects; whatever comes of it is discarded.
#[cold]
#[inline(never)]
pub(crate) fn run_and_discard<R>(f: impl FnOnce() -> R) {
    discard(catch_unwind(AssertUnwindSafe(f)));
}
