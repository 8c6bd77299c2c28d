//! What the two halves of a deque share. Protocol and proof sketch: `README.md` of this crate.
//!
//! Access rules:
//! * `top`: anyone claims by exchange; only the owner changes the generation.
//! * `owner.bottom`: stored by the owner, read by thieves.
//! * `owner.guard`, `owner.open`: see `split.rs`.
//! * `root[g & 1]`: the buffer of generation `g`; stored by the owner before it makes `g` the
//!   generation, read by thieves that saw `g`.
//! * `left_over`: the owner when it goes, then the thread that drops the deque.

use crate::buffer::{Buffer, Retired};
use crate::index::Top;
use crate::prim::{AtomicPtr, AtomicU32, AtomicU64, Ordering, UnsafeCell, fence};
use crate::stage::Stage;
use sateen_base::unwind::run_to_end;
use std::marker::PhantomData;

/// The words that the owner writes.
pub(crate) struct OwnerLine {
    /// One past the newest item.
    pub(crate) bottom: AtomicU32,
    /// Split deques: the owner pops indices before this one the slow way. Raised by thieves.
    pub(crate) guard: AtomicU32,
    /// Split deques: thieves of the generation in the high half may claim indices before the low
    /// half.
    pub(crate) open: AtomicU64,
}

#[repr(C)]
pub(crate) struct Inner<T, S: Stage> {
    pub(crate) top: S::Line<AtomicU64>,
    pub(crate) owner: S::Line<OwnerLine>,
    pub(crate) root: S::Line<[AtomicPtr<u8>; 2]>,
    left_over: UnsafeCell<Vec<Retired<T>>>,
    _items: PhantomData<T>,
}

impl<T, S: Stage> Inner<T, S> {
    /// An empty deque whose first item will have the index of `start`.
    pub(crate) fn new(start: Top, buffer: Buffer<T>) -> Self {
        let root = || AtomicPtr::new(buffer.pack());
        Self {
            top: S::line(AtomicU64::new(start.0)),
            owner: S::line(OwnerLine {
                bottom: AtomicU32::new(start.index()),
                guard: AtomicU32::new(start.index()),
                open: AtomicU64::new(start.0),
            }),
            root: S::line([root(), root()]),
            left_over: UnsafeCell::new(Vec::new()),
            _items: PhantomData,
        }
    }

    /// The thief's half of the handshake: reads `top`, then `bottom`, as one order of all threads
    /// has it (see the README, "The handshake").
    #[inline(always)]
    pub(crate) fn look(&self) -> (Top, u32) {
        let order = thief_order::<S>();
        // Ordering: SeqCst, or Acquire and the fence in `then_bottom`. The Acquire also pairs with
        // the owner's new generation, so that the buffer of this generation is visible.
        let top = Top(self.top.load(order));
        (top, self.then_bottom())
    }

    /// Reads `bottom` after `top` was read, or was changed by the caller.
    #[inline(always)]
    pub(crate) fn then_bottom(&self) -> u32 {
        let order = thief_order::<S>();
        if order != Ordering::SeqCst {
            // Ordering: pairs with the owner's fence in `lower`.
            fence(Ordering::SeqCst);
        }
        // Ordering: Acquire (SeqCst contains it) pairs with the owner's Release stores of `bottom`:
        // items before it are visible.
        self.owner.bottom.load(order)
    }

    /// The owner's half of the handshake: stores `bottom`, then reads `top`.
    #[inline(always)]
    pub(crate) fn lower(&self, bottom: u32) -> Top {
        // Ordering: Release as every store of `bottom`: a thief that reads this value must see the
        // items before it too. The fence pairs with the thief's in `then_bottom`, or with its two
        // SeqCst loads.
        self.owner.bottom.store(bottom, Ordering::Release);
        fence(Ordering::SeqCst);
        Top(self.top.load(Ordering::Relaxed))
    }

    /// Claims `items` items from `top` on; fails if `top` is no longer what it was.
    #[inline(always)]
    pub(crate) fn claim(&self, top: Top, items: u32) -> Option<Claim<T>> {
        // Relaxed: a thread that saw the generation sees its buffer, or the one after next. Then
        // the generation has changed and the exchange below fails.
        let word = self.root[top.half()].load(Ordering::Relaxed);
        let buffer = Buffer::unpack(word);
        // The exchange would hold up the read of the item, which usually misses the cache.
        buffer.prefetch(top.index());
        self.exchange(top, top.claimed(items)).ok()?;
        Some(Claim { buffer, first: top.index(), items })
    }

    /// Moves `top` on, for thieves and owner alike. An error is the present value.
    #[inline(always)]
    pub(crate) fn exchange(&self, from: Top, to: Top) -> Result<(), Top> {
        // Ordering: SeqCst on success because it stands for the load of `top` when a thief claims
        // several items one by one. AcqRel keeps the chain from the owner's new generation
        // unbroken.
        let (success, failure) = (Ordering::SeqCst, Ordering::Relaxed);
        self.top.compare_exchange(from.0, to.0, success, failure).map(drop).map_err(Top)
    }

    /// Takes over the buffers that the owner could not free.
    ///
    /// # Safety
    /// The caller is the owner, and goes.
    pub(crate) unsafe fn leave_behind(&self, retired: Vec<Retired<T>>) {
        self.left_over.with_mut(|place| {
            // SAFETY: only the owner touches the list before the deque is dropped.
            unsafe { *place = retired };
        });
    }
}

/// Loads of a tuned thief are SeqCst, which on x86-64 and AArch64 costs no fence. The model checker
/// takes SeqCst accesses for Acquire and Release, so there all thieves use the fence.
const fn thief_order<S: Stage>() -> Ordering {
    if S::TUNED && !cfg!(loom) { Ordering::SeqCst } else { Ordering::Acquire }
}

impl<T, S: Stage> Drop for Inner<T, S> {
    fn drop(&mut self) {
        if cfg!(loom) && std::thread::panicking() {
            // A failed model leaves threads in the middle of things.
            return;
        }
        /// Frees the buffers, also if an item's destructor panics.
        struct Buffers<T> {
            buffer: Buffer<T>,
            retired: Vec<Retired<T>>,
        }
        impl<T> Drop for Buffers<T> {
            fn drop(&mut self) {
                for retired in self.retired.drain(..) {
                    // SAFETY: the deque has no thieves any more.
                    unsafe { retired.free() };
                }
                // SAFETY: as above, and the owner is gone too.
                unsafe { self.buffer.free() };
            }
        }

        let top = Top(self.top.load(Ordering::Relaxed));
        let (mut index, end) = (top.index(), self.owner.bottom.load(Ordering::Relaxed));
        let buffers = Buffers {
            buffer: Buffer::unpack(self.root[top.half()].load(Ordering::Relaxed)),
            // SAFETY: dropped by the last user.
            retired: self.left_over.with_mut(|list| unsafe { std::mem::take(&mut *list) }),
        };
        run_to_end(|| {
            let left = index != end;
            if left {
                let next = index;
                index = next.wrapping_add(1);
                // SAFETY: an item between top and bottom that no thread claimed.
                drop(unsafe { buffers.buffer.read(next).assume_init() });
            }
            left
        });
    }
}

/// Items that the caller has claimed: they are its own, where they lie.
pub(crate) struct Claim<T> {
    buffer: Buffer<T>,
    first: u32,
    items: u32,
}

impl<T> Claim<T> {
    #[inline(always)]
    pub(crate) fn len(&self) -> u32 {
        self.items
    }

    /// Moves item number `nth` out.
    ///
    /// # Safety
    /// `nth` is below `len`, and each is taken once.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, nth: u32) -> T {
        let index = self.first.wrapping_add(nth);
        // SAFETY: the index was claimed in this buffer's generation and is not resolved. So the
        // buffer is live, the item is there, and the owner does not reuse the cell before the mark.
        unsafe {
            let item = self.buffer.read(index);
            self.buffer.resolve(index);
            item.assume_init()
        }
    }
}
