//! A pool's thread before it runs, and how it is made.

use crate::registry::{Member, Registry};
use sateen_runtime::WorkerThread;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread;

/// A thread of a pool that is to be made; see [`spawn_handler`].
///
/// Dropped without [`ThreadBuilder::run`], it leaves the pool one thread short.
///
/// [`spawn_handler`]: crate::ThreadPoolBuilder::spawn_handler
pub struct ThreadBuilder {
    name: Option<String>,
    stack_size: Option<usize>,
    registry: Arc<Registry>,
    worker: WorkerThread,
}

impl ThreadBuilder {
    pub(crate) fn new(
        name: Option<String>,
        stack_size: Option<usize>,
        registry: Arc<Registry>,
        worker: WorkerThread,
    ) -> Self {
        Self { name, stack_size, registry, worker }
    }

    /// The thread's index in the pool, from 0.
    pub fn index(&self) -> usize {
        self.worker.index()
    }

    /// The name that [`thread_name`](crate::ThreadPoolBuilder::thread_name) gives the thread, if
    /// it was called.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The bytes that [`stack_size`](crate::ThreadPoolBuilder::stack_size) was given, if it was
    /// called. Jobs run on stacks of that size whatever size the thread has.
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Works for the pool on the calling thread until the pool has ended.
    ///
    /// # Panics
    /// If the thread belongs to a pool already, or is still building this one.
    pub fn run(self) {
        let index = self.worker.index();
        let member = Member::new(self.registry, index);
        let _inside = member.enter();
        self.worker.run();
        // A pool that could not be built has run nothing, not even this.
        member.start();
        member.exit();
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("pool", &self.registry.id())
            .field("index", &self.index())
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish()
    }
}

mod sealed {
    /// Keeps other crates from implementing [`ThreadSpawn`](super::ThreadSpawn).
    pub trait Sealed {}
}

/// Makes a pool's threads. No other crate can implement or name it; bounds of the builder do.
pub trait ThreadSpawn: sealed::Sealed {
    /// Makes a thread that calls [`ThreadBuilder::run`].
    ///
    /// # Errors
    /// The reason why there is none.
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

/// Makes threads as [`std::thread::Builder`] does.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl sealed::Sealed for DefaultSpawn {}

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        std_builder(&thread)?.spawn(|| thread.run()).map(drop)
    }
}

/// A thread of the standard library with the settings of `thread`.
pub(crate) fn std_builder(thread: &ThreadBuilder) -> io::Result<thread::Builder> {
    let mut builder = thread::Builder::new();
    if let Some(name) = thread.name() {
        if name.contains('\0') {
            let reason = format!("a thread's name contains a NUL: {name:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        }
        builder = builder.name(name.to_owned());
    }
    if let Some(size) = thread.stack_size() {
        builder = builder.stack_size(size);
    }
    Ok(builder)
}

/// Makes threads by a function of the user's.
#[derive(Debug)]
pub struct CustomSpawn<F>(F);

impl<F> CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    pub(crate) fn new(spawn: F) -> Self {
        Self(spawn)
    }
}

impl<F> sealed::Sealed for CustomSpawn<F> {}

impl<F> ThreadSpawn for CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    #[inline]
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}
