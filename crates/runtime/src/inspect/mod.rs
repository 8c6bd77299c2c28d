//! Inspection of a running or hanging program by `sateen-top`.
//!
//! | file | contents |
//! |---|---|
//! | `off.rs` | what the rest of the runtime calls, in a build without the feature `inspect` |
//! | `registry.rs` | the runtimes and worker queues of this process |
//! | `settings.rs` | what enables the socket: the builder and `SATEEN_INSPECT` |
//! | `place.rs` | the socket: its folder, its name, and removal of stale ones |
//! | `server.rs` | the thread that serves the socket |
//! | `look.rs` | the look at a runtime, without its help |
//! | `frame.rs` | a look as a line of JSON |
//! | `asker.rs` | threads that ask workers for reports, and that start, stop and save traces |
//!
//! The server's thread waits for no other thread of the process. It reads atomics, and only tries
//! to take locks, for a while (`patiently`). If it does not get a lock, it leaves the data out of
//! the frame, and the frame says so. It calls no user code and drops nothing that might. It
//! allocates only when there is more to report than ever before. For a worker may have been stopped
//! at any point, with any lock. Reports need answers of workers, and traces need locks and files.
//! So two other threads handle these, and each may block for ever.
//!
//! Nothing here runs on workers. A frame costs them only the cache lines that it reads and some
//! microseconds of the fibers' lock.

#[cfg(not(all(feature = "inspect", unix)))]
mod off;
#[cfg(not(all(feature = "inspect", unix)))]
pub(crate) use off::*;

#[cfg(all(feature = "inspect", unix))]
mod asker;
#[cfg(all(feature = "inspect", unix))]
mod frame;
#[cfg(all(feature = "inspect", unix))]
mod look;
#[cfg(all(feature = "inspect", unix))]
mod place;
#[cfg(all(feature = "inspect", unix))]
mod registry;
#[cfg(all(feature = "inspect", unix))]
mod server;
#[cfg(all(feature = "inspect", unix))]
mod settings;

#[cfg(all(feature = "inspect", unix))]
pub(crate) use settings::Choice;
#[cfg(all(feature = "inspect", unix))]
pub use {
    frame::QueueLook,
    registry::{Listed, Queue, list_queue, patiently},
};

/// The version of the protocol. Any change that an older reader would misread raises it.
#[cfg(all(feature = "inspect", unix))]
const VERSION: u32 = 1;

#[cfg(all(test, feature = "inspect", unix, not(miri)))]
mod tests;
