//! A run queue's entry: one tagged word.
//!
//! | low bits | the rest points to | its taker |
//! |---|---|---|
//! | 0 | a [`Job`] that frees itself or signals | runs it |
//! | 1 | a spawned task's header | claims it, and runs it if the claim succeeds |
//! | 2 | a job spawned in a scope | runs it |
//! | 3 | the fiber of a suspended task that left branches | steals one, requeues the rest |
//! | 4 | the fiber of a started task that is ready | resumes it; its own worker only |
//! | 5 | a spawned future that was woken | polls it |
//! | 6 | a [`CalledJob`] for the one worker that it was posted to | runs it |
//! | 7 | a [`Job`] that surveys a worker's fibers | runs it, on a fiber or at the root |

use crate::fiber::Fiber;
use crate::join_stack::Job;
use crate::runtime::CalledJob;
use crate::scope::ScopeJob;
use crate::task::{FutureHead, Header};
use std::ptr::NonNull;

const TAG: usize = 7;
const JOB: usize = 0;
const TASK: usize = 1;
const SCOPED: usize = 2;
const STACK: usize = 3;
const FIBER: usize = 4;
const FUTURE: usize = 5;
const HERE: usize = 6;
const SURVEY: usize = 7;

/// A run queue's entry. It owns what it points to, in the sense of the table above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(NonNull<()>);

// SAFETY: an address; the thread that takes the entry may use what it points to.
unsafe impl Send for Entry {}

/// An [`Entry`], decoded.
#[derive(Debug)]
pub(crate) enum Work {
    Job(*const Job),
    Task(NonNull<Header>),
    Scoped(*const ScopeJob),
    Stack(*const Fiber),
    Fiber(*const Fiber),
    Future(NonNull<FutureHead>),
    Here(*const Job),
    Survey(*const Job),
}

impl Entry {
    fn new<T>(target: NonNull<T>, tag: usize) -> Self {
        const { assert!(align_of::<T>() > TAG) };
        Self(target.cast::<()>().map_addr(|a| a | tag))
    }

    pub(crate) fn job(job: NonNull<Job>) -> Self {
        Self::new(job, JOB)
    }

    /// A job that only the worker to which it is posted may run. It has the layout of a call,
    /// because workers that wait look for calls among such jobs.
    pub(crate) fn here(job: NonNull<CalledJob>) -> Self {
        Self::new(job, HERE)
    }

    /// A job that surveys fibers: see the table above.
    pub(crate) fn survey(job: NonNull<Job>) -> Self {
        Self::new(job, SURVEY)
    }

    pub(crate) fn task(task: NonNull<Header>) -> Self {
        Self::new(task, TASK)
    }

    pub(crate) fn scoped(job: NonNull<ScopeJob>) -> Self {
        Self::new(job, SCOPED)
    }

    pub(crate) fn stack(fiber: &Fiber) -> Self {
        Self::new(NonNull::from(fiber), STACK)
    }

    #[inline]
    pub(crate) fn fiber(fiber: &Fiber) -> Self {
        Self::new(NonNull::from(fiber), FIBER)
    }

    pub(crate) fn future(future: NonNull<FutureHead>) -> Self {
        Self::new(future, FUTURE)
    }

    /// Whether it is a started task that is ready.
    #[inline]
    pub(crate) fn is_fiber(self) -> bool {
        self.0.addr().get() & TAG == FIBER
    }

    /// The started task that is ready, if it is one.
    pub(crate) fn as_fiber(self) -> Option<&'static Fiber> {
        match self.decode() {
            // SAFETY: fibers live as long as the runtime, and their entries do not leave it.
            Work::Fiber(fiber) => Some(unsafe { &*fiber }),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn decode(self) -> Work {
        let target = self.0.as_ptr().map_addr(|a| a & !TAG);
        match self.0.addr().get() & TAG {
            JOB => Work::Job(target.cast()),
            SCOPED => Work::Scoped(target.cast()),
            STACK => Work::Stack(target.cast()),
            FIBER => Work::Fiber(target.cast()),
            HERE => Work::Here(target.cast()),
            SURVEY => Work::Survey(target.cast()),
            FUTURE => Work::Future(NonNull::new(target.cast()).unwrap_or(self.0.cast())),
            // Removing the tag leaves the address of the header, which is not null.
            _ => Work::Task(NonNull::new(target.cast()).unwrap_or(self.0.cast())),
        }
    }
}
