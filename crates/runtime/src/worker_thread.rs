//! A worker whose thread has not started.

use crate::context;
use crate::own_stack::OwnStack;
use crate::root;
use crate::shared::Shared;
use sateen_base::os;
use sateen_base::prim::{Arc, thread};
use std::cell::Cell;
use std::io;

/// Starts a worker's thread the usual way.
pub(crate) fn start_thread(worker: WorkerThread) -> io::Result<()> {
    // The root runs no user code but hooks.
    let (name, size) = (worker.name().to_owned(), worker.life.shared.thread_size());
    os::start_thread(Some(name), size, Box::new(|| worker.run_to_the_end())).map(drop)
}

/// In a strict runtime, tasks leave values in the thread-locals of the runtime's own threads. Such
/// a thread counts as exited when these are gone. (A thread of a spawn handler may continue.)
struct Last(Cell<Option<Arc<Shared>>>);

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.thread_exited();
        }
    }
}

std::thread_local! {
    /// Used before any other thread-local, so it is destroyed after all others.
    static LAST: Last = const { Last(Cell::new(None)) };
}

/// For the first steps of a thread that ends with [`exit_last`].
pub(crate) fn begin() {
    LAST.with(|_| ());
}

/// Makes the calling thread, which runs no more tasks, count as exited once its thread-locals are
/// gone.
pub(crate) fn exit_last(shared: Arc<Shared>) {
    LAST.with(|last| last.0.set(Some(shared)));
}

/// A worker that needs a thread; see [`Builder::spawn_handler`](crate::Builder::spawn_handler).
///
/// In a [strict](crate::Builder::strict) runtime the worker's tasks run on the thread's own stack.
///
/// If it is dropped without [`WorkerThread::run`], the runtime has one worker less, and each
/// broadcast too. A runtime whose workers are all dropped like this is shut down, and refuses what
/// it had accepted.
pub struct WorkerThread {
    life: Life,
    name: String,
    core: Option<usize>,
    /// Present in a strict runtime.
    stack: Option<OwnStack>,
    /// The thread that builds the runtime.
    builder: thread::ThreadId,
}

/// Counts the thread out when it has ended, or if it never started.
struct Life {
    shared: Arc<Shared>,
    index: usize,
    ran: bool,
    /// Whether the runtime owns the thread until its very end.
    own: bool,
}

impl Drop for Life {
    fn drop(&mut self) {
        if !self.ran {
            self.shared.leave_out(self.index);
        }
        match self.ran && self.own {
            true => exit_last(Arc::clone(&self.shared)),
            false => self.shared.thread_exited(),
        }
    }
}

impl WorkerThread {
    /// Worker `index` of `shared`, to be pinned to `core`, with `stack` in a strict runtime. The
    /// caller starts the threads.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        index: usize,
        name: String,
        core: Option<usize>,
        stack: Option<OwnStack>,
    ) -> Self {
        let life = Life { shared: Arc::clone(shared), index, ran: false, own: false };
        Self { life, name, core, stack, builder: thread::current().id() }
    }

    /// The worker's runtime.
    #[cfg(feature = "compat")]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.life.shared
    }

    /// The worker's index, from 0.
    pub fn index(&self) -> usize {
        self.life.index
    }

    /// The name that the builder gives the thread.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// [`WorkerThread::run`] on a thread that does nothing else.
    fn run_to_the_end(mut self) {
        self.life.own = self.life.shared.is_strict();
        if self.life.own {
            begin();
        }
        self.run();
    }

    /// Runs the worker on the calling thread until the runtime ends.
    ///
    /// # Panics
    /// If the thread is a worker already, or is still building the runtime.
    pub fn run(mut self) {
        assert!(
            !root::is_worker_thread(),
            "WorkerThread::run on a thread that is a worker already"
        );
        assert!(
            thread::current().id() != self.builder || !self.life.shared.is_starting(),
            "WorkerThread::run on the thread that builds the runtime, which would wait for itself"
        );
        if let Some(core) = self.core {
            // The core was allowed when the runtime was built. If it no longer is, the worker runs
            // unpinned rather than not at all.
            drop(os::pin_current_thread(core));
        }
        self.life.shared.wait_started();
        let own = self.stack.take().map(OwnStack::of_this_thread);
        self.life.ran = true;
        // The thread may work for another runtime, in a call that blocks.
        let before = context::with(|c| c.join_runtime(Arc::as_ptr(&self.life.shared)));
        root::worker_main(Arc::clone(&self.life.shared), self.life.index, own);
        let own = self.life.own;
        drop(self);
        if !own {
            // From now on the thread does not work for the runtime.
            context::with(|c| c.join_runtime(before));
        }
    }
}

impl std::fmt::Debug for WorkerThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerThread")
            .field("index", &self.life.index)
            .field("name", &self.name)
            .field("core", &self.core)
            .finish_non_exhaustive()
    }
}
