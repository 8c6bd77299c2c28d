//! The index range of `par_for`.

use std::ops::Range;

/// A `Range<usize>`. It is a trait so that `par_for` on a non-range has a clear compile error. The
/// trait cannot be named outside.
#[diagnostic::on_unimplemented(
    message = "`par_for` takes a `Range<usize>`; `{Self}` may have `par_iter` or `par_iter_mut`"
)]
pub trait Indices: Sized {
    /// `usize`.
    type Index;

    #[doc(hidden)]
    fn range(self) -> Range<usize>;

    #[doc(hidden)]
    fn index(index: usize) -> Self::Index;
}

impl Indices for Range<usize> {
    type Index = usize;

    #[inline]
    fn range(self) -> Self {
        self
    }

    #[inline(always)]
    fn index(index: usize) -> usize {
        index
    }
}
