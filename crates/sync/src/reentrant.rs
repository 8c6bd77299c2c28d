//! A re-entrant mutex.

use crate::hook;
use crate::mutex::RawMutex;
use std::num::NonZeroUsize;

/// A mutex that its holder may lock again; it must unlock as often. It gives only shared access: a
/// `Cell` or `RefCell` inside makes the value mutable.
///
/// The holder is the calling context: a task of a runtime (even while its thread serves others),
/// one poll of a spawned future, a branch that another worker took, or else the thread. So guards
/// are not `Send`. There is no awaited form, because a future is bound to no context. The type and
/// its guards are those of `lock_api`.
///
/// A mutex whose guard was forgotten stays locked: its holder may lock it again, others never.
///
/// As for [`RwLock`](crate::RwLock), cancelling a task ends its wait for the lock only if the wait
/// has a time limit.
///
/// # Panics
/// If it is locked `usize::MAX` times.
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

/// The number by which a [`ReentrantMutex`] identifies its caller: that of the context's
/// [`Identity`](crate::park::Identity).
#[derive(Debug)]
pub struct ContextId;

// SAFETY: each number belongs to one identity of the process, and each identity to one thread. So
// different threads never have the same number, even one after another. A context keeps its
// identity from its beginning to its end. Guards are not `Send`, so wherever a guard is used, the
// number is that of the lock.
unsafe impl lock_api::GetThreadId for ContextId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        let number = usize::try_from(hook::identity()).ok().and_then(NonZeroUsize::new);
        number.expect("as many contexts lock re-entrant mutexes as there are words")
    }
}
