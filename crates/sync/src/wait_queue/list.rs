//! The list under the wait queue's lock: doubly linked and null-terminated; it does not own its
//! nodes.
//!
//! Access: only the holder of the queue's lock accesses the list and the fields of linked nodes. An
//! `Idle` node belongs to its waiter alone.

use crate::wakers::Batch;
use sateen_base::prim::UnsafeCell;
use std::ptr::NonNull;
use std::task::Waker;

/// A node inside a pinned [`Waiter`](super::Waiter).
pub(super) type NodeCell = UnsafeCell<Node>;
type Link = Option<NonNull<NodeCell>>;

/// The progress of a wait.
///
/// | state | in the list | waker | changed by |
/// |---|---|---|---|
/// | `Idle` | no | none, or set by the owner before it queues | owner: queues |
/// | `Queued` | yes | some | notifier: `Notified`; owner: withdraws |
/// | `Notified` | no | none: the notifier took it | owner: takes the permit, or passes it on |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Idle,
    Queued,
    Notified(Permit),
}

/// The kind of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// For one waiter: one that does not use it must pass it on, or a wake-up is lost.
    One,
    /// For all waiters: there is nothing to pass on.
    All,
}

/// Where a waiter joins the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Behind all others: for newcomers.
    Back,
    /// Before all others: for a waiter that was notified and lost the race.
    Front,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) state: State,
    pub(super) waker: Option<Waker>,
    /// Increases with each waiter that joins, so that a `notify_all` knows which waiters came
    /// before it.
    ticket: u64,
    prev: Link,
    next: Link,
}

impl Node {
    pub(super) const fn new() -> Self {
        Self { state: State::Idle, waker: None, ticket: 0, prev: None, next: None }
    }
}

#[derive(Debug)]
pub(super) struct List {
    head: Link,
    tail: Link,
    /// The next ticket; 64 bits do not wrap.
    tickets: u64,
}

impl List {
    pub(super) const fn new() -> Self {
        Self { head: None, tail: None, tickets: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// The ticket of the next waiter; all present waiters have lower ones.
    pub(super) fn next_ticket(&self) -> u64 {
        self.tickets
    }

    /// Links an idle node.
    ///
    /// # Safety
    /// `node` is valid, `Idle` and in no list. It stays valid and in place until it is unlinked or
    /// popped. This list's lock is held.
    pub(super) unsafe fn push(&mut self, node: NonNull<NodeCell>, position: Position) {
        let (prev, next) = match position {
            Position::Back => (self.tail, None),
            Position::Front => (None, self.head),
        };
        // SAFETY: `node` is valid by contract; under the lock no other thread touches it.
        unsafe {
            node.as_ref().with_mut(|n| {
                let n = &mut *n;
                debug_assert_eq!(n.state, State::Idle);
                (n.state, n.prev, n.next, n.ticket) = (State::Queued, prev, next, self.tickets);
            });
        }
        self.tickets += 1;
        self.set_next(prev, Some(node));
        self.set_prev(next, Some(node));
    }

    /// Unlinks a queued node; the caller sets its state.
    ///
    /// # Safety
    /// `node` is `Queued` in this list, whose lock is held.
    pub(super) unsafe fn unlink(&mut self, node: NonNull<NodeCell>) {
        // SAFETY: a queued node is valid; under the lock no other thread touches it.
        let (prev, next) = unsafe { node.as_ref().with(|n| ((*n).prev, (*n).next)) };
        self.set_next(prev, next);
        self.set_prev(next, prev);
    }

    /// Takes out the first waiter whose ticket is below `limit`, marks it notified, and returns its
    /// waker. The waiter owns its node again once the lock is released.
    ///
    /// # Safety
    /// This list's lock is held.
    pub(super) unsafe fn pop(&mut self, permit: Permit, limit: u64) -> Option<Waker> {
        let mut at = self.head;
        while let Some(node) = at {
            // SAFETY: nodes in the list are valid; under the lock no other thread touches them.
            let (ticket, next) = unsafe { node.as_ref().with(|n| ((*n).ticket, (*n).next)) };
            if ticket < limit {
                // SAFETY: as above, and it is in this list.
                return unsafe {
                    self.unlink(node);
                    node.as_ref().with_mut(|n| {
                        (*n).state = State::Notified(permit);
                        (*n).waker.take()
                    })
                };
            }
            at = next;
        }
        None
    }

    /// Takes out waiters with tickets below `limit` until the batch is full. Under the lock, like
    /// every access to the list.
    pub(super) fn fill(&mut self, batch: &mut Batch, limit: u64) {
        while !batch.is_full() {
            // SAFETY: the holder of the list holds its lock.
            let Some(waker) = (unsafe { self.pop(Permit::All, limit) }) else { break };
            batch.push(waker);
        }
    }

    fn set_next(&mut self, of: Link, next: Link) {
        match of {
            // SAFETY: links point to nodes in the list, which are valid. `&mut self` is held under
            // the lock, so no other thread touches them.
            Some(node) => unsafe { node.as_ref().with_mut(|n| (*n).next = next) },
            None => self.head = next,
        }
    }

    fn set_prev(&mut self, of: Link, prev: Link) {
        match of {
            // SAFETY: as in `set_next`.
            Some(node) => unsafe { node.as_ref().with_mut(|n| (*n).prev = prev) },
            None => self.tail = prev,
        }
    }
}
