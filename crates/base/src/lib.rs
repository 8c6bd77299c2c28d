//! Layer 0 of Sateen: what every other crate stands on.
//!
//! * [`prim`]: the only import of atomics, cells, threads and time. It is `std`, or the loom model
//!   checker under `cfg(loom)`; no other switch exists.
//! * [`fence`]: the asymmetric fence: a light side that costs nothing and a heavy side that the
//!   kernel pays for.
//! * [`thread_number`]: small numbers for threads, to index arrays by.
//! * [`Backoff`], [`CachePadded`], [`SpinLock`], [`AbortGuard`], [`prefetch_write`], [`tsc`].
//! * [`pause`]: waiting for tens of nanoseconds, measured.
//! * [`unwind`]: catching panics, and making one of several.
//! * [`os`] (feature `os`): the services of the operating system, one file a system, with a
//!   portable fallback.
//!
//! Without the default feature `std` it needs `core` and `alloc` only, and a target with 64-bit
//! atomics. There [`os`], [`tsc`], `prim::thread` and `prim::time` are missing, waiting never
//! yields, both sides of a [`fence`] are full ones, and no thread has a number.
//!
//! Below: nothing. Above: everything. Invariant: nothing here allocates (but for what each process
//! has one of), and nothing here knows of tasks. The argument for the asymmetric fence is in the
//! documentation of [`fence`].

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
// What this crate itself needs of them.
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

/// Declares a constructor that is `const` except in models: their objects are made at run time.
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

/// Opens private modules to the crate's models, as `models::NAME`. Without loom: nothing.
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
