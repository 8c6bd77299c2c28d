//! Small numbers for threads: without the feature `std` no thread has one, as its end is not known.

/// Numbers are below this.
pub const LIMIT: u32 = 64 * 1024;
/// The answer of [`get`] for a thread without a number: no array is that long.
pub const NONE: u32 = u32::MAX;

/// [`NONE`].
#[inline(always)]
pub fn get() -> u32 {
    NONE
}

/// `None`, as if all numbers were in use.
#[inline(always)]
pub fn get_or_assign() -> Option<u32> {
    None
}
