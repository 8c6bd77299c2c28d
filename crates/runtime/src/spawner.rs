//! A handle for spawning on a runtime.

use crate::shared::Shared;
use crate::task::{JoinHandle, Spawn};
use sateen_base::prim::Arc;
use std::panic::Location;

/// A cloneable handle for spawning on a runtime from any thread. It does not keep the runtime
/// alive. It comes from [`Runtime::spawner`](crate::Runtime::spawner) or
/// [`CurrentThread::spawner`](crate::CurrentThread::spawner).
///
/// ```
/// let runtime = sateen::Runtime::current_thread()?;
/// let spawner = runtime.spawner();
/// let worker = std::thread::spawn(move || {
///     spawner.spawn(|| std::thread::current().id()).join().unwrap()
/// });
/// runtime.run(|| while !worker.is_finished() {
///     sateen::yield_now();
/// });
/// assert_eq!(worker.join().unwrap(), std::thread::current().id());
/// # Ok::<(), sateen::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spawner {
    shared: Arc<Shared>,
}

impl Spawner {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared) }
    }

    /// Spawns a task on the runtime. (A [`CurrentThread`](crate::CurrentThread) starts it when its
    /// thread runs the runtime.) After the end of the runtime the handle returns
    /// [`JoinError::ShutDown`](crate::JoinError).
    #[track_caller]
    pub fn spawn<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        Spawn::new().spawn_on(&self.shared, f, Location::caller())
    }

    /// [`Spawner::spawn`] with settings.
    #[track_caller]
    pub fn spawn_with<F, T>(&self, settings: Spawn, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        settings.spawn_on(&self.shared, f, Location::caller())
    }
}

/// Equal if both spawn on the same runtime.
impl PartialEq for Spawner {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl Eq for Spawner {}
