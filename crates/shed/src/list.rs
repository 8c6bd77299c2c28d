//! Lists of indices that many threads push to and pop from, last in, first out.
//!
//! A push may bring a whole chain, and a pop may take several: one exchange each.
//!
//! Source: Treiber's stack (1986), over indices, with a tag against ABA.

use crate::index::{Link, OptIndex};
use crate::layout::Layout;
use crate::memory::Memory;
use crate::thread::stripe;
use crate::word::Head;
use sateen_base::Backoff;
use sateen_base::prim::Ordering;

/// Indices that are linked with each other, for one push. `first` is popped first.
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

/// A list: where its heads are, and where the links of its indices are.
///
/// With several [stripes](Layout) it is as many lists. A thread pushes to its own and pops from
/// its own, and from the others only when that is empty.
pub(crate) struct List<'a, T, L: Layout, F> {
    pub(crate) memory: &'a Memory<T, L>,
    /// Number of the first head.
    pub(crate) heads: usize,
    pub(crate) link: F,
}

impl<'a, T, L: Layout, F: Fn(u32) -> &'a Link> List<'a, T, L, F> {
    #[inline(always)]
    pub(crate) fn new(memory: &'a Memory<T, L>, heads: usize, link: F) -> Self {
        Self { memory, heads, link }
    }

    /// Appends `index` to `chain`, which is not in a list yet.
    #[inline(always)]
    pub(crate) fn append(&self, chain: &mut Chain, index: u32) {
        (self.link)(chain.last).set(OptIndex::some(index));
        chain.last = index;
        chain.count += 1;
    }

    /// Appends `index` to `chain`, which has none yet if it is `None`.
    #[inline(always)]
    pub(crate) fn append_to(&self, chain: &mut Option<Chain>, index: u32) {
        match chain {
            None => *chain = Some(Chain::of(index)),
            Some(chain) => self.append(chain, index),
        }
    }

    /// `indices`, linked with each other.
    pub(crate) fn chain_of(&self, indices: impl Iterator<Item = u32>) -> Option<Chain> {
        let mut chain = None;
        indices.for_each(|index| self.append_to(&mut chain, index));
        chain
    }

    /// The calling thread's stripe.
    #[inline(always)]
    pub(crate) fn own(&self) -> usize {
        if L::STRIPES == 1 { 0 } else { stripe() & (L::STRIPES - 1) }
    }

    #[inline(always)]
    pub(crate) fn push(&self, chain: Chain) {
        self.push_at(self.own(), chain);
    }

    #[inline(always)]
    pub(crate) fn push_at(&self, stripe: usize, chain: Chain) {
        let word = self.memory.head(self.heads + stripe);
        let mut backoff = Backoff::new();
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let head = Head(seen);
            (self.link)(chain.last).set(head.first());
            // Ordering: Release, for the Acquire of the thread that pops one of these. It must see
            // the links, and all that was done to the slots or tasks that they name.
            match word.compare_exchange_weak(
                seen,
                head.pushed(OptIndex::some(chain.first), chain.count).0,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
            if L::PAUSES {
                backoff.spin();
            }
        }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        let head = |stripe| Head(self.memory.head(self.heads + stripe).load(Ordering::Relaxed));
        (0..L::STRIPES).all(|stripe| head(stripe).first().is_none())
    }

    /// Takes the first.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<u32> {
        let mut taken = 0;
        let own = self.own();
        if self.pop_at(own, 1, |_, index| taken = index) == 1 {
            // The thread that takes this one often takes the next one too, and the next one's line
            // may lie in another core's cache.
            if let Some(next) = (self.link)(taken).get().get() {
                self.memory.prefetch_slot(next);
            }
            return Some(taken);
        }
        if L::STRIPES == 1 { None } else { Some(self.steal(own, 1)?.first) }
    }

    /// Takes up to `most` from one stripe, linked with each other.
    #[inline(always)]
    pub(crate) fn pop_some(&self, most: usize) -> Option<Chain> {
        let own = self.own();
        let chain = self.pop_chain_at(own, most);
        if L::STRIPES == 1 || chain.is_some() { chain } else { self.steal(own, most) }
    }

    /// Takes up to `most` from another stripe, and moves more of it to the caller's own stripe,
    /// where others find them again. So the other's head, which lies in another core's cache, is
    /// exchanged once for many.
    fn steal(&self, own: usize, most: usize) -> Option<Chain> {
        const MOVED: usize = 64;
        let taken = (1..L::STRIPES)
            .find_map(|i| self.pop_chain_at((own + i) & (L::STRIPES - 1), most.max(MOVED)))?;
        if taken.count as usize <= most {
            return Some(taken);
        }
        let mut mine = Chain::of(taken.first);
        let mut next = self.next(mine.last);
        while (mine.count as usize) < most {
            (mine.last, mine.count) = (next, mine.count + 1);
            next = self.next(next);
        }
        let rest = Chain { first: next, last: taken.last, count: taken.count - mine.count };
        self.push_at(own, rest);
        Some(mine)
    }

    /// What follows `index`, which is not the last, in a chain of the caller's.
    #[inline(always)]
    pub(crate) fn next(&self, index: u32) -> u32 {
        (self.link)(index).get().index()
    }

    #[inline(always)]
    pub(crate) fn pop_chain_at(&self, stripe: usize, most: usize) -> Option<Chain> {
        let mut chain = Chain { first: 0, last: 0, count: 0 };
        let taken = self.pop_at(stripe, most, |i, index| {
            if i == 0 {
                chain.first = index;
            }
            chain.last = index;
        });
        chain.count = taken as u32;
        (taken > 0).then_some(chain)
    }

    #[inline(always)]
    fn pop_at(&self, stripe: usize, most: usize, mut each: impl FnMut(usize, u32)) -> usize {
        let word = self.memory.head(self.heads + stripe);
        let mut backoff = Backoff::new();
        // Ordering: Acquire, with the Release of `push_at`; pops in between continue its release
        // sequence.
        let mut seen = word.load(Ordering::Acquire);
        loop {
            let head = Head(seen);
            let (mut next, mut count) = (head.first(), 0);
            while let Some(index) = next.get()
                && count < most
            {
                each(count, index);
                count += 1;
                // If another thread was faster, this may be another list's link. It always names an
                // index, and the exchange then fails.
                next = (self.link)(index).get();
            }
            if count == 0 {
                return 0;
            }
            // Ordering: Acquire on failure as for the load above. Release, for a thread that finds
            // an outbox empty: it sees in the inbox what this one has freed before.
            match word.compare_exchange_weak(
                seen,
                head.popped(next).0,
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return count,
                Err(now) => seen = now,
            }
            if L::PAUSES {
                backoff.spin();
            }
        }
    }
}
