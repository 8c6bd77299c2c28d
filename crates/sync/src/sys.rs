//! The differences between the real machine and the model checker, in one place: the futex,
//! thread-locals, and constructors that cannot be `const` under loom.

use sateen_base::AbortGuard;
#[cfg(not(loom))]
use sateen_base::SpinLock;
pub(crate) use sateen_base::const_except_loom;
use sateen_base::prim::searched::AtomicU32;
use sateen_base::prim::time::{Duration, Instant};

#[cfg(loom)]
pub(crate) use loom::thread_local;
#[cfg(not(loom))]
pub(crate) use std::thread_local;

/// A thread-local without run-time initialisation and without a destructor, so that it can be read
/// at any time of a thread's life.
macro_rules! plain_thread_local {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $init:expr;) => {
        #[cfg(not(loom))]
        std::thread_local! { $(#[$meta])* static $name: $type = const { $init }; }
        #[cfg(loom)]
        loom::thread_local! { $(#[$meta])* static $name: $type = $init; }
    };
}
pub(crate) use plain_thread_local;

/// An atomic word on which one thread at a time sleeps until another changes it.
///
/// The accesses to the word are the caller's, with the caller's orderings; this type adds the
/// sleeping. It is the operating system's futex, or a condition variable of the model.
#[derive(Debug)]
pub(crate) struct FutexWord {
    word: AtomicU32,
    #[cfg(loom)]
    model: (loom::sync::Mutex<()>, loom::sync::Condvar),
}

impl FutexWord {
    const_except_loom! {
        /// A word that holds `value`.
        pub(crate) const fn new(value: u32) -> Self {
            Self {
                word: AtomicU32::new(value),
                #[cfg(loom)]
                model: (loom::sync::Mutex::new(()), loom::sync::Condvar::new()),
            }
        }
    }

    /// The word itself.
    #[inline(always)]
    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sleeps while the word holds `expected`, for `timeout` at most. May return spuriously.
    #[cfg(not(loom))]
    pub(crate) fn wait(&self, expected: u32, timeout: Option<Duration>) {
        sateen_base::os::futex_wait(&self.word, expected, timeout);
    }

    /// As above. A timed wait gives others one chance to run, and then its time has passed. The
    /// model has no clock, and every outcome that a clock could produce is one of its
    /// interleavings.
    #[cfg(loom)]
    pub(crate) fn wait(&self, expected: u32, timeout: Option<Duration>) {
        if timeout.is_some() {
            loom::thread::yield_now();
            return;
        }
        let guard = self.model.0.lock().expect("no panic under this lock");
        // Ordering: Relaxed; like the kernel's own check it orders nothing for the caller.
        if self.word.load(sateen_base::prim::Ordering::Relaxed) == expected {
            drop(self.model.1.wait(guard).expect("no panic under this lock"));
        }
    }

    /// Wakes the thread that sleeps in [`FutexWord::wait`], if one does. Call it after changing the
    /// word.
    #[cfg(not(loom))]
    pub(crate) fn wake(&self) {
        sateen_base::os::futex_wake_one(&self.word);
    }

    #[cfg(loom)]
    pub(crate) fn wake(&self) {
        drop(self.model.0.lock().expect("no panic under this lock"));
        self.model.1.notify_all();
    }

    /// Waits once for a change of the word from `expected` before `deadline`. Returns false if the
    /// deadline has already passed.
    pub(crate) fn wait_until(&self, expected: u32, deadline: &mut Deadline) -> bool {
        match deadline.left() {
            Left::Forever => self.wait(expected, None),
            Left::Some(left) => self.wait(expected, Some(left)),
            Left::Nothing => return false,
        }
        true
    }
}

/// The lock of a wait queue or a timer queue. Under loom a mutex of the model takes its place,
/// whose waiting the checker understands; the spinlock has a model of its own.
#[derive(Debug)]
pub(crate) struct ShortLock {
    #[cfg(not(loom))]
    raw: SpinLock<()>,
    #[cfg(loom)]
    raw: loom::sync::Mutex<()>,
}

impl ShortLock {
    const_except_loom! {
        /// A free lock.
        pub(crate) const fn new() -> Self {
            Self {
                #[cfg(not(loom))]
                raw: SpinLock::new(()),
                #[cfg(loom)]
                raw: loom::sync::Mutex::new(()),
            }
        }
    }

    /// Runs `f` under the lock. If `f` unwinds, the process aborts: its change may be incomplete,
    /// and others spin.
    #[inline]
    pub(crate) fn with<R>(&self, f: impl FnOnce() -> R) -> R {
        self.with_foreign(|| {
            let guard = AbortGuard::new("a panic under the lock of a queue");
            let result = f();
            guard.disarm();
            result
        })
    }

    /// Like `with`, for an `f` that calls foreign code and is consistent whenever it does. If `f`
    /// unwinds, the lock is released.
    #[inline]
    pub(crate) fn with_foreign<R>(&self, f: impl FnOnce() -> R) -> R {
        #[cfg(not(loom))]
        let _held = self.raw.lock();
        #[cfg(loom)]
        let _held = self.raw.lock().expect("nobody panics under this lock");
        f()
    }
}

/// Whether `deadline` has passed. Under loom it has at the first call: the interleavings decide
/// what a clock could.
pub(crate) fn has_passed(deadline: Instant) -> bool {
    cfg!(loom) || Instant::now() >= deadline
}

/// A time limit that begins with the first wait.
pub(crate) struct Deadline {
    timeout: Option<Duration>,
    started: Option<Instant>,
}

enum Left {
    Forever,
    Some(Duration),
    Nothing,
}

impl Deadline {
    /// `None` is no limit.
    pub(crate) fn new(timeout: Option<Duration>) -> Self {
        Self { timeout, started: None }
    }

    /// Under loom the first wait is the last one, because control flow must not depend on the real
    /// clock.
    fn left(&mut self) -> Left {
        let Some(timeout) = self.timeout else { return Left::Forever };
        let now = Instant::now();
        let Some(started) = self.started else {
            self.started = Some(now);
            return if timeout.is_zero() { Left::Nothing } else { Left::Some(timeout) };
        };
        match timeout.checked_sub(now - started) {
            Some(left) if !left.is_zero() && !cfg!(loom) => Left::Some(left),
            _ => Left::Nothing,
        }
    }
}
