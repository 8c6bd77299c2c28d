//! The join stack, which holds branches until their owner pops them or a thief steals them.
//!
//! It is a stack of job addresses in three sections, oldest first:
//!
//! ```text
//! base        head          split          top
//!  | stolen ... | public ...  | private ...  |
//! ```
//!
//! The owner pushes and pops at `top` without fences or locked instructions while it stays above
//! `floor`. `floor` equals `split`, or is higher when the owner must take the slow path. Everything
//! else happens under the thief lock. States, protocol and proof: `README.md` of this crate.
//!
//! | word | written | read |
//! |---|---|---|
//! | `top` | by the owner | by thieves, in [`JoinStack::force_publish`] |
//! | `floor` | under the lock | by the owner, at each pop |
//! | `head`, `split`, `listed` | under the lock | under the lock; without it as hints |
//! | `tag` | by the owner, while nothing can be stolen | under the lock, by the thief of a job |
//! | slots | by the owner, from `split` up | by thieves, below `split` and under the lock |

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::RawSpinLock;
use sateen_base::fence;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicBool, AtomicPtr};
use std::mem::MaybeUninit;

/// What a slot points to. The stack only uses the address.
#[derive(Debug)]
#[repr(C, align(8))] // For tags; see `entry.rs`.
pub struct Job {
    /// Runs the job that this header starts. Called once, by the thread that took the job.
    pub run: unsafe fn(*const Job),
}

/// One element of the stack.
pub type Slot = AtomicPtr<Job>;

/// A field that makes each job large enough. The fewer slots a stack's frames can need, the less
/// address space must lie between the frames and the guard page above (`stack/mod.rs`).
pub type SlotRoom = MaybeUninit<[usize; 4]>;

/// The part that thieves access.
#[derive(Debug)]
#[cfg_attr(target_arch = "x86_64", repr(align(64)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(align(128)))]
struct Public {
    lock: RawSpinLock,
    /// Oldest job that has not been stolen.
    head: AtomicPtr<Slot>,
    /// First private job.
    split: AtomicPtr<Slot>,
    /// Whether an entry for this stack is in some run queue.
    listed: AtomicBool,
}

/// See the [module's documentation](self).
///
/// Each part has its own cache line. x86-64 prefetches lines in pairs, so the lines that thieves
/// write and the lines that the owner writes are two apart. (A pair for each part would cost 192
/// bytes more in each of perhaps a million fibers.)
#[derive(Debug)]
#[repr(C)]
pub struct JoinStack {
    public: Public,
    /// Rarely written.
    bounds: Bounds,
    /// One past the youngest job. Only the owner writes it.
    top: AtomicPtr<Slot>,
}

const _: () = assert!(std::mem::offset_of!(JoinStack, top) >= 128, "a pair of lines apart");

#[derive(Debug)]
#[cfg_attr(target_arch = "x86_64", repr(align(64)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(align(128)))]
struct Bounds {
    /// Pops that reach below this take the slow path.
    floor: AtomicPtr<Slot>,
    base: AtomicPtr<Slot>,
    /// The activation that the jobs belong to.
    tag: AtomicPtr<()>,
}

/// What a thief found.
#[derive(Debug, PartialEq, Eq)]
pub enum Stolen {
    /// Nothing public.
    Empty,
    /// Another thread holds the lock.
    Busy,
    /// A job, its tag, and whether more are public.
    Job(*const Job, *const (), bool),
}

/// An address above all slots. As `floor` it sends every pop to the slow path.
fn beyond() -> *mut Slot {
    std::ptr::without_provenance_mut(usize::MAX)
}

impl JoinStack {
    /// Creates an empty stack without memory; see [`JoinStack::move_to`].
    pub fn new() -> Self {
        let none = std::ptr::null_mut();
        Self {
            public: Public {
                lock: RawSpinLock::new(),
                head: AtomicPtr::new(none),
                split: AtomicPtr::new(none),
                listed: AtomicBool::new(false),
            },
            bounds: Bounds {
                floor: AtomicPtr::new(none),
                base: AtomicPtr::new(none),
                tag: AtomicPtr::new(std::ptr::null_mut()),
            },
            top: AtomicPtr::new(none),
        }
    }

    /// Moves the empty stack to the slots that begin at `base`.
    ///
    /// # Safety
    /// The caller owns the stack, it is empty, and there is room for every push from `base` up.
    pub unsafe fn move_to(&self, base: *mut Slot) {
        self.public.lock.acquire();
        // Ordering: Relaxed throughout; the lock publishes it, and the owner is the caller.
        self.bounds.base.store(base, Ordering::Relaxed);
        self.top.store(base, Ordering::Relaxed);
        self.public.head.store(base, Ordering::Relaxed);
        self.set_split(base);
        self.public.lock.release();
    }

    /// Sets `split` and with it `floor`. Under the lock.
    fn set_split(&self, split: *mut Slot) {
        // Ordering: Relaxed; thieves read it under the lock, and fences order the owner's pop.
        self.public.split.store(split, Ordering::Relaxed);
        let floor = if cfg!(loom) || fence::is_asymmetric() { split } else { beyond() };
        self.bounds.floor.store(floor, Ordering::Relaxed);
    }

    /// Pushes `job`. Owner only.
    ///
    /// # Safety
    /// The caller is the owner, there is room, and `job` stays valid until it is popped or has run.
    #[inline(always)]
    pub unsafe fn push(&self, job: *const Job) {
        // Ordering: Relaxed, only the owner writes `top`.
        let top = self.top.load(Ordering::Relaxed);
        // SAFETY: there is room at `top` and only the owner writes above `split`.
        unsafe { (*top).store(job.cast_mut(), Ordering::Relaxed) };
        // Ordering: Release publishes the slot (and the job behind it) to a thief that reads `top`
        // in `force_publish`.
        self.top.store(top.wrapping_add(1), Ordering::Release);
    }

    /// Pops the youngest job if it is private; the caller then runs it. If this returns false, the
    /// caller continues with [`JoinStack::pop_slow`]. Owner only; every push is followed by exactly
    /// one pop.
    #[inline(always)]
    pub fn pop(&self) -> bool {
        // Ordering: Relaxed, only the owner writes `top`.
        let top = self.top.load(Ordering::Relaxed).wrapping_sub(1);
        self.top.store(top, Ordering::Relaxed);
        // The light half of the handshake with `force_publish`: the store above comes before the
        // load below.
        fence::light();
        top >= self.bounds.floor.load(Ordering::Relaxed)
    }

    /// The slow path of [`JoinStack::pop`]. Returns true if the job is still ours. If false, it was
    /// stolen, and its latch tells when it is done.
    #[cold]
    #[inline(never)]
    pub fn pop_slow(&self) -> bool {
        self.public.lock.acquire();
        // Ordering: Relaxed, under the lock; only this thread writes `top`.
        let top = self.top.load(Ordering::Relaxed);
        let head = self.public.head.load(Ordering::Relaxed);
        let ours = top >= head;
        if ours {
            if top < self.public.split.load(Ordering::Relaxed) {
                self.set_split(top);
            }
        } else {
            // Thieves take the oldest first, so no older job is left: the stack is empty from here
            // down.
            self.public.head.store(top, Ordering::Relaxed);
            self.set_split(top);
        }
        self.public.lock.release();
        ours
    }

    /// Makes the older half of the private jobs public. Returns whether anything is public now.
    /// Owner only.
    pub fn publish(&self) -> bool {
        self.public.lock.acquire();
        let any = self.raise_split(|private| private.div_ceil(2));
        self.public.lock.release();
        any
    }

    /// Makes all private jobs public. Owner only.
    pub fn publish_all(&self) {
        self.public.lock.acquire();
        self.raise_split(|private| private);
        self.public.lock.release();
    }

    /// Publishes everything. Returns true if jobs are left and no run queue has an entry for the
    /// stack; the caller then queues one. Owner only, before it suspends.
    pub fn publish_for_suspension(&self) -> bool {
        if self.is_bare() {
            return false;
        }
        self.public.lock.acquire();
        let list =
            self.raise_split(|private| private) && !self.public.listed.load(Ordering::Relaxed);
        if list {
            self.public.listed.store(true, Ordering::Relaxed);
        }
        self.public.lock.release();
        list
    }

    /// Owner only, under the lock.
    fn raise_split(&self, how_many: impl FnOnce(usize) -> usize) -> bool {
        // Ordering: Relaxed, under the lock; only this thread writes `top`. The lock's release
        // publishes slots and jobs to the thieves that take it next.
        let top = self.top.load(Ordering::Relaxed);
        let split = self.public.split.load(Ordering::Relaxed);
        let private = (top as usize - split as usize) / size_of::<Slot>();
        let split = split.wrapping_add(how_many(private));
        self.set_split(split);
        self.public.head.load(Ordering::Relaxed) < split
    }

    /// Whether jobs were public a moment ago. Reads no cache line that the owner writes often.
    #[inline]
    pub fn has_public(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.public.head.load(Ordering::Relaxed) < self.public.split.load(Ordering::Relaxed)
    }

    /// Whether private jobs are visible. Exact for pushes before a heavy fence of the caller.
    pub fn has_private(&self) -> bool {
        // Ordering: Relaxed; the caller's heavy fence orders it after the caller's announcement.
        self.top.load(Ordering::Relaxed) > self.public.split.load(Ordering::Relaxed)
    }

    /// Whether the stack has no slots in use, not even for stolen jobs that were not popped yet.
    /// Owner only.
    #[inline]
    pub fn is_bare(&self) -> bool {
        // Ordering: Relaxed, the owner's own words.
        self.top.load(Ordering::Relaxed) == self.bounds.base.load(Ordering::Relaxed)
    }

    /// One past the youngest slot in use, as a number for comparison. Exact for the owner.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn height(&self) -> usize {
        // Ordering: Relaxed, the owner's own word; a hint for others.
        self.top.load(Ordering::Relaxed).addr()
    }

    /// Whether the stack holds nothing that can be stolen. Exact for the owner, a hint for others.
    pub fn is_empty(&self) -> bool {
        // Ordering: Relaxed: `top` is the owner's, and a stale `head` only errs towards "not
        // empty". Acquire: a thief that took the last job has read the tag, which may change now.
        self.top.load(Ordering::Relaxed) <= self.public.head.load(Ordering::Acquire)
    }

    /// Sets the activation that later pushes belong to. Owner only, while the stack [is
    /// empty](JoinStack::is_empty).
    #[inline]
    pub fn set_tag(&self, tag: *const ()) {
        // Ordering: Relaxed; whatever makes a job visible to its thief makes this visible too.
        self.bounds.tag.store(tag.cast_mut(), Ordering::Relaxed);
    }

    /// The current tag. Owner only, or under the lock.
    #[inline]
    pub fn tag(&self) -> *const () {
        // Ordering: Relaxed, see `set_tag`.
        self.bounds.tag.load(Ordering::Relaxed)
    }

    /// Steals the oldest public job if its tag is `wanted`. While `wanted` runs, the owner can
    /// neither pop that job nor end its activation.
    pub fn steal_if(&self, wanted: impl FnOnce(*const ()) -> bool) -> Stolen {
        if !self.has_public() {
            return Stolen::Empty;
        }
        if !self.public.lock.try_acquire() {
            return Stolen::Busy;
        }
        let stolen = if self.has_public() && wanted(self.tag()) {
            self.take_oldest()
        } else {
            Stolen::Empty
        };
        self.public.lock.release();
        stolen
    }

    /// Steals the oldest public job. Waits for the lock.
    pub fn steal_surely(&self) -> Stolen {
        if !self.has_public() {
            return Stolen::Empty;
        }
        self.public.lock.acquire();
        let stolen = self.take_oldest();
        self.public.lock.release();
        stolen
    }

    /// Steals the oldest job for the taker of a run queue's entry. Waits for the lock, and clears
    /// `listed` when nothing is left. Otherwise the caller puts the entry back.
    pub fn steal_listed(&self) -> Stolen {
        self.public.lock.acquire();
        let stolen = self.take_oldest();
        let last = match stolen {
            Stolen::Job(.., more) => !more,
            _ => true,
        };
        if last {
            // Ordering: Relaxed, under the lock.
            self.public.listed.store(false, Ordering::Relaxed);
        }
        self.public.lock.release();
        stolen
    }

    /// Under the lock.
    fn take_oldest(&self) -> Stolen {
        // Ordering: Relaxed, under the lock.
        let head = self.public.head.load(Ordering::Relaxed);
        let split = self.public.split.load(Ordering::Relaxed);
        if head >= split {
            return Stolen::Empty;
        }
        // SAFETY: slots from `head` to `split` are initialised and unchanged while the lock is
        // held. The owner reuses them only after it has lowered `split` under the lock.
        let job = unsafe { (*head).load(Ordering::Relaxed) };
        let tag = self.tag();
        let head = head.wrapping_add(1);
        // Ordering: Release: an owner that sees this may change the tag, see `is_empty`.
        self.public.head.store(head, Ordering::Release);
        Stolen::Job(job, tag, head < split)
    }

    /// Makes all private jobs public without the owner's help, at the cost of one heavy fence.
    /// Returns whether anything is public now.
    ///
    /// For a thief whose request the owner did not answer. The caller limits the rate.
    #[cold]
    pub fn force_publish(&self) -> bool {
        if !self.public.lock.try_acquire() {
            return true;
        }
        // Ordering: Acquire pairs with the Release in `push`.
        let seen = self.top.load(Ordering::Acquire);
        let split = self.public.split.load(Ordering::Relaxed);
        if seen > split {
            // The heavy half of the handshake with `pop`: first raise `floor`, then check whether
            // the owner has popped meanwhile. After the fence, either we see the owner's lower
            // `top`, or the owner sees the new floor and waits for the lock. (Without asymmetric
            // fences every pop waits.)
            if cfg!(loom) || fence::is_asymmetric() {
                self.bounds.floor.store(seen, Ordering::Relaxed);
            }
            fence::heavy();
            // Ordering: Acquire as above.
            let now = self.top.load(Ordering::Acquire);
            self.set_split(now.min(seen).max(split));
        }
        let any = self.has_public();
        self.public.lock.release();
        any
    }
}

impl Default for JoinStack {
    fn default() -> Self {
        Self::new()
    }
}
