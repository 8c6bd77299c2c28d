//! What ThreadSanitizer has to be told of reference counts. Only with `cfg(sateen_tsan)`, see `.ci/run deep`.
//!
//! The last owner of a standard `Arc` is ordered after the others by a fence, and the checker knows no
//! fences. So the linker puts this function in the place of the checker's own for subtractions
//! (`--wrap`), and each of them acquires too.

/// `__ATOMIC_ACQ_REL`.
const ACQUIRE_RELEASE: i32 = 4;

unsafe extern "C" {
    #[link_name = "__real___tsan_atomic64_fetch_sub"]
    fn fetch_sub(word: *mut u64, value: u64, order: i32) -> u64;
}

/// A subtraction as the checker sees it, whatever its ordering.
///
/// # Safety
/// As the intrinsic: `word` is valid and aligned.
#[unsafe(export_name = "__wrap___tsan_atomic64_fetch_sub")]
unsafe extern "C" fn subtract(word: *mut u64, value: u64, _: i32) -> u64 {
    // SAFETY: passed on.
    unsafe { fetch_sub(word, value, ACQUIRE_RELEASE) }
}
