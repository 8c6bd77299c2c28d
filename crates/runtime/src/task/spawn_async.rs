//! Spawning futures.

use super::options::post_through;
use super::{Ids, JoinError, JoinHandle, Spawn, future};
use crate::context;
use crate::entry::Entry;
use crate::runtime::Runtime;
use crate::shared::Shared;
use crate::task;
use crate::worker::{Owner, Push};
use sateen_base::prim::Arc;
use std::future::{Future, IntoFuture};
use std::panic::Location;

/// Spawns a future on the calling worker's runtime, or on the global one from anywhere else. The
/// handle is the same as that of a closure: joined, awaited, cancelled, dropped.
///
/// It is polled by whichever worker is free, among the other tasks: unlike a task that blocks, a
/// future that waits stays with no worker and keeps no stack. Inside it a blocking call (a lock, a
/// join) suspends the one poll, with the stack it is on, until that poll is over.
///
/// Cancelled, it is dropped where it waits; a destructor that blocks is let finish. A future that
/// is pending and that nobody can wake any more, neither a waker nor its handle, is dropped too.
/// Fiber-locals are not to be had in futures. A runtime that shuts down waits for its futures.
///
/// Cost: one allocation, and a few locked instructions a poll.
///
/// ```
/// use sateen::{block_on, spawn_async};
/// let event = std::sync::Arc::new(sateen::sync::Event::new());
/// let task = spawn_async({
///     let event = event.clone();
///     async move {
///         event.wait_async().await;
///         42
///     }
/// });
/// event.set();
/// assert_eq!(block_on(task).unwrap(), 42);
/// ```
#[track_caller]
pub fn spawn_async<F>(future: F) -> JoinHandle<F::Output>
where
    F: IntoFuture,
    F::IntoFuture: Send + 'static,
    F::Output: Send + 'static,
{
    Spawn::new().spawn_async(future)
}

impl Runtime {
    /// [`spawn_async`] on this runtime.
    #[track_caller]
    pub fn spawn_async<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: IntoFuture,
        F::IntoFuture: Send + 'static,
        F::Output: Send + 'static,
    {
        self.spawn_async_with(Spawn::new(), future)
    }

    /// Spawns a future on this runtime with settings; see [`Spawn::spawn_async`].
    #[track_caller]
    pub fn spawn_async_with<F>(&self, settings: Spawn, future: F) -> JoinHandle<F::Output>
    where
        F: IntoFuture,
        F::IntoFuture: Send + 'static,
        F::Output: Send + 'static,
    {
        settings.spawn_async_on(&self.shared, future.into_future(), Location::caller())
    }
}

impl Spawn {
    /// [`spawn_async`] with these settings. Placed on a worker, it is polled there and nowhere
    /// else; dispatched, it is polled now for the first time. The stack's size is not for futures:
    /// they are polled on the stack of whoever takes them.
    ///
    /// Settings that cannot be met give a handle that yields the error.
    #[track_caller]
    pub fn spawn_async<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: IntoFuture,
        F::IntoFuture: Send + 'static,
        F::Output: Send + 'static,
    {
        let location = Location::caller();
        let future = future.into_future();
        if let Some(worker) = context::owner() {
            return self.spawn_async_on(worker.shared(), future, location);
        }
        if context::with(context::Context::is_inline) {
            return refused(future, JoinError::ShutDown, location);
        }
        match Runtime::global() {
            Ok(runtime) => self.spawn_async_on(&runtime.shared, future, location),
            Err(error) => refused(future, JoinError::NoRuntime(error.to_string()), location),
        }
    }

    fn spawn_async_on<F>(
        self,
        shared: &Arc<Shared>,
        future: F,
        location: &'static Location<'static>,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let worker = context::owner().filter(|w| w.is_of(shared));
        // On a worker, what runs there keeps the runtime from ending.
        let inside = match worker {
            Some(_) => None,
            None => match shared.enter_gate() {
                Ok(inside) => Some(inside),
                Err(closed) => return refused(future, closed.error(), location),
            },
        };
        if let Some(error) = self.impossible(shared) {
            // The future's destructor may end the runtime.
            drop(inside);
            return refused(future, error, location);
        }
        let (place, dispatch) = (self.worker(), self.dispatches());
        let id = worker.map_or_else(Ids::outside, |worker| worker.ids().draw());
        let birth = self.birth(shared, id, location);
        let (head, handle) = future::new(future, shared, worker, place, birth);
        let entry = Entry::future(head);
        match (place, worker) {
            (Some(index), _) => {
                post_through(inside, shared, index, entry);
            }
            (None, Some(_)) if dispatch => {
                if let Some((worker, fiber)) = context::here() {
                    worker.dispatch(fiber, entry);
                }
            }
            (None, Some(worker)) => {
                worker.push(entry, Push::Other);
                Owner::poll();
            }
            (None, None) => match inside {
                Some(inside) => shared.submit_through(inside, entry),
                None => shared.submit_inside(entry),
            },
        }
        handle
    }
}

/// A handle that yields `error`; the future is dropped.
fn refused<F: Future>(
    future: F,
    error: JoinError,
    location: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F::Output: Send + 'static,
{
    fn never<T>() -> T {
        sateen_base::abort_with("a task that was refused was run")
    }
    drop(future);
    task::refused(never::<F::Output>, error, location)
}
