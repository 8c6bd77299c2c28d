//! A scope whose body stays on the thread that opens it.
//!
//! On a worker of the pool it is the runtime's own [`Scope`]. On any other thread, including a
//! worker of another runtime, it is [`Outside`].

use super::Pool;
use super::outside::Outside;
use crate::context;
use crate::forked;
use crate::scope::Scope;
use crate::shared::Shared;

/// A scope without the types of its user. Its body stays on the thread that opens it.
#[derive(Debug)]
pub struct RawScope<'scope> {
    home: Home<'scope>,
}

#[derive(Debug)]
enum Home<'scope> {
    /// The opener is a worker of the pool. (If not, the pool is gone, and everything runs inline.)
    Inside(Scope<'scope>),
    Outside(Outside),
}

impl<'scope> RawScope<'scope> {
    /// Creates a scope whose jobs go to `pool`. `pool` stays open until [`RawScope::complete`]
    /// returns.
    ///
    /// # Panics
    /// In a process that has forked, if the pool was created before.
    pub fn new(pool: &Pool) -> Self {
        let shared = pool.shared();
        let home = match context::here() {
            Some((worker, fiber)) if worker.is_of(shared) => {
                Home::Inside(Scope::of_fiber(worker, fiber))
            }
            // In an exit hook, no worker takes work any more. A waker at a worker's root must not
            // wait for its own worker.
            _ if shared.is_closing() || is_thread_of(shared) => Home::Inside(Scope::inline()),
            _ => {
                assert!(!shared.is_orphan(), "{}", forked::MESSAGE);
                Home::Outside(Outside::new(shared))
            }
        };
        Self { home }
    }

    /// Runs `body`, waits for all jobs, and resumes the panic of the body, or else the first panic
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

    /// Makes `f` a job of the scope. Any thread may call this.
    ///
    /// # Safety
    /// The caller keeps [`RawScope::complete`] from returning, whether it has been called or will
    /// be: the caller is in the body or in a job, or such a frame waits for it. The scope does not
    /// move from now on.
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
    /// If the pool's workers are about to end, that is, in a hook.
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
