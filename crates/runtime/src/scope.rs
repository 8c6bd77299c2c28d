//! Scopes: any number of borrowing spawns, all done when the scope ends.

mod jobs;
mod lists;

use crate::context::{self, here, this_fiber};
use crate::elsewhere::elsewhere;
use crate::entry::{Entry, Work};
use crate::fiber::{Fiber, Joining};
use crate::help::{self, Under};
use crate::latch::CountLatch;
use crate::own_list::OwnList;
use crate::runtime::Runtime;
use crate::shared::Shared;
use crate::task::{Running, in_branch, interrupted_after};
use crate::unwind::discard;
use crate::worker::{Owner, Push};
use jobs::{HeapJob, ListedHead, ListedJob};
use lists::OwnLists;
#[cfg(feature = "compat")]
use sateen_base::prim::fence;
use sateen_base::prim::{Arc, AtomicBool, AtomicPtr, Ordering};
use std::any::Any;
use std::cell::OnceCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;

type Panic = Box<dyn Any + Send>;

/// The type-independent part of a scoped job.
#[repr(C, align(8))] // For tags; see `entry.rs`.
#[derive(Debug)]
pub(crate) struct ScopeJob {
    /// Runs the job, which the caller has [claimed](ScopeJob::claim).
    run: unsafe fn(*const ScopeJob),
    /// The scope's shared part, which identifies the scope; [`LISTED`] is added to the address. The
    /// scope waits for the job, unless the job is listed: then the scope may have run the job and
    /// ended.
    scope: *const Inner,
}

/// Marks jobs that are in their scope's [list](OwnList).
const LISTED: usize = 1;

impl ScopeJob {
    /// The address of the scope, for comparisons.
    fn scope(&self) -> *const Inner {
        self.scope.map_addr(|address| address & !LISTED)
    }

    fn is_listed(&self) -> bool {
        self.scope.addr() & LISTED != 0
    }

    /// The scope, if it always waits for the job.
    fn waiting_scope(&self) -> Option<&Inner> {
        // SAFETY: not listed, so the scope waits for it.
        (!self.is_listed()).then(|| unsafe { &*self.scope })
    }

    /// Whether the caller, who has taken the entry, must run the job. If not, the job is gone.
    ///
    /// # Safety
    /// `this` was taken from a queue, once.
    unsafe fn claim(this: *const Self) -> bool {
        // SAFETY: the entry keeps the allocation.
        unsafe { !(*this).is_listed() || ((*this.cast::<ListedHead>()).take)(this) }
    }
}

/// Runs a scope's job on a fiber other than the scope's own.
///
/// # Safety
/// `job` was taken from a queue, once.
pub(crate) unsafe fn run(fiber: &Fiber, job: *const ScopeJob) {
    // SAFETY: the scope waits for a job that was claimed, and its opener for the scope.
    unsafe {
        if ScopeJob::claim(job) {
            let scope = (*job).scope();
            Running::branch(fiber, (*scope).opener, scope.cast(), || ((*job).run)(job));
        }
    }
}

/// Runs a scope's job on the scope's own fiber.
///
/// # Safety
/// As [`run`].
unsafe fn run_own(job: *const ScopeJob) {
    // SAFETY: by contract.
    unsafe {
        if ScopeJob::claim(job) {
            ((*job).run)(job);
        }
    }
}

/// Runs a scope's job on a thread whose worker will not.
///
/// # Safety
/// As [`run`].
#[cold]
pub(crate) unsafe fn run_here(job: *const ScopeJob) {
    // SAFETY: by contract.
    unsafe { run_own(job) };
}

/// The fiber that waits for the end of `job`'s scope and could run `job`, if there is one. (The
/// scope of a listed job finds the job by itself.)
///
/// # Safety
/// No worker has taken `job`.
pub(crate) unsafe fn waiter(job: *const ScopeJob) -> Option<&'static Fiber> {
    // SAFETY: the entry keeps the job.
    unsafe { &*job }.waiting_scope()?.waiter()
}

/// Whether `job`'s scope belongs to this runtime.
///
/// # Safety
/// No worker has taken `job`.
pub(crate) unsafe fn is_of(job: *const ScopeJob, shared: &Arc<Shared>) -> bool {
    // SAFETY: the entry keeps the job.
    let home = unsafe { &*job }.waiting_scope().and_then(|scope| scope.shared.as_ref());
    home.is_some_and(|home| Arc::ptr_eq(home, shared))
}

/// The address of `job`'s scope.
///
/// # Safety
/// The caller keeps the entry of `job` alive.
pub(crate) unsafe fn piece_of(job: *const ScopeJob) -> usize {
    // SAFETY: by contract.
    unsafe { (*job).scope() }.addr()
}

/// The activation that opened `job`'s scope, if the scope always waits for the job, as it does for
/// a share.
///
/// # Safety
/// No worker has taken `job`.
pub(crate) unsafe fn share_opener(job: *const ScopeJob) -> Option<*const Running> {
    // SAFETY: the entry keeps the job.
    unsafe { &*job }.waiting_scope().map(|scope| scope.opener)
}

/// Queues `job` for all workers of its runtime. Any thread may call this.
///
/// # Safety
/// The caller owns the job, and gives it up.
#[cold]
pub(crate) unsafe fn send_home(job: *const ScopeJob) {
    // SAFETY: the scope waits for the job until it is queued. After that the runtime may end while
    // a worker is being notified, so this thread holds a count.
    if let Some(shared) = unsafe { &*job }.waiting_scope().and_then(|scope| scope.shared.clone())
        && let Some(job) = NonNull::new(job.cast_mut())
    {
        shared.submit_inside(Entry::scoped(job));
    }
}

/// The part of a scope that its jobs access.
#[derive(Debug)]
struct Inner {
    /// A count for the scope's body, and one for each spawn that is not done.
    latch: CountLatch<Fiber>,
    /// The fiber that waits for the end, while it may run jobs; null before and after.
    waiter: AtomicPtr<Fiber>,
    /// The first panic, boxed twice to fit in a word.
    panic: AtomicPtr<Panic>,
    shared: Option<Arc<Shared>>,
    /// The activation that opened the scope and waits for its end; null if unknown.
    opener: *const Running,
    /// Present if the scope's task keeps its thread.
    own: Option<Box<Own>>,
}

/// A scope's record of its jobs, if its task helps while it waits.
#[derive(Debug)]
struct Own {
    /// Spawns that have not started.
    lists: OwnLists,
    /// Whether each worker has got a share.
    posted: AtomicBool,
}

impl Own {
    fn new(home: usize) -> Self {
        Self { lists: OwnLists::new(home), posted: AtomicBool::new(false) }
    }

    /// The list for the caller's spawns; `shared` is the scope's runtime.
    #[inline(never)]
    fn list(&self, shared: &Arc<Shared>) -> &OwnList {
        self.lists.of(context::owner().filter(|worker| worker.is_of(shared)))
    }
}

// SAFETY: other threads read only fields of the opener that never change.
unsafe impl Sync for Inner {}
// SAFETY: as above.
unsafe impl Send for Inner {}

impl Inner {
    fn waiter(&self) -> Option<&'static Fiber> {
        // Ordering: Relaxed; fences order it, see `Aside::put`.
        // SAFETY: fibers live as long as the runtime.
        unsafe { self.waiter.load(Ordering::Relaxed).as_ref() }
    }

    /// Runs one of the scope's jobs that lacked a stack, or that only this worker may run, if there
    /// is one. On top of the caller's frames runs only what the caller waits for in any case.
    #[cold]
    fn help(&self, worker: &Owner) -> bool {
        // Ordering: Relaxed, see `waiter`.
        let waits = |fiber| self.waiter.store(fiber, Ordering::Relaxed);
        waits(std::ptr::from_ref(this_fiber()).cast_mut());
        let mine = |entry: Entry| match entry.decode() {
            // SAFETY: no worker has taken it, so it is valid.
            Work::Scoped(job) => unsafe { self.is_of(job) },
            _ => false,
        };
        let aside = worker.shared().aside.take_scoped(worker.index(), mine);
        // A broadcast's share is in the worker's pinned queue.
        let Some(entry) = aside.or_else(|| worker.take_pinned(mine)) else { return false };
        // Meanwhile this fiber need not be woken.
        waits(std::ptr::null_mut());
        worker.note_started();
        if let Work::Scoped(job) = entry.decode() {
            // SAFETY: taken, so ours to run, once.
            unsafe { run_own(job) };
        }
        true
    }

    /// Whether `job` is, or was, a job of this scope.
    ///
    /// # Safety
    /// The caller owns the job's entry.
    unsafe fn is_of(&self, job: *const ScopeJob) -> bool {
        // SAFETY: the entry keeps the job.
        std::ptr::eq(unsafe { (*job).scope() }, self)
    }

    fn has_listed(&self) -> bool {
        self.own.as_ref().is_some_and(|own| !own.lists.is_empty())
    }

    /// The work under the wait for the scope's end.
    #[cold]
    fn under(&self) -> Under {
        // Ordering: Relaxed. A fence follows in `post_to_all`, and the waiter checks after another.
        let posted = |own: &Own| own.posted.load(Ordering::Relaxed);
        Under::piece(self).with_shares(self.own.as_deref().is_some_and(posted))
    }

    /// Runs the youngest spawn in the scope's list, if there is one.
    #[cold]
    fn run_listed(&self) -> bool {
        let Some(own) = &self.own else { return false };
        let Some(shell) = own.lists.take_youngest() else { return false };
        // SAFETY: each shell in a list belongs to a listed job, and the scope owns this one.
        unsafe { ListedHead::run_emptied(shell) };
        true
    }
}

/// Spawns work that borrows from the frames around it; see [`scope`].
#[derive(Debug)]
pub struct Scope<'scope> {
    inner: Inner,
    /// Invariant in the lifetime, so that it cannot be shortened for a spawn.
    marker: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

/// The address of a scope, which may travel with a spawn.
struct ScopePtr<'scope>(NonNull<Scope<'scope>>);

// SAFETY: a scope is Sync, and it outlives its spawns.
unsafe impl Send for ScopePtr<'_> {}

impl<'scope> Scope<'scope> {
    /// Creates a scope of the calling fiber.
    pub(crate) fn of_fiber(worker: &Owner, fiber: &Fiber) -> Self {
        let shared = Arc::clone(worker.shared());
        let own = shared.lists_spawns.then(|| Box::new(Own::new(worker.index())));
        Self::new(Some(shared), fiber.running(), own)
    }

    /// Creates a scope whose spawns run at once, on the calling thread.
    pub(crate) fn inline() -> Self {
        Self::new(None, std::ptr::null(), None)
    }

    fn new(shared: Option<Arc<Shared>>, opener: *const Running, own: Option<Box<Own>>) -> Self {
        let inner = Inner {
            latch: CountLatch::new(1),
            waiter: AtomicPtr::new(std::ptr::null_mut()),
            panic: AtomicPtr::new(std::ptr::null_mut()),
            shared,
            opener,
            own,
        };
        Self { inner, marker: PhantomData }
    }

    /// Spawns `f`, which may borrow anything that outlives the scope, and may spawn in turn.
    ///
    /// `f` runs at any time until the scope ends, on any worker. If it panics, [`scope`] resumes
    /// the panic once all spawns are done.
    ///
    /// # Cost
    /// A block from a thread-local cache, two locked instructions and a push.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut parts = [1, 2, 3];
    /// sateen::scope(|s| {
    ///     for part in &mut parts {
    ///         s.spawn(move |_| *part *= 10);
    ///     }
    /// });
    /// assert_eq!(parts, [10, 20, 30]);
    /// ```
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let Some(shared) = &self.inner.shared else { return self.call(f) };
        let entry = self.job(self.inner.own.as_ref().map(|own| own.list(shared)), f);
        match context::owner() {
            Some(worker) if worker.is_of(shared) => {
                worker.push(entry, Push::Other);
                Owner::poll();
            }
            // Another thread was lent the scope. The runtime has not ended, because the scope's own
            // task still runs. But the gate may be shut to newcomers, so the job bypasses it.
            _ => shared.submit_inside(entry),
        }
    }

    /// Makes `f` a job of the scope, in `list` if one is given. The caller queues it.
    fn job<F>(&self, list: Option<&OwnList>, f: F) -> Entry
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let scope = ScopePtr(NonNull::from(self));
        let inner = &raw const self.inner;
        let f = move || {
            let pointer = scope;
            // SAFETY: the scope waits for this job's count.
            let scope = unsafe { pointer.0.as_ref() };
            scope.call(f);
            // SAFETY: the job's own count, dropped last.
            unsafe { CountLatch::drop_one(&raw const (*pointer.0.as_ptr()).inner.latch) };
        };
        self.inner.latch.add_one();
        Entry::scoped(match list {
            None => HeapJob::alloc(inner, f),
            Some(list) => ListedJob::alloc(inner, list, f),
        })
    }

    /// Runs what `make` returns for each worker's index on that worker, once. Returns false if the
    /// scope has no workers.
    #[cfg(feature = "compat")]
    pub(crate) fn post_to_all<F>(&self, make: impl Fn(usize) -> F) -> bool
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let Some(shared) = &self.inner.shared else { return false };
        // Not listed, because each is for one worker alone.
        let share = |index| self.job(None, make(index));
        let jobs: Vec<Entry> = (0..shared.regular).map(share).collect();
        // Ordering: Relaxed, see `Inner::under`.
        self.inner.own.as_ref().inspect(|own| own.posted.store(true, Ordering::Relaxed));
        let posted = shared.post_each(&jobs);
        // The waiter has a share too. Partner: the fence in `Aside::take_scoped`.
        fence(Ordering::SeqCst);
        self.inner.waiter().inspect(|waiter| crate::latch::Waiter::unpark(*waiter));
        shared.announce_posted(&posted);
        // The caller runs the share of a worker without a thread.
        for index in (0..jobs.len()).filter(|index| !posted.contains(index)) {
            if let Work::Scoped(job) = jobs[index].decode() {
                // SAFETY: it was not posted, so it is ours to run, once.
                unsafe { ((*job).run)(job) };
            }
        }
        true
    }

    /// Runs `body`, waits for all spawns, and resumes the panic of the body or of a spawn. Called
    /// once, on the scope's own fiber.
    pub(crate) fn complete<R>(&self, worker: &Owner, fiber: &Fiber, body: impl FnOnce() -> R) -> R {
        let result = catch_unwind(AssertUnwindSafe(|| in_branch(body)));
        self.wait(worker);
        // Only now: a cancellation also cancels the spawns, and we wait for them.
        let result = result.and_then(|value| interrupted_after(fiber, value));
        self.finish(result)
    }

    /// [`Scope::complete`] for a scope whose spawns have run at once.
    pub(crate) fn complete_inline<R>(&self, body: impl FnOnce() -> R) -> R {
        self.finish(catch_unwind(AssertUnwindSafe(body)))
    }

    /// Runs `f` and keeps its panic for the scope's end.
    fn call(&self, f: impl FnOnce(&Scope<'scope>)) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| f(self))) {
            self.note(panic);
        }
    }

    #[cold]
    fn note(&self, panic: Panic) {
        let boxed = Box::into_raw(Box::new(panic));
        let none = std::ptr::null_mut();
        // Ordering: Relaxed. `finish` comes after the latch, which every spawn counts down after
        // this.
        let first =
            self.inner.panic.compare_exchange(none, boxed, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_err() {
            // SAFETY: it was not stored, so we still own it.
            let late = unsafe { Box::from_raw(boxed) };
            discard(late);
        }
    }

    /// Runs the scope's own work at the top of the worker's queue, then waits for the rest.
    fn wait(&self, worker: &Owner) {
        while self.inner.latch.pending() > 1 {
            Owner::poll();
            let Some(entry) = worker.pop_youngest() else { break };
            match entry.decode() {
                // SAFETY: popped, so ours to run.
                Work::Scoped(job) if unsafe { self.inner.is_of(job) } => unsafe { run_own(job) },
                // A single worker runs its queue youngest first, as programs expect. What the body
                // has spawned elsewhere comes before the scope's older spawns.
                _ if worker.shared().regular == 1 && self.inner.has_listed() => {
                    let fiber = this_fiber();
                    fiber.unhindered(|| worker.execute(fiber, entry));
                }
                _ => {
                    worker.push(entry, Push::Other);
                    break;
                }
            }
        }
        while self.inner.run_listed() {}
        let under = || self.inner.under();
        let joining = OnceCell::new();
        let help = || {
            joining.get().inspect(|joining| Joining::look(joining));
            if self.inner.run_listed() || self.inner.help(worker) {
                this_fiber().begin_helping();
                return true;
            }
            help::once_for_scope(under)
        };
        let spin = |latch: &_| {
            // SAFETY: the scope's own fiber, on which its opener runs.
            joining.get_or_init(|| unsafe { Joining::begin(this_fiber(), self.inner.opener) });
            help::spin_for_scope(latch, under);
        };
        self.inner.latch.finish_helping(1, spin, this_fiber, help);
    }

    fn finish<R>(&self, result: Result<R, Panic>) -> R {
        // Ordering: Relaxed, after the latch: see `note`.
        let noted = self.inner.panic.swap(std::ptr::null_mut(), Ordering::Relaxed);
        let noted = (!noted.is_null()).then(|| {
            // SAFETY: set once by `note`, and all spawns are done.
            unsafe { Box::from_raw(noted) }
        });
        match (result, noted) {
            (Ok(value), None) => value,
            (Err(panic), noted) => {
                discard(noted);
                resume_unwind(panic)
            }
            (Ok(value), Some(panic)) => {
                discard(value);
                resume_unwind(*panic)
            }
        }
    }
}

/// Runs `f` with a scope, and returns when `f` and everything spawned in the scope is done.
///
/// Spawns may borrow what outlives the scope. A task that ends a scope runs its own youngest spawns
/// itself, and is suspended until the rest are done. If there is no stack to start the rest on, it
/// runs them too. On a thread outside of any runtime, everything runs on the global one.
///
/// # Panics
/// With the panic of `f`, or else with the first panic of a spawn, after all are done.
///
/// Source: semantics of rayon's function of this name.
///
/// ```
/// let words = ["to", "be", "or", "not"];
/// let mut lengths = [0; 4];
/// sateen::scope(|s| {
///     for (word, length) in words.iter().zip(&mut lengths) {
///         s.spawn(move |_| *length = word.len());
///     }
/// });
/// assert_eq!(lengths, [2, 2, 2, 3]);
/// ```
///
/// A spawn cannot borrow what lives inside the scope:
///
/// ```compile_fail
/// sateen::scope(|s| {
///     let inside = 1;
///     s.spawn(|_| println!("{}", inside));
/// });
/// ```
pub fn scope<'scope, OP, R>(f: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    let frame = 0u8;
    let stays = context::with(|c| !c.is_beyond((&raw const frame).addr()));
    match here() {
        Some((worker, fiber)) if stays => {
            let scope = Scope::of_fiber(worker, fiber);
            scope.complete(worker, fiber, || f(&scope))
        }
        _ => scope_elsewhere(f),
    }
}

#[cold]
#[inline(never)]
fn scope_elsewhere<'scope, OP, R>(f: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    elsewhere().run(
        f,
        (),
        |f, ()| scope(f),
        |f, ()| {
            let scope = Scope::inline();
            scope.complete_inline(|| f(&scope))
        },
    )
}

impl Runtime {
    /// Runs `f` with a scope on this runtime's workers; see [`scope`].
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(2).build()?;
    /// let mut x = 1;
    /// runtime.scope(|s| s.spawn(|_| x = 2));
    /// assert_eq!(x, 2);
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    pub fn scope<'scope, OP, R>(&self, f: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| scope(f))
    }
}
