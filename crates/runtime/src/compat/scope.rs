//! A scope whose body stays on the thread that opens it.
//!
//! On a worker of the pool it is the runtime's own [`Scope`]. On any other thread, also a worker of
//! another runtime, it is [`Outside`]: an [`OutsideLatch`] with a count for the body and for each
//! job.

use super::{HeapJob, Pool};
use crate::context;
use crate::entry::Entry;
use crate::forked;
use crate::outside_latch::OutsideLatch;
use crate::scope::Scope;
use crate::shared::Shared;
use crate::unwind::{discard, run_and_discard};
use crate::worker::{Owner, Push};
use sateen_base::prim::time::Duration;
use sateen_base::prim::{Arc, thread};
use sateen_sync::park::{self, Awaited};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

type Panic = Box<dyn Any + Send>;

/// How long a wait sleeps after a blocker of the user's has unwound out of it.
const UNWOUND_NAP: Duration = Duration::from_micros(100);

/// A scope without the types of its user. See the [module's documentation](self).
#[derive(Debug)]
pub struct RawScope<'scope> {
    home: Home<'scope>,
}

#[derive(Debug)]
enum Home<'scope> {
    /// The opener is a worker of the pool. (Without one, the pool is gone, and all runs inline.)
    Inside(Scope<'scope>),
    Outside(Outside),
}

#[derive(Debug)]
struct Outside {
    shared: Arc<Shared>,
    latch: OutsideLatch<Waker>,
    /// The first panic of a job.
    panic: Mutex<Option<Panic>>,
}

/// The address of a scope outside, which travels with a job.
struct OutsidePtr(*const Outside);

// SAFETY: `Outside` is Sync, and outlives the jobs that have a count of it.
unsafe impl Send for OutsidePtr {}

impl OutsidePtr {
    fn get(&self) -> *const Outside {
        self.0
    }
}

impl<'scope> RawScope<'scope> {
    /// A scope whose jobs go to `pool`. `pool` stays open until [`RawScope::complete`] returns.
    ///
    /// # Panics
    /// In a process that has forked, if the pool was made before that.
    pub fn new(pool: &Pool) -> Self {
        let shared = pool.shared();
        let home = match context::here() {
            Some((worker, fiber)) if worker.is_of(shared) => {
                Home::Inside(Scope::of_fiber(worker, fiber))
            }
            // An exit hook: no worker takes anything any more. Or a waker at a worker's root, which
            // must not wait for its own worker.
            _ if shared.is_closing() || is_thread_of(shared) => Home::Inside(Scope::inline()),
            _ => {
                assert!(!shared.is_orphan(), "{}", forked::MESSAGE);
                Home::Outside(Outside {
                    shared: Arc::clone(shared),
                    latch: OutsideLatch::new(park::current_waker()),
                    panic: Mutex::new(None),
                })
            }
        };
        Self { home }
    }

    /// Runs `body`, waits for all jobs, and passes on the panic of the body or else the first one
    /// of a job.
    ///
    /// # Safety
    /// Called once, by the thread or task that called [`RawScope::new`].
    pub unsafe fn complete<R>(&self, body: impl FnOnce() -> R) -> R {
        match &self.home {
            Home::Inside(scope) => match context::here() {
                Some((worker, fiber)) => scope.complete(worker, fiber, body),
                None => scope.complete_inline(body),
            },
            Home::Outside(outside) => outside.complete(body),
        }
    }

    /// Makes `f` a job of the scope. Any thread.
    ///
    /// # Safety
    /// [`RawScope::complete`] is running or will be called, and the caller keeps it from returning:
    /// it is in its body or in a job, or such a frame waits for it. The scope does not move from
    /// now on.
    #[inline]
    pub unsafe fn spawn(&self, f: impl FnOnce() + Send + 'scope) {
        match &self.home {
            Home::Inside(scope) => scope.spawn(move |_| f()),
            // SAFETY: by contract.
            Home::Outside(outside) => unsafe { outside.spawn(f) },
        }
    }

    /// Runs `f` with each worker's index on that worker.
    ///
    /// # Panics
    /// If the pool's workers are about to end: in a hook.
    ///
    /// # Safety
    /// As [`RawScope::spawn`].
    pub unsafe fn spawn_broadcast(&self, f: impl Fn(usize) + Send + Sync + 'scope) {
        let f = std::sync::Arc::new(f);
        let share = |index| {
            let f = std::sync::Arc::clone(&f);
            move || f(index)
        };
        match &self.home {
            Home::Inside(scope) => {
                let share = |index| {
                    let f = share(index);
                    move |_: &Scope<'scope>| f()
                };
                let posted = scope.post_to_all(share);
                assert!(posted, "a broadcast to workers that end");
            }
            // SAFETY: by contract.
            Home::Outside(outside) => unsafe { outside.spawn_broadcast(share) },
        }
    }
}

/// Whether the calling thread is one of this runtime's workers, whatever runs on it.
fn is_thread_of(shared: &Shared) -> bool {
    context::thread_owner().is_some_and(|worker| worker.is_of(shared))
}

impl Outside {
    fn complete<R>(&self, body: impl FnOnce() -> R) -> R {
        let result = catch_unwind(AssertUnwindSafe(body));
        let unwound = self.wait();
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

    /// Gives back the body's count and waits for all others. Returns the panic of a blocker of the
    /// user's, if there was one: the wait goes on all the same.
    fn wait(&self) -> Option<Panic> {
        if self.latch.drop_own() {
            return None;
        }
        let mut unwound = None;
        let until_done = || {
            while !self.latch.is_done() {
                park::park();
            }
        };
        // Masked, because the jobs may use what the caller's frames hold.
        let wait =
            || park::waiting_for(Awaited::new("scope", 0), || park::uninterrupted(until_done));
        while let Err(panic) = catch_unwind(AssertUnwindSafe(wait)) {
            match unwound {
                None => unwound = Some(panic),
                Some(_) => discard(panic),
            }
            thread::sleep(UNWOUND_NAP);
        }
        unwound
    }

    /// Makes `f` a job, which the caller queues.
    ///
    /// # Safety
    /// See [`RawScope::spawn`].
    unsafe fn job(&self, f: impl FnOnce() + Send) -> std::ptr::NonNull<crate::join_stack::Job> {
        self.latch.add_one();
        let this = OutsidePtr(self);
        HeapJob::alloc(move || {
            let this = this.get();
            if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
                // SAFETY: the job's own count keeps the scope.
                unsafe { &*this }.note(panic);
            }
            let wake = |waker: Waker| run_and_discard(|| waker.wake());
            // SAFETY: the job's own count, dropped last.
            unsafe { OutsideLatch::drop_one(&raw const (*this).latch, wake) };
        })
    }

    /// # Safety
    /// See [`RawScope::spawn`].
    unsafe fn spawn(&self, f: impl FnOnce() + Send) {
        // SAFETY: by contract.
        let entry = Entry::job(unsafe { self.job(f) });
        match context::owner() {
            Some(worker) if worker.is_of(&self.shared) => {
                worker.push(entry, Push::Other);
                Owner::poll();
            }
            // The pool cannot have ended, because the opener borrows it.
            _ => self.shared.submit_inside(entry),
        }
    }

    /// # Safety
    /// See [`RawScope::spawn`].
    unsafe fn spawn_broadcast<F: FnOnce() + Send>(&self, share: impl Fn(usize) -> F) {
        // SAFETY: by contract.
        let job = |index| Entry::here(unsafe { self.job(share(index)) });
        let shares: Vec<Entry> = (0..self.shared.regular).map(job).collect();
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
