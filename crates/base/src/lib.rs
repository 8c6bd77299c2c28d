//! Layer 0 of Sateen: what every other crate stands on.
//!
//! * [`prim`]: the only import of atomics, cells, threads and time. It is `std`, or the loom model
//!   checker under `cfg(loom)`; no other switch exists.
//! * [`fence`]: the asymmetric fence: a light side that costs nothing and a heavy side that the
//!   kernel pays for.
//! * [`thread_number`]: small numbers for threads, to index arrays by.
//! * [`Backoff`], [`CachePadded`], [`SpinLock`], [`AbortGuard`], [`prefetch_write`], [`tsc`].
//! * [`os`]: what the operating system does for us, one file an OS, a portable fallback.
//!
//! Below: nothing. Above: everything. Invariant: nothing here allocates, and nothing here knows of
//! tasks. The argument for the asymmetric fence is in the documentation of [`fence`].

mod abort;
mod backoff;
pub mod fence;
pub mod os;
mod padded;
mod prefetch;
pub mod prim;
mod rng;
mod spin;
pub mod thread_number;
pub mod tsc;

pub use abort::{AbortGuard, abort_with};
pub use backoff::Backoff;
pub use padded::CachePadded;
pub use prefetch::prefetch_write;
pub use rng::XorShift;
pub use spin::{RawSpinLock, SpinLock, SpinLockGuard, SpinWord};
