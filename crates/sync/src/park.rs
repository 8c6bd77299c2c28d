//! The parking hook: how code blocks without knowing whether it runs on a thread or on a fiber.
//!
//! Whoever runs code on a thread may [`install`] a [`Blocker`] there. The runtime does on each of
//! its workers, so that blocking suspends the fiber and the worker goes on; on every other thread
//! blocking is sleeping in the kernel ([`ThreadParker`]).
//!
//! Blocking follows one pattern, which every primitive of this crate uses:
//!
//! 1. take [`current_waker`] and put it where the other side will find it;
//! 2. check the condition, and leave if it holds;
//! 3. [`park`]; go to 2.
//!
//! A wake-up between 1 and 3 leaves a token that makes 3 return at once, so none is lost. A token may
//! also be left over from an earlier wait, so 3 is always inside a loop.
//!
//! While thread-locals are being destroyed (a lock taken in another thread-local's destructor), the
//! thread's own parker may be gone. [`current_waker`] then gives a waker that does nothing and
//! [`park`] sleeps for 100 µs: the loop polls. Correct, slow, and rare.

use crate::sys::{plain_thread_local, thread_local};
pub use crate::thread_parker::ThreadParker;
use sateen_base::prim::thread;
use std::cell::Cell;
use std::sync::Arc;
use std::task::Waker;

/// How the code that runs on a thread blocks; implemented by whoever runs it.
///
/// | An implementation | |
/// |---|---|
/// | must | keep one token per context: a wake before [`park`](Blocker::park) makes it return at once |
/// | must | resume a context on the thread where it blocked |
/// | must | make what the waker did before `wake` visible to the context after `park` |
/// | may | return from `park` for no reason |
/// | may | unwind out of `park` (cancellation): the primitives of this crate withdraw the wait then |
/// | must not | unwind out of [`waker`](Blocker::waker) |
///
/// ```
/// use sateen_sync::park::{self, Blocker, ThreadParker};
/// use std::{sync::Arc, task::Waker};
///
/// struct Counting(Arc<ThreadParker>, std::cell::Cell<u32>);
/// impl Blocker for Counting {
///     fn waker(&self) -> Waker {
///         self.0.clone().into()
///     }
///     fn park(&self) {
///         self.1.set(self.1.get() + 1);
///         self.0.park();
///     }
/// }
///
/// let blocker: &Counting = Box::leak(Box::new(Counting(Arc::default(), 0.into())));
/// let before = park::install(Some(blocker));
/// park::current_waker().wake();
/// park::park();
/// park::install(before);
/// assert_eq!(blocker.1.get(), 1);
/// ```
pub trait Blocker: 'static {
    /// A waker for the current context (thread or fiber), valid for as long as anybody keeps it.
    fn waker(&self) -> Waker;

    /// Blocks the current context until a waker obtained for it is woken.
    fn park(&self);
}

plain_thread_local! {
    static BLOCKER: Cell<Option<&'static dyn Blocker>> = Cell::new(None);
}

thread_local! {
    static OWN: Own = Own::new();
}

/// The thread's own parker, with its waker made once: waiting then allocates nothing.
struct Own {
    parker: Arc<ThreadParker>,
    waker: Waker,
}

impl Own {
    fn new() -> Self {
        let parker = Arc::new(ThreadParker::new());
        Self { waker: parker.clone().into(), parker }
    }
}

/// Makes `blocker` the way the calling thread blocks (`None`: it sleeps in the kernel) and returns
/// what was there before.
///
/// Not while a wait is in progress on this thread: its waker and its parking would not match, and it
/// might sleep for ever. Takes effect for this thread only. Does nothing, returning `None`, when the
/// thread's locals are gone.
///
/// See [`Blocker`] for an example.
pub fn install(blocker: Option<&'static dyn Blocker>) -> Option<&'static dyn Blocker> {
    BLOCKER.try_with(|cell| cell.replace(blocker)).unwrap_or(None)
}

/// The blocker installed on this thread, if one is.
#[inline]
fn installed() -> Option<&'static dyn Blocker> {
    BLOCKER.try_with(Cell::get).unwrap_or(None)
}

/// A waker for the calling context: of the installed blocker, else of the plain thread.
///
/// Cost on a plain thread: one thread-local and one reference count; it allocates at a thread's first
/// call only.
///
/// ```
/// let waker = sateen_sync::park::current_waker();
/// std::thread::spawn(move || waker.wake());
/// sateen_sync::park::park();
/// ```
pub fn current_waker() -> Waker {
    match installed() {
        Some(blocker) => blocker.waker(),
        None => OWN.try_with(|own| own.waker.clone()).unwrap_or_else(|_| Waker::noop().clone()),
    }
}

/// Blocks the calling context until a waker from [`current_waker`] is woken; at once if one was since
/// the last call. May return for no reason: call it in a loop that checks what it waits for.
///
/// See [`current_waker`] for an example.
pub fn park() {
    match installed() {
        Some(blocker) => blocker.park(),
        None => OWN.try_with(|own| own.parker.park()).unwrap_or_else(|_| nap()),
    }
}

/// Parking without a parker: come back soon.
#[cold]
fn nap() {
    #[cfg(loom)]
    thread::yield_now();
    #[cfg(not(loom))]
    thread::sleep(sateen_base::prim::time::Duration::from_micros(100));
}
