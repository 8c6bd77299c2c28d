//! Lists of indices that many threads push to and pop from, last in, first out.
//!
//! Treiber's stack (1986) over indices, with a tag against ABA. A push may bring a whole chain, a pop may take
//! several: one exchange each.

use crate::layout::Layout;
use crate::memory::Memory;
use crate::thread::thread;
use crate::word::Head;
use sateen_base::prim::searched::AtomicU32;
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

/// A list's heads, and where the links of its indices are.
///
/// With several heads ([`Layout::STRIPES`]) it is as many lists: a thread pushes to its own and pops from its own, and from another
/// only when that is empty.
pub(crate) struct List<'a, T, L: Layout, F> {
    memory: &'a Memory<T, L>,
    /// Number of the first head.
    heads: usize,
    link: F,
}

impl<'a, T, L: Layout, F: Fn(u32) -> &'a AtomicU32> List<'a, T, L, F> {
    #[inline(always)]
    pub(crate) fn new(memory: &'a Memory<T, L>, heads: usize, link: F) -> Self {
        Self { memory, heads, link }
    }

    /// Appends `index` to `chain`, which is not in a list yet.
    #[inline(always)]
    pub(crate) fn append(&self, chain: &mut Chain, index: u32) {
        (self.link)(chain.last).store(index + 1, Ordering::Relaxed);
        chain.last = index;
        chain.count += 1;
    }

    /// The calling thread's stripe.
    #[inline(always)]
    fn own(&self) -> usize {
        if L::STRIPES == 1 { 0 } else { thread() as usize & (L::STRIPES - 1) }
    }

    #[inline(always)]
    pub(crate) fn push(&self, chain: Chain) {
        self.push_at(self.own(), chain);
    }

    #[inline(always)]
    fn push_at(&self, stripe: usize, chain: Chain) {
        let word = self.memory.head(self.heads + stripe);
        let mut seen = word.load(Ordering::Relaxed);
        loop {
            let head = Head(seen);
            (self.link)(chain.last).store(head.first(), Ordering::Relaxed);
            let release = if cfg!(sateen_canary = "list_push") {
                Ordering::Relaxed
            } else {
                Ordering::Release
            };
            // Ordering: Release, for the Acquire of who pops one of these: it must see the links, and all that was done to what they name.
            match word.compare_exchange_weak(
                seen,
                head.pushed(chain.first + 1).0,
                release,
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

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        let head = |stripe| Head(self.memory.head(self.heads + stripe).load(Ordering::Relaxed));
        (0..L::STRIPES).all(|stripe| head(stripe).first() == 0)
    }

    /// Takes the first.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<u32> {
        let mut taken = 0;
        let own = self.own();
        if self.pop_at(own, 1, |_, index| taken = index) == 1 {
            // Who takes this one often takes the next one too, and its line may lie in another core's cache.
            let next = (self.link)(taken).load(Ordering::Relaxed);
            if next != 0 {
                self.memory.prefetch_place(next - 1);
            }
            return Some(taken);
        }
        if L::STRIPES == 1 { None } else { self.steal_slow(own) }
    }

    /// Takes some from another stripe: all but the first go to our own, where others find them again.
    #[cold]
    fn steal_slow(&self, own: usize) -> Option<u32> {
        const MOST: usize = 32;
        let stripes = (1..L::STRIPES).map(|i| (own + i) & (L::STRIPES - 1));
        let taken = stripes.filter_map(|stripe| self.pop_chain_at(stripe, MOST)).next()?;
        if taken.count > 1 {
            let second = (self.link)(taken.first).load(Ordering::Relaxed) - 1;
            self.push_at(own, Chain { first: second, count: taken.count - 1, ..taken });
        }
        Some(taken.first)
    }

    /// Takes up to `most`, linked with each other; fewer only if all stripes are empty.
    #[inline]
    pub(crate) fn pop_chain(&self, most: usize) -> Option<Chain> {
        let own = self.own();
        let mut chain = self.pop_chain_at(own, most);
        for i in 1..L::STRIPES {
            let missing = most - chain.map_or(0, |chain| chain.count as usize);
            if missing == 0 {
                break;
            }
            let Some(more) = self.pop_chain_at((own + i) & (L::STRIPES - 1), missing) else {
                continue;
            };
            match &mut chain {
                None => chain = Some(more),
                Some(chain) => {
                    (self.link)(chain.last).store(more.first + 1, Ordering::Relaxed);
                    (chain.last, chain.count) = (more.last, chain.count + more.count);
                }
            }
        }
        chain
    }

    #[inline(always)]
    fn pop_chain_at(&self, stripe: usize, most: usize) -> Option<Chain> {
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

    /// Takes up to `most` from one stripe, linked with each other.
    #[inline(always)]
    pub(crate) fn pop_some(&self, most: usize) -> Option<Chain> {
        let own = self.own();
        // Not cold: who takes from others' does so once in `most` items.
        (0..L::STRIPES).find_map(|i| self.pop_chain_at((own + i) & (L::STRIPES - 1), most))
    }

    /// Takes up to `most`, and returns how many; fewer only if all stripes are empty. `each` is called with their numbers, from 0, and the
    /// indices: again with a number if somebody else was faster. It must not write to what is not its own.
    #[inline(always)]
    pub(crate) fn pop_all(&self, most: usize, mut each: impl FnMut(usize, u32)) -> usize {
        let own = self.own();
        let mut taken = self.pop_at(own, most, &mut each);
        if L::STRIPES > 1 {
            for i in 1..L::STRIPES {
                if taken == most {
                    break;
                }
                let stripe = (own + i) & (L::STRIPES - 1);
                taken += self.pop_at(stripe, most - taken, |i, index| each(taken + i, index));
            }
        }
        taken
    }

    #[inline(always)]
    fn pop_at(&self, stripe: usize, most: usize, mut each: impl FnMut(usize, u32)) -> usize {
        let word = self.memory.head(self.heads + stripe);
        // Ordering: Acquire, with the Release of `push_at`; pops in between continue its release sequence.
        let mut seen = word.load(Ordering::Acquire);
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
            match word.compare_exchange_weak(
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
