//! A mutex that its holder may lock again.

use crate::hook;
use crate::mutex::RawMutex;
use std::num::NonZeroUsize;

/// A mutex that its holder may lock again; it unlocks as often. It gives shared access only: a
/// `Cell` or `RefCell` inside makes the value mutable.
///
/// The holder is the calling context: a task of a runtime (even while its thread serves others),
/// one poll of a spawned future, a branch that another worker took, or else the thread. So guards
/// are not `Send`, and there is no awaited form: a future is bound to no context. The type and its
/// guards are those of `lock_api`.
///
/// A mutex whose guard was forgotten stays locked: its holder may lock it again, all others never.
///
/// As for [`RwLock`](crate::RwLock), cancelling a task ends its wait for the lock only if that has
/// a time limit.
///
/// # Panics
/// Locking panics if it is locked `usize::MAX` times.
///
/// # Examples
///
/// ```
/// use sateen::sync::ReentrantMutex;
/// use std::cell::Cell;
///
/// let depth = ReentrantMutex::new(Cell::new(0));
/// let outer = depth.lock();
/// let inner = depth.lock();
/// inner.set(outer.get() + 1);
/// std::thread::scope(|s| s.spawn(|| assert!(depth.try_lock().is_none())).join().unwrap());
/// ```
///
/// ```compile_fail,E0277
/// let mutex = sateen::sync::ReentrantMutex::new(());
/// let guard = mutex.lock();
/// std::thread::scope(|s| s.spawn(|| drop(guard)).join().unwrap());
/// ```
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, ContextId, T>;
/// Access to the value of a locked [`ReentrantMutex`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, ContextId, T>;
/// Access to a part of the value of a locked [`ReentrantMutex`].
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, RawMutex, ContextId, T>;

/// The number by which [`ReentrantMutex`] knows its caller: that of the context's
/// [`Identity`](crate::park::Identity).
#[derive(Debug)]
pub struct ContextId;

// SAFETY: a number belongs to one identity of the process, and an identity to one thread. So
// threads get different numbers, both at the same time and one after another. A context keeps its
// identity from its beginning to its end. Guards are not `Send`, so where one is used, the number
// is that of the lock.
unsafe impl lock_api::GetThreadId for ContextId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        let number = usize::try_from(hook::identity()).ok().and_then(NonZeroUsize::new);
        number.expect("as many contexts lock re-entrant mutexes as there are words")
    }
}
