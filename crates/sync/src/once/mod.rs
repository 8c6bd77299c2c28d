//! One-time initialisation: `std`'s `Once`, `OnceLock` and `LazyLock`, for threads, fibers and
//! futures.

mod core;
mod lazy;
mod lock;

pub use lazy::Lazy;
pub use lock::OnceLock;

use self::core::{Core, INCOMPLETE, POISONED, Turn, Wants};
use sateen_base::prim::time::Duration;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;

/// Runs one closure once: `std`'s `Once`, but a wait suspends a fiber, or is awaited.
///
/// A closure that panics, or whose task is cancelled, poisons it. Later calls then panic, except
/// [`call_once_force`](Self::call_once_force). A closure that uses its own `Once` panics, and so
/// poisons it, instead of waiting for itself, if both uses are on one thread or fiber.
///
/// # Cost
/// 48 bytes; one load once it is complete.
///
/// # Examples
///
/// ```
/// use sateen::sync::Once;
/// static START: Once = Once::new();
///
/// let mut runs = 0;
/// for _ in 0..3 {
///     START.call_once(|| runs += 1);
/// }
/// assert_eq!(runs, 1);
/// ```
pub struct Once {
    core: Core,
}

/// The argument of [`Once::call_once_force`]'s closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Whether an earlier closure panicked.
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl Once {
    crate::sys::const_except_loom! {
        /// A `Once` that has run no closure.
        pub const fn new() -> Self {
            Self { core: Core::new() }
        }
    }

    /// Runs `f`, unless a closure has already run. If one is running, blocks until it ends. The
    /// closure's writes are visible afterwards.
    ///
    /// # Panics
    /// If it is poisoned, with the panic of `f`, which poisons it, or if called by its own closure.
    #[inline]
    pub fn call_once(&self, f: impl FnOnce()) {
        if !self.is_completed() {
            self.call_slow(Wants::Begin, |_| f());
        }
    }

    /// Like [`call_once`](Self::call_once), poisoned or not: a closure that succeeds clears the
    /// poison.
    ///
    /// ```
    /// use sateen::sync::Once;
    /// let once = Once::new();
    /// let _ = std::thread::scope(|s| s.spawn(|| once.call_once(|| panic!("poisoned"))).join());
    /// once.call_once_force(|state| assert!(state.is_poisoned()));
    /// once.call_once(|| unreachable!("complete"));
    /// ```
    ///
    /// # Panics
    /// With the panic of `f`, which poisons it; if called by its own closure.
    #[inline]
    pub fn call_once_force(&self, f: impl FnOnce(&OnceState)) {
        if !self.is_completed() {
            self.call_slow(Wants::Insist, f);
        }
    }

    #[cold]
    fn call_slow(&self, wants: Wants, f: impl FnOnce(&OnceState)) {
        let poisoned = self.core.is_poisoned();
        if let Some(mut running) = self.check(self.core.turn(wants)) {
            running.end = POISONED;
            f(&OnceState { poisoned });
            running.complete();
        }
    }

    /// [`call_once`](Self::call_once) for an asynchronous closure. If the future is dropped while
    /// the closure runs, another may begin.
    ///
    /// # Panics
    /// If it is poisoned; with the panic of the future, which poisons it.
    pub async fn call_once_async<F: Future<Output = ()>>(&self, f: impl FnOnce() -> F) {
        if self.is_completed() {
            return;
        }
        if let Some(mut running) = self.check(self.core.turn_async(Wants::Begin).await) {
            running.end = POISONED;
            let mut future = pin!(f());
            // A drop between two polls lets another begin; a panic within a poll poisons.
            poll_fn(|cx| {
                running.end = POISONED;
                let state = future.as_mut().poll(cx);
                running.end = INCOMPLETE;
                state
            })
            .await;
            running.complete();
        }
    }

    /// # Panics
    /// If it is poisoned.
    fn check<'a>(&self, turn: Turn<'a>) -> Option<self::core::Running<'a>> {
        match turn {
            Turn::Complete => None,
            Turn::Mine(running) => Some(running),
            Turn::Poisoned => panic!("a Once is poisoned: an earlier closure panicked"),
        }
    }

    /// Whether a closure has completed.
    #[inline]
    pub fn is_completed(&self) -> bool {
        self.core.is_complete()
    }

    /// Blocks the thread, or suspends the fiber, until a closure has completed.
    ///
    /// # Panics
    /// If it is or becomes poisoned; if called by its own closure.
    pub fn wait(&self) {
        self.check(self.core.turn(Wants::Wait));
    }

    /// Like [`wait`](Self::wait), poisoned or not.
    ///
    /// # Panics
    /// If called by its own closure.
    pub fn wait_force(&self) {
        self.core.turn(Wants::WaitOn);
    }

    /// [`wait`](Self::wait) with a time limit. Returns whether a closure has completed.
    ///
    /// # Panics
    /// As [`wait`](Self::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// let once = sateen::sync::Once::new();
    /// assert!(!once.wait_timeout(Duration::from_millis(1)));
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        let turn = self.core.wait_timeout(timeout, Wants::Wait);
        turn.map(|turn| self.check(turn)).is_some()
    }

    /// [`wait`](Self::wait) as a future.
    ///
    /// # Panics
    /// If it is or becomes poisoned.
    pub async fn wait_async(&self) {
        self.check(self.core.turn_async(Wants::Wait).await);
    }
}

impl Default for Once {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("completed", &self.is_completed()).finish_non_exhaustive()
    }
}
