//! Padding against false sharing.

use core::ops::{Deref, DerefMut};

/// A value on its own cache lines.
///
/// It takes 128 bytes, because x86-64 prefetches lines in pairs, and Apple's processors and some
/// ARM servers have lines of that size.
///
/// ```
/// let head = sateen_base::CachePadded::new(0u32);
/// assert_eq!(*head, 0);
/// assert!(std::mem::size_of_val(&head) >= 128);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(128))]
pub struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    /// Pads `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CachePadded<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
