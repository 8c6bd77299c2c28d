//! The ready tasks of a channel that hands them out first in, first out.
//!
//! Two lists over the same links. Ready tasks are pushed to the *inbox*, newest first, and taken
//! from the *outbox*, oldest first. A consumer that finds the outbox empty marks it, takes the
//! whole inbox, reverses it, and puts what it does not want into the outbox, which removes the
//! mark. States and proof are in the crate's `README.md`.
//!
//! Tags wrap at 2^32. What an exchange does that was overtaken by exactly so many pushes:
//!
//! | exchange | its tag | why it is right |
//! |---|---|---|
//! | a push | wraps in the outbox only | it says what is below, which holds if it succeeds |
//! | the mark | counts refills, and what is put back | it relies on an empty outbox alone |
//! | a pop | the same | it is not |
//!
//! An inbox's tag begins again when the inbox is emptied, and each task is in there once. A pop
//! goes wrong only if the first task is the same one, too, and what follows it is not. The second
//! look at an empty outbox could miss a task in the same way. At 10 ns a refill, either takes a
//! sleep of 43 s that ends within 10 ns.

use crate::index::OptIndex;
use crate::layout::Layout;
use crate::list::Chain;
use crate::memory::Memory;
use crate::word::Head;
use sateen_base::Backoff;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU64;

/// Both heads of a channel. See [`Head`] for the words.
pub(crate) struct FifoList<'a, T, L: Layout> {
    pub(crate) memory: &'a Memory<T, L>,
    pub(crate) inbox: &'a AtomicU64,
    /// Marked only while it is empty, by the consumer that reverses the inbox. Meanwhile no other
    /// thread writes it.
    pub(crate) outbox: &'a AtomicU64,
}

impl<T, L: Layout> FifoList<'_, T, L> {
    /// Adds tasks behind all others, the chain's first before its last.
    pub(crate) fn push(&self, chain: Chain) {
        let last = self.reverse(OptIndex::some(chain.first), chain.count);
        debug_assert_eq!(last, OptIndex::some(chain.last));
        self.push_to(self.inbox, Chain { first: chain.last, last: chain.first, ..chain });
    }

    /// Adds tasks before all others, the chain's first as the very first.
    #[cold]
    pub(crate) fn push_front(&self, chain: Chain) {
        self.push_to(self.outbox, chain);
    }

    pub(crate) fn is_empty(&self) -> bool {
        // Ordering: Acquire, as in `pop`: what has left the inbox is seen in the outbox, or as its
        // mark.
        Head(self.inbox.load(Ordering::Acquire)).first().is_none()
            && Head(self.outbox.load(Ordering::Relaxed)).first().is_none()
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
            self.memory.link(chain.last).set(head.first());
            let new = head.pushed(OptIndex::some(chain.first), chain.count).0;
            // Ordering: Release, for the Acquire of the consumer that takes these tasks, out of the
            // inbox or the outbox. It must see the links, and all that was done to the tasks that
            // they name.
            match word.compare_exchange_weak(seen, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
            if L::PAUSES {
                backoff.spin();
            }
        }
    }

    /// Takes up to `most`, oldest first. `None` only if at some moment of the call there was none.
    pub(crate) fn pop(&self, most: usize) -> Option<Chain> {
        if most == 0 {
            return None;
        }
        let mut backoff = Backoff::new();
        loop {
            // Ordering: Acquire, with the Release of `push_front` and of `take_inbox`; pops in
            // between continue its release sequence.
            let seen = Head(self.outbox.load(Ordering::Acquire));
            if seen.is_marked() {
                backoff.snooze();
            } else if seen.first().is_none() {
                // Ordering: Acquire, with the Release of the consumer that emptied it: its mark on
                // the outbox, or what came after, is then seen below.
                let inbox = Head(self.inbox.load(Ordering::Acquire));
                if !inbox.first().is_none() {
                    // Published by the Release of the exchange that empties the inbox.
                    let mark = self.outbox.compare_exchange(
                        seen.0,
                        seen.marked().0,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    if mark.is_ok() {
                        return self.take_inbox(seen, most);
                    }
                } else if self.outbox.load(Ordering::Relaxed) == seen.0 {
                    // Nothing went through the outbox since it was seen empty, so both were empty
                    // when the inbox was read.
                    return None;
                }
            } else if let Some(chain) = self.pop_outbox(seen, most) {
                return Some(chain);
            } else if L::PAUSES {
                backoff.spin();
            }
        }
    }

    /// Takes up to `most` from an outbox that was seen filled. `None`: another thread was faster.
    #[inline]
    fn pop_outbox(&self, seen: Head, most: usize) -> Option<Chain> {
        let mut chain = Chain::of(seen.first().index());
        loop {
            // If another thread was faster, this may be another list's link. It always names an
            // index, and the exchange then fails.
            let next = self.memory.link(chain.last).get();
            match next.get() {
                Some(index) if (chain.count as usize) < most => {
                    (chain.last, chain.count) = (index, chain.count + 1);
                }
                _ => {
                    // Success brings nothing new: `seen` was acquired.
                    let taken = self.outbox.compare_exchange_weak(
                        seen.0,
                        seen.popped(next).0,
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    );
                    return taken.ok().map(|_| chain);
                }
            }
        }
    }

    /// Takes all of the inbox, keeps up to `most` of the oldest, and makes the others the outbox,
    /// which the caller has marked.
    fn take_inbox(&self, before: Head, most: usize) -> Option<Chain> {
        // Ordering: Acquire, with the Release of `push`, for the links and tasks. Release, so that
        // a thread that finds the inbox empty sees the mark. The inbox's tag starts again at 0,
        // which is harmless: a push only says what is below.
        let newest = Head(self.inbox.swap(0, Ordering::AcqRel)).first();
        let mut rest = self.reverse(newest, u32::MAX);
        let mut chain = None::<Chain>;
        while let Some(index) = rest.get()
            && chain.is_none_or(|chain| (chain.count as usize) < most)
        {
            match &mut chain {
                None => chain = Some(Chain::of(index)),
                Some(chain) => (chain.last, chain.count) = (index, chain.count + 1),
            }
            rest = self.memory.link(index).get();
        }
        // Ordering: Release, for the Acquire of the consumer that takes the rest. It must see the
        // links, and through this thread all that was done to the tasks. The tag is new, so that a
        // thread that saw the outbox empty before knows that it was filled in between.
        self.outbox.store(before.pushed(rest, 1).0, Ordering::Release);
        chain
    }

    /// Reverses the first `most` of a list: returns the one that was last.
    fn reverse(&self, mut first: OptIndex, most: u32) -> OptIndex {
        let (mut reversed, mut count) = (OptIndex::NONE, 0);
        while let Some(index) = first.get()
            && count < most
        {
            let link = self.memory.link(index);
            let next = link.get();
            link.set(reversed);
            (reversed, first, count) = (OptIndex::some(index), next, count + 1);
        }
        reversed
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Shed;
    use crate::heads::Heads;
    use crate::layout::Central;
    use sateen_base::XorShift;
    use std::collections::VecDeque;

    /// Beside a queue of `std`, while both heads' tags wrap.
    #[test]
    fn tags_wrap_without_a_trace() {
        const TASKS: u32 = 12;
        let rounds = if cfg!(miri) { 40 } else { 2_000 };
        for before in 0..6 {
            let shed =
                Shed::<u32>::builder().tasks(TASKS.into()).fifo_all().build().expect("small");
            // None is in the list of free slots then, which has the same links.
            let _tasks: [_; TASKS as usize] = shed.create([0; TASKS as usize]).expect("room");
            let outbox = shed.memory.head(Heads::<Central>::channel(0));
            outbox.store(Head(0).pushed(OptIndex::NONE, u32::MAX - before).0, Ordering::Relaxed);
            let inbox = shed.memory.head(shed.extra.inboxes);
            let list = FifoList { memory: &shed.memory, inbox, outbox };
            let (mut idle, mut twin) = (Vec::from_iter(0..TASKS), VecDeque::new());
            let mut random = XorShift::new(u64::from(before) + 1);
            for _ in 0..rounds {
                match (random.below(3), idle.pop()) {
                    (0, Some(index)) => {
                        list.push(Chain::of(index));
                        twin.push_back(index);
                    }
                    (1, Some(index)) => {
                        list.push_front(Chain::of(index));
                        twin.push_front(index);
                    }
                    (_, left) => {
                        idle.extend(left);
                        let most = 1 + random.below(4);
                        let mut next = list.pop(most).map(|chain| (chain.first, chain.count));
                        assert_eq!(next.is_none(), twin.is_empty());
                        while let Some((index, left)) = next {
                            assert_eq!(twin.pop_front(), Some(index));
                            next = (left > 1)
                                .then(|| (shed.memory.link(index).get().index(), left - 1));
                            idle.push(index);
                        }
                    }
                }
                assert_eq!(list.is_empty(), twin.is_empty());
            }
            assert!(Head(outbox.load(Ordering::Relaxed)).tag() < u32::MAX / 2, "it has wrapped");
            while list.pop(1).is_some() {}
        }
    }
}
