//! Adapter for `sharded-slab`, with its default settings: it grows in use, in pages of each thread.

use super::fixed_size;
use crate::adapter::{Content, Pool};
use crate::error::Error;
use sharded_slab::Slab;

/// The slab.
pub(crate) struct Sharded(Slab<Content>);

impl Pool for Sharded {
    type Handle = usize;
    const BOUNDED: bool = false;

    fn open(_capacity: usize, size: usize) -> Result<Self, Error> {
        fixed_size(size)?;
        Ok(Self(Slab::new()))
    }

    #[inline(always)]
    fn take(&self, content: Content) -> Option<usize> {
        self.0.insert(content)
    }

    #[inline(always)]
    fn give(&self, key: usize) -> Content {
        // If a key is gone, its block was handed out twice, and the content tells.
        self.0.take(key).unwrap_or([u32::MAX; 3])
    }

    fn position(&self, key: &usize) -> usize {
        *key
    }

    fn in_use(&self) -> Option<usize> {
        None
    }
}
