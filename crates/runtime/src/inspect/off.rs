//! The functions of `settings.rs` in a build without the feature `inspect`: empty.

use crate::shared::Shared;
use sateen_base::prim::Arc;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice;

#[derive(Debug)]
pub(crate) struct Listed;

impl Choice {
    pub(crate) const NOT: Self = Self;

    #[inline(always)]
    pub(crate) fn list(self, _: &Arc<Shared>) -> Listed {
        Listed
    }
}

impl Listed {
    pub(crate) const NOT: Self = Self;
}
