//! Reserves: lists of what is free, with what was never used behind them.
//!
//! A reserve is pushed to at its ordinary heads, the *inbox*, and taken from at as many heads
//! behind them, the *outbox*. A taker that finds too little in its outbox empties an inbox with one
//! exchange, keeps what it wants and puts the rest into its outbox. So freeing and taking threads
//! seldom meet. And no thread walks along a list that others push to meanwhile: the exchange after
//! that walk would hardly ever succeed. Proof in the crate's `README.md`.

use crate::index::{Link, OptIndex};
use crate::layout::Layout;
use crate::list::{Chain, List};
use crate::word::Head;
use core::ops::Range;
use sateen_base::Backoff;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU64;

/// What was never used: indices from a counter on.
pub(crate) struct Fresh<'a, F> {
    /// How many have been taken.
    pub(crate) taken: &'a AtomicU64,
    /// How many there are. Blocks may have been added since; what they hold may have been taken.
    pub(crate) all: u32,
    /// Called with each that is taken.
    pub(crate) first_use: F,
    /// At least this many are taken at once, and the taker keeps the others.
    pub(crate) min: usize,
}

/// [`Fresh::min`].
pub(crate) const MIN_FRESH: usize = if cfg!(loom) { 2 } else { 64 };

impl<F: Fn(u32)> Fresh<'_, F> {
    fn left(&self) -> u32 {
        // Ordering: Acquire, with the Release of `take`: see `List::take_slow`.
        self.left_after(self.taken.load(Ordering::Acquire) as u32)
    }

    fn left_after(&self, taken: u32) -> u32 {
        self.all.saturating_sub(taken)
    }

    /// Takes up to `most`.
    fn take(&self, most: usize) -> Range<u32> {
        let mut seen = self.taken.load(Ordering::Acquire);
        loop {
            let first = seen as u32;
            let end = first + most.min(self.left_after(first) as usize) as u32;
            if end == first {
                return first..first;
            }
            // Ordering: Release and Acquire, so that a thread that finds all taken knows that some
            // are being moved. Fresh items themselves were never written to.
            match self.taken.compare_exchange_weak(
                seen,
                end.into(),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return first..end,
                Err(now) => seen = now,
            }
        }
    }
}

impl<'a, T, L: Layout, F: Fn(u32) -> &'a Link> List<'a, T, L, F> {
    /// Takes up to `most` of a reserve. Fewer only if at some moment there were no more; a thread
    /// that is moving some from an inbox to an outbox is waited for.
    ///
    /// With several stripes there may also be fewer if other threads kept freeing single items in
    /// stripes that this call had passed, and taking them from stripes that it had not.
    #[inline(always)]
    pub(crate) fn take(&self, most: usize, fresh: &Fresh<'_, impl Fn(u32)>) -> Option<Chain> {
        let own = self.own();
        let chain = self.pop_chain_at(L::STRIPES + own, most);
        match chain {
            Some(chain) if chain.count as usize == most => Some(chain),
            _ => self.take_slow(own, most, chain, fresh),
        }
    }

    fn take_slow(
        &self,
        own: usize,
        most: usize,
        mut chain: Option<Chain>,
        fresh: &Fresh<'_, impl Fn(u32)>,
    ) -> Option<Chain> {
        let (moves, mut backoff) = (self.moves(), Backoff::new());
        loop {
            // Ordering: Acquire, with the Release of a thread that has moved some: they are seen
            // below.
            let before = moves.load(Ordering::Acquire);
            self.take_from_all(own, most, &mut chain, fresh);
            let enough = chain.is_some_and(|chain| chain.count as usize == most);
            // The result is too small only if no thread was moving any: the low half is 0, and no
            // move has begun since. (An inbox seen empty because of a move was acquired, and so was
            // a counter of fresh items seen at its end. So the beginning of that move is seen
            // here.)
            let still = before as u32 == 0 && moves.load(Ordering::Relaxed) == before;
            if enough || still {
                return chain;
            }
            backoff.snooze();
        }
    }

    /// Counts moves to outboxes, from inboxes and of fresh items: those under way in the low half,
    /// those that have ended in the high half.
    #[inline(always)]
    fn moves(&self) -> &AtomicU64 {
        self.memory.head(self.heads + 2 * L::STRIPES)
    }

    fn begin_move(&self) {
        // Published by the Release of the exchange that takes the items.
        self.moves().fetch_add(1, Ordering::Relaxed);
    }

    fn end_move(&self) {
        // Ordering: Release, for the Acquire of a thread that looks next: it sees what was moved
        // in the outbox.
        self.moves().fetch_add((1 << 32) - 1, Ordering::Release);
    }

    /// Takes what is missing: what others have freed, then what is fresh, then what others keep.
    fn take_from_all(
        &self,
        own: usize,
        most: usize,
        chain: &mut Option<Chain>,
        fresh: &Fresh<'_, impl Fn(u32)>,
    ) {
        let missing = |chain: &Option<Chain>| most - chain.map_or(0, |chain| chain.count as usize);
        let stripes = || (0..L::STRIPES).map(|i| (own + i) & (L::STRIPES - 1));
        for stripe in stripes() {
            match missing(chain) {
                0 => return,
                missing => self.join(chain, self.empty_inbox(stripe, own, missing)),
            }
        }
        while missing(chain) > 0 {
            let Some(more) = self.take_fresh(own, missing(chain), fresh) else { break };
            self.join(chain, Some(more));
        }
        for stripe in stripes() {
            match missing(chain) {
                0 => return,
                missing => self.join(chain, self.pop_chain_at(L::STRIPES + stripe, missing)),
            }
        }
        // The inboxes are looked at once more. While this call went from the inboxes to the
        // outboxes, another thread may have freed as much as was then taken from an outbox.
        for stripe in stripes() {
            match missing(chain) {
                0 => return,
                missing => self.join(chain, self.empty_inbox(stripe, own, missing)),
            }
        }
    }

    /// Appends `more` to what the caller has.
    pub(crate) fn join(&self, chain: &mut Option<Chain>, more: Option<Chain>) {
        match (&mut *chain, more) {
            (Some(chain), Some(more)) => {
                (self.link)(chain.last).set(OptIndex::some(more.first));
                (chain.last, chain.count) = (more.last, chain.count + more.count);
            }
            (None, more) => *chain = more,
            (_, None) => {}
        }
    }

    /// Takes up to `most` items that were never used, and puts some more into the caller's outbox.
    /// So a thread that takes few again and again meets others at the counter only once in many
    /// times.
    fn take_fresh(
        &self,
        own: usize,
        most: usize,
        fresh: &Fresh<'_, impl Fn(u32)>,
    ) -> Option<Chain> {
        if fresh.left() == 0 {
            return None;
        }
        let moved = most < fresh.min;
        if moved {
            self.begin_move();
        }
        let taken = fresh.take(most.max(fresh.min));
        let kept = taken.start..taken.start + taken.len().min(most) as u32;
        let chain = self.link_all(kept.clone(), fresh);
        if moved {
            if let Some(rest) = self.link_all(kept.end..taken.end, fresh) {
                self.push_at(L::STRIPES + own, rest);
            }
            self.end_move();
        }
        chain
    }

    /// Links fresh items with each other.
    fn link_all(&self, all: Range<u32>, fresh: &Fresh<'_, impl Fn(u32)>) -> Option<Chain> {
        self.chain_of(all.inspect(|index| (fresh.first_use)(*index)))
    }

    /// Takes all that is in an inbox, and puts all but the first `most` into the caller's outbox.
    fn empty_inbox(&self, inbox: usize, own: usize, most: usize) -> Option<Chain> {
        let word = self.memory.head(self.heads + inbox);
        // Ordering: Acquire, with the exchanges below: see `take_slow`.
        let seen = Head(word.load(Ordering::Acquire));
        let top = seen.first().get()?;
        // A single item, pushed since the inbox was emptied: nothing is moved, so nothing counted.
        // If another thread is faster, the inbox is emptied as one with several.
        // Ordering: as for the exchange below.
        if seen.tag() == 1
            && word.compare_exchange(seen.0, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        {
            return Some(Chain::of(top));
        }
        self.begin_move();
        // Ordering: Acquire, with the Release of each push. Release, for a thread that finds the
        // inbox empty. The tag starts again at 0, so that it says how many were pushed since. That
        // is harmless: a push only says what is below, which is true whenever its exchange
        // succeeds.
        let first = Head(word.swap(0, Ordering::AcqRel)).first();
        let chain = first.get().map(|first| self.move_all_but(own, first, most));
        self.end_move();
        chain
    }

    /// Of `first` and all that follows it, keeps up to `most` and puts the rest into the caller's
    /// outbox.
    fn move_all_but(&self, own: usize, first: u32, most: usize) -> Chain {
        let mut chain = Chain::of(first);
        let mut next = (self.link)(first).get();
        while let Some(index) = next.get()
            && (chain.count as usize) < most
        {
            (chain.last, chain.count) = (index, chain.count + 1);
            next = (self.link)(index).get();
        }
        if let Some(rest) = next.get() {
            self.put_into_outbox(own, rest);
        }
        chain
    }

    /// Puts `first` and all that follows it into the caller's outbox.
    fn put_into_outbox(&self, own: usize, first: u32) {
        let word = self.memory.head(self.heads + L::STRIPES + own);
        let head = Head(word.load(Ordering::Relaxed));
        // Ordering: Release, as in `push_at`.
        if head.first().is_none()
            && word
                .compare_exchange(
                    head.0,
                    head.pushed(OptIndex::some(first), 1).0,
                    Ordering::Release,
                    Ordering::Relaxed,
                )
                .is_ok()
        {
            return;
        }
        // Another thread has just filled it.
        let mut chain = Chain::of(first);
        while let Some(index) = (self.link)(chain.last).get().get() {
            (chain.last, chain.count) = (index, chain.count + 1);
        }
        self.push_at(L::STRIPES + own, chain);
    }
}
