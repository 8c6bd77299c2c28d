//! Traces: what each worker did and when, for Perfetto.
//!
//! | file | contents |
//! |---|---|
//! | `on.rs`, `off.rs` | what the runtime calls, with the feature `trace` and without it |
//! | `event.rs` | events as words |
//! | `../trace_ring.rs` | a worker's ring, which one thread writes and any thread copies |
//! | `state.rs` | a runtime's rings; starting and stopping |
//! | `outside.rs` | the ring of threads that are not workers |
//! | `save.rs` | the users' interface |
//! | `convert.rs` | from events to tracks, slices, arrows and counters |
//! | `known.rs` | its first pass |
//! | `lane.rs` | a worker's track |
//! | `packets.rs`, `format.rs` | Perfetto's encoding |
//! | `env.rs` | `SATEEN_TRACE`: from the start of the program to its end, however it ends |

#[cfg(feature = "trace")]
mod convert;
#[cfg(feature = "trace")]
mod env;
#[cfg(feature = "trace")]
mod event;
#[cfg(feature = "trace")]
#[doc(hidden)]
pub mod format;
#[cfg(feature = "trace")]
mod known;
#[cfg(feature = "trace")]
mod lane;
#[cfg(not(feature = "trace"))]
mod off;
#[cfg(feature = "trace")]
mod on;
#[cfg(feature = "trace")]
mod outside;
#[cfg(feature = "trace")]
mod packets;
#[cfg(feature = "trace")]
mod save;
#[cfg(feature = "trace")]
mod state;

#[cfg(not(feature = "trace"))]
pub(crate) use off::*;
#[cfg(feature = "trace")]
pub(crate) use on::*;
#[cfg(feature = "trace")]
#[doc(hidden)]
pub use on::{Slice, arrow, is_running, shed_task, slice};
#[cfg(all(feature = "inspect", feature = "trace", unix))]
pub(crate) use save::{EVENTS, save};
#[cfg(feature = "trace")]
pub use {
    convert::TraceSummary,
    save::{Trace, TraceError},
};
