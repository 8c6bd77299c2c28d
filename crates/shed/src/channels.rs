//! The ready tasks of each channel, in whichever kind of list it has, and what is said of them.

use crate::fifo::FifoList;
use crate::heads::{Count, Heads};
use crate::layout::Layout;
use crate::list::Chain;
use crate::shed::Shed;
use crate::word::Head;
use sateen_base::prim::Ordering;

impl<T, L: Layout> Shed<T, L> {
    #[inline(always)]
    pub(crate) fn channel_at(&self, index: u32) -> u16 {
        self.memory.slot(index).channel.load(Ordering::Relaxed) as u16
    }

    /// The lists of `channel`, if it hands out the oldest task first.
    #[inline(always)]
    fn fifo(&self, channel: u16) -> Option<FifoList<'_, T, L>> {
        if self.extra.inboxes == 0 { None } else { self.fifo_slow(channel) }
    }

    fn fifo_slow(&self, channel: u16) -> Option<FifoList<'_, T, L>> {
        let inbox = self.memory.head(self.extra.inboxes + channel as usize);
        // Marked before the shed was shared, or never.
        if Head(inbox.load(Ordering::Relaxed)).is_marked() {
            return None;
        }
        let outbox = self.memory.head(Heads::<L>::channel(channel));
        Some(FifoList { memory: &self.memory, inbox, outbox })
    }

    /// Whether `channel` hands out the oldest task first.
    #[inline(always)]
    pub(crate) fn is_fifo(&self, channel: u16) -> bool {
        self.fifo(channel).is_some()
    }

    /// Puts tasks whose status is `Ready` into the list of `channel`.
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

    /// Puts tasks whose status is `Ready` into the list of their channel, and announces them.
    #[inline(always)]
    pub(crate) fn push_ready(&self, channel: u16, chain: Chain) {
        self.put_ready(channel, chain);
        self.announce(channel, chain.count);
    }

    /// Tells the user of tasks that have become ready.
    #[inline(always)]
    pub(crate) fn announce(&self, channel: u16, count: u32) {
        if let Some(on_ready) = &self.callbacks.ready {
            on_ready(channel, count);
        }
    }

    /// As [`push_ready`](Self::push_ready), for tasks of different channels. If the user's callback
    /// panics, all are pushed nevertheless.
    pub(crate) fn push_ranges(&self, chain: Chain) {
        struct Ranges<'a, T, L: Layout> {
            shed: &'a Shed<T, L>,
            next: u32,
            left: u32,
        }
        impl<T, L: Layout> Ranges<'_, T, L> {
            fn take(&mut self) -> Option<(u16, Chain)> {
                if self.left == 0 {
                    return None;
                }
                // At least one is taken: a channel that is being set may read differently each
                // time.
                let channel = self.shed.channel_at(self.next);
                let mut range = Chain::of(self.next);
                loop {
                    self.left -= 1;
                    if self.left == 0 {
                        break;
                    }
                    self.next = self.shed.memory.link(self.next).get().index();
                    if self.shed.channel_at(self.next) != channel {
                        break;
                    }
                    (range.last, range.count) = (self.next, range.count + 1);
                }
                Some((channel, range))
            }
        }
        impl<T, L: Layout> Drop for Ranges<'_, T, L> {
            fn drop(&mut self) {
                while let Some((channel, range)) = self.take() {
                    self.shed.put_ready(channel, range);
                }
            }
        }
        let mut ranges = Ranges { shed: self, next: chain.first, left: chain.count };
        while let Some((channel, range)) = ranges.take() {
            self.push_ready(channel, range);
        }
    }
}
