//! The functions of `on.rs` in a build without the feature `tracing`: empty.

use crate::task::Header;

#[derive(Debug)]
pub(crate) struct OfTask;

impl OfTask {
    pub(crate) const fn new() -> Self {
        Self
    }
}

/// # Safety
/// None.
#[inline(always)]
pub(crate) unsafe fn make(_: &Header) {}

/// # Safety
/// None.
#[inline(always)]
pub(crate) unsafe fn close(_: &Header) {}

pub(crate) struct Left;

#[inline(always)]
pub(crate) fn leave() -> Left {
    Left
}

impl Left {
    #[inline(always)]
    pub(crate) fn enter(self) {}
}

pub(crate) struct Inside;

/// # Safety
/// None.
#[inline(always)]
pub(crate) unsafe fn enter(_: *const Header) -> Inside {
    Inside
}
