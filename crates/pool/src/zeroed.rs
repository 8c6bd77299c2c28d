//! Arrays that begin as zeros and whose pages cost nothing until they are touched.

#[cfg(not(loom))]
use sateen_base::os::Mapping;
use std::fmt;
use std::io;
use std::ops::Deref;

/// Types whose values may begin as zeros.
///
/// # Safety
/// 1. All bytes zero is a value, the one that `zero` makes.
/// 2. Leaving values undropped leaks nothing.
/// 3. The alignment is at most that of a page.
pub(crate) unsafe trait Zero {
    /// The value of all zeros: the model's atomics must be made one by one.
    #[cfg(loom)]
    fn zero() -> Self;
}

/// An array in memory straight from the system, whose pages are not resident before they are
/// touched.
pub(crate) struct Zeroed<T> {
    #[cfg(not(loom))]
    base: std::ptr::NonNull<T>,
    #[cfg(not(loom))]
    len: usize,
    /// Only kept: dropping it frees the memory.
    #[cfg(not(loom))]
    _memory: Mapping,
    #[cfg(loom)]
    all: Box<[T]>,
}

// SAFETY: this value owns the array alone, like a box.
unsafe impl<T: Send> Send for Zeroed<T> {}
// SAFETY: as above; only shared references are given out.
unsafe impl<T: Sync> Sync for Zeroed<T> {}

impl<T: Zero> Zeroed<T> {
    /// `len` zeros.
    #[cfg(not(loom))]
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        let bytes = len
            .checked_mul(size_of::<T>())
            .and_then(|b| b.max(1).checked_next_multiple_of(Mapping::PAGE));
        let memory = Mapping::reserve(bytes.ok_or(io::ErrorKind::OutOfMemory)?)?;
        Ok(Self { base: memory.base().cast(), len, _memory: memory })
    }

    /// `len` zeros.
    #[cfg(loom)]
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        Ok(Self { all: (0..len).map(|_| T::zero()).collect() })
    }
}

impl<T> Deref for Zeroed<T> {
    type Target = [T];

    #[cfg(not(loom))]
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: mapped as long as `self` lives, for at least `len` values; zeros are values
        // (`Zero`).
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }

    #[cfg(loom)]
    fn deref(&self) -> &[T] {
        &self.all
    }
}

impl<T> fmt::Debug for Zeroed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.deref().len())
    }
}
