//! A runtime that ends by itself after it has been closed.

use super::HeapJob;
use crate::build_error::BuildError;
use crate::builder::Builder;
use crate::context;
use crate::entry::Entry;
use crate::forked;
use crate::inspect::{Choice, Listed};
use crate::join_stack::Job;
use crate::root;
use crate::runtime::Runtime;
use crate::shared::{Refused, Shared};
use crate::unwind::{Held, discard};
use crate::worker::{Owner, Push};
use crate::worker_thread::WorkerThread;
use sateen_base::prim::Arc;
use std::io;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Whether the calling thread is a worker of any runtime, whatever runs on it.
pub fn is_worker_thread() -> bool {
    root::is_worker_thread()
}

/// A job that nobody waits for.
fn detached(f: impl FnOnce() + Send) -> Entry {
    Entry::job(HeapJob::alloc(std::ptr::null(), std::ptr::null(), f).cast())
}

/// Work that each worker runs first, on a fiber like all other work.
pub trait FirstJob {
    /// Called once on each worker that starts. It does not unwind.
    fn run();
}

/// The job that runs `J`.
struct First<J>(std::marker::PhantomData<J>);

impl<J: FirstJob> First<J> {
    const JOB: &'static Job = &Job { run: Self::run };

    /// # Safety
    /// None. (All jobs have this type.)
    unsafe fn run(_: *const Job) {
        J::run();
    }
}

/// A runtime that dropping does not end. [`Pool::close`] begins the end, and the workers complete
/// it.
#[derive(Debug)]
pub struct Pool {
    /// Not dropped as a whole, because dropping a runtime waits for its end.
    runtime: ManuallyDrop<Runtime>,
}

/// While it lives, `sateen-top` sees the pool, in builds with the feature `inspect`.
#[derive(Debug)]
pub struct Listing {
    _listed: Listed,
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the runtime is neither used nor dropped again, so its count of the shared part is
        // dropped once, here.
        drop(unsafe { std::ptr::read(&raw const self.runtime.shared) });
    }
}

impl Pool {
    /// Builds a runtime with `builder`, which comes from [`builder`](super::builder). `spawn`
    /// starts the threads like the handler of [`Builder::spawn_handler`], and may borrow. With
    /// `resident` the calling thread becomes worker 0 for good, and `spawn` starts one thread less.
    ///
    /// # Errors
    /// As [`Builder::build`].
    ///
    /// # Panics
    /// If the calling thread [is to become a worker, and already is one](is_worker_thread).
    pub fn build(
        builder: Builder,
        resident: bool,
        mut spawn: impl FnMut(WorkerThread) -> io::Result<()>,
    ) -> Result<Self, BuildError> {
        assert!(!(resident && is_worker_thread()), "the thread is a worker already");
        let runtime = ManuallyDrop::new(builder.build_with(&mut spawn, resident)?);
        Ok(Self { runtime })
    }

    /// The runtime of `worker`, which may not be fully built yet.
    pub fn of(worker: &WorkerThread) -> Self {
        let shared = Arc::clone(worker.shared());
        Self { runtime: ManuallyDrop::new(Runtime::new(shared, Listed::NOT)) }
    }

    /// Makes the worker run `J` before anything else. `J` does not run if the build fails or the
    /// worker never runs.
    pub fn run_first<J: FirstJob>(worker: &mut WorkerThread) {
        let shared = worker.shared();
        let cell = &shared.workers[worker.index()];
        // SAFETY: the caller owns a `WorkerThread` that has not been run, so no thread runs the
        // worker yet, and no other thread is here.
        unsafe { cell.owner() }.set_next(Entry::job(NonNull::from(First::<J>::JOB)));
    }

    /// Shows the pool to `sateen-top`, and opens the program's socket if the environment asks for
    /// it. Called once, after the build. The owner of the pool also owns the result.
    pub fn list(&self) -> Listing {
        Listing { _listed: Choice::NOT.list(self.shared()) }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.runtime.shared
    }

    /// The number of workers.
    #[inline]
    pub fn workers(&self) -> usize {
        self.runtime.workers()
    }

    /// See [`Runtime::install`].
    ///
    /// # Panics
    /// As [`Runtime::install`].
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        self.runtime.install(f)
    }

    /// Runs `f` once on each worker; see [`Runtime::broadcast`].
    ///
    /// # Panics
    /// As [`Runtime::broadcast`].
    pub fn broadcast<F, R>(&self, f: F) -> Vec<R>
    where
        F: Fn(usize) -> R + Sync,
        R: Send,
    {
        self.runtime.broadcast(f)
    }

    /// Runs `f` at some time on a worker. If no worker will ever take it, runs `f` here.
    ///
    /// `f` does not unwind: a panic ends the process.
    ///
    /// # Panics
    /// In a process that has forked, if the pool was created before; `f` is dropped then.
    #[inline]
    pub fn spawn(&self, f: impl FnOnce() + Send + 'static) {
        match context::owner() {
            Some(worker) if worker.is_of(self.shared()) => {
                worker.push(detached(f), Push::Other);
                Owner::poll();
            }
            _ => self.spawn_outside(f),
        }
    }

    #[cold]
    fn spawn_outside(&self, f: impl FnOnce() + Send + 'static) {
        let shared = self.shared();
        if shared.is_stopped() {
            return f();
        }
        match shared.enter_gate() {
            Ok(inside) => shared.submit_through(inside, detached(f)),
            Err(Refused::ShutDown) => f(),
            Err(Refused::Forked) => {
                discard(f);
                panic!("{}", forked::MESSAGE)
            }
        }
    }

    /// Runs `f` with each worker's index on that worker. Returns at once.
    ///
    /// `f` does not unwind: a panic ends the process.
    ///
    /// # Panics
    /// In a process that has forked, if the pool was created before.
    pub fn spawn_broadcast(&self, f: impl Fn(usize) + Send + Sync + 'static) {
        let shared = self.shared();
        let f = Held::new(f);
        let inside = match context::owner() {
            Some(worker) if worker.is_of(shared) => None,
            _ => match shared.enter_gate() {
                Ok(inside) => Some(inside),
                // The pool's workers are gone.
                Err(Refused::ShutDown) => return,
                Err(Refused::Forked) => panic!("{}", forked::MESSAGE),
            },
        };
        let f = std::sync::Arc::new(f.release());
        let share = |index| {
            let f = std::sync::Arc::clone(&f);
            Entry::here(HeapJob::alloc(std::ptr::null(), std::ptr::null(), move || {
                f(index);
                discard(f);
            }))
        };
        let shares: Vec<Entry> = (0..self.workers()).map(share).collect();
        let announce = |posted: Vec<usize>| {
            shared.announce_posted(&posted);
            posted
        };
        let posted = match inside {
            Some(inside) => inside.submit(|| shared.post_each(&shares), announce),
            None => announce(shared.post_each(&shares)),
        };
        // Drops the caller's count before the shares of workers without a thread.
        discard(f);
        for index in (0..shares.len()).filter(|index| !posted.contains(index)) {
            // SAFETY: it was not posted, so this thread owns it.
            unsafe { crate::task::refuse_posted(shared, index, shares[index]) };
        }
    }

    /// Refuses new work from outside. The workers end when all work is done. Any thread.
    pub fn close(&self) {
        if !self.shared().is_orphan() {
            self.shared().close();
        }
    }

    /// Whether the workers are about to end, or have ended.
    pub fn is_closing(&self) -> bool {
        self.shared().is_closing()
    }

    /// Waits until all workers have left their loops.
    pub fn wait_ended(&self) {
        self.shared().wait_all_exited(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl FirstJob for Nothing {
        fn run() {}
    }

    /// Exclusively: a `WorkerThread` is `Sync`, and two threads would write to the owner's cell.
    const _: fn(&mut WorkerThread) = Pool::run_first::<Nothing>;
}
