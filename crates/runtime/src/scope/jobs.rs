//! The jobs of a scope, on the heap.

use super::{Inner, LISTED, ScopeJob};
use crate::frames;
use crate::own_list::{Left, OwnList, Shell};
use sateen_base::prim::UnsafeCell;
use std::mem::{ManuallyDrop, offset_of};
use std::ptr::NonNull;

/// A scoped job on the heap.
#[repr(C)]
pub(super) struct HeapJob<F> {
    job: ScopeJob,
    f: F,
}

impl<F: FnOnce() + Send> HeapJob<F> {
    pub(super) fn alloc(scope: *const Inner, f: F) -> NonNull<ScopeJob> {
        let job = ScopeJob { run: Self::run, scope };
        frames::place(Self { job, f }).cast()
    }

    /// # Safety
    /// `job` starts a `HeapJob<F>` made by `alloc`; called once.
    unsafe fn run(job: *const ScopeJob) {
        // SAFETY: by contract; `alloc` placed it, and the closure is moved out.
        let f = unsafe {
            let this = NonNull::new_unchecked(job.cast::<Self>().cast_mut());
            let f = (&raw const (*this.as_ptr()).f).read();
            frames::give(this);
            f
        };
        f();
    }
}

/// The type-independent part of a listed job.
#[repr(C)]
pub(super) struct ListedHead {
    job: ScopeJob,
    shell: Shell,
    /// The list of the shell. The scope keeps it while the job has not started.
    list: *const OwnList,
    /// Claims the closure. Returns whether it is still there, and now the caller's.
    pub(super) take: unsafe fn(*const ScopeJob) -> bool,
    /// Called by the scope, which owns the closure.
    run_emptied: unsafe fn(*const ListedHead),
}

/// A scoped job on the heap that its scope can also take.
#[repr(C)]
pub(super) struct ListedJob<F> {
    head: ListedHead,
    f: UnsafeCell<ManuallyDrop<F>>,
}

impl ListedHead {
    /// # Safety
    /// `shell` belongs to a listed job that the scope owns.
    pub(super) unsafe fn run_emptied(shell: *const Shell) {
        let head = shell.wrapping_byte_sub(offset_of!(Self, shell)).cast::<Self>();
        // SAFETY: by contract.
        unsafe { ((*head).run_emptied)(head) };
    }
}

impl<F: FnOnce() + Send> ListedJob<F> {
    pub(super) fn alloc(scope: *const Inner, list: &OwnList, f: F) -> NonNull<ScopeJob> {
        let scope = scope.map_addr(|address| address | LISTED);
        let job = ScopeJob { run: Self::run, scope };
        let (take, run_emptied) = (Self::take as _, Self::run_emptied as _);
        let head = ListedHead { job, shell: Shell::new(), list, take, run_emptied };
        let this = frames::place(Self { head, f: UnsafeCell::new(ManuallyDrop::new(f)) });
        // SAFETY: it was just made, and is freed as its shell says.
        unsafe { list.link(&raw const (*this.as_ptr()).head.shell) };
        this.cast()
    }

    /// # Safety
    /// `job` starts a `ListedJob<F>`, and the caller owns the closure.
    unsafe fn closure(job: *const ScopeJob) -> F {
        // SAFETY: by contract.
        unsafe { (*job.cast::<Self>()).f.with_mut(|f| ManuallyDrop::take(&mut *f)) }
    }

    /// # Safety
    /// `job` starts a `ListedJob<F>` whose closure is gone, and no other thread touches it again.
    unsafe fn free(job: *const ScopeJob) {
        // SAFETY: by contract; `alloc` placed it, and what is left in it needs no drop.
        unsafe { frames::give(NonNull::new_unchecked(job.cast::<Self>().cast_mut())) };
    }

    /// # Safety
    /// `job` starts a `ListedJob<F>` whose entry the caller has taken.
    unsafe fn take(job: *const ScopeJob) -> bool {
        // SAFETY: by contract. The scope still waits for a claimed job.
        unsafe {
            let shell = &raw const (*job.cast::<Self>()).head.shell;
            match (*shell).take() {
                Ok(()) => {
                    (*(*job.cast::<Self>()).head.list).unlink(shell);
                    true
                }
                Err(left) => {
                    if left == Left::Free {
                        Self::free(job);
                    }
                    false
                }
            }
        }
    }

    /// # Safety
    /// `job` starts a `ListedJob<F>` that the caller has [claimed](ScopeJob::claim).
    unsafe fn run(job: *const ScopeJob) {
        // SAFETY: by contract.
        let f = unsafe {
            let f = Self::closure(job);
            Self::free(job);
            f
        };
        f();
    }

    /// # Safety
    /// `head` starts a `ListedJob<F>` that its scope owns.
    unsafe fn run_emptied(head: *const ListedHead) {
        let job = head.cast::<ScopeJob>();
        // SAFETY: by contract.
        let f = unsafe {
            let f = Self::closure(job);
            if (*head).shell.emptied() == Left::Free {
                Self::free(job);
            }
            f
        };
        f();
    }
}
