//! A scope opened outside of its pool: its jobs run on the pool, its body stays on the opener's
//! thread.
//!
//! An [`OutsideLatch`] has a count for the body and for each job.
//!
//! The opener may be a task of another runtime that [helps](crate::help) while it waits. Its jobs
//! then record that, as calls do: what runs for a job names the scope as its piece and the opener's
//! activation as its caller. Workers of the pool that wait themselves must find jobs under their
//! waits, whatever queue holds the jobs. So such a scope has a list of its jobs that have not
//! started ([`OwnList`]), and the pool has a list of such scopes ([`OutsideScopes`]).
//!
//! Proof: `README.md`, "Helping".

use super::HeapJob;
use crate::context;
use crate::entry::Entry;
use crate::frames;
use crate::help::{self, Under};
use crate::join_stack::Job;
use crate::outside_latch::OutsideLatch;
use crate::own_list::{Left, OwnList, Shell};
use crate::runtime::{self, CalledJob};
use crate::shared::Shared;
use crate::task::Running;
use crate::unwind::{discard, run_and_discard};
use crate::worker::{Owner, Push};
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, AtomicBool, AtomicUsize, Ordering, UnsafeCell, thread};
use sateen_base::{RawSpinLock, SpinLock};
use sateen_sync::park::{self, Awaited};
use std::any::Any;
use std::mem::{ManuallyDrop, offset_of};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

type Panic = Box<dyn Any + Send>;

/// How long a wait sleeps after a user's blocker has unwound out of it.
const UNWOUND_NAP: Duration = Duration::from_micros(100);

/// See the [module's documentation](self).
#[derive(Debug)]
pub(super) struct Outside {
    shared: Arc<Shared>,
    latch: OutsideLatch<Waker>,
    /// The first panic of a job.
    panic: Mutex<Option<Panic>>,
    /// The activation that opened the scope if its task helps, or null.
    opener: *const Running,
    /// Jobs that have not started, recorded if there is an opener.
    unstarted: OwnList,
    /// Whether each worker has got a share.
    posted: AtomicBool,
}

// SAFETY: other threads read only fields of the opener that never change.
unsafe impl Sync for Outside {}
// SAFETY: as above.
unsafe impl Send for Outside {}

/// The address of a scope, which travels with a job.
struct OutsidePtr(*const Outside);

// SAFETY: `Outside` is Sync, and outlives the jobs that have a count of it.
unsafe impl Send for OutsidePtr {}

impl OutsidePtr {
    fn get(&self) -> *const Outside {
        self.0
    }
}

impl Outside {
    /// Creates a scope of the calling thread or task.
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            latch: OutsideLatch::new(park::current_waker()),
            panic: Mutex::new(None),
            opener: runtime::caller(),
            unstarted: OwnList::new(),
            posted: AtomicBool::new(false),
        }
    }

    /// See [`RawScope::complete`](super::RawScope::complete).
    pub(super) fn complete<R>(&self, body: impl FnOnce() -> R) -> R {
        if !self.opener.is_null() {
            self.shared.outside_scopes.add(self);
        }
        let result = catch_unwind(AssertUnwindSafe(body));
        let unwound = self.wait();
        if !self.opener.is_null() {
            self.shared.outside_scopes.remove(self);
        }
        let noted = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (result, noted.or(unwound)) {
            (Ok(value), None) => value,
            (Ok(value), Some(panic)) => {
                discard(value);
                resume_unwind(panic)
            }
            (Err(panic), noted) => {
                discard(noted);
                resume_unwind(panic)
            }
        }
    }

    /// Drops the body's count and waits for all others. If a user's blocker panicked, still waits,
    /// and then returns the panic.
    fn wait(&self) -> Option<Panic> {
        if self.latch.drop_own() {
            return None;
        }
        let mut unwound = None;
        let until_done = || {
            help::begin();
            while !self.latch.is_done() {
                if !help::once_for_scope(|| self.under()) {
                    help::park(Some(&self.shared));
                }
            }
        };
        // Masked, because the jobs may use the caller's frames.
        let what = Awaited::new("scope", std::ptr::null());
        let wait = || park::waiting_for(what, || park::uninterrupted(until_done));
        while let Err(panic) = catch_unwind(AssertUnwindSafe(wait)) {
            match unwound {
                None => unwound = Some(panic),
                Some(_) => discard(panic),
            }
            // The blocker may unwind before it has waited.
            if self.latch.is_done() {
                break;
            }
            if !help::once_for_scope(|| self.under()) {
                thread::sleep(UNWOUND_NAP);
            }
        }
        unwound
    }

    fn under(&self) -> Under {
        // Ordering: Relaxed, a hint: the waiter checks again.
        Under::piece(self).with_shares(self.posted.load(Ordering::Relaxed))
    }

    /// Wraps `f` as a job with a count of the scope.
    ///
    /// # Safety
    /// See [`RawScope::spawn`](super::RawScope::spawn).
    unsafe fn counted(&self, f: impl FnOnce() + Send) -> impl FnOnce() + Send {
        self.latch.add_one();
        let this = OutsidePtr(self);
        move || {
            let this = this.get();
            // SAFETY: the job's own count keeps the scope.
            let scope = unsafe { &*this };
            let run = || match context::fiber() {
                Some(fiber) if !scope.opener.is_null() => {
                    Running::called(fiber, scope.opener, this.cast(), f)
                }
                _ => f(),
            };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
                scope.note(panic);
            }
            let wake = |waker: Waker| run_and_discard(|| waker.wake());
            // SAFETY: the job's own count, dropped last.
            unsafe { OutsideLatch::drop_one(&raw const (*this).latch, wake) };
        }
    }

    /// See [`RawScope::spawn`](super::RawScope::spawn).
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn spawn(&self, f: impl FnOnce() + Send) {
        // SAFETY: by contract.
        let f = unsafe { self.counted(f) };
        let job = match self.opener.is_null() {
            true => HeapJob::alloc(std::ptr::null(), std::ptr::null(), f),
            false => ListedJob::alloc(self, f),
        };
        let entry = Entry::job(job.cast());
        match context::owner() {
            Some(worker) if worker.is_of(&self.shared) => {
                worker.push(entry, Push::Other);
                Owner::poll();
            }
            // The pool cannot have ended, because the opener borrows it.
            _ => self.shared.submit_inside(entry),
        }
    }

    /// Calls `share` with each worker's index and runs the result on that worker.
    ///
    /// # Safety
    /// See [`RawScope::spawn`](super::RawScope::spawn).
    pub(super) unsafe fn spawn_broadcast<F: FnOnce() + Send>(&self, share: impl Fn(usize) -> F) {
        // Ordering: Relaxed, see `under`.
        self.posted.store(true, Ordering::Relaxed);
        // SAFETY: by contract.
        let share = |index| unsafe { self.counted(share(index)) };
        let what = std::ptr::from_ref(self).cast();
        let job = |index| HeapJob::alloc(self.opener, what, share(index));
        let shares: Vec<Entry> = (0..self.shared.regular).map(job).map(Entry::here).collect();
        let posted = self.shared.post_each(&shares);
        self.shared.announce_posted(&posted);
        for index in (0..shares.len()).filter(|index| !posted.contains(index)) {
            // SAFETY: it was not posted, so this thread owns it.
            unsafe { crate::task::refuse_posted(&self.shared, index, shares[index]) };
        }
    }

    #[cold]
    fn note(&self, panic: Panic) {
        let mut noted = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
        let late = if noted.is_none() { noted.replace(panic) } else { Some(panic) };
        drop(noted);
        discard(late);
    }
}

/// The open scopes of a runtime whose openers are tasks of other runtimes and help.
#[derive(Debug)]
pub(crate) struct OutsideScopes {
    open: SpinLock<Vec<*const Outside>>,
    /// The number of scopes: exact under the lock, a hint without it.
    count: AtomicUsize,
}

// SAFETY: its scopes are Sync, and valid while they are in the list.
unsafe impl Send for OutsideScopes {}
// SAFETY: as above.
unsafe impl Sync for OutsideScopes {}

impl OutsideScopes {
    pub(crate) fn new() -> Self {
        let open = SpinLock::from_raw(RawSpinLock::new(), Vec::new());
        Self { open, count: AtomicUsize::new(0) }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<*const Outside>)) {
        let mut open = self.open.lock();
        change(&mut open);
        // Ordering: Relaxed, a hint: a thread that misses it checks again.
        self.count.store(open.len(), Ordering::Relaxed);
    }

    /// The scope stays until it is removed.
    fn add(&self, scope: &Outside) {
        self.change(|open| open.push(scope));
    }

    fn remove(&self, scope: &Outside) {
        self.change(|open| open.retain(|&other| !std::ptr::eq(other, scope)));
    }

    /// Takes a job that has not started, of a scope whose opener is `wanted`. While `wanted` runs,
    /// the opener stays in its scope.
    pub(crate) fn take(&self, wanted: impl Fn(*const Running) -> bool) -> Option<Unstarted> {
        // Ordering: Relaxed, see `change`.
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let open = self.open.lock();
        open.iter().find_map(|&scope| {
            // SAFETY: a scope is valid while it is in the list, and the list does not change under
            // the lock.
            let scope = unsafe { &*scope };
            wanted(scope.opener).then(|| scope.unstarted.take_youngest())?.map(Unstarted)
        })
    }
}

/// A job taken out of its scope's list. It keeps the scope open.
pub(crate) struct Unstarted(*const Shell);

impl Unstarted {
    pub(crate) fn run(self) {
        let head = self.0.wrapping_byte_sub(offset_of!(ListedHead, shell)).cast::<ListedHead>();
        // SAFETY: each shell in a scope's list is a listed job's, and this one is ours to empty,
        // once.
        unsafe { ((*head).run_emptied)(head) };
    }
}

/// The part of a listed job that does not depend on its closure.
#[repr(C)]
struct ListedHead {
    called: CalledJob,
    shell: Shell,
    /// For the taker of the shell, which has the closure.
    run_emptied: unsafe fn(*const Self),
    scope: *const Outside,
}

/// A job on the heap, with an entry in a queue and a place in its scope's list. States:
/// [`own_list`](crate::own_list).
#[repr(C)]
struct ListedJob<F> {
    head: ListedHead,
    f: UnsafeCell<ManuallyDrop<F>>,
}

impl<F: FnOnce() + Send> ListedJob<F> {
    /// A taker gets the job from a queue once, and frees it then or finds it freed. The caller
    /// keeps the scope, and what `f` borrows, until `f` has run.
    fn alloc(scope: &Outside, f: F) -> NonNull<CalledJob> {
        const { assert!(offset_of!(Self, head) == 0 && offset_of!(ListedHead, called) == 0) };
        let called = CalledJob::of(Self::run, scope.opener, std::ptr::from_ref(scope).cast());
        let (shell, run_emptied) = (Shell::new(), Self::run_emptied as _);
        let head = ListedHead { called, shell, run_emptied, scope };
        let this = frames::place(Self { head, f: UnsafeCell::new(ManuallyDrop::new(f)) });
        // SAFETY: it was just made, and is freed as its shell says.
        unsafe { scope.unstarted.link(&raw const (*this.as_ptr()).head.shell) };
        this.cast()
    }

    /// # Safety
    /// The caller has the closure, once.
    unsafe fn closure(this: *const Self) -> F {
        // SAFETY: by contract.
        unsafe { (*this).f.with_mut(|f| ManuallyDrop::take(&mut *f)) }
    }

    /// # Safety
    /// The closure is gone, and no other thread touches the job again.
    unsafe fn free(this: *const Self) {
        // SAFETY: by contract; `alloc` placed it, and what is left in it needs no drop.
        unsafe { frames::give(NonNull::new_unchecked(this.cast_mut())) };
    }

    /// # Safety
    /// `job` starts a `ListedJob<F>` whose entry the caller has taken.
    unsafe fn run(job: *const Job) {
        let this = job.cast::<Self>();
        // SAFETY: by contract. The scope waits for the job if the caller gets it.
        let f = unsafe {
            let shell = &raw const (*this).head.shell;
            match (*shell).take() {
                Ok(()) => {
                    (*(*this).head.scope).unstarted.unlink(shell);
                    let f = Self::closure(this);
                    Self::free(this);
                    f
                }
                Err(Left::Free) => return Self::free(this),
                Err(Left::Alone) => return,
            }
        };
        f();
    }

    /// # Safety
    /// `head` starts a `ListedJob<F>` that is the caller's to empty.
    unsafe fn run_emptied(head: *const ListedHead) {
        let this = head.cast::<Self>();
        // SAFETY: by contract.
        let f = unsafe {
            let f = Self::closure(this);
            if (*head).shell.emptied() == Left::Free {
                Self::free(this);
            }
            f
        };
        f();
    }
}

#[cfg(test)]
mod tests;
