//! Lists of indices that many threads push to and pop from, last in, first out.
//!
//! Treiber's stack (1986) over indices, with a tag against ABA. A push may bring a whole chain, a pop may take
//! several: one exchange each.

use crate::canary::relaxed_if;
use crate::layout::Layout;
use crate::memory::Memory;
use crate::thread::lane;
use crate::word::Head;
use sateen_base::Backoff;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicU32, AtomicU64};

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
        if L::STRIPES == 1 { 0 } else { lane() & (L::STRIPES - 1) }
    }

    #[inline(always)]
    pub(crate) fn push(&self, chain: Chain) {
        self.push_at(self.own(), chain);
    }

    #[inline(always)]
    fn push_at(&self, stripe: usize, chain: Chain) {
        let word = self.memory.head(self.heads + stripe);
        let mut backoff = Backoff::new();
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
                head.pushed(chain.first + 1, chain.count).0,
                release,
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
        if L::STRIPES == 1 { None } else { Some(self.steal(own, 1)?.first) }
    }

    /// Takes up to `most` from one stripe, linked with each other.
    #[inline(always)]
    pub(crate) fn pop_some(&self, most: usize) -> Option<Chain> {
        let own = self.own();
        let chain = self.pop_chain_at(own, most);
        if L::STRIPES == 1 || chain.is_some() { chain } else { self.steal(own, most) }
    }

    /// Takes up to `most` from another stripe, and moves more to our own, where others find them again: so the other's head, which lies in another
    /// core's cache, is exchanged once for many.
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
        if !cfg!(sateen_canary = "steal_rest") {
            self.push_at(own, rest);
        }
        Some(mine)
    }

    /// Takes up to `most` of a *reserve*: a list that is pushed to at its ordinary heads (the inbox) and taken from at as many behind them
    /// (the outbox), which is filled with the whole inbox at once. So who frees and who takes seldom meet; and nobody walks along a list
    /// that others push to meanwhile, which would hardly ever end well. Fewer only if at some moment there were no more; who moves some from inbox to
    /// outbox is waited for. (With several stripes also if others kept freeing single ones in stripes that we had passed, and taking them from those that we had not.)
    #[inline(always)]
    pub(crate) fn take(&self, most: usize) -> Option<Chain> {
        let own = self.own();
        let chain = self.pop_chain_at(L::STRIPES + own, most);
        match chain {
            Some(chain) if chain.count as usize == most => Some(chain),
            _ => self.take_slow(own, most, chain),
        }
    }

    fn take_slow(&self, own: usize, most: usize, mut chain: Option<Chain>) -> Option<Chain> {
        let (moves, mut backoff) = (self.moves(), Backoff::new());
        loop {
            // Ordering: Acquire, with the Release of who has moved some: they are seen below.
            let before = moves.load(Ordering::Acquire);
            self.take_from_all(own, most, &mut chain);
            let enough = chain.is_some_and(|chain| chain.count as usize == most);
            // Who finds too little must have looked while nobody was moving any: low half 0, and no move since. (An inbox that was seen empty because
            // of a move was acquired: then that move's beginning is seen here.)
            let still = before as u32 == 0 && moves.load(Ordering::Relaxed) == before;
            if enough || still || cfg!(sateen_canary = "reserve_moves") {
                return chain;
            }
            backoff.snooze();
        }
    }

    /// Counts moves from inboxes to outboxes: those under way in the low half, those that have ended in the high half.
    #[inline(always)]
    fn moves(&self) -> &AtomicU64 {
        self.memory.head(self.heads + 2 * L::STRIPES)
    }

    /// Takes what is missing from whatever has some.
    fn take_from_all(&self, own: usize, most: usize, chain: &mut Option<Chain>) {
        let stripes = (0..L::STRIPES).map(|i| (own + i) & (L::STRIPES - 1));
        let inboxes = stripes.clone().map(|stripe| (stripe, false));
        let outboxes = stripes.map(|stripe| (L::STRIPES + stripe, true));
        // The inboxes once more: of what was freed after the first look, as much may have been taken from an outbox before we came there.
        let again = inboxes.clone().filter(|_| !cfg!(sateen_canary = "reserve_again"));
        for (source, outbox) in inboxes.chain(outboxes).chain(again) {
            let missing = most - chain.map_or(0, |chain| chain.count as usize);
            if missing == 0 {
                return;
            }
            let more = if outbox {
                self.pop_chain_at(source, missing)
            } else {
                self.empty_inbox(source, own, missing)
            };
            match (&mut *chain, more) {
                (Some(chain), Some(more)) => {
                    (self.link)(chain.last).store(more.first + 1, Ordering::Relaxed);
                    (chain.last, chain.count) = (more.last, chain.count + more.count);
                }
                (None, more) => *chain = more,
                (_, None) => {}
            }
        }
    }

    /// Takes all that is in an inbox, and puts all but the first `most` into our own outbox.
    fn empty_inbox(&self, inbox: usize, own: usize, most: usize) -> Option<Chain> {
        let word = self.memory.head(self.heads + inbox);
        // Ordering: Acquire, with the exchanges below: see `take_slow`.
        let seen = Head(word.load(Ordering::Acquire));
        let top = seen.first().checked_sub(1)?;
        // A single one, pushed since the inbox was emptied: nothing is moved then, and nothing counted. If somebody is faster, it is as with several.
        // Ordering: as for the exchange below.
        if seen.tag() == 1
            && word
                .compare_exchange(
                    seen.0,
                    0,
                    relaxed_if(cfg!(sateen_canary = "reserve_single"), Ordering::AcqRel),
                    Ordering::Relaxed,
                )
                .is_ok()
        {
            return Some(Chain::of(top));
        }
        let moves = self.moves();
        // The Release of the exchange below covers this.
        moves.fetch_add(1, Ordering::Relaxed);
        let emptied = if cfg!(sateen_canary = "reserve_empty") {
            Ordering::Acquire
        } else {
            Ordering::AcqRel
        };
        // Ordering: Acquire, with the Release of each push; Release, for who finds the inbox empty. The tag begins anew, which harms nobody: who pushes only says
        // what is below. So it says how many were pushed since.
        let first = Head(word.swap(0, emptied)).first();
        let chain = first.checked_sub(1).map(|first| self.move_all_but(own, first, most));
        let ended =
            if cfg!(sateen_canary = "reserve_end") { Ordering::Relaxed } else { Ordering::Release };
        // Ordering: Release, for the Acquire of who looks next: what was moved is seen in the outbox.
        moves.fetch_add((1 << 32) - 1, ended);
        chain
    }

    /// Of `first` and all that it is linked with, keeps up to `most` and puts the others into our own outbox.
    fn move_all_but(&self, own: usize, first: u32, most: usize) -> Chain {
        let mut chain = Chain::of(first);
        let mut next = (self.link)(first).load(Ordering::Relaxed);
        while next != 0 && (chain.count as usize) < most {
            (chain.last, chain.count) = (next - 1, chain.count + 1);
            next = (self.link)(chain.last).load(Ordering::Relaxed);
        }
        if next != 0 {
            self.put_into_outbox(own, next - 1);
        }
        chain
    }

    /// Puts `first` and all that it is linked with into our own outbox.
    fn put_into_outbox(&self, own: usize, first: u32) {
        let word = self.memory.head(self.heads + L::STRIPES + own);
        let head = Head(word.load(Ordering::Relaxed));
        // Ordering: Release, as in `push_at`.
        if head.first() == 0
            && word
                .compare_exchange(
                    head.0,
                    head.pushed(first + 1, 1).0,
                    relaxed_if(cfg!(sateen_canary = "reserve_put"), Ordering::Release),
                    Ordering::Relaxed,
                )
                .is_ok()
        {
            return;
        }
        // Somebody else has just filled it.
        let mut chain = Chain::of(first);
        loop {
            match (self.link)(chain.last).load(Ordering::Relaxed) {
                0 => break,
                next => (chain.last, chain.count) = (next - 1, chain.count + 1),
            }
        }
        self.push_at(L::STRIPES + own, chain);
    }

    /// Who follows `index`, which is not the last, in a chain of the caller's.
    #[inline(always)]
    pub(crate) fn next(&self, index: u32) -> u32 {
        (self.link)(index).load(Ordering::Relaxed) - 1
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

    #[inline(always)]
    fn pop_at(&self, stripe: usize, most: usize, mut each: impl FnMut(usize, u32)) -> usize {
        let word = self.memory.head(self.heads + stripe);
        let mut backoff = Backoff::new();
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
            let release = relaxed_if(cfg!(sateen_canary = "list_pop"), Ordering::Release);
            // Ordering: Acquire on failure as for the load above. Release, for who finds an outbox empty: what we have freed before is seen in the inbox.
            match word.compare_exchange_weak(seen, head.popped(next).0, release, Ordering::Acquire)
            {
                Ok(_) => return count,
                Err(now) => seen = now,
            }
            if L::PAUSES {
                backoff.spin();
            }
        }
    }
}
