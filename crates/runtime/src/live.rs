//! The spawned futures that have not ended: a runtime that closes waits for them, or cancels them.
//!
//! A list for each worker that spawns and one for all other threads, each under a short lock; the links lie
//! in the futures' frames. A future leaves its list before it ends, so whoever holds the lock may use
//! every frame in the list. The numbers beside the lists are exact whenever nobody works, which is when
//! it matters (`drain.rs`).

use crate::task::{FutureHead, Header};
use sateen_base::prim::{AtomicU64, Ordering, UnsafeCell};
use sateen_base::{CachePadded, SpinLock};
use std::ptr::NonNull;

type Place = Option<NonNull<FutureHead>>;

/// A frame's place in its list.
pub(crate) struct Links {
    /// Which list: an index.
    list: usize,
    /// Previous and next; under the list's lock.
    around: UnsafeCell<(Place, Place)>,
}

impl Links {
    /// In no list yet; for the one of this worker, or of other threads.
    pub(crate) fn new(worker: Option<usize>, workers: usize) -> Self {
        Self { list: worker.unwrap_or(workers), around: UnsafeCell::new((None, None)) }
    }
}

pub(crate) struct LiveFutures(Box<[CachePadded<List>]>);

#[derive(Default)]
struct List {
    first: SpinLock<First>,
    /// How many; written under the lock.
    count: AtomicU64,
}

#[derive(Default)]
struct First(Place);

// SAFETY: used under the lock only, and the frames may be used from any thread.
unsafe impl Send for First {}

impl LiveFutures {
    pub(crate) fn new(workers: usize) -> Self {
        Self((0..=workers).map(|_| CachePadded::default()).collect())
    }

    /// # Safety
    /// `head` is new, and leaves by [`LiveFutures::leave`] before it is freed.
    pub(crate) unsafe fn enter(&self, head: NonNull<FutureHead>) {
        // SAFETY: by contract.
        let links = unsafe { FutureHead::links(head) };
        let list = &self.0[links.list];
        let mut first = list.first.lock();
        // SAFETY: the lock is held; what is in the list is alive.
        unsafe {
            links.around.with_mut(|around| (*around).1 = first.0);
            if let Some(next) = first.0 {
                FutureHead::links(next).around.with_mut(|around| (*around).0 = Some(head));
            }
        }
        first.0 = Some(head);
        list.add(1);
    }

    /// # Safety
    /// `head` has entered, and has not left.
    pub(crate) unsafe fn leave(&self, head: NonNull<FutureHead>) {
        // SAFETY: by contract.
        let links = unsafe { FutureHead::links(head) };
        let list = &self.0[links.list];
        let mut first = list.first.lock();
        // SAFETY: the lock is held; what is in the list is alive.
        unsafe {
            let (previous, next) = links.around.with(|around| *around);
            match previous {
                Some(previous) => {
                    FutureHead::links(previous).around.with_mut(|around| (*around).1 = next);
                }
                None => first.0 = next,
            }
            if let Some(next) = next {
                FutureHead::links(next).around.with_mut(|around| (*around).0 = previous);
            }
        }
        list.add(u64::MAX);
    }

    /// Cancels all, with no lock held: to queue what is pending may call a policy.
    #[cold]
    pub(crate) fn cancel(&self) {
        for list in &self.0 {
            let mut heads = Vec::new();
            {
                let first = list.first.lock();
                let mut place = first.0;
                while let Some(head) = place {
                    // SAFETY: in the list, so it does not end while the lock is held.
                    unsafe {
                        FutureHead::retain(head);
                        place = FutureHead::links(head).around.with(|around| (*around).1);
                    }
                    heads.push(head);
                }
            }
            for head in heads {
                // SAFETY: the count taken above keeps the frame, and the caller the runtime.
                unsafe {
                    Header::cancel(head.cast());
                    FutureHead::release(head);
                }
            }
        }
    }

    /// How many: exact if no worker works, and near the truth otherwise.
    pub(crate) fn count(&self) -> u64 {
        // Ordering: Relaxed; whoever needs it exact has synchronised with all workers through the drain
        // word, and with other threads through the queues and the gate.
        self.0.iter().map(|list| list.count.load(Ordering::Relaxed)).sum()
    }
}

impl List {
    /// The lock is held.
    fn add(&self, number: u64) {
        // Ordering: Relaxed, see `count`.
        let count = self.count.load(Ordering::Relaxed).wrapping_add(number);
        self.count.store(count, Ordering::Relaxed);
    }
}
