//! What travels through the lanes.

/// An item on its way, with what the queue knows of it.
pub(crate) struct Envelope<T> {
    pub(crate) item: T,
    /// The time-stamp counter when it was sent; 0 if its waiting is not measured.
    pub(crate) sent: u64,
}
