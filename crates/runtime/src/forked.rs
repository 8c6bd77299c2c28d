//! Processes that fork: of a runtime's threads, the child has only the one that forked.
//!
//! Each runtime knows in which process it was made. Each task has a number; tasks that are older
//! than the process have one below [`OLDEST`]. Code that would wait for a thread asks here first,
//! on the slow path to its wait. Locks that other threads held when the process forked stay locked
//! for ever.

use crate::shared::Shared;
use crate::task::{Ids, TaskId};
use sateen_base::os::{self, at_fork_in_child, process_generation};
use sateen_base::prim::{AtomicBool, AtomicU64, Ordering};

/// The text of the errors.
pub(crate) const MESSAGE: &str =
    "this runtime's threads did not survive fork(); make a new runtime in the child";

/// The number of the first task of this process.
static OLDEST: AtomicU64 = AtomicU64::new(0);

extern "C" fn in_child() {
    // Ordering: Relaxed, the child has no other thread yet.
    OLDEST.store(Ids::bound(), Ordering::Relaxed);
}

/// Notices forks from now on. Called before a runtime is made.
pub(crate) fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    os::watch_forks();
    // Ordering: Relaxed; to register it twice does no harm.
    if !WATCHED.load(Ordering::Relaxed) {
        // SAFETY: a load and a store.
        unsafe { at_fork_in_child(in_child) };
        WATCHED.store(true, Ordering::Relaxed);
    }
}

/// Whether `task` was spawned before the process forked.
pub(crate) fn is_older(task: TaskId) -> bool {
    // Ordering: Relaxed; written when there was one thread.
    process_generation() != 0 && task.get() < OLDEST.load(Ordering::Relaxed)
}

/// Ends the process: a worker waits for what no thread can bring about.
#[cold]
pub(crate) fn end_process() -> ! {
    os::say(format_args!("{MESSAGE}"));
    std::process::abort()
}

impl Shared {
    /// Whether the runtime was made before the process forked.
    pub(crate) fn is_older_than_fork(&self) -> bool {
        self.born != process_generation()
    }

    /// Whether its workers are gone, except the calling thread if that is one.
    pub(crate) fn is_orphan(&self) -> bool {
        // Ordering: Relaxed; changes only in a child, on the one worker's thread.
        self.lives_in.load(Ordering::Relaxed) != process_generation()
    }

    /// The calling thread is the runtime, which survives a fork.
    pub(crate) fn survive(&self) {
        // Ordering: Relaxed, as above.
        self.lives_in.store(process_generation(), Ordering::Relaxed);
    }
}
