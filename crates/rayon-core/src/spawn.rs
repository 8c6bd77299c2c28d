//! Jobs that nobody waits for.

use crate::registry::{Registry, run_detached};
use std::sync::Arc;

/// Runs `func` some time, on a thread of the caller's pool, or of the global one.
///
/// On a thread of the pool the youngest spawn runs first, unless another thread steals the oldest.
/// The pool does not end before `func` has run, even if its handle is dropped.
///
/// # Panics
/// A panic in `func` goes to the [panic handler](crate::ThreadPoolBuilder::panic_handler). Without
/// one it ends the process.
///
/// ```
/// use std::sync::mpsc::channel;
/// let (sender, receiver) = channel();
/// rayon_core::spawn(move || sender.send(1).unwrap());
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
pub fn spawn<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    Registry::current().spawn(func);
}

/// [`spawn`] for jobs that run in the order in which a thread spawns them.
///
/// The order holds among the `spawn_fifo`s of one thread, for their starts. Between threads, or
/// with other spawns, there is none.
///
/// # Panics
/// As [`spawn`].
///
/// ```
/// use std::sync::mpsc::channel;
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
/// let (sender, receiver) = channel();
/// pool.install(move || {
///     for i in 0..3 {
///         let sender = sender.clone();
///         rayon_core::spawn_fifo(move || sender.send(i).unwrap());
///     }
/// });
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
/// ```
pub fn spawn_fifo<F>(func: F)
where
    F: FnOnce() + Send + 'static,
{
    Registry::current().spawn_fifo(func);
}

impl Registry {
    #[inline]
    pub(crate) fn spawn(&self, func: impl FnOnce() + Send + 'static) {
        self.pool().spawn(move || run_detached(func));
    }

    pub(crate) fn spawn_fifo(&self, func: impl FnOnce() + Send + 'static) {
        let Some(member) = self.member() else { return self.spawn(func) };
        let fifo = Arc::clone(member.fifo());
        fifo.push(Box::new(func));
        self.spawn(move || fifo.run_oldest());
    }
}
