//! Thread numbers without the feature `std`: no thread has one, because thread exits are not known.

/// Numbers are below this.
pub const LIMIT: u32 = 64 * 1024;
/// Returned by [`get`] for a thread without a number; above all array lengths.
pub const NONE: u32 = u32::MAX;

/// Returns [`NONE`].
#[inline(always)]
pub fn get() -> u32 {
    NONE
}

/// Returns `None`, as if all numbers were in use.
#[inline(always)]
pub fn get_or_assign() -> Option<u32> {
    None
}
