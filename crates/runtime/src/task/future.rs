//! Futures as tasks. Any worker that takes a future's entry polls it; the handle is the same as for
//! closures.
//!
//! A future is one heap frame: the task's header, the [`WakeWord`], and the future, which is
//! replaced by its result. As for closures, the header's state word controls who owns the result.
//! (A future counts as started from birth: only an entry's taker may claim it.) The wake word
//! controls who may poll, and who keeps the frame alive. The list of live futures keeps the runtime
//! alive. Workers do not end before the futures, so a waker of a pending future can rely on the
//! runtime.

use super::{Actions, Birth, Delivery, Header, JoinError, JoinHandle, Running, identity, start};
use crate::context;
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::live::{Links, Live};
use crate::metrics::count_task_woken;
use crate::shared::Shared;
use crate::spans;
use crate::started_on::StartedOn;
use crate::task_state::TaskState;
use crate::trace;
use crate::unwind::discard;
use crate::wake_word::{Paused, Released, WakeWord};
use crate::worker::{Owner, Push};
use sateen_base::prim::{Arc, AtomicBool, AtomicU8, AtomicU32, Ordering, UnsafeCell};
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

/// No particular worker.
const ANYWHERE: u32 = u32::MAX;

/// The type-independent part of a future's task.
#[repr(C)]
pub(crate) struct Head {
    task: Header,
    word: WakeWord,
    /// The only worker that may poll it, or [`ANYWHERE`].
    worker: AtomicU32,
    /// Whether it was polled, or ended without a poll. Written by the poller.
    begun: AtomicBool,
    /// Its runtime. The header's `home` is null, because no joiner runs a future in place.
    home: *const Shared,
    /// Its links among the runtime's live futures.
    links: Links<Self>,
    actions: &'static FutureActions,
}

impl Live for Head {
    unsafe fn links<'a>(head: NonNull<Self>) -> &'a Links<Self> {
        // SAFETY: by contract.
        unsafe { &head.as_ref().links }
    }
}

struct FutureActions {
    /// Polls the future. Returns true when the result is written and the future is gone.
    poll: unsafe fn(NonNull<Head>, &mut Context<'_>) -> bool,
    /// Drops the future; its result is the error.
    drop: unsafe fn(NonNull<Head>, JoinError),
    /// Frees the frame, whose contents are gone.
    free: unsafe fn(NonNull<Head>),
}

#[repr(C)]
struct Frame<F: Future> {
    head: Head,
    body: UnsafeCell<Body<F>>,
}

enum Body<F: Future> {
    /// Pinned: dropped in place.
    Future(F),
    Result(Result<F::Output, JoinError>),
    Empty,
}

impl<F: Future> Frame<F> {
    const TASK: Actions =
        Actions { run: no_closure, refuse: refuse::<F>, free: drop_result::<F>, is_future: true };
    const FUTURE: FutureActions =
        FutureActions { poll: Self::poll, drop: Self::drop, free: Self::free };

    /// # Safety
    /// `head` starts a `Frame<F>`.
    unsafe fn body<'a>(head: NonNull<Head>) -> &'a UnsafeCell<Body<F>> {
        // SAFETY: by contract.
        unsafe { &head.cast::<Self>().as_ref().body }
    }

    /// # Safety
    /// `head` starts a `Frame<F>` with a future that the caller owns.
    unsafe fn poll(head: NonNull<Head>, cx: &mut Context<'_>) -> bool {
        // SAFETY: by contract; it is never moved.
        let polled = unsafe { Self::body(head) }.with_mut(|body| match unsafe { &mut *body } {
            Body::Future(future) => {
                // SAFETY: it stays in the frame until it is dropped there.
                let future = unsafe { Pin::new_unchecked(future) };
                catch_unwind(AssertUnwindSafe(|| future.poll(cx)))
            }
            _ => sateen_base::abort_with("polled a future that is gone"),
        });
        let result = match polled {
            Ok(Poll::Pending) => return false,
            Ok(Poll::Ready(value)) => Ok(value),
            Err(panic) => Err(start::caught(panic)),
        };
        // SAFETY: by contract.
        unsafe { Self::end(head, result) };
        true
    }

    /// # Safety
    /// As [`Frame::poll`].
    unsafe fn drop(head: NonNull<Head>, error: JoinError) {
        // SAFETY: by contract.
        unsafe { Self::end(head, Err(error)) };
    }

    /// # Safety
    /// As [`Frame::poll`].
    unsafe fn end(head: NonNull<Head>, result: Result<F::Output, JoinError>) {
        // SAFETY: by contract.
        unsafe { Self::body(head) }.with_mut(|body| {
            // A destructor that waits is not cancelled, and its panic is discarded. SAFETY: this
            // thread owns the future. The place is overwritten below without another drop.
            let dropping = || sateen_sync::park::uninterrupted(|| unsafe { body.drop_in_place() });
            discard(catch_unwind(AssertUnwindSafe(dropping)));
            // SAFETY: as above.
            unsafe { body.write(Body::Result(result)) };
        });
    }

    /// # Safety
    /// `head` starts a `Frame<F>` that no thread refers to.
    unsafe fn free(head: NonNull<Head>) {
        // SAFETY: made by `new`; ours alone. Its result and its handle's waker are gone, see
        // `drop_result`.
        drop(unsafe { Box::from_raw(head.cast::<Self>().as_ptr()) });
    }
}

unsafe fn no_closure(_: NonNull<Header>) {
    sateen_base::abort_with("a future was run like a closure");
}

/// # Safety
/// `header` starts a `Frame<F>` with a future that the caller owns.
unsafe fn refuse<F: Future>(header: NonNull<Header>, error: JoinError) {
    // SAFETY: by contract.
    unsafe { Frame::<F>::drop(header.cast(), error) };
}

/// Drops the user's values once the task and its handle are done with the frame. The last waker,
/// wherever it is, frees the frame.
///
/// # Safety
/// `header` starts a `Frame<F>` that is done, with a result that the caller owns.
unsafe fn drop_result<F: Future>(header: NonNull<Header>) {
    // SAFETY: by contract.
    unsafe {
        header.as_ref().drop_waker();
        discard(exchange_result::<F>(header));
    }
}

/// # Safety
/// As [`drop_result`].
unsafe fn exchange_result<F: Future>(header: NonNull<Header>) -> Body<F> {
    // SAFETY: by contract. Only a result or nothing is left, so nothing pinned moves.
    unsafe { Frame::<F>::body(header.cast()) }
        .with_mut(|body| unsafe { std::mem::replace(&mut *body, Body::Empty) })
}

/// # Safety
/// As [`drop_result`].
unsafe fn take_result<F: Future>(header: NonNull<Header>) -> Result<F::Output, JoinError> {
    // SAFETY: by contract.
    match unsafe { exchange_result::<F>(header) } {
        Body::Result(result) => result,
        _ => sateen_base::abort_with("a finished future without a result"),
    }
}

/// Creates a task for `future` and returns the part to be queued, and its handle. `worker` is the
/// calling thread's, if it belongs to `home`.
pub(super) fn new<F>(
    future: F,
    home: &Arc<Shared>,
    worker: Option<&Owner>,
    pinned_to: Option<usize>,
    birth: Birth,
) -> (NonNull<Head>, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    trace::spawned(home, birth.id.get());
    let frame = Box::new(Frame {
        head: Head {
            task: Header {
                state: TaskState::claimed(),
                priority: AtomicU8::new(birth.priority.index()),
                actions: &Frame::<F>::TASK,
                waker: UnsafeCell::new(None),
                home: std::ptr::null(),
                id: birth.id,
                location: birth.location,
                started_on: StartedOn::new(),
                span: spans::OfTask::new(),
                extra: birth.extra,
            },
            word: WakeWord::new(),
            worker: AtomicU32::new(pinned_to.map_or(ANYWHERE, |index| index as u32)),
            begun: AtomicBool::new(false),
            home: Arc::as_ptr(home),
            links: Links::new(worker.map(|worker| home.list_of_futures(worker)), home.regular),
            actions: &Frame::<F>::FUTURE,
        },
        body: UnsafeCell::new(Body::Future(future)),
    });
    let head = NonNull::from(Box::leak(frame)).cast::<Head>();
    // SAFETY: new; it leaves the list when it ends.
    unsafe { home.futures.enter(head) };
    let handle = JoinHandle::new(head.cast(), take_result::<F>);
    // The word already says that an entry is queued, so a cancelled token queues no second one.
    identity::attach(head.cast());
    (head, handle)
}

/// Queues a future, whose word says so already, where it belongs.
///
/// # Safety
/// The caller owns the entry.
unsafe fn enqueue(head: NonNull<Head>) {
    // SAFETY: the entry keeps the frame alive, which may be gone once the entry is pushed.
    let (home, index) = unsafe {
        // Ordering: Relaxed; written before the entry came here.
        (head.as_ref().home, head.as_ref().worker.load(Ordering::Relaxed))
    };
    let entry = Entry::future(head);
    let here = context::thread_owner();
    if let Some(worker) = here.filter(|worker| std::ptr::eq(Arc::as_ptr(worker.shared()), home)) {
        if index == ANYWHERE {
            worker.push(entry, Push::Woken);
        } else {
            worker.shared().workers[index as usize].post(worker.shared(), entry);
        }
        return;
    }
    // SAFETY: the future cannot end before its entry is pushed; until then the workers keep the
    // runtime alive. It may end right after the push, so this thread holds its own count.
    let shared = unsafe {
        Arc::increment_strong_count(home);
        Arc::from_raw(home)
    };
    if index == ANYWHERE {
        shared.submit_inside(entry);
    } else {
        // An index is written only for a worker that runs.
        shared.workers[index as usize].post(&shared, entry);
    }
}

/// Whether the future was spawned on `shared`.
///
/// # Safety
/// The caller owns its entry.
pub(crate) unsafe fn is_of(head: NonNull<Head>, shared: &Arc<Shared>) -> bool {
    // SAFETY: the entry keeps the frame.
    std::ptr::eq(unsafe { head.as_ref() }.home, Arc::as_ptr(shared))
}

/// Queues the future at its runtime again.
///
/// # Safety
/// The caller owns the entry, and gives it up.
#[cold]
pub(crate) unsafe fn send_home(head: NonNull<Head>) {
    // SAFETY: by contract.
    unsafe { enqueue(head) };
}

/// Called before the calling thread queues a future that it makes ready.
///
/// # Safety
/// The caller owns the future's entry.
#[inline]
unsafe fn note_woken(head: &Head) {
    count_task_woken();
    head.task.note_ready();
    // SAFETY: the future does not end before its entry is queued. Until then the workers keep the
    // runtime alive.
    trace::future_woken(unsafe { &*head.home }, head.task.id.get());
}

/// # Safety
/// The caller has a reference, or keeps the frame alive in another way.
unsafe fn wake(head: NonNull<Head>) {
    // SAFETY: by the caller's contract; then this thread owns the entry.
    unsafe {
        if head.as_ref().word.wake() {
            note_woken(head.as_ref());
            enqueue(head);
        }
    }
}

/// # Safety
/// The caller has a reference and gives it up.
unsafe fn release(head: NonNull<Head>) {
    // SAFETY: by the caller's contract. This thread may queue an abandoned future, and free an
    // unreferenced frame.
    unsafe {
        match head.as_ref().word.release() {
            Released::Kept => {}
            Released::Abandoned => enqueue(head),
            Released::Free => (head.as_ref().actions.free)(head),
        }
    }
}

/// Drops the handle's reference.
///
/// # Safety
/// `header` starts a future's task, and the caller was its handle.
pub(super) unsafe fn drop_handle(header: NonNull<Header>) {
    // SAFETY: by contract.
    unsafe { release(header.cast()) };
}

/// Wakes a future that was marked as cancelled, so that its current or next poll sees the mark.
///
/// # Safety
/// `header` starts a future's task, and the caller keeps it from ending.
pub(super) unsafe fn interrupt(header: NonNull<Header>, shared: bool) -> Delivery {
    let head: NonNull<Head> = header.cast();
    // SAFETY: by the caller's contract. This thread owns the entry from now on, and the entry keeps
    // the future alive until it is queued.
    let (entry, task) =
        unsafe { (head.as_ref().word.wake().then_some(Woken(head)), header.as_ref()) };
    // A poll that this misses began after the wake-up, and has seen the mark.
    let fiber = task.started_on.now();
    // SAFETY: fibers live as long as their runtime, which does not end before the future.
    let fibers = unsafe { fiber.as_ref() }.map_or(Vec::new(), |fiber| fiber.runners(task, shared));
    Delivery { fibers, entry }
}

/// The entry of a future that was woken and is not queued yet.
pub(super) struct Woken(NonNull<Head>);

impl Woken {
    /// Queues it.
    pub(super) fn enqueue(self) {
        // SAFETY: this thread owns the entry.
        unsafe { enqueue(self.0) };
    }
}

/// Polls the future of a taken entry.
///
/// # Safety
/// The caller owns the entry, and gives it up.
pub(crate) unsafe fn poll_queued(worker: &Owner, fiber: &Fiber, head: NonNull<Head>) {
    // SAFETY: first the entry and then the poll keeps the frame alive.
    let this = unsafe { head.as_ref() };
    // Before `begin`: a canceller that wakes the future later reads this.
    this.task.started_on.set(fiber);
    // Ordering: Relaxed; handed on with the entry.
    if worker.is_alone() && this.worker.load(Ordering::Relaxed) == ANYWHERE {
        this.worker.store(worker.index() as u32, Ordering::Relaxed);
    }
    this.word.begin();
    let run = |f: &dyn Fn() -> bool| {
        let task = &raw const this.task;
        Running::run(fiber, task, this.task.id.get(), std::ptr::null(), start::Called::NOT, f)
    };
    let cancelled = || this.task.is_cancelled() || worker.shared().is_cancelling();
    let mut over = !cancelled() && {
        // SAFETY: the poll has begun, so we own the future, which does not run yet.
        unsafe { spans::make(&this.task) };
        run(&|| {
            if !this.begun.load(Ordering::Relaxed) {
                // Ordering: Relaxed; handed on with the entry.
                this.begun.store(true, Ordering::Relaxed);
                worker.counters.started.bump();
            }
            fiber.begin_task(&this.task);
            trace::poll_began(fiber, &this.task);
            // The poll's own reference is not counted; clones are.
            // SAFETY: the poll keeps the frame alive.
            let waker = unsafe { Waker::from_raw(raw_waker(head)) };
            let waker = ManuallyDrop::new(waker);
            // SAFETY: the poll has begun, so this thread owns the future.
            let over = unsafe { (this.actions.poll)(head, &mut Context::from_waker(&waker)) };
            trace::poll_ended(fiber, this.task.id.get(), over);
            over
        })
    };
    if !over && !cancelled() {
        this.task.started_on.clear();
        match this.word.pause() {
            Paused::Idle => return,
            Paused::Again => {
                // It was woken meanwhile.
                // SAFETY: this thread owns the entry.
                return unsafe {
                    note_woken(this);
                    enqueue(head)
                };
            }
            Paused::Abandoned => {}
        }
    }
    if !over {
        over = run(&|| {
            // SAFETY: we still own it.
            unsafe { (this.actions.drop)(head, JoinError::Cancelled) };
            true
        });
    }
    debug_assert!(over);
    // SAFETY: we still own it, and it is over.
    unsafe { spans::close(&this.task) };
    if this.begun.load(Ordering::Relaxed) {
        worker.counters.ended.bump();
    }
    identity::detach(head.cast());
    // SAFETY: the result is written; the run keeps the frame alive until `finish`.
    unsafe {
        worker.shared().futures.leave(head);
        super::conclude(head.cast());
        if this.word.finish() {
            (this.actions.free)(head);
        }
    }
}

/// Ends a queued future with `error` instead of polling it.
///
/// # Safety
/// The caller owns the entry, and gives it up. The caller is not a worker of the runtime.
pub(super) unsafe fn refuse_queued(head: NonNull<Head>, shared: &Shared, error: JoinError) {
    // SAFETY: first the entry and then the run keeps the frame alive.
    unsafe {
        let this = head.as_ref();
        this.word.begin();
        (this.actions.drop)(head, error);
        identity::detach(head.cast());
        shared.futures.leave(head);
        super::conclude(head.cast());
        if this.word.finish() {
            (this.actions.free)(head);
        }
    }
}

static WAKER: RawWakerVTable =
    RawWakerVTable::new(clone_raw, wake_raw, wake_by_ref_raw, release_raw);

/// Whether the waker wakes a future of this runtime.
pub(crate) fn is_waker_of(waker: &Waker, shared: &Shared) -> bool {
    // SAFETY: a waker with this table keeps its future's frame alive.
    std::ptr::eq(waker.vtable(), &WAKER)
        && unsafe { std::ptr::eq(head(waker.data()).as_ref().home, shared) }
}

fn raw_waker(head: NonNull<Head>) -> RawWaker {
    RawWaker::new(head.as_ptr().cast(), &WAKER)
}

fn head(data: *const ()) -> NonNull<Head> {
    match NonNull::new(data.cast_mut()) {
        Some(head) => head.cast(),
        None => sateen_base::abort_with("a waker of nothing"),
    }
}

unsafe fn clone_raw(data: *const ()) -> RawWaker {
    let head = head(data);
    // SAFETY: the waker's reference keeps the frame.
    unsafe { head.as_ref() }.word.retain();
    raw_waker(head)
}

unsafe fn wake_raw(data: *const ()) {
    // SAFETY: the waker's reference keeps the frame, and ends here.
    unsafe {
        wake(head(data));
        release(head(data));
    }
}

unsafe fn wake_by_ref_raw(data: *const ()) {
    // SAFETY: the waker's reference keeps the frame.
    unsafe { wake(head(data)) };
}

unsafe fn release_raw(data: *const ()) {
    // SAFETY: the waker's reference ends here.
    unsafe { release(head(data)) };
}
