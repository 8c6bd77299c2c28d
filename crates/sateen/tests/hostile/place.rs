//! Where an entry point is called.

use crate::cell::Cell;
use sateen::{Runtime, Spawn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A thread outside of any runtime, where functions use the global one.
    Thread,
    /// A task of a runtime with this many workers.
    Task(usize),
    /// A poll of a future, on this many workers.
    Future(usize),
    CurrentThread,
    /// A task on two workers of a strict runtime.
    Strict,
}

impl Place {
    pub(crate) const ALL: [Self; 9] = [
        Self::Thread,
        Self::Task(1),
        Self::Task(2),
        Self::Task(8),
        Self::Future(1),
        Self::Future(2),
        Self::Future(8),
        Self::CurrentThread,
        Self::Strict,
    ];

    /// A future's poll is the same on any number of workers, so only `.ci/run deep` goes there, and
    /// who picks cells.
    pub(crate) const DEEP: [Self; 2] = [Self::Future(1), Self::Future(8)];

    /// Runs the cell that `make` makes for the place's runtime, until its end.
    pub(crate) fn run(self, make: impl FnOnce(&Weak<Runtime>) -> Arc<Cell>) {
        let call = |cell: &Arc<Cell>| {
            // A panic here is one of the cell.
            let caught = catch_unwind(AssertUnwindSafe(|| (cell.entry.call)(cell)));
            cell.end(Outcome(caught.err()));
        };
        let cell = match self {
            Self::Thread => {
                let cell = make(&Weak::new());
                let own = Arc::clone(&cell);
                let ended = thread::spawn(move || call(&own)).join();
                assert!(ended.is_ok(), "a panic left the thread's cell");
                // Wait for what it left on the global runtime.
                settle(Runtime::global().expect("the global runtime"));
                cell
            }
            Self::CurrentThread => {
                let runtime = Runtime::current_thread().expect("a runtime");
                let cell = make(&Weak::new());
                runtime.run(|| call(&cell));
                runtime.run_until_idle();
                runtime.shutdown();
                cell
            }
            Self::Task(workers) => on_workers(workers, false, false, make, call),
            Self::Future(workers) => on_workers(workers, false, true, make, call),
            Self::Strict => on_workers(2, true, false, make, call),
        };
        cell.check();
    }
}

/// A caught panic, whose payload may panic when it is dropped.
struct Outcome(Option<Box<dyn std::any::Any + Send>>);

impl Drop for Outcome {
    fn drop(&mut self) {
        let payload = self.0.take();
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
    }
}

fn on_workers(
    workers: usize,
    strict: bool,
    as_future: bool,
    make: impl FnOnce(&Weak<Runtime>) -> Arc<Cell>,
    call: impl Fn(&Arc<Cell>) + Send + Copy + 'static,
) -> Arc<Cell> {
    let runtime = Runtime::builder().workers(workers).strict(strict).build().expect("a runtime");
    let runtime = Arc::new(runtime);
    let cell = make(&Arc::downgrade(&runtime));
    let own = Arc::clone(&cell);
    let spawn = Spawn::new().token(&cell.token);
    let result = if as_future {
        let future = async move { call(&own) };
        runtime.install(|| spawn.spawn_async(future)).join().map(drop)
    } else {
        runtime.spawn_with(spawn, move || call(&own)).join().map(drop)
    };
    // Cancelled, or refused because the cell shut the runtime down.
    if let Err(error) = result {
        assert!(!error.is_panic(), "a panic left the task's cell");
    }
    if cell.behaviour != crate::behaviour::Behaviour::Shutdown {
        settle(&runtime);
    }
    _ = runtime.shutdown();
    cell
}

/// Checks that all tasks have ended, and that the runtime still works.
fn settle(runtime: &Runtime) {
    let works = runtime.install(|| sateen::join(|| 1, || sateen::spawn(|| 2).join()));
    assert!(matches!(works, (1, Ok(2))), "the runtime does not work any more");
}
