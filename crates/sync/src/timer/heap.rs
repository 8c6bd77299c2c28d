//! A timer queue's heap, under the queue's lock: four children per node, and each timer knows its
//! index.
//!
//! Access: the holder of the queue's lock owns the heap, and a timer's `inner` while the timer is
//! `ARMED`. A timer that is not `ARMED` belongs to its owner alone.

use sateen_base::prim::{AtomicU32, Ordering, UnsafeCell};
use std::ptr::NonNull;
use std::task::Waker;

/// | state | in the heap | waker | changed by |
/// |---|---|---|---|
/// | `IDLE` 0 | no | none | owner, under the lock: `ARMED` |
/// | `ARMED` 1 | yes | some | under the lock: owner and closer `IDLE`, firer `FIRED` |
/// | `FIRED` 2 | no | none: the firer took it | owner, under the lock: `ARMED` |
pub(super) const IDLE: u32 = 0;
pub(super) const ARMED: u32 = 1;
pub(super) const FIRED: u32 = 2;

/// The part of a timer that its queue knows, in place while armed.
#[derive(Debug)]
pub(super) struct Node {
    state: AtomicU32,
    pub(super) inner: UnsafeCell<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    place: usize,
    pub(super) waker: Option<Waker>,
}

impl Node {
    pub(super) fn new() -> Self {
        let inner = UnsafeCell::new(Inner { place: 0, waker: None });
        Self { state: AtomicU32::new(IDLE), inner }
    }

    /// The state as its owner reads it. `ARMED` may already be over; the other states persist.
    #[inline]
    pub(super) fn state(&self) -> u32 {
        // Ordering: Acquire pairs with the Release in `give_back`: the thread that took it out of
        // the heap has finished with it.
        self.state.load(Ordering::Acquire)
    }

    /// Under the lock, and out of the heap: takes the waker and returns the node to its owner, who
    /// may free it from that moment.
    ///
    /// # Safety
    /// The lock is held, and the node is `ARMED` but no longer in the heap.
    unsafe fn give_back(&self, state: u32) -> Option<Waker> {
        // SAFETY: the caller holds the lock.
        let waker = self.inner.with_mut(|inner| unsafe { (*inner).waker.take() });
        // Ordering: Release pairs with the Acquire in `state`. The last access.
        self.state.store(state, Ordering::Release);
        waker
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u64,
    node: NonNull<Node>,
}

/// A heap of armed nodes, the earliest first.
#[derive(Debug)]
pub(super) struct Heap {
    entries: Vec<Entry>,
    /// Whether it is closed, and takes no more.
    pub(super) closed: bool,
}

/// Memory for entries, allocated outside of the lock.
#[derive(Debug, Default)]
pub(super) struct Room(Vec<Entry>);

impl Room {
    /// Memory for twice `len` entries, at least sixteen.
    pub(super) fn beyond(len: usize) -> Self {
        Self(Vec::with_capacity((2 * len).max(16)))
    }
}

/// The children of an entry: one cache line.
const ARITY: usize = 4;

impl Heap {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), closed: false }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// When the first is due; `u64::MAX` if there is none.
    pub(super) fn earliest(&self) -> u64 {
        self.entries.first().map_or(u64::MAX, |first| first.at)
    }

    /// Whether there is room for one more, after moving to `room` if that is larger. Then `room`
    /// holds the memory to be freed.
    pub(super) fn has_room(&mut self, room: &mut Room) -> bool {
        if self.entries.len() == self.entries.capacity() && room.0.capacity() > self.entries.len() {
            room.0.extend_from_slice(&self.entries);
            std::mem::swap(&mut room.0, &mut self.entries);
        }
        self.entries.len() < self.entries.capacity()
    }

    /// Arms `node` for `at`, with `waker`. There is room.
    ///
    /// # Safety
    /// `node` is not armed, and stays valid and in place until it is out of the heap again. The
    /// lock is held.
    pub(super) unsafe fn insert(&mut self, at: u64, node: NonNull<Node>, waker: Waker) {
        // SAFETY: valid by contract.
        let node_ref = unsafe { node.as_ref() };
        // SAFETY: not armed, so it belongs to the owner, which calls this.
        node_ref.inner.with_mut(|inner| unsafe { (*inner).waker = Some(waker) });
        // Relaxed: the owner does this, and others read it under the lock.
        node_ref.state.store(ARMED, Ordering::Relaxed);
        self.entries.push(Entry { at, node });
        self.rise(self.entries.len() - 1);
    }

    /// Takes `node` out if it is armed, and returns it to its owner as `IDLE`.
    ///
    /// # Safety
    /// `node` is valid, and if armed, in this heap. The lock is held.
    pub(super) unsafe fn remove(&mut self, node: &Node) -> Option<Waker> {
        if node.state.load(Ordering::Relaxed) != ARMED {
            return None;
        }
        // SAFETY: armed, and the lock is held.
        let place = node.inner.with(|inner| unsafe { (*inner).place });
        self.take_out(place);
        // SAFETY: the lock is held, and it has just left the heap.
        unsafe { node.give_back(IDLE) }
    }

    /// Takes the first out if it is due at `now`, and returns it to its owner in `state`.
    ///
    /// # Safety
    /// The lock is held.
    pub(super) unsafe fn pop(&mut self, now: u64, state: u32) -> Option<Waker> {
        let first = *self.entries.first().filter(|first| first.at <= now)?;
        self.take_out(0);
        // SAFETY: nodes in the heap are valid, and after `take_out` this one still is: only the
        // store in `give_back` hands it to its owner. The lock is held.
        let waker = unsafe { first.node.as_ref().give_back(state) };
        debug_assert!(waker.is_some(), "an armed timer has a waker");
        waker
    }

    fn take_out(&mut self, place: usize) {
        let last = self.entries.len() - 1;
        self.entries.swap_remove(place);
        if place < last {
            // The entry that moved here comes from another branch, so it may belong higher up or
            // further down.
            if self.rise(place) == place {
                self.sink(place);
            }
        }
    }

    /// Writes `entry` at `place`, and stores that in its node.
    fn put(&mut self, place: usize, entry: Entry) {
        self.entries[place] = entry;
        // SAFETY: nodes in the heap are valid, and `&mut self` is held under the lock.
        unsafe { entry.node.as_ref().inner.with_mut(|inner| (*inner).place = place) };
    }

    /// Moves the entry at `from` up to its position, and returns that.
    fn rise(&mut self, from: usize) -> usize {
        let entry = self.entries[from];
        let mut place = from;
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.entries[parent].at <= entry.at {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, entry);
        place
    }

    fn sink(&mut self, from: usize) {
        let entry = self.entries[from];
        let mut place = from;
        loop {
            let children = ARITY * place + 1..(ARITY * place + 1 + ARITY).min(self.entries.len());
            let Some(child) = children.min_by_key(|&child| self.entries[child].at) else { break };
            if self.entries[child].at >= entry.at {
                break;
            }
            self.put(place, self.entries[child]);
            place = child;
        }
        self.put(place, entry);
    }
}
