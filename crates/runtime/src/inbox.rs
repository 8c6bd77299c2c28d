//! The inbox, a linked stack onto which many threads push and which its owner takes whole.
//!
//! There is no ABA problem. A node may return between a pusher's load of the head and its exchange,
//! but no thread takes a single node, and the pusher links only to the head that it saw.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicPtr;

/// A node of an inbox.
pub trait Linked: Sized {
    /// The node's link, which belongs to the inbox while the node is in it.
    fn link(&self) -> &AtomicPtr<Self>;
}

/// See the [module's documentation](self).
#[derive(Debug)]
pub struct Inbox<T> {
    /// The youngest node.
    head: AtomicPtr<T>,
}

impl<T: Linked> Inbox<T> {
    /// Creates an empty inbox.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { head: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Whether the inbox was empty a moment ago.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // Ordering: Relaxed, a hint.
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// Pushes `node`. Any thread may call this.
    ///
    /// # Safety
    /// Only the caller may hand `node` over. The node is in no inbox and stays valid until it is
    /// taken.
    pub unsafe fn push(&self, node: *const T) {
        // Ordering: Relaxed, the exchange below publishes.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: valid, and its link is the caller's until the exchange.
            unsafe { (*node).link() }.store(head, Ordering::Relaxed);
            // Ordering: Release publishes the link and the caller's earlier writes to the owner's
            // Acquire exchange in `take`.
            match self.head.compare_exchange_weak(
                head,
                node.cast_mut(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return,
                Err(now) => head = now,
            }
        }
    }

    /// Takes everything and calls `f` with each node, the youngest first. Owner only.
    pub fn take(&self, mut f: impl FnMut(*const T)) {
        if self.is_empty() {
            return;
        }
        // Ordering: Acquire pairs with the Release in `push`: links and nodes are visible.
        let mut node = self.head.swap(std::ptr::null_mut(), Ordering::Acquire);
        while !node.is_null() {
            // SAFETY: the node is in the chain, which this thread has owned since the exchange. The
            // link is read before `f` may release the node.
            let next = unsafe { (*node).link() }.load(Ordering::Relaxed);
            f(node);
            node = next;
        }
    }
}
