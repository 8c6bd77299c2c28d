//! Adapter for `slab`, with room for all blocks from the start: behind a mutex of std, and
//! unshared.

use super::fixed_size;
use crate::adapter::{Content, Pool};
use crate::error::Error;
use slab::Slab;
use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Behind a mutex.
pub(crate) struct Locked(Mutex<Slab<Content>>);

impl Locked {
    /// Locks the slab. A panic of another thread is reported by that thread.
    fn lock(&self) -> MutexGuard<'_, Slab<Content>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pool for Locked {
    type Handle = usize;
    const BOUNDED: bool = true;

    fn open(capacity: usize, size: usize) -> Result<Self, Error> {
        fixed_size(size)?;
        Ok(Self(Mutex::new(Slab::with_capacity(capacity))))
    }

    #[inline(always)]
    fn take(&self, content: Content) -> Option<usize> {
        Some(self.lock().insert(content))
    }

    #[inline(always)]
    fn give(&self, key: usize) -> Content {
        self.lock().remove(key)
    }

    fn position(&self, key: &usize) -> usize {
        *key
    }

    fn in_use(&self) -> Option<usize> {
        Some(self.lock().len())
    }
}

/// The slab of one thread.
pub(crate) struct Unshared(RefCell<Slab<Content>>);

impl Pool for Unshared {
    type Handle = usize;
    const BOUNDED: bool = true;

    fn open(capacity: usize, size: usize) -> Result<Self, Error> {
        fixed_size(size)?;
        Ok(Self(RefCell::new(Slab::with_capacity(capacity))))
    }

    #[inline(always)]
    fn take(&self, content: Content) -> Option<usize> {
        Some(self.0.borrow_mut().insert(content))
    }

    #[inline(always)]
    fn give(&self, key: usize) -> Content {
        self.0.borrow_mut().remove(key)
    }

    fn position(&self, key: &usize) -> usize {
        *key
    }

    fn in_use(&self) -> Option<usize> {
        Some(self.0.borrow().len())
    }
}
