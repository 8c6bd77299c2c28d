//! Locks, events and channels for fibers and futures of one thread: `!Send`, without atomics.
//!
//! They are for a runtime on a single thread. A wait suspends the fiber, or is awaited. All waits
//! are first come, first served, and a lock is handed to its next owner.
//!
//! On a thread that runs no fibers, only the blocked code itself could end a blocking wait, so the
//! wait panics instead of hanging. A wait with a time limit lasts until the limit. If there are
//! other fibers, one of them may end the wait; the runtime reports waits that last for ever.
//!
//! A waiter that was handed a permit keeps it even if it does not run: poll or drop futures soon
//! after they were woken.
//!
//! Protocol and proof: the crate's `README.md`, section *Local forms*.
//!
//! # Cost
//! A load and a store where the shared forms have a locked instruction.
//!
//! # Examples
//!
//! They cannot leave their thread:
//!
//! ```compile_fail,E0277
//! fn send<T: Send>(_: T) {}
//! send(sateen::sync::local::Mutex::new(1));
//! ```
//! ```compile_fail,E0277
//! fn share<T: Sync>(_: T) {}
//! share(sateen::sync::local::Event::new());
//! ```
//! ```compile_fail,E0277
//! fn send<T: Send>(_: T) {}
//! send(sateen::sync::local::unbounded::<u8>());
//! ```
//! ```compile_fail,E0277
//! let semaphore = sateen::sync::local::Semaphore::new(1);
//! std::thread::scope(|s| s.spawn(|| semaphore.try_acquire(1).is_ok()).join());
//! ```
//! ```compile_fail,E0277
//! let lock = sateen::sync::local::RwLock::new(1);
//! let guard = lock.read();
//! std::thread::scope(|s| s.spawn(move || drop(guard)).join());
//! ```

mod block;
mod channel;
mod condvar;
mod event;
mod mutex;
mod permits;
mod queue;
mod rwlock;
mod semaphore;

pub use channel::{
    Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError, ZeroCapacity, bounded,
    unbounded,
};
pub use condvar::Condvar;
pub use event::{Event, EventWait};
pub use mutex::{Lock, Mutex, MutexGuard};
pub use rwlock::{Read, RwLock, RwLockReadGuard, RwLockWriteGuard, Write};
pub use semaphore::{Acquire, Semaphore, SemaphoreGuard};
