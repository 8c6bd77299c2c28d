//! Forked processes: of a runtime's threads, the child has only the one that forked.
//!
//! Each runtime records the process that created it. Tasks spawned before the fork have numbers
//! below [`OLDEST`]. Code that would wait for a thread checks this first, on its slow path. Locks
//! that other threads held during the fork stay locked for ever.

use crate::shared::Shared;
use crate::task::{Ids, TaskId};
use sateen_base::os::{self, at_fork_in_child, process_generation};
use sateen_base::prim::{AtomicBool, AtomicU64, Ordering};

/// The text of the error messages.
pub(crate) const MESSAGE: &str =
    "this runtime's threads did not survive fork(); make a new runtime in the child";

/// The number of the first task of this process.
static OLDEST: AtomicU64 = AtomicU64::new(0);

extern "C" fn in_child() {
    // Ordering: Relaxed, the child has no other thread yet.
    OLDEST.store(Ids::bound(), Ordering::Relaxed);
}

/// Watches for forks from now on. Called before a runtime is created.
pub(crate) fn watch() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    os::watch_forks();
    // Ordering: Relaxed; registering twice is harmless.
    if !WATCHED.load(Ordering::Relaxed) {
        // SAFETY: a load and a store.
        unsafe { at_fork_in_child(in_child) };
        WATCHED.store(true, Ordering::Relaxed);
    }
}

/// Whether `task` was spawned before the process forked.
pub(crate) fn is_older(task: TaskId) -> bool {
    // Ordering: Relaxed; written while there was only one thread.
    process_generation() != 0 && task.get() < OLDEST.load(Ordering::Relaxed)
}

/// Ends the process: a worker waits for something that no thread can do any more.
#[cold]
pub(crate) fn end_process() -> ! {
    os::say(format_args!("{MESSAGE}"));
    std::process::abort()
}

impl Shared {
    /// Whether the runtime was created before the process forked.
    pub(crate) fn is_older_than_fork(&self) -> bool {
        self.born != process_generation()
    }

    /// Whether its workers are gone, except the calling thread if it is one.
    pub(crate) fn is_orphan(&self) -> bool {
        // Ordering: Relaxed; changes only in a child, on the one worker's thread.
        self.lives_in.load(Ordering::Relaxed) != process_generation()
    }

    /// The calling thread is the whole runtime, so the runtime survives the fork.
    pub(crate) fn survive(&self) {
        // Ordering: Relaxed, as above.
        self.lives_in.store(process_generation(), Ordering::Relaxed);
    }
}
