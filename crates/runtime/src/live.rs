//! The spawned futures that have not ended, which a closing runtime waits for or cancels.
//!
//! There is a list for each worker that spawns and one for all other threads, each with a short
//! lock. The links are in the futures' frames.
//!
//! | state of a future | means | leaves it by |
//! |---|---|---|
//! | in no list yet | only its spawner has it | spawner: `enter` |
//! | in its list | neither it nor the workers have ended | its poller, before it ends: `leave` |
//! | no longer in a list | it ends, or has ended | never |
//!
//! So a thread that holds a list's lock may use every frame in the list, and every fiber that such
//! a frame names. Once the lock is released, the frame may be freed, and the fibers too. The counts
//! beside the lists are exact while no worker runs, which is when it matters (`drain.rs`). Proof:
//! `README.md`, "Futures"; model: `loom_live.rs`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::{AtomicU64, Ordering, UnsafeCell};
use sateen_base::{CachePadded, RawSpinLock, SpinLock};
use std::fmt;
use std::ptr::NonNull;

type Link<T> = Option<NonNull<T>>;

/// A list element: the frame of a future.
pub trait Live: Sized {
    /// The frame's links in its list.
    ///
    /// # Safety
    /// The frame stays valid while the result is used.
    unsafe fn links<'a>(frame: NonNull<Self>) -> &'a Links<Self>;
}

/// A frame's links in its list.
pub struct Links<T> {
    /// The index of its list.
    list: usize,
    /// Previous and next; under the list's lock.
    around: UnsafeCell<(Link<T>, Link<T>)>,
}

impl<T> Links<T> {
    /// Not in a list yet. Meant for the list of this worker, or of other threads.
    pub fn new(worker: Option<usize>, workers: usize) -> Self {
        Self { list: worker.unwrap_or(workers), around: UnsafeCell::new((None, None)) }
    }
}

/// See the [module's documentation](self).
pub struct LiveFutures<T>(Box<[CachePadded<List<T>>]>);

struct List<T> {
    first: SpinLock<First<T>>,
    /// Length of the list; written under the lock.
    count: AtomicU64,
}

struct First<T>(Link<T>);

// SAFETY: used under the lock only, and the frames may be used from any thread.
unsafe impl<T> Send for First<T> {}

impl<T: Live> LiveFutures<T> {
    /// Creates empty lists for this many workers.
    pub fn new(workers: usize) -> Self {
        Self((0..=workers).map(|_| CachePadded::new(List::new())).collect())
    }

    /// # Safety
    /// `frame` is new, and leaves by [`LiveFutures::leave`] before it is freed.
    pub unsafe fn enter(&self, frame: NonNull<T>) {
        // SAFETY: by contract.
        let links = unsafe { T::links(frame) };
        let list = &self.0[links.list];
        let mut first = list.first.lock();
        // SAFETY: the lock is held, and list members are alive.
        unsafe {
            links.around.with_mut(|around| (*around).1 = first.0);
            if let Some(next) = first.0 {
                T::links(next).around.with_mut(|around| (*around).0 = Some(frame));
            }
        }
        first.0 = Some(frame);
        list.add(1);
    }

    /// # Safety
    /// `frame` has entered the list and not left it.
    pub unsafe fn leave(&self, frame: NonNull<T>) {
        // SAFETY: by contract.
        let links = unsafe { T::links(frame) };
        let list = &self.0[links.list];
        let mut first = list.first.lock();
        // SAFETY: the lock is held, and list members are alive.
        unsafe {
            let (previous, next) = links.around.with(|around| *around);
            match previous {
                Some(previous) => {
                    T::links(previous).around.with_mut(|around| (*around).1 = next);
                }
                None => first.0 = next,
            }
            if let Some(next) = next {
                T::links(next).around.with_mut(|around| (*around).0 = previous);
            }
        }
        list.add(u64::MAX);
    }

    /// Calls `mark` for each future and returns its results. The future cannot end meanwhile,
    /// because a lock is held. So `mark` must call no user code, and must return everything that is
    /// used later.
    #[cold]
    pub fn mark_all<R>(&self, mut mark: impl FnMut(NonNull<T>) -> R) -> Vec<R> {
        let mut marked = Vec::new();
        for list in &self.0 {
            let first = list.first.lock();
            let mut link = first.0;
            while let Some(frame) = link {
                // SAFETY: in the list, so it is valid while the lock is held.
                link = unsafe { T::links(frame).around.with(|around| (*around).1) };
                marked.push(mark(frame));
            }
            drop(first);
        }
        marked
    }

    /// The number of live futures: exact if no worker runs, and approximate otherwise.
    pub fn count(&self) -> u64 {
        // Ordering: Relaxed. A caller that needs an exact count has synchronised with all workers
        // through the drain word, and with other threads through the queues and the gate.
        self.0.iter().map(|list| list.count.load(Ordering::Relaxed)).sum()
    }
}

impl<T> List<T> {
    fn new() -> Self {
        let first = SpinLock::from_raw(RawSpinLock::new(), First(None));
        Self { first, count: AtomicU64::new(0) }
    }

    /// The lock is held.
    fn add(&self, number: u64) {
        // Ordering: Relaxed, see `count`.
        let count = self.count.load(Ordering::Relaxed).wrapping_add(number);
        self.count.store(count, Ordering::Relaxed);
    }
}

impl<T> fmt::Debug for Links<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("list", &self.list).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for LiveFutures<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveFutures").field("lists", &self.0.len()).finish_non_exhaustive()
    }
}
