//! Jobs for each thread of a pool.

use crate::registry::{Registry, run_detached};
use std::fmt;
use std::marker::PhantomData;

/// What a job of a broadcast learns of the thread that runs it.
pub struct BroadcastContext<'a> {
    index: usize,
    threads: usize,
    /// Neither `Send` nor `Sync`: it is about the thread that runs the job.
    marker: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    pub(crate) fn new(index: usize, threads: usize) -> Self {
        Self { index, threads, marker: PhantomData }
    }

    /// The index of the thread, from 0.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// How many threads run the broadcast: all of the pool's.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.threads
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index)
            .field("num_threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Runs `op` on each thread of the caller's pool, or of the global one, and returns the results by
/// index.
///
/// A thread runs `op` when it has no other job of its own, before it steals. Of two broadcasts in
/// one pool all threads run the same one first.
///
/// # Panics
/// With the panic of one `op`, once all are done.
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// let indices = pool.install(|| rayon_core::broadcast(|context| context.index()));
/// assert_eq!(indices, [0, 1, 2]);
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    Registry::current().broadcast(op)
}

/// [`broadcast`] that returns at once.
///
/// # Panics
/// A panic in `op` goes to the [panic handler](crate::ThreadPoolBuilder::panic_handler). Without
/// one it ends the process.
///
/// ```
/// use std::sync::mpsc::channel;
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let (sender, receiver) = channel();
/// pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
/// let mut indices = receiver.iter().collect::<Vec<_>>();
/// indices.sort();
/// assert_eq!(indices, [0, 1]);
/// ```
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    Registry::current().spawn_broadcast(op);
}

impl Registry {
    pub(crate) fn broadcast<R: Send>(
        &self,
        op: impl Fn(BroadcastContext<'_>) -> R + Sync,
    ) -> Vec<R> {
        let threads = self.num_threads();
        self.pool().broadcast(|index| op(BroadcastContext::new(index, threads)))
    }

    pub(crate) fn spawn_broadcast(
        &self,
        op: impl Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    ) {
        let threads = self.num_threads();
        let share = move |index| run_detached(|| op(BroadcastContext::new(index, threads)));
        self.pool().spawn_broadcast(share);
    }
}
