//! An index or none in four bytes, as it stands in heads and links.

use core::num::NonZero;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU32;

/// The index of a slot or of a dependency, or none.
///
/// As bits it is the index plus one, and 0 for none: so zeroed memory holds empty lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptIndex(Option<NonZero<u32>>);

impl OptIndex {
    pub(crate) const NONE: Self = Self(None);

    #[inline(always)]
    pub(crate) const fn some(index: u32) -> Self {
        Self(NonZero::new(index + 1))
    }

    #[inline(always)]
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(NonZero::new(bits))
    }

    #[inline(always)]
    pub(crate) const fn to_bits(self) -> u32 {
        match self.0 {
            Some(bits) => bits.get(),
            None => 0,
        }
    }

    #[inline(always)]
    pub(crate) const fn get(self) -> Option<u32> {
        match self.0 {
            Some(bits) => Some(bits.get() - 1),
            None => None,
        }
    }

    #[inline(always)]
    pub(crate) const fn is_none(self) -> bool {
        self.0.is_none()
    }

    /// The index, where the caller knows that there is one.
    #[inline(always)]
    pub(crate) const fn index(self) -> u32 {
        debug_assert!(self.0.is_some());
        self.to_bits().wrapping_sub(1)
    }
}

/// Which index follows another one in a list.
///
/// All accesses are relaxed: the head of the list publishes the links behind it.
#[repr(transparent)]
pub(crate) struct Link(AtomicU32);

impl Link {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> OptIndex {
        OptIndex::from_bits(self.0.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(crate) fn set(&self, next: OptIndex) {
        self.0.store(next.to_bits(), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn zero_is_none_and_an_index_takes_four_bytes() {
        assert_eq!(OptIndex::from_bits(0), OptIndex::NONE);
        assert_eq!(OptIndex::NONE.get(), None);
        assert_eq!((OptIndex::some(7).to_bits(), OptIndex::some(7).get()), (8, Some(7)));
        assert_eq!(size_of::<OptIndex>(), 4);
    }
}
