//! What `par_for` goes through.

use std::ops::Range;

/// A `Range<usize>`. Were it no trait, the compiler would speak of the closure's argument first
/// when a loop is given something else. Nobody else can name it.
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
