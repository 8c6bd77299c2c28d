//! Where the blocks of a pool lie.

use crate::BuildError;
use sateen_base::os::Mapping;
use std::alloc::Layout;
use std::ptr::NonNull;

/// The blocks' memory, straight from the system: zeroed, and not resident before it is touched.
#[derive(Debug)]
pub struct Blocks {
    base: NonNull<u8>,
    stride: usize,
    capacity: usize,
    layout: Layout,
    /// The stride's power of two, and the inverse of its odd part modulo 2^64. With these, dividing
    /// a multiple of the stride by the stride is a shift and a multiplication.
    shift: u32,
    inverse: usize,
    /// Only kept: dropping it frees the memory.
    _memory: Option<Mapping>,
}

// SAFETY: addresses and numbers; the memory behind them is the strategy's to share.
unsafe impl Send for Blocks {}
// SAFETY: as above.
unsafe impl Sync for Blocks {}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the correct
/// bits.
const fn inverse(odd: usize) -> usize {
    let mut x = odd; // Correct to 3 bits.
    let mut i = 0;
    while i < 5 {
        x = x.wrapping_mul(2usize.wrapping_sub(odd.wrapping_mul(x)));
        i += 1;
    }
    x
}

impl Blocks {
    /// Memory for `capacity` blocks of at least `size` bytes, aligned to `align`; none if the
    /// strategy has its own (`owned` is false).
    pub(crate) fn new(
        capacity: usize,
        size: usize,
        align: usize,
        least: usize,
        owned: bool,
    ) -> Result<Self, BuildError> {
        if capacity == 0 {
            return Err(BuildError::ZeroCapacity);
        }
        if size == 0 {
            return Err(BuildError::ZeroSize);
        }
        if !align.is_power_of_two() {
            return Err(BuildError::Alignment(align));
        }
        let overflow = BuildError::Overflow { capacity, size, align };
        let layout = Layout::from_size_align(size, align).map_err(|_| overflow)?;
        let padded = Layout::from_size_align(size.max(least), align).map_err(|_| overflow)?;
        let stride = padded.pad_to_align().size();
        let bytes = stride.checked_mul(capacity).ok_or(overflow)?;
        // One more page for alignments that the system does not give.
        let extra = if align > Mapping::PAGE { align } else { 0 };
        let whole =
            bytes.checked_add(extra).and_then(|b| b.checked_next_multiple_of(Mapping::PAGE));
        let whole = whole.filter(|b| *b <= isize::MAX as usize / 2).ok_or(overflow)?;
        let memory = match owned {
            true => Some(Mapping::reserve(whole).map_err(|_| BuildError::OutOfMemory { bytes })?),
            false => None,
        };
        let base = memory.as_ref().map_or(NonNull::dangling(), |m| {
            let low = m.base();
            // SAFETY: less than `extra` bytes on, which were reserved for this.
            unsafe { low.add(low.align_offset(align)) }
        });
        let shift = stride.trailing_zeros();
        let inverse = inverse(stride >> shift);
        Ok(Self { base, stride, capacity, layout, shift, inverse, _memory: memory })
    }

    /// The number of blocks.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Size and alignment of a block, as asked for.
    #[inline(always)]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Bytes from one block to the next.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Block `index`.
    ///
    /// # Panics
    /// If the index is not below the capacity.
    #[inline]
    pub fn at(&self, index: usize) -> NonNull<u8> {
        assert!(index < self.capacity, "block {index} of {}", self.capacity);
        // SAFETY: below the capacity.
        unsafe { self.block(index) }
    }

    /// Block `index`.
    ///
    /// # Safety
    /// The index is below the capacity.
    #[inline(always)]
    pub unsafe fn block(&self, index: usize) -> NonNull<u8> {
        debug_assert!(index < self.capacity, "block {index} of {}", self.capacity);
        // SAFETY: within the memory, as the index is below the capacity.
        unsafe { self.base.add(index * self.stride) }
    }

    /// The index of a block of this pool.
    #[inline(always)]
    pub fn index_of(&self, block: NonNull<u8>) -> usize {
        debug_assert!(self.contains(block), "{block:p} is no block of this pool");
        let offset = block.as_ptr() as usize - self.base.as_ptr() as usize;
        (offset >> self.shift).wrapping_mul(self.inverse)
    }

    /// Whether `address` lies within the blocks' memory.
    #[inline]
    pub fn spans(&self, address: NonNull<u8>) -> bool {
        let offset = (address.as_ptr() as usize).wrapping_sub(self.base.as_ptr() as usize);
        offset < self.stride * self.capacity
    }

    /// Whether `block` is the address of a block of this pool.
    pub fn contains(&self, block: NonNull<u8>) -> bool {
        let offset = (block.as_ptr() as usize).wrapping_sub(self.base.as_ptr() as usize);
        offset < self.stride * self.capacity && offset.is_multiple_of(self.stride)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn indices_and_addresses_match() {
        for (size, align) in [(1, 1), (12, 4), (12, 8), (24, 8), (100, 4), (4096, 8192), (7, 1)] {
            let blocks = Blocks::new(1000, size, align, 1, true).expect("memory");
            for index in [0, 1, 7, 500, 999] {
                let block = blocks.at(index);
                assert!((block.as_ptr() as usize).is_multiple_of(align) && blocks.contains(block));
                assert_eq!(blocks.index_of(block), index, "{size} {align}");
            }
            // SAFETY: no access, and at most one past the end.
            assert!(!blocks.contains(unsafe { blocks.at(999).add(blocks.stride()) }));
        }
    }

    #[test]
    fn what_cannot_be_is_an_error_with_its_value() {
        let error = |capacity, size, align| {
            Blocks::new(capacity, size, align, 1, true).expect_err("refused")
        };
        assert_eq!(error(0, 8, 8), BuildError::ZeroCapacity);
        assert_eq!(error(8, 0, 8), BuildError::ZeroSize);
        assert_eq!(error(8, 8, 0), BuildError::Alignment(0));
        assert_eq!(error(8, 8, 24), BuildError::Alignment(24));
        let huge = BuildError::Overflow { capacity: usize::MAX, size: 8, align: 8 };
        assert_eq!(error(usize::MAX, 8, 8), huge);
        #[cfg(target_pointer_width = "64")]
        assert!(
            matches!(error(1 << 45, 64, 8), BuildError::OutOfMemory { bytes } if bytes == 1 << 51)
        );
        assert!(huge.to_string().contains(&format!("{} blocks of 8 bytes", usize::MAX)));
    }
}
