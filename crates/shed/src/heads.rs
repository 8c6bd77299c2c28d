//! Which list head is which.

use crate::layout::Layout;
use core::marker::PhantomData;

/// Numbers of the heads that every shed has.
///
/// A list has [`STRIPES`](Layout) heads, one after the other. A reserve has twice as many and a
/// word that counts moves.
pub(crate) struct Heads<L>(PhantomData<L>);

impl<L: Layout> Heads<L> {
    /// No list: how many slots have been taken at least once.
    pub(crate) const FRESH_SLOTS: usize = 0;
    /// As [`FRESH_SLOTS`](Self::FRESH_SLOTS), for dependencies.
    pub(crate) const FRESH_EDGES: usize = 1;
    pub(crate) const FREE_SLOTS: usize = 2;
    pub(crate) const FREE_EDGES: usize = Self::FREE_SLOTS + 2 * L::STRIPES + 1;

    /// The tasks that are ready on a channel. For the number of channels: how many heads there
    /// are.
    #[inline(always)]
    pub(crate) const fn channel(channel: u16) -> usize {
        Self::FREE_EDGES + 2 * L::STRIPES + 1 + L::STRIPES * channel as usize
    }
}

/// What is counted for each channel, if the user asked for progress.
#[derive(Clone, Copy)]
pub(crate) enum Count {
    Readied,
    Completed,
    Blocked,
    Cancelled,
}

impl Count {
    /// How many counters a channel has.
    pub(crate) const ALL: usize = 4;
}

/// Heads that only some sheds have: the number of the first of each kind, 0 if there are none.
#[derive(Clone, Copy)]
pub(crate) struct ExtraHeads {
    /// One for each channel, if some of them hand out the oldest task first: see
    /// [`fifo`](crate::fifo).
    pub(crate) inboxes: usize,
    /// [`Count::ALL`] counters for each channel, if progress is counted. These are no lists.
    pub(crate) counters: usize,
    /// How many heads there are in all.
    pub(crate) heads: usize,
}

impl ExtraHeads {
    pub(crate) const fn new<L: Layout>(channels: u16, fifo: bool, progress: bool) -> Self {
        let mut extra = Self { inboxes: 0, counters: 0, heads: Heads::<L>::channel(channels) };
        if fifo {
            extra.inboxes = extra.heads;
            extra.heads += channels as usize;
        }
        if progress {
            extra.counters = extra.heads;
            extra.heads += channels as usize * Count::ALL;
        }
        extra
    }
}
