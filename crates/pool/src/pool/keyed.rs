//! Entries that are found by key.
//!
//! A key is an index and a generation. The generation is the slot's, plus the pool's number, so
//! that keys of other pools are refused too. The protocol is in `state.rs`, the proof in the
//! crate's README.

use super::boxed::{Block, BoxIn};
use super::state::Removed;
use super::{Pool, PoolBox};
use crate::{Full, Strategy};
use std::fmt;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::ptr::NonNull;

/// The name of an entry of a pool. Once the entry is removed, the key finds nothing.
///
/// | Bits | Field |
/// |---|---|
/// | 63..32 | generation: entries that the slot has had, plus the pool's number |
/// | 31..0 | index of the slot, plus 1 |
///
/// Whatever the bits, a pool returns the entry of that slot and generation, or none. A stale key
/// finds another entry only after 2^32 entries in the same slot. A key of another pool of this
/// process is refused if no slot of either has had more than 2^32 / 3n entries, where n pools were
/// made, 60,000 at most: their numbers lie that far apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Key(NonZeroU64);

impl Key {
    #[inline]
    fn new(index: usize, generation: u32) -> Self {
        let low = index as u64 + 1;
        debug_assert!(low <= u64::from(u32::MAX), "pools with keys have fewer than 2^32 blocks");
        let bits = u64::from(generation) << 32 | low;
        Self(NonZeroU64::new(bits).expect("the index plus 1 is not 0"))
    }

    /// The key as a number, for a C interface or a tag on an event.
    ///
    /// ```
    /// # use sateen::pool::{Key, Pool};
    /// let pool = Pool::<u32>::new(8)?;
    /// let key = pool.insert(5)?;
    /// assert_eq!(Key::from_bits(key.to_bits()), Some(key));
    /// assert_eq!(Key::from_bits(0), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0.get()
    }

    /// The key with that number; `None` if no key has it. Every key made this way is safe to use.
    #[inline]
    #[must_use]
    pub fn from_bits(bits: u64) -> Option<Self> {
        let key = NonZeroU64::new(bits).map(Self);
        key.filter(|_| bits as u32 != 0)
    }

    fn index(self) -> usize {
        self.to_bits() as u32 as usize - 1
    }

    fn generation(self) -> u32 {
        (self.to_bits() >> 32) as u32
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({}, {:#010x})", self.index(), self.generation())
    }
}

/// A reference to an entry. The entry is not dropped while a reference exists; if it is removed
/// meanwhile, the last reference drops it.
///
/// A leaked reference keeps its entry as long as the pool lives.
pub struct Ref<'a, T, S: Strategy> {
    at: NonNull<T>,
    key: Key,
    pool: &'a Pool<T, S>,
}

// SAFETY: it gives out `&T`, and drops the value if it is the last: `T` must allow both on any
// thread. `S` as for sharing the pool.
unsafe impl<T: Send + Sync, S: Strategy + Send + Sync> Send for Ref<'_, T, S> {}
// SAFETY: a shared reference gives out only `&T`.
unsafe impl<T: Send + Sync, S: Strategy + Send + Sync> Sync for Ref<'_, T, S> {}

impl<T, S: Strategy> Ref<'_, T, S> {
    /// The entry's key.
    #[must_use]
    pub fn key(this: &Self) -> Key {
        this.key
    }
}

impl<T, S: Strategy> Deref for Ref<'_, T, S> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: no thread changes or drops the value while this guard is counted.
        unsafe { self.at.as_ref() }
    }
}

impl<T, S: Strategy> Drop for Ref<'_, T, S> {
    #[inline]
    fn drop(&mut self) {
        if self.pool.state(self.at).leave() {
            // SAFETY: the last guard of a removed entry owns the block and the value in it.
            drop(unsafe { BoxIn::from_raw(self.at, self.pool) });
        }
    }
}

impl<T: fmt::Debug, S: Strategy> fmt::Debug for Ref<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        T::fmt(self, f)
    }
}

/// Entries found by [`Key`]: a table without a lock.
///
/// Each operation costs one exchange on the entry's own word, besides taking or returning the
/// block. `contains`, and operations with `&mut self`, cost none.
///
/// Only pools whose blocks lie in their own memory have keys:
///
/// ```compile_fail,E0080
/// # use sateen_pool as pool;
/// # use pool::{Allocate, Blocks, BuildError};
/// # use std::ptr::NonNull;
/// # struct Elsewhere;
/// # unsafe impl Allocate for Elsewhere {
/// #     const NAME: &'static str = "elsewhere";
/// #     const OWN_MEMORY: bool = false;
/// #     fn new(_: &Blocks) -> Result<Self, BuildError> { Ok(Self) }
/// #     unsafe fn take(&self, _: &Blocks) -> Option<NonNull<u8>> { None }
/// #     unsafe fn give(&self, _: &Blocks, _: NonNull<u8>) {}
/// #     fn in_use(&self, _: &Blocks) -> usize { 0 }
/// #     fn bookkeeping(&self) -> usize { 0 }
/// # }
/// let pool = pool::Pool::<u32, Elsewhere>::new(8).unwrap();
/// pool.insert(5).unwrap();
/// ```
impl<T, S: Strategy> Pool<T, S> {
    /// Puts `value` into the pool. Returns its key.
    ///
    /// ```
    /// # use sateen::pool::Pool;
    /// let pool = Pool::<&str>::new(8)?;
    /// let key = pool.insert("here")?;
    /// assert_eq!(pool.get(key).as_deref(), Some(&"here"));
    /// assert!(pool.remove(key));
    /// assert!(pool.get(key).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Full`], with the value, if no block was found free.
    #[inline]
    pub fn insert(&self, value: T) -> Result<Key, Full<T>> {
        self.try_alloc(value).map(PoolBox::into_key)
    }

    /// Puts the value that `make` returns into the pool. `make` gets its key, which finds nothing
    /// yet.
    ///
    /// ```
    /// # use sateen::pool::{Key, Pool};
    /// struct Session {
    ///     id: Key,
    /// }
    /// let pool = Pool::<Session>::new(8)?;
    /// let id = pool.insert_with(|id| Session { id }).expect("room");
    /// assert_eq!(pool.get(id).expect("there").id, id);
    /// # Ok::<(), sateen::pool::BuildError>(())
    /// ```
    ///
    /// # Errors
    /// [`Full`], with the closure, which has not run, if no block was found free.
    pub fn insert_with<F: FnOnce(Key) -> T>(&self, make: F) -> Result<Key, Full<F>> {
        let Some(block) = Block::take(self) else { return Err(self.full(make)) };
        let key = block.key();
        Ok(PoolBox::into_key(block.fill(make(key))))
    }

    /// Whether there is an entry with that key, at this moment.
    #[inline]
    pub fn contains(&self, key: Key) -> bool {
        self.find(key).is_some_and(|at| self.state(at).is_live(self.generation_of(key)))
    }

    /// Removes the entry with that key. Returns whether there was one. The value is dropped here,
    /// or by the last [`Ref`] to it.
    ///
    /// # Panics
    /// If the value's drop panics. The block is free all the same.
    pub fn remove(&self, key: Key) -> bool {
        match self.unlink(key, true) {
            Removed::Stale => false,
            Removed::Guarded => true,
            Removed::Last => {
                // SAFETY: the entry was live, so there is a block with a value; it is the caller's
                // now.
                drop(self.find(key).map(|at| unsafe { BoxIn::from_raw(at, self) }));
                true
            }
        }
    }

    /// Takes out the entry with that key, as a box. `None` if there is none, or if there are
    /// references to it: then it stays.
    ///
    /// ```
    /// # use sateen::pool::{Pool, PoolBox};
    /// let pool = Pool::<u32>::new(8)?;
    /// let key = pool.insert(5)?;
    /// let guard = pool.get(key);
    /// assert!(pool.take(key).is_none());
    /// drop(guard);
    /// assert_eq!(pool.take(key).map(PoolBox::into_inner), Some(5));
    /// assert!(pool.take(key).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take(&self, key: Key) -> Option<PoolBox<'_, T, S>> {
        match self.unlink(key, false) {
            // SAFETY: the entry was live, so there is a block with a value; it is the caller's now.
            Removed::Last => self.find(key).map(|at| unsafe { BoxIn::from_raw(at, self) }),
            Removed::Stale | Removed::Guarded => None,
        }
    }

    /// The entry with that key, without counting a reference.
    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let mut at = self.find(key)?;
        if !self.state(at).is_live(self.generation_of(key)) {
            return None;
        }
        // SAFETY: a live entry holds a value. The pool is borrowed mutably, so there is no other
        // reference (a leaked guard is gone as a reference).
        Some(unsafe { at.as_mut() })
    }

    /// All entries, in the order of their slots. Looks at every block of the pool.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        let pool = &*self;
        pool.slots().filter(|at| pool.state(*at).is_entry()).map(|mut at| {
            // SAFETY: as in `get_mut`, and each slot comes once.
            (pool.key_of(at), unsafe { at.as_mut() })
        })
    }

    fn unlink(&self, key: Key, guarded: bool) -> Removed {
        let removed = |at| self.state(at).remove(self.generation_of(key), guarded);
        self.find(key).map_or(Removed::Stale, removed)
    }

    /// Evaluated wherever a key is made or looked up.
    const HAS_KEYS: () =
        assert!(S::OWN_MEMORY, "pools whose blocks keep nothing while free have no keys");

    /// The slot that a key names, whatever is in it.
    #[inline]
    fn find(&self, key: Key) -> Option<NonNull<T>> {
        let () = Self::HAS_KEYS;
        self.chunks.at(key.index()).map(NonNull::cast)
    }

    #[inline]
    fn generation_of(&self, key: Key) -> u32 {
        key.generation().wrapping_sub(self.number)
    }

    #[inline]
    pub(super) fn key_of(&self, at: NonNull<T>) -> Key {
        let () = Self::HAS_KEYS;
        let generation = self.state(at).generation().wrapping_add(self.number);
        Key::new(self.chunks.index_of(at.cast()), generation)
    }

    /// Makes the value at `at`, which the caller owns, an entry of the table.
    #[inline]
    pub(super) fn publish(&self, at: NonNull<T>) {
        self.note_keyed();
        self.state(at).publish();
    }
}

impl<T: Sync, S: Strategy> Pool<T, S> {
    /// A reference to the entry with that key. The entry is not dropped while the reference exists.
    ///
    /// # Panics
    /// If there are 2^31 - 1 references to it (leaked ones, in all likelihood).
    #[inline]
    pub fn get(&self, key: Key) -> Option<Ref<'_, T, S>> {
        let at = self.find(key)?;
        if !self.state(at).enter(self.generation_of(key)) {
            return None;
        }
        Some(Ref { at, key, pool: self })
    }
}
