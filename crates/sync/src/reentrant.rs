//! A mutex that its holder may lock again.

use crate::mutex::RawMutex;
use crate::park;
use std::num::NonZeroUsize;

/// A mutex that its holder may lock again, as often as it unlocks. It gives shared access only: a `Cell`
/// or `RefCell` inside makes the value mutable.
///
/// The holder is the calling context: a task of a runtime (wherever its thread serves others meanwhile),
/// otherwise the thread. So guards are not `Send`, and there is no awaited form: a future has no place to
/// which it is bound. The type and its guards are `lock_api`'s.
///
/// Cancelling a task does not end its wait for the lock, as for [`RwLock`](crate::RwLock), but one with a time limit.
///
/// # Panics
/// Locking panics if it is locked `usize::MAX` times.
///
/// ```
/// use sateen_sync::ReentrantMutex;
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
/// let mutex = sateen_sync::ReentrantMutex::new(());
/// let guard = mutex.lock();
/// std::thread::scope(|s| s.spawn(|| drop(guard)).join().unwrap());
/// ```
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, ContextId, T>;
/// Access to the value of a locked [`ReentrantMutex`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, ContextId, T>;
/// Access to a part of the value of a locked [`ReentrantMutex`].
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, RawMutex, ContextId, T>;

/// Tells [`ReentrantMutex`] who asks: [`context_id`](park::context_id).
#[derive(Debug)]
pub struct ContextId;

// SAFETY: contexts that may use one guard are one context: guards are not `Send`, and a context's number
// stays with it. Another's is different for as long as both live, and never 0.
unsafe impl lock_api::GetThreadId for ContextId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        let id = park::context_id();
        #[cfg(target_pointer_width = "64")]
        let id = id as usize;
        // The top bit tells threads from tasks; the numbers below it must fit.
        #[cfg(not(target_pointer_width = "64"))]
        let id = {
            let (thread, number) = ((id >> 63) as usize, id & (u64::MAX >> 1));
            let number = usize::try_from(number).ok().filter(|n| *n <= usize::MAX >> 1);
            thread << (usize::BITS - 1) | number.expect("less than 2^31 contexts on 32 bits")
        };
        NonZeroUsize::new(id).expect("numbers of contexts are not 0")
    }
}
