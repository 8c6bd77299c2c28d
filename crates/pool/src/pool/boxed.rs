//! Boxes whose memory is a pool's.

use super::Pool;
use crate::{Key, Magazine, Strategy};
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

/// A value in a block of a pool, which the box borrows: like `Box<T>`, but dropping it returns the
/// block to the pool.
///
/// The box owns the value. It can be sent and shared where a `Box<T>` can, if the pool can be
/// shared. A thread that panics with a box drops it by unwinding. A leaked box (`std::mem::forget`)
/// keeps its block as long as the pool lives, and its value is never dropped.
///
/// # Examples
/// A box cannot outlive its pool:
///
/// ```compile_fail,E0505
/// # use sateen::pool::Pool;
/// let pool = Pool::<u32>::new(1)?;
/// let one = pool.try_alloc(1)?;
/// drop(pool);
/// println!("{one}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It can be sent if its value can:
///
/// ```
/// fn sent<B: Send>() {}
/// sent::<sateen::pool::PoolBox<'_, std::cell::Cell<u32>>>();
/// ```
/// ```compile_fail,E0277
/// fn sent<B: Send>() {}
/// sent::<sateen::pool::PoolBox<'_, std::rc::Rc<u32>>>();
/// ```
///
/// A box of a pool that lives for ever is `'static`:
///
/// ```
/// use sateen::pool::{Pool, PoolBox};
/// let pool: &'static Pool<u32> = Box::leak(Box::new(Pool::new(1)?));
/// let one: PoolBox<'static, u32> = pool.try_alloc(1)?;
/// std::thread::spawn(move || assert_eq!(*one, 1)).join().expect("equal");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type PoolBox<'a, T, S = Magazine> = BoxIn<&'a Pool<T, S>>;

/// Like [`PoolBox`], but it keeps its pool alive.
pub type ArcPoolBox<T, S = Magazine> = BoxIn<Arc<Pool<T, S>>>;

/// How a box refers to its pool: by reference or by `Arc`. Implemented for those two only.
pub trait PoolRef: sealed::PoolRef {}

mod sealed {
    use super::{Pool, Strategy};

    /// # Safety
    /// `pool` returns the same pool each time, which lives as long as this reference does.
    pub unsafe trait PoolRef {
        /// What the pool holds.
        type Value;
        /// How the pool finds its blocks.
        type Strategy: Strategy;
        fn pool(&self) -> &Pool<Self::Value, Self::Strategy>;
    }
}

impl<T, S: Strategy> PoolRef for &Pool<T, S> {}

// SAFETY: a shared reference.
unsafe impl<T, S: Strategy> sealed::PoolRef for &Pool<T, S> {
    type Value = T;
    type Strategy = S;

    #[inline(always)]
    fn pool(&self) -> &Pool<T, S> {
        self
    }
}

impl<T, S: Strategy> PoolRef for Arc<Pool<T, S>> {}

// SAFETY: a reference count of the pool.
unsafe impl<T, S: Strategy> sealed::PoolRef for Arc<Pool<T, S>> {
    type Value = T;
    type Strategy = S;

    #[inline(always)]
    fn pool(&self) -> &Pool<T, S> {
        self
    }
}

/// A block without a value. Dropping it returns the block.
pub(super) struct Block<P: PoolRef> {
    at: NonNull<P::Value>,
    pool: P,
}

impl<P: PoolRef> Block<P> {
    /// Takes a free block.
    #[inline]
    pub(super) fn take(pool: P) -> Option<Self> {
        let at = pool.pool().chunks.take()?.cast();
        Some(Self { at, pool })
    }

    /// # Safety
    /// `at` is a block of `pool` that belongs to the caller.
    #[inline]
    pub(super) unsafe fn from_raw(at: NonNull<P::Value>, pool: P) -> Self {
        Self { at, pool }
    }

    pub(super) fn key(&self) -> Key {
        self.pool.pool().key_of(self.at)
    }

    #[inline]
    pub(super) fn fill(self, value: P::Value) -> BoxIn<P> {
        // SAFETY: a block has room for a value; this thread owns this one, and it holds no value.
        unsafe { self.at.write(value) };
        BoxIn { block: self }
    }
}

impl<P: PoolRef> Drop for Block<P> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: taken from this pool (`take`, or the promise of `from_raw`); this was its only
        // owner.
        unsafe { self.pool.pool().chunks.give(self.at.cast()) };
    }
}

/// The type behind [`PoolBox`] and [`ArcPoolBox`]: `P` is the reference to the pool.
pub struct BoxIn<P: PoolRef> {
    /// Dropped after the value, even if the value's drop panics.
    block: Block<P>,
}

// SAFETY: the box owns its value alone, as `Box` does, and `P: Send` covers the reference to the
// pool.
unsafe impl<P: PoolRef + Send> Send for BoxIn<P> where P::Value: Send {}
// SAFETY: a shared box gives out only shared references to its value.
unsafe impl<P: PoolRef + Sync> Sync for BoxIn<P> where P::Value: Sync {}

impl<P: PoolRef> BoxIn<P> {
    /// # Safety
    /// `at` is a block of `pool` that belongs to the caller, with a value in it.
    #[inline]
    pub(super) unsafe fn from_raw(at: NonNull<P::Value>, pool: P) -> Self {
        // SAFETY: passed on.
        let block = unsafe { Block::from_raw(at, pool) };
        Self { block }
    }

    /// The block, with the value still in it and no owner to drop it.
    #[inline]
    fn into_block(this: Self) -> Block<P> {
        let this = ManuallyDrop::new(this);
        // SAFETY: read once, as the original is not dropped.
        unsafe { std::ptr::read(&this.block) }
    }

    /// Takes the value out of its block, which is free then.
    ///
    /// ```
    /// # use sateen::pool::{Pool, PoolBox};
    /// let pool = Pool::<String>::new(1)?;
    /// let name = pool.try_alloc("name".to_owned())?;
    /// assert_eq!(PoolBox::into_inner(name), "name");
    /// assert_eq!(pool.in_use(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn into_inner(this: Self) -> P::Value {
        let block = Self::into_block(this);
        // SAFETY: a box's block holds a value, and this one is not used again.
        unsafe { block.at.read() }
    }

    /// Makes the value an entry of the pool, found by the key. It does not move.
    ///
    /// ```
    /// # use sateen::pool::{Pool, PoolBox};
    /// let pool = Pool::<u32>::new(1)?;
    /// let key = PoolBox::into_key(pool.try_alloc(7)?);
    /// assert_eq!(*pool.get(key).expect("there"), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn into_key(this: Self) -> Key {
        let block = ManuallyDrop::new(Self::into_block(this));
        let key = block.key();
        // SAFETY: read once, as the original is not dropped. The block is the table's from here on.
        let pool = unsafe { std::ptr::read(&block.pool) };
        pool.pool().publish(block.at);
        key
    }
}

impl<P: PoolRef> Drop for BoxIn<P> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the block holds a value, which only this drops. The block itself is returned
        // after that.
        unsafe { self.block.at.drop_in_place() };
    }
}

impl<P: PoolRef> Deref for BoxIn<P> {
    type Target = P::Value;

    #[inline]
    fn deref(&self) -> &P::Value {
        // SAFETY: the block holds a value that is this box's alone.
        unsafe { self.block.at.as_ref() }
    }
}

impl<P: PoolRef> DerefMut for BoxIn<P> {
    #[inline]
    fn deref_mut(&mut self) -> &mut P::Value {
        // SAFETY: as in `deref`, and this box is borrowed mutably.
        unsafe { self.block.at.as_mut() }
    }
}

impl<P: PoolRef> fmt::Debug for BoxIn<P>
where
    P::Value: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        P::Value::fmt(self, f)
    }
}

impl<P: PoolRef> fmt::Display for BoxIn<P>
where
    P::Value: fmt::Display,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        P::Value::fmt(self, f)
    }
}
