//! What channels tell a trace: that an item is sent, and received. Nothing without the feature
//! `trace`.
//!
//! An item goes by way of a place in memory: a slot of a queue, or a meeting. Places are used again
//! and again, but never for two items at a time. So if each send is told before the item can be
//! taken, and each receipt before the place can be used again, sends and receipts of one place take
//! turns, and each pair is one item's.

/// Whether a queue is a channel's. Other queues tell nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traced(#[cfg(feature = "trace")] bool);

impl Traced {
    pub(crate) const NO: Self = Self(
        #[cfg(feature = "trace")]
        false,
    );
    pub(crate) const YES: Self = Self(
        #[cfg(feature = "trace")]
        true,
    );

    /// An item is about to come to `place`, which the caller has claimed.
    #[inline(always)]
    pub(crate) fn sent<P>(self, _place: *const P) {
        #[cfg(feature = "trace")]
        if self.0 {
            sateen_base::trace::tell(sateen_base::trace::Told::Sent, _place.addr());
        }
    }

    /// The item at `place` is the caller's, and the place is, too.
    #[inline(always)]
    pub(crate) fn received<P>(self, _place: *const P) {
        #[cfg(feature = "trace")]
        if self.0 {
            sateen_base::trace::tell(sateen_base::trace::Told::Received, _place.addr());
        }
    }
}
