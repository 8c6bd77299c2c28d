//! The calling thread's number.

use sateen_base::thread_number;

/// What [`thread`] says where threads have no numbers.
pub(crate) const NO_THREAD: u32 = u32::MAX;

/// The calling thread's number: small, and nobody else's while the thread lives. A load.
#[inline(always)]
pub(crate) fn thread() -> u32 {
    thread_number::get_or_assign().unwrap_or(NO_THREAD)
}
