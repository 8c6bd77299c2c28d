//! Lists of indices that many threads push to and pop from, last in, first out.
//!
//! Treiber's stack (1986) over indices, with a tag against ABA. A push may bring a whole chain, a pop may take
//! several: one exchange each.

use crate::layout::Layout;
use crate::word::Head;
use core::marker::PhantomData;
use sateen_base::prim::searched::{AtomicU32, AtomicU64};
use sateen_base::prim::{self, Ordering};

/// Indices linked with each other, for one push. `first` is popped first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) count: u32,
}

impl Chain {
    pub(crate) const fn of(index: u32) -> Self {
        Self { first: index, last: index, count: 1 }
    }
}

/// A list's head, and where the links of its indices are.
pub(crate) struct List<'a, L, F> {
    pub(crate) head: &'a AtomicU64,
    pub(crate) link: F,
    pub(crate) layout: PhantomData<L>,
}

impl<'a, L: Layout, F: Fn(u32) -> &'a AtomicU32> List<'a, L, F> {
    pub(crate) fn new(head: &'a AtomicU64, link: F) -> Self {
        Self { head, link, layout: PhantomData }
    }

    /// Appends `index` to `chain`, which is not in a list yet.
    #[inline(always)]
    pub(crate) fn append(&self, chain: &mut Chain, index: u32) {
        (self.link)(chain.last).store(index + 1, Ordering::Relaxed);
        chain.last = index;
        chain.count += 1;
    }

    #[inline(always)]
    pub(crate) fn push(&self, chain: Chain) {
        let mut seen = self.head.load(Ordering::Relaxed);
        loop {
            let head = Head(seen);
            (self.link)(chain.last).store(head.first(), Ordering::Relaxed);
            // Ordering: Release, for the Acquire of who pops one of these: it must see the links, and all that was done to what they name.
            match self.head.compare_exchange_weak(
                seen,
                head.pushed(chain.first + 1).0,
                if cfg!(sateen_canary = "list_push") {
                    Ordering::Relaxed
                } else {
                    Ordering::Release
                },
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
            if L::PAUSES {
                prim::spin_loop();
            }
        }
    }

    /// Takes the first.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<u32> {
        let mut taken = 0;
        (self.pop_some(1, |_, index| taken = index) == 1).then_some(taken)
    }

    /// Takes up to `most`, and returns how many. `each` is called with their numbers, from 0, and the indices: anew from 0 if somebody
    /// else was faster.
    #[inline(always)]
    pub(crate) fn pop_some(&self, most: usize, mut each: impl FnMut(usize, u32)) -> usize {
        // Ordering: Acquire, with the Release of `push`; pops in between continue its release sequence.
        let mut seen = self.head.load(Ordering::Acquire);
        loop {
            let head = Head(seen);
            let (mut next, mut count) = (head.first(), 0);
            while next != 0 && count < most {
                each(count, next - 1);
                count += 1;
                // Possibly nonsense if somebody else was faster, but always an index of a link; then the exchange fails.
                next = (self.link)(next - 1).load(Ordering::Relaxed);
            }
            if count == 0 {
                return 0;
            }
            // Ordering: Acquire on failure as for the load above. Success brings nothing new.
            match self.head.compare_exchange_weak(
                seen,
                head.popped(next).0,
                Ordering::Relaxed,
                Ordering::Acquire,
            ) {
                Ok(_) => return count,
                Err(now) => seen = now,
            }
            if L::PAUSES {
                prim::spin_loop();
            }
        }
    }
}
