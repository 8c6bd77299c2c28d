//! The one facade for atomics, cells, threads and time.
//!
//! Under `cfg(loom)` these are the model checker's types; otherwise they are `std`'s. That `cfg`
//! alone is the switch, never `test` and never a feature: a model that silently runs on the real
//! types proves nothing. (The feature `std` only adds threads and time to what `core` and `alloc`
//! have.)

#[cfg(not(loom))]
mod imp {
    pub use alloc::sync::Arc;
    pub use core::hint::spin_loop;
    pub use core::sync::atomic;
    pub use core::sync::atomic::{
        AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
        fence,
    };
    #[cfg(feature = "std")]
    pub use std::{thread, time};

    /// A cell whose accesses loom can watch: `std`'s `UnsafeCell` with loom's `with`.
    #[derive(Debug, Default)]
    #[repr(transparent)]
    pub struct UnsafeCell<T: ?Sized>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        /// Wraps `value`.
        pub const fn new(value: T) -> Self {
            Self(core::cell::UnsafeCell::new(value))
        }

        /// Returns the value.
        pub fn into_inner(self) -> T {
            self.0.into_inner()
        }
    }

    impl<T: ?Sized> UnsafeCell<T> {
        /// Calls `f` with a pointer that it may read through.
        #[inline(always)]
        pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        /// Calls `f` with a pointer that it may write through.
        #[inline(always)]
        pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }
}

#[cfg(loom)]
mod imp {
    pub use loom::cell::UnsafeCell;
    pub use loom::hint::spin_loop;
    pub use loom::sync::Arc;
    pub use loom::sync::atomic;
    pub use loom::sync::atomic::{
        AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
        fence,
    };
    pub use loom::thread;
    pub use std::time;
}

pub use imp::*;

/// An acquire fence for a value of `$word` that the caller has read by a relaxed access.
///
/// ThreadSanitizer ignores fences, so it gets an acquire load instead. It then only considers the
/// orderings of accesses, and reports accesses that are ordered by fences alone.
#[doc(hidden)]
#[macro_export]
macro_rules! acquire_fence {
    ($word:expr) => {{
        #[cfg(not(sateen_tsan))]
        $crate::prim::fence($crate::prim::Ordering::Acquire);
        #[cfg(sateen_tsan)]
        let _ = $word.load($crate::prim::Ordering::Acquire);
    }};
}

/// Atomics for algorithms of loads and exchanges. They are the same as above, except that under
/// loom each access is a scheduling point of its own. Otherwise the checker's search misses most
/// interleavings of such code. Models are slower with them.
pub mod searched {
    #[cfg(loom)]
    pub use super::searched_imp::*;
    #[cfg(not(loom))]
    pub use super::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize};
}

#[cfg(loom)]
#[path = "searched.rs"]
mod searched_imp;
