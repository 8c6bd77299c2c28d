//! What travels through the lanes.

use crate::trace;

/// An item on its way, with what the queue knows of it.
pub(crate) struct Envelope<T> {
    pub(crate) item: T,
    /// The time-stamp counter when it was sent; 0 if its waiting is not measured.
    pub(crate) sent: u64,
    /// The arrow from its sending, in a trace; 0 for none.
    #[cfg(feature = "trace")]
    arrow: u64,
}

impl<T> Envelope<T> {
    /// The caller sends the item.
    #[inline(always)]
    pub(crate) fn new(item: T, sent: u64) -> Self {
        Self {
            item,
            sent,
            #[cfg(feature = "trace")]
            arrow: trace::arrow("send"),
        }
    }

    /// The item comes again.
    pub(crate) fn again(item: T) -> Self {
        Self {
            item,
            sent: 0,
            #[cfg(feature = "trace")]
            arrow: 0,
        }
    }

    /// Its handler is about to be called, and is over when the slice is dropped.
    #[inline(always)]
    pub(crate) fn slice(&self) -> trace::Slice {
        #[cfg(feature = "trace")]
        return trace::slice("item", "", self.arrow);
        #[cfg(not(feature = "trace"))]
        trace::slice("item", "", 0)
    }
}
