//! Reserves: lists of what is free, with what was never used behind them.

use crate::canary::relaxed_if;
use crate::layout::Layout;
use crate::list::{Chain, List};
use crate::word::Head;
use core::ops::Range;
use sateen_base::Backoff;
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicU32, AtomicU64};

/// What was never used: indices from a counter on.
pub(crate) struct Fresh<'a, F> {
    /// How many have been taken.
    pub(crate) taken: &'a AtomicU64,
    /// How many there are, or were a while ago: what is in blocks added since may have been taken already.
    pub(crate) all: u32,
    /// Called with each that is taken.
    pub(crate) first_use: F,
    /// As many are taken at least: what is too much is kept.
    pub(crate) least: usize,
}

/// [`Fresh::least`].
pub(crate) const LEAST: usize = if cfg!(loom) { 2 } else { 64 };

impl<F: Fn(u32)> Fresh<'_, F> {
    fn left(&self) -> u32 {
        // Ordering: Acquire, with the Release of `take`: see `List::take_slow`.
        self.left_after(self.taken.load(Ordering::Acquire) as u32)
    }

    fn left_after(&self, taken: u32) -> u32 {
        if canary!("fresh_beyond") {
            return self.all.wrapping_sub(taken);
        }
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
            // Ordering: Release and Acquire, so that who finds all taken knows that some are being moved. Nobody has written to fresh ones.
            let change = (
                if canary!("fresh_taken") { Ordering::Acquire } else { Ordering::AcqRel },
                Ordering::Acquire,
            );
            match self.taken.compare_exchange_weak(seen, end.into(), change.0, change.1) {
                Ok(_) => return first..end,
                Err(now) => seen = now,
            }
        }
    }
}

impl<'a, T, L: Layout, F: Fn(u32) -> &'a AtomicU32> List<'a, T, L, F> {
    /// Takes up to `most` of a *reserve*: a list that is pushed to at its ordinary heads (the inbox) and taken from at as many behind them
    /// (the outbox), which is filled with the whole inbox at once. So who frees and who takes seldom meet; and nobody walks along a list
    /// that others push to meanwhile, which would hardly ever end well. Fewer only if at some moment there were no more; who moves some from inbox to
    /// outbox is waited for. (With several stripes also if others kept freeing single ones in stripes that we had passed, and taking them from those that we had not.)
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
            // Ordering: Acquire, with the Release of who has moved some: they are seen below.
            let before = moves.load(Ordering::Acquire);
            self.take_from_all(own, most, &mut chain, fresh);
            let enough = chain.is_some_and(|chain| chain.count as usize == most);
            // Who finds too little must have looked while nobody was moving any: low half 0, and no move since. (An inbox that was seen empty, or a counter of fresh
            // ones that was seen at its end, because of a move was acquired: then that move's beginning is seen here.)
            let still = before as u32 == 0 && moves.load(Ordering::Relaxed) == before;
            if enough || still || canary!("reserve_moves") {
                return chain;
            }
            backoff.snooze();
        }
    }

    /// Counts moves to outboxes, from inboxes and of fresh ones: those under way in the low half, those that have ended in the high half.
    #[inline(always)]
    fn moves(&self) -> &AtomicU64 {
        self.memory.head(self.heads + 2 * L::STRIPES)
    }

    fn begin_move(&self) {
        // The Release of the exchange by which some come into our hands covers this.
        self.moves().fetch_add(1, Ordering::Relaxed);
    }

    fn end_move(&self) {
        // Ordering: Release, for the Acquire of who looks next: what was moved is seen in the outbox.
        let ended = relaxed_if(canary!("reserve_end"), Ordering::Release);
        self.moves().fetch_add((1 << 32) - 1, ended);
    }

    /// Takes what is missing from whatever has some: what others have freed, then what is fresh, then what others keep.
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
        // The inboxes once more: of what was freed after the first look, as much may have been taken from an outbox before we came there.
        for stripe in stripes().filter(|_| !canary!("reserve_again")) {
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
                (self.link)(chain.last).store(more.first + 1, Ordering::Relaxed);
                (chain.last, chain.count) = (more.last, chain.count + more.count);
            }
            (None, more) => *chain = more,
            (_, None) => {}
        }
    }

    /// Takes up to `most` that were never used, and puts some more into our own outbox: whoever takes few again and again meets the others at the counter
    /// once in many times.
    fn take_fresh(
        &self,
        own: usize,
        most: usize,
        fresh: &Fresh<'_, impl Fn(u32)>,
    ) -> Option<Chain> {
        if fresh.left() == 0 {
            return None;
        }
        let moved = most < fresh.least;
        if moved {
            self.begin_move();
        }
        let taken = fresh.take(most.max(fresh.least));
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

    /// Links fresh ones with each other.
    fn link_all(&self, all: Range<u32>, fresh: &Fresh<'_, impl Fn(u32)>) -> Option<Chain> {
        let mut chain = Chain::of(all.start);
        for index in all.clone() {
            (fresh.first_use)(index);
            if index > all.start {
                self.append(&mut chain, index);
            }
        }
        (!all.is_empty()).then_some(chain)
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
                    relaxed_if(canary!("reserve_single"), Ordering::AcqRel),
                    Ordering::Relaxed,
                )
                .is_ok()
        {
            return Some(Chain::of(top));
        }
        self.begin_move();
        let emptied = if canary!("reserve_empty") { Ordering::Acquire } else { Ordering::AcqRel };
        // Ordering: Acquire, with the Release of each push; Release, for who finds the inbox empty. The tag begins anew, which harms nobody: who pushes only says
        // what is below. So it says how many were pushed since.
        let first = Head(word.swap(0, emptied)).first();
        let chain = first.checked_sub(1).map(|first| self.move_all_but(own, first, most));
        self.end_move();
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
                    relaxed_if(canary!("reserve_put"), Ordering::Release),
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
}
