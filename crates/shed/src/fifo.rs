//! Ready tasks of a channel that hands them out first in, first out.
//!
//! Two lists over the same links: the *inbox*, newest first, that ready tasks are pushed to, and the *outbox*, oldest first, that they are taken from. Who finds the outbox
//! empty marks it, takes the whole inbox, turns it round, and puts what it does not want into the outbox, which takes the mark away. States and proof are in the
//! crate's `README.md`.

use crate::canary::relaxed_if;
use crate::layout::Layout;
use crate::list::Chain;
use crate::memory::Memory;
use crate::progress::Count;
use crate::shed::{Heads, Shed};
use crate::word::Head;
use sateen_base::Backoff;
use sateen_base::canary;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU64;

/// Both heads of a channel. See [`Head`] for the words.
pub(crate) struct Fifo<'a, T, L: Layout> {
    memory: &'a Memory<T, L>,
    inbox: &'a AtomicU64,
    /// Marked only while it is empty, by who turns the inbox round; then written by nobody else.
    outbox: &'a AtomicU64,
}

impl<T, L: Layout> Shed<T, L> {
    /// The lists of `channel`, if it hands out the oldest first.
    #[inline(always)]
    fn fifo(&self, channel: u16) -> Option<Fifo<'_, T, L>> {
        if self.extra.inboxes == 0 { None } else { self.fifo_slow(channel) }
    }

    fn fifo_slow(&self, channel: u16) -> Option<Fifo<'_, T, L>> {
        let inbox = self.memory.head(self.extra.inboxes + channel as usize);
        // Written before the shed was shared, or never.
        if Head(inbox.load(Ordering::Relaxed)).is_marked() {
            return None;
        }
        let outbox = self.memory.head(Heads::<L>::channel(channel));
        Some(Fifo { memory: &self.memory, inbox, outbox })
    }

    /// Whether `channel` hands out the oldest first.
    #[inline(always)]
    pub(crate) fn is_fifo(&self, channel: u16) -> bool {
        self.fifo(channel).is_some()
    }

    /// Puts tasks whose status is `Ready` where `channel`'s are taken from.
    #[inline(always)]
    pub(crate) fn put_ready(&self, channel: u16, chain: Chain) {
        self.count(channel, Count::Readied, chain.count);
        match self.fifo(channel) {
            Some(fifo) => fifo.push(chain),
            None => self.tasks_at(Heads::<L>::channel(channel)).push(chain),
        }
    }

    /// Puts tasks back that were taken and not executed: they are the first again.
    #[inline]
    pub(crate) fn put_back(&self, channel: u16, chain: Chain) {
        match self.fifo(channel) {
            Some(fifo) => fifo.push_front(chain),
            None => self.tasks_at(Heads::<L>::channel(channel)).push(chain),
        }
    }

    /// Whether nothing is ready, as of a moment ago.
    #[inline(always)]
    pub(crate) fn none_ready(&self, channel: u16) -> bool {
        match self.fifo(channel) {
            Some(fifo) => fifo.is_empty(),
            None => self.tasks_at(Heads::<L>::channel(channel)).is_empty(),
        }
    }

    /// Takes the task that comes first.
    #[inline(always)]
    pub(crate) fn pop_ready(&self, channel: u16) -> Option<u32> {
        match self.fifo(channel) {
            Some(fifo) => fifo.pop(1).map(|chain| chain.first),
            None => self.tasks_at(Heads::<L>::channel(channel)).pop(),
        }
    }

    /// Takes up to `most` of those that come first.
    #[inline(always)]
    pub(crate) fn pop_ready_some(&self, channel: u16, most: usize) -> Option<Chain> {
        match self.fifo(channel) {
            Some(fifo) => fifo.pop(most),
            None => self.tasks_at(Heads::<L>::channel(channel)).pop_some(most),
        }
    }
}

impl<T, L: Layout> Fifo<'_, T, L> {
    /// Adds tasks behind all others, the chain's first before its last.
    fn push(&self, chain: Chain) {
        let (last, _) = self.turn(chain.first + 1, chain.count);
        debug_assert_eq!(last, chain.last + 1);
        self.push_to(self.inbox, Chain { first: chain.last, last: chain.first, ..chain });
    }

    /// Adds tasks before all others, the chain's first as the very first.
    #[cold]
    fn push_front(&self, chain: Chain) {
        self.push_to(self.outbox, chain);
    }

    fn is_empty(&self) -> bool {
        // Ordering: Acquire, as in `pop`: what has left the inbox is seen in the outbox, or as its mark.
        Head(self.inbox.load(relaxed_if(canary!("fifo_looked"), Ordering::Acquire))).first() == 0
            && Head(self.outbox.load(Ordering::Relaxed)).first() == 0
    }

    fn push_to(&self, word: &AtomicU64, chain: Chain) {
        let (mut seen, mut backoff) = (word.load(Ordering::Relaxed), Backoff::new());
        loop {
            let head = Head(seen);
            if head.is_marked() {
                backoff.snooze();
                seen = word.load(Ordering::Relaxed);
                continue;
            }
            self.memory.link(chain.last).store(head.first(), Ordering::Relaxed);
            let new = head.pushed(chain.first + 1, chain.count).0;
            // Ordering: Release, for the Acquire of who takes these, out of the inbox or the outbox: it must see the links, and all that was done to what
            // they name.
            match word.compare_exchange_weak(
                seen,
                new,
                relaxed_if(canary!("fifo_push"), Ordering::Release),
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

    /// Takes up to `most`, oldest first; `None` only if at some moment of the call there was none.
    fn pop(&self, most: usize) -> Option<Chain> {
        if most == 0 {
            return None;
        }
        let mut backoff = Backoff::new();
        loop {
            // Ordering: Acquire, with the Release of `push_front` and of `turn_inbox`; pops in between continue its release sequence.
            let seen = Head(self.outbox.load(Ordering::Acquire));
            if seen.is_marked() {
                backoff.snooze();
            } else if seen.first() == 0 {
                // Ordering: Acquire, with the Release of who emptied it, whose mark on the outbox, or what came after, is then seen below.
                let inbox = Head(self.inbox.load(Ordering::Acquire));
                if inbox.first() != 0 {
                    // The Release of the exchange that empties the inbox covers this.
                    let mark = self.outbox.compare_exchange(
                        seen.0,
                        seen.marked().0,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    if mark.is_ok() {
                        return self.turn_inbox(seen, most);
                    }
                } else if canary!("fifo_empty") || self.outbox.load(Ordering::Relaxed) == seen.0 {
                    // Nothing went through the outbox since we saw it empty, so all was empty when we looked at the inbox.
                    return None;
                }
            } else if let Some(chain) = self.pop_outbox(seen, most) {
                return Some(chain);
            } else if L::PAUSES {
                backoff.spin();
            }
        }
    }

    /// Takes up to `most` from an outbox that was seen with something in it; `None` if somebody else was faster.
    #[inline]
    fn pop_outbox(&self, seen: Head, most: usize) -> Option<Chain> {
        let mut chain = Chain::of(seen.first() - 1);
        loop {
            // Possibly nonsense if somebody else was faster, but always an index of a link; then the exchange fails.
            let next = self.memory.link(chain.last).load(Ordering::Relaxed);
            if next == 0 || chain.count as usize >= most {
                let new = seen.popped(next).0;
                // Success brings nothing new: `seen` was acquired.
                let taken = self.outbox.compare_exchange_weak(
                    seen.0,
                    new,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                return taken.ok().map(|_| chain);
            }
            (chain.last, chain.count) = (next - 1, chain.count + 1);
        }
    }

    /// Takes all of the inbox, keeps up to `most` of the oldest, and makes the others the outbox, which the caller has marked.
    fn turn_inbox(&self, before: Head, most: usize) -> Option<Chain> {
        let release = if canary!("fifo_take") { Ordering::Acquire } else { Ordering::AcqRel };
        // Ordering: Acquire, with the Release of `push`, for the links and tasks; Release, so that who finds the inbox empty sees the mark.
        // Its tag begins anew, which harms nobody: who pushes only says what is below.
        let newest = Head(self.inbox.swap(0, release)).first();
        let (oldest, count) = self.turn(newest, u32::MAX);
        let (mut chain, mut rest) = (None::<Chain>, oldest);
        while rest != 0 && chain.is_none_or(|chain| (chain.count as usize) < most) {
            match &mut chain {
                None => chain = Some(Chain::of(rest - 1)),
                Some(chain) => (chain.last, chain.count) = (rest - 1, chain.count + 1),
            }
            rest = self.memory.link(rest - 1).load(Ordering::Relaxed);
        }
        debug_assert!(chain.is_some_and(|chain| chain.count <= count));
        let release = if canary!("fifo_turn") { Ordering::Relaxed } else { Ordering::Release };
        // Ordering: Release, for the Acquire of who takes the rest: it must see the links, and through us all that was done to the tasks. A new tag, so
        // that who saw the outbox empty before knows that it was not always.
        self.outbox.store(before.pushed(rest, 1).0, release);
        chain
    }

    /// Turns a list round, up to `most`: the word of who was last, and how many they are.
    fn turn(&self, mut first: u32, most: u32) -> (u32, u32) {
        let (mut turned, mut count) = (0, 0);
        while first != 0 && count < most {
            let link = self.memory.link(first - 1);
            let next = link.load(Ordering::Relaxed);
            link.store(turned, Ordering::Relaxed);
            (turned, first, count) = (first, next, count + 1);
        }
        (turned, count)
    }
}
