//! Spawning futures.

use super::handle::no_spawns_here;
use super::options::post_through;
use super::{Ids, JoinError, JoinHandle, Spawn, future};
use crate::context;
use crate::entry::Entry;
use crate::runtime::Runtime;
use crate::shared::Shared;
use crate::task;
use crate::unwind::discard;
use crate::worker::{Owner, Push};
use sateen_base::prim::Arc;
use std::future::{Future, IntoFuture};
use std::panic::Location;

/// Spawns a future on the calling worker's runtime, or on the global one from anywhere else.
///
/// The handle is the same as for a closure: it can be joined, awaited, cancelled and dropped.
///
/// Any free worker polls the future, among the other tasks. Unlike a task that blocks, a waiting
/// future occupies no worker and no stack. A blocking call in a poll (a lock, a join) suspends that
/// poll, with its stack, until the call returns.
///
/// A cancelled future is dropped where it waits; a destructor that blocks may finish. A pending
/// future is also dropped once nothing can wake it any more: no waker, and no handle. Fiber-locals
/// are not available in futures. A runtime that shuts down waits for its futures.
///
/// # Cost
/// One allocation, and a few locked instructions a poll.
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
    /// Spawns a future on this runtime; see [`spawn_async`].
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
    /// Spawns a future with these settings; see [`spawn_async`]. With
    /// [`on_worker`](Spawn::on_worker) only that worker polls it. With
    /// [`dispatch`](Spawn::dispatch) its first poll is immediate. The stack size does not apply: a
    /// future is polled on the stack of the worker that takes it.
    ///
    /// If the settings cannot be met, the handle returns the error.
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
        if let Some(error) = no_spawns_here() {
            return refused(future, error, location);
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
        // On a worker, the running task keeps the runtime from ending.
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
        let (pinned_to, dispatch) = (self.worker(), self.dispatches());
        let id = worker.map_or_else(Ids::outside, |worker| worker.ids().draw());
        let birth = self.birth(shared, id, location);
        let (head, handle) = future::new(future, shared, worker, pinned_to, birth);
        let entry = Entry::future(head);
        match (pinned_to, worker) {
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

/// A handle that returns `error`; the future is dropped.
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
    discard(future);
    task::refused(never::<F::Output>, error, location)
}
