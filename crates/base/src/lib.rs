//! Layer 0 of Sateen: the base of every other crate.
//!
//! * [`prim`]: the only import of atomics, cells, threads and time. It is `std`, or the loom model
//!   checker under `cfg(loom)`; no other switch exists.
//! * [`fence`]: the asymmetric fence: a light side that costs nothing and a heavy side that the
//!   kernel pays for.
//! * [`thread_number`]: small numbers for threads, as array indices.
//! * [`Backoff`], [`CachePadded`], [`SpinLock`], [`AbortGuard`], [`prefetch_write`], [`tsc`].
//! * [`pause`]: measured waits of tens of nanoseconds.
//! * [`unwind`]: catching panics, and combining several into one.
//! * [`os`] (feature `os`): operating system services, one file for each system, with a portable
//!   fallback.
//!
//! Without the default feature `std` it only needs `core`, `alloc`, and a target with 64-bit
//! atomics. Then [`os`], [`tsc`], `prim::thread` and `prim::time` are missing, waiting never
//! yields, both sides of a [`fence`] are full fences, and threads have no numbers.
//!
//! Below: nothing. Above: everything. Invariants: nothing here allocates (except values that exist
//! once per process), and nothing here knows of tasks. [`fence`] has the argument for the
//! asymmetric fence.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(all(loom, not(feature = "std")))]
compile_error!("models need the feature `std`");

extern crate alloc;
#[cfg(all(test, not(feature = "std")))]
extern crate std;

mod abort;
mod backoff;
pub mod fence;
#[cfg(feature = "os")]
pub mod os;
// The part that this crate itself needs.
#[cfg(all(feature = "std", not(feature = "os")))]
#[allow(dead_code, unreachable_pub, unused_imports)]
mod os;
mod padded;
#[cfg(feature = "std")]
pub mod panic_payload;
pub mod pause;
mod prefetch;
pub mod prim;
mod rng;
mod spin;
#[cfg_attr(not(feature = "std"), path = "no_thread_number.rs")]
pub mod thread_number;
#[cfg(feature = "trace")]
#[doc(hidden)]
pub mod trace;
#[cfg(feature = "std")]
pub mod tsc;
pub mod unwind;

pub use abort::{AbortGuard, abort_with};
pub use backoff::Backoff;
pub use padded::CachePadded;
#[cfg(feature = "std")]
pub use panic_payload::PanicPayload;
pub use prefetch::prefetch_write;
pub use rng::XorShift;
pub use spin::{RawSpinLock, SpinLock, SpinLockGuard, SpinWord};

/// Declares a constructor that is `const` except in models, whose objects are created at run time.
#[doc(hidden)]
#[macro_export]
macro_rules! const_except_loom {
    ($(#[$meta:meta])* $vis:vis const fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $vis const fn $($rest)*
        #[cfg(loom)]
        $(#[$meta])*
        $vis fn $($rest)*
    };
}

/// Exposes private modules to the crate's models, as `models::NAME`. Without loom: nothing.
#[doc(hidden)]
#[macro_export]
#[expect(clippy::crate_in_macro_def, reason = "the modules are the caller's")]
macro_rules! open_to_models {
    ($($module:ident),* $(,)?) => {
        #[cfg(loom)]
        pub mod models {
            $(pub mod $module {
                pub use crate::$module::*;
            })*
        }
    };
}
