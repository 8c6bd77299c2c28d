//! Waiters of one thread: an intrusive FIFO without atomics and without a lock.
//!
//! All fields are cells, and nothing is borrowed across foreign code, so a waker may re-enter the
//! same queue. The pointers make everything `!Send` and `!Sync`, so only one thread gets here.

use crate::wait_queue::Permit;
use crate::wakers::let_go;
use sateen_base::unwind::FirstPanic;
use std::cell::Cell;
use std::marker::PhantomPinned;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Poll, Waker};

type Link = Option<NonNull<Node>>;

/// | state | in the list | leaves it |
/// |---|---|---|
/// | `Idle` | no | owner: joins |
/// | `Queued` | yes | notifier: `Notified`; owner: withdraws |
/// | `Notified` | no | owner: takes it, or gives it back |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Queued,
    Notified(Permit),
}

struct Node {
    state: Cell<State>,
    waker: Cell<Option<Waker>>,
    /// How much it wants, in the primitive's units.
    wants: Cell<usize>,
    ticket: Cell<u64>,
    prev: Cell<Link>,
    next: Cell<Link>,
}

pub(super) struct LocalQueue {
    head: Cell<Link>,
    tail: Cell<Link>,
    /// The next waiter's ticket, so that a `notify_all` knows which waiters came before it.
    tickets: Cell<u64>,
}

impl LocalQueue {
    pub(super) const fn new() -> Self {
        Self { head: Cell::new(None), tail: Cell::new(None), tickets: Cell::new(0) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.get().is_none()
    }

    /// Notifies the first waiter. The caller wakes the returned waker once everything is
    /// consistent.
    pub(super) fn pop(&self, permit: Permit) -> Option<Waker> {
        let node = self.head.get()?;
        // SAFETY: linked nodes are alive: each unlinks itself when it is dropped.
        let node = unsafe { node.as_ref() };
        self.unlink(node);
        node.state.set(State::Notified(permit));
        node.waker.take()
    }

    /// Notifies all present waiters. Panics are kept until all are woken; then the first continues.
    pub(super) fn notify_all(&self) {
        let limit = self.tickets.get();
        self.notify_while(Permit::All, |node_ticket, _| node_ticket < limit);
    }

    /// Notifies waiters from the front, in order, while `more` (ticket, wanted amount) returns
    /// true.
    pub(super) fn notify_while(&self, permit: Permit, more: impl Fn(u64, usize) -> bool) {
        let mut panics = FirstPanic::default();
        while let Some(node) = self.head.get() {
            // SAFETY: as in `pop`.
            let (ticket, wants) =
                unsafe { (node.as_ref().ticket.get(), node.as_ref().wants.get()) };
            if !more(ticket, wants) {
                break;
            }
            let Some(waker) = self.pop(permit) else { continue };
            panics.catch(|| waker.wake());
        }
        panics.resume();
    }

    fn push(&self, node: &Node) {
        let link = Some(NonNull::from(node));
        node.ticket.set(self.tickets.get());
        self.tickets.set(self.tickets.get() + 1);
        node.prev.set(self.tail.get());
        node.next.set(None);
        match self.tail.replace(link) {
            // SAFETY: as in `pop`.
            Some(last) => unsafe { last.as_ref() }.next.set(link),
            None => self.head.set(link),
        }
    }

    fn unlink(&self, node: &Node) {
        let (prev, next) = (node.prev.take(), node.next.take());
        match prev {
            // SAFETY: as in `pop`; neighbours are linked.
            Some(prev) => unsafe { prev.as_ref() }.next.set(next),
            None => self.head.set(next),
        }
        match next {
            // SAFETY: as above.
            Some(next) => unsafe { next.as_ref() }.prev.set(prev),
            None => self.tail.set(prev),
        }
    }
}

/// A waiter of a [`LocalQueue`], used pinned. When dropped, its owner checks by
/// [`cancel`](Self::cancel) whether there is a permit to return.
pub(super) struct LocalWaiter<'q> {
    queue: &'q LocalQueue,
    node: Node,
    _pinned: PhantomPinned,
}

impl<'q> LocalWaiter<'q> {
    pub(super) fn new(queue: &'q LocalQueue) -> Self {
        let node = Node {
            state: Cell::new(State::Idle),
            waker: Cell::new(None),
            wants: Cell::new(0),
            ticket: Cell::new(0),
            prev: Cell::new(None),
            next: Cell::new(None),
        };
        Self { queue, node, _pinned: PhantomPinned }
    }

    /// Whether it has joined and not yet taken its permit.
    pub(super) fn is_waiting(&self) -> bool {
        self.node.state.get() != State::Idle
    }

    /// Joins the queue at its end.
    pub(super) fn join(self: Pin<&mut Self>, wants: usize, waker: Waker) {
        let this = self.into_ref().get_ref();
        assert!(!this.is_waiting(), "a waiter cannot wait twice at once");
        this.node.wants.set(wants);
        this.node.waker.set(Some(waker));
        this.node.state.set(State::Queued);
        // The node is pinned, and `drop` unlinks it.
        this.queue.push(&this.node);
    }

    /// Returns the permit if it was notified, and is idle then. Otherwise it continues to wait,
    /// with `waker`.
    pub(super) fn poll(self: Pin<&mut Self>, waker: &Waker) -> Poll<Permit> {
        let this = self.into_ref().get_ref();
        if let State::Notified(permit) = this.node.state.get() {
            this.node.state.set(State::Idle);
            return Poll::Ready(permit);
        }
        let waker = waker.clone();
        // Cloning may run any code, even a notification.
        if let State::Notified(permit) = this.node.state.get() {
            this.node.state.set(State::Idle);
            // A panic of its destructor must not lose the permit.
            let_go(Some(waker));
            return Poll::Ready(permit);
        }
        let_go(this.node.waker.replace(Some(waker)));
        Poll::Pending
    }

    /// Stops waiting. If a permit had already arrived, the caller must return it.
    pub(super) fn cancel(self: Pin<&mut Self>) -> CancelOutcome {
        self.into_ref().get_ref().withdraw()
    }

    fn withdraw(&self) -> CancelOutcome {
        let result = match self.node.state.replace(State::Idle) {
            State::Idle => CancelOutcome::Idle,
            State::Notified(permit) => CancelOutcome::Notified(permit),
            State::Queued => {
                self.queue.unlink(&self.node);
                CancelOutcome::Withdrawn
            }
        };
        // The caller must complete the rest of leaving, so no panic may interfere.
        let_go(self.node.waker.take());
        result
    }
}

pub(super) use crate::wait_queue::CancelOutcome;

impl Drop for LocalWaiter<'_> {
    fn drop(&mut self) {
        self.withdraw();
    }
}
