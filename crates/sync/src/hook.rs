//! The parking hook, through which code blocks without knowing whether it runs on a thread or a
//! fiber.
//!
//! An owner of threads may [`install`] a [`Blocker`] on them. The runtime installs one on each of
//! its workers, so that a fiber that blocks is suspended and the worker runs other work. Every
//! other thread blocks by sleeping in the kernel ([`ThreadParker`]).
//!
//! Every primitive of this crate blocks in the same way:
//!
//! 1. get [`current_waker`] and put it where the other side will find it;
//! 2. check the condition, and stop if it holds;
//! 3. [`park`]; go to 2.
//!
//! A wake-up between 1 and 3 leaves a token that makes 3 return at once, so none is lost. A token
//! may also be left over from an earlier wait, so the loop is needed.
//!
//! While thread-locals are being destroyed (a lock taken in another thread-local's destructor), the
//! thread's own parker may be gone. Then [`current_waker`] returns a waker that does nothing, and
//! [`park`] sleeps for 100 µs, so the loop polls. This is correct, slow, and rare.

#[doc(hidden)]
pub use crate::block_on::context_of;
pub use crate::identity::Identity;
use crate::sys::{plain_thread_local, thread_local};
pub use crate::thread_parker::ThreadParker;
use crate::timer::TimerQueue;
use sateen_base::prim::thread;
use sateen_base::prim::time::Instant;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// How code on a thread blocks. A runtime implements it for its workers.
///
/// An implementation
///
/// * must keep one token per context: a wake before [`park`](Blocker::park) makes it return at
///   once;
/// * must make the waker's earlier writes visible to the context after `park`;
/// * may return from `park` spuriously;
/// * may unwind out of `park` with [`Cancelled`]: the primitives of this crate then withdraw the
///   wait.
///
/// # Safety
/// An implementation
///
/// * must resume a context on the thread where it blocked;
/// * must not unwind out of `park` of a context that is [masked](Blocker::mask): guards would
///   outlive their locks;
/// * must not unwind out of [`waker`](Blocker::waker), or any other method but `park` and
///   `park_until`.
///
/// ```
/// use sateen::sync::park::{self, Blocker, ThreadParker};
/// use std::{sync::Arc, task::Waker};
///
/// struct Counting(Arc<ThreadParker>, std::cell::Cell<u32>);
/// // SAFETY: its one context stays on its thread, and nothing unwinds.
/// unsafe impl Blocker for Counting {
///     fn waker(&self) -> Waker {
///         self.0.clone().into()
///     }
///     fn park(&self) {
///         self.1.set(self.1.get() + 1);
///         self.0.park();
///     }
///     fn park_until(&self, deadline: std::time::Instant) {
///         let left = deadline.saturating_duration_since(std::time::Instant::now());
///         self.0.park_timeout(left);
///     }
/// }
///
/// let blocker: &Counting = Box::leak(Box::new(Counting(Arc::default(), 0.into())));
/// // SAFETY: no wait is in progress, and what was there comes back.
/// let before = unsafe { park::install(Some(blocker)) };
/// park::current_waker().wake();
/// park::park();
/// // SAFETY: as above.
/// unsafe { park::install(before) };
/// assert_eq!(blocker.1.get(), 1);
/// ```
pub unsafe trait Blocker: 'static {
    /// A waker for the current context (thread or fiber). It may be kept for any time.
    fn waker(&self) -> Waker;

    /// Blocks the current context until a waker obtained for it is woken.
    fn park(&self);

    /// As [`park`](Blocker::park), but returns soon after `deadline` at the latest.
    fn park_until(&self, deadline: Instant);

    /// Records what the context is about to wait for, or (`None`) that its wait has ended. For
    /// reports only.
    fn waits_for(&self, _what: Option<Awaited>) {}

    /// Where futures polled here arm their timers, if the thread's owner fires timers itself.
    fn timers(&self) -> Option<Arc<TimerQueue>> {
        None
    }

    /// Called when a timer was armed in [`timers`](Blocker::timers) that comes before all others
    /// there.
    fn earlier_timer(&self) {}

    /// Whether a pause before [`park`](Blocker::park) may help, because another thread may hold
    /// what the context wants. False if all contexts share the thread, where a pause only delays
    /// the holder.
    fn may_spin(&self) -> bool {
        true
    }

    /// The identity of the calling context for [`ReentrantMutex`](crate::ReentrantMutex), from its
    /// beginning to its end. `None` for that of its thread.
    fn identity(&self) -> Option<&Identity> {
        None
    }

    /// Forbids `park` of this context to unwind, until each mask has been unmasked.
    fn mask(&self) {}

    /// Ends one [`mask`](Blocker::mask).
    ///
    /// # Safety
    /// The caller began this mask, in this context, and no other call ends it.
    unsafe fn unmask(&self) {}
}

/// The payload with which a cancelled task unwinds, out of [`park`](Blocker::park) and elsewhere.
///
/// The task's boundary catches it, and the joiner gets an error. Code that catches panics should
/// let it through by resuming the unwinding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task was cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// What a context waits for; see [`Blocker::waits_for`].
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    kind: &'static str,
    place: *const (),
    owner: Option<OwnerOf>,
}

// SAFETY: the place is only an address until a function of `with_owner` gets it, and the caller of
// `with_owner` has promised that any thread may then use it.
unsafe impl Send for Awaited {}
// SAFETY: as above.
unsafe impl Sync for Awaited {}

/// A function that returns the [`context_id`] of the owner of the primitive at a place; 0 for none.
pub type OwnerOf = unsafe fn(*const ()) -> u64;

impl Awaited {
    /// A primitive of some kind, such as `"mutex"`, and where it is (null for none).
    #[inline]
    pub const fn new(kind: &'static str, place: *const ()) -> Self {
        Self { kind, place, owner: None }
    }

    /// The same, with a function that returns its owner.
    ///
    /// ```compile_fail,E0133
    /// use sateen::sync::park::{Awaited, OwnerOf};
    /// fn evil(owner: OwnerOf) -> Awaited {
    ///     Awaited::new("nothing", std::ptr::null()).with_owner(owner)
    /// }
    /// ```
    ///
    /// # Safety
    /// While a context [waits for](waiting_for) the result, or a copy of it, `owner` may be called
    /// with this place. The call comes from the waiting thread, or from another one while the
    /// waiting thread sleeps and cannot continue. It must return soon, and must neither wait nor
    /// unwind.
    #[inline]
    pub const unsafe fn with_owner(self, owner: OwnerOf) -> Self {
        Self { owner: Some(owner), ..self }
    }

    /// The kind of the primitive.
    #[inline]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Where the primitive is.
    #[inline]
    pub const fn place(&self) -> *const () {
        self.place
    }

    /// The address of the primitive.
    #[inline]
    pub fn address(&self) -> usize {
        self.place.addr()
    }

    /// The function that returns its owner, if there is one. Call it with [`place`](Self::place),
    /// and only while the context waits, so that the primitive is valid. Call it on the thread
    /// where the context blocked, or while that thread cannot continue.
    #[inline]
    pub const fn owner(&self) -> Option<OwnerOf> {
        self.owner
    }
}

plain_thread_local! {
    static CONTEXT_ID: Cell<u64> = Cell::new(0);
}

plain_thread_local! {
    /// The identity of code outside of any context of a blocker.
    static IDENTITY: Identity = Identity::new();
}

plain_thread_local! {
    static BLOCKER: Cell<Option<&'static dyn Blocker>> = Cell::new(None);
}

thread_local! {
    static OWN: Own = Own::new();
}

/// The thread's own parker, with its waker created once, so that waiting allocates nothing.
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

/// Whether blocking on this thread suspends something cheaper than the thread. Then long spinning
/// before a wait does not pay off.
#[inline]
pub fn suspends() -> bool {
    installed().is_some()
}

/// Sets how the calling thread blocks (`None`: it sleeps in the kernel), and returns the previous
/// blocker.
///
/// Has no effect, and returns `None`, if the thread-locals are gone.
///
/// See [`Blocker`] for an example.
///
/// ```compile_fail,E0133
/// sateen::sync::park::install(None);
/// ```
///
/// # Safety
/// No wait is in progress on this thread. Otherwise its waker and its parking would not match, and
/// it might sleep for ever. The previous blocker is installed again before control returns to the
/// code that installed it. The result is used for that only.
pub unsafe fn install(blocker: Option<&'static dyn Blocker>) -> Option<&'static dyn Blocker> {
    BLOCKER.try_with(|cell| cell.replace(blocker)).unwrap_or(None)
}

/// The blocker installed on this thread, if one is.
#[inline]
pub(crate) fn installed() -> Option<&'static dyn Blocker> {
    BLOCKER.try_with(Cell::get).unwrap_or(None)
}

/// A waker for the calling context, from the installed blocker, or else for the plain thread.
///
/// # Cost
/// On a plain thread, one thread-local access and one reference count. It only allocates at a
/// thread's first call.
///
/// ```
/// let waker = sateen::sync::park::current_waker();
/// std::thread::spawn(move || waker.wake());
/// sateen::sync::park::park();
/// ```
pub fn current_waker() -> Waker {
    match installed() {
        Some(blocker) => blocker.waker(),
        None => OWN.try_with(|own| own.waker.clone()).unwrap_or_else(|_| Waker::noop().clone()),
    }
}

/// Blocks the calling context until a waker from [`current_waker`] is woken. Returns at once if one
/// was woken since the last call. May return spuriously, so call it in a loop that checks the
/// condition.
///
/// See [`current_waker`] for an example.
pub fn park() {
    match installed() {
        Some(blocker) => blocker.park(),
        None => OWN.try_with(|own| own.parker.park()).unwrap_or_else(|_| nap()),
    }
}

/// As [`park`], but returns soon after `deadline` at the latest.
///
/// ```
/// use std::time::{Duration, Instant};
/// let deadline = Instant::now() + Duration::from_millis(1);
/// while Instant::now() < deadline {
///     sateen::sync::park::park_until(deadline);
/// }
/// ```
pub fn park_until(deadline: Instant) {
    match installed() {
        Some(blocker) => blocker.park_until(deadline),
        None => OWN
            .try_with(|own| {
                let left = deadline.saturating_duration_since(Instant::now());
                own.parker.park_timeout(left);
            })
            .unwrap_or_else(|_| nap()),
    }
}

/// The queue in which the thread's owner wants timers to be armed, if it fires timers.
#[cfg(not(loom))]
pub(crate) fn timers() -> Option<Arc<TimerQueue>> {
    installed()?.timers()
}

/// Called when a timer armed in [`timers`] is the earliest there.
#[cfg(not(loom))]
pub(crate) fn earlier_timer() {
    if let Some(blocker) = installed() {
        blocker.earlier_timer();
    }
}

/// Records what the calling context waits for while `wait` runs; see [`Blocker::waits_for`].
pub fn waiting_for<R>(what: Awaited, wait: impl FnOnce() -> R) -> R {
    let Some(blocker) = installed() else { return wait() };
    struct Over(&'static dyn Blocker);
    impl Drop for Over {
        fn drop(&mut self) {
            self.0.waits_for(None);
        }
    }
    blocker.waits_for(Some(what));
    let _over = Over(blocker);
    wait()
}

/// Runs `f`, whose waits are not ended by a cancellation. For waits that must complete, such as
/// relocking after a condition wait.
pub fn uninterrupted<R>(f: impl FnOnce() -> R) -> R {
    let Some(blocker) = installed() else { return f() };
    struct Over(&'static dyn Blocker);
    impl Drop for Over {
        fn drop(&mut self) {
            // SAFETY: begun below, in this context, and only ended here.
            unsafe { self.0.unmask() };
        }
    }
    blocker.mask();
    let _over = Over(blocker);
    f()
}

/// The number of the calling context (task or thread), never 0. No other context of the process
/// ever has it.
///
/// # Cost
/// One thread-local access; a plain thread draws its number at its first call.
#[inline]
pub fn context_id() -> u64 {
    match CONTEXT_ID.with(Cell::get) {
        0 => draw_id(),
        id => id,
    }
}

/// Like [`context_id`], but 0 for a plain thread that has not drawn one. For hot paths.
#[cfg(not(loom))]
#[inline(always)]
pub(crate) fn known_context_id() -> u64 {
    CONTEXT_ID.with(Cell::get)
}

/// Sets the calling context's number (0: the thread draws one when needed), and returns the
/// previous number. For runtimes, which run contexts. Plain threads have numbers with the top bit
/// set.
///
/// # Safety
/// The caller runs the contexts of this thread, and `id` is the number of the one that runs next.
/// (The number is used to detect self-waits, and in reports.)
#[inline]
pub unsafe fn set_context_id(id: u64) -> u64 {
    CONTEXT_ID.with(|cell| cell.replace(id))
}

/// The number by which [`ReentrantMutex`](crate::ReentrantMutex) identifies the calling context.
#[inline]
pub(crate) fn identity() -> u64 {
    match installed().and_then(Blocker::identity) {
        Some(identity) => identity.number(),
        None => IDENTITY.with(Identity::number),
    }
}

#[cold]
fn draw_id() -> u64 {
    // Not the model's: numbers have no influence on a model.
    static NEXT: std::sync::Mutex<u64> = std::sync::Mutex::new(1 << 63);
    let id = {
        let mut next = NEXT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *next += 1;
        *next - 1
    };
    CONTEXT_ID.with(|cell| cell.set(id));
    id
}

/// Parking without a parker: return soon.
#[cold]
fn nap() {
    #[cfg(loom)]
    thread::yield_now();
    #[cfg(not(loom))]
    thread::sleep(sateen_base::prim::time::Duration::from_micros(100));
}
