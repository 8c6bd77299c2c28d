//! Inspection: another program, `sateen-top`, looks at this one while it runs, or hangs.
//!
//! | file | what it holds |
//! |---|---|
//! | `off.rs` | what the rest of the runtime calls, in a build without the feature `inspect` |
//! | `registry.rs` | which runtimes and worker queues there are |
//! | `settings.rs` | what asks for the socket: the builder and `SATEEN_INSPECT` |
//! | `place.rs` | the socket: its folder, its name, and what is left of others |
//! | `server.rs` | the thread that serves the socket |
//! | `look.rs` | the look at a runtime, without its help |
//! | `frame.rs` | a look as a line of JSON |
//! | `asker.rs` | the threads that ask workers, for reports, and that start, stop and save traces |
//!
//! The server's thread waits for no other thread of the process. It reads atomics, and takes locks
//! by trying for a while (`patiently`). What it cannot have is left out of the frame, which says
//! so. It calls no code of the user's, drops nothing that might, and allocates only when there is
//! more to tell than ever before: a worker may have been stopped anywhere, and with any lock.
//! Reports need answers of workers, and traces locks and files. So two other threads ask for them,
//! each of which may wait for ever.
//!
//! Nothing here is called while tasks run: a frame costs the server's thread, and workers nothing
//! but the cache lines that it reads and some microseconds of the fibers' lock.

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

/// The version of the protocol. What a reader of an older version would misread raises it.
#[cfg(all(feature = "inspect", unix))]
const VERSION: u32 = 1;

#[cfg(all(test, feature = "inspect", unix, not(miri)))]
mod tests;
