//! Ending the process where going on would break an invariant.

/// Writes `reason` to stderr and aborts. For broken internal invariants only.
#[cold]
#[inline(never)]
pub fn abort_with(reason: &str) -> ! {
    eprintln!("sateen: internal error: {reason}");
    std::process::abort()
}

/// Aborts with its reason when dropped: put around runtime code through which no panic may pass.
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

    /// The code is through: forget the guard.
    #[inline]
    pub fn disarm(self) {
        std::mem::forget(self);
    }
}

impl Drop for AbortGuard {
    fn drop(&mut self) {
        abort_with(self.0)
    }
}
