//! Ends the process when continuing would break an invariant.

/// Writes `reason` to stderr and aborts. For broken invariants that memory safety depends on: each
/// has a row in `docs/aborts.md`.
///
/// Without the feature `std` it panics with the reason in a function that must not unwind. So the
/// program's panic handler gets the reason. If that is `std`'s handler, it prints the reason and
/// the process aborts.
#[cold]
#[inline(never)]
pub fn abort_with(reason: &str) -> ! {
    #[cfg(feature = "std")]
    {
        crate::os::say(format_args!("internal error: {reason}"));
        std::process::abort()
    }
    #[cfg(not(feature = "std"))]
    {
        /// A panic that would leave an `extern "C"` function ends the process.
        extern "C" fn no_unwind(reason: &&str) -> ! {
            panic!("sateen: internal error: {reason}")
        }
        no_unwind(&reason)
    }
}

/// Aborts with its reason when dropped. It surrounds runtime code that must not unwind.
///
/// ```
/// let guard = sateen_base::AbortGuard::new("half-moved job");
/// // ... code that must not unwind ...
/// guard.disarm();
/// ```
#[derive(Debug)]
pub struct AbortGuard(&'static str);

impl AbortGuard {
    /// Arms the guard.
    #[inline]
    pub const fn new(reason: &'static str) -> Self {
        Self(reason)
    }

    /// Disarms the guard at the end of that code.
    #[inline]
    pub fn disarm(self) {
        core::mem::forget(self);
    }
}

impl Drop for AbortGuard {
    fn drop(&mut self) {
        abort_with(self.0)
    }
}
