//! One combination of entry point, behaviour and place.

use crate::behaviour::Behaviour;
use crate::entries::Entry;
use crate::place::Place;
use sateen::sync::{Mutex, oneshot};
use sateen::{CancelToken, Runtime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The data that a cell's code uses.
pub(crate) struct Cell {
    pub(crate) entry: &'static Entry,
    pub(crate) behaviour: Behaviour,
    /// The token of the task in which the cell runs.
    pub(crate) token: CancelToken,
    /// The runtime on which it runs, if the cell may shut that down.
    runtime: Weak<Runtime>,
    /// Items made and not yet destroyed.
    items: Arc<AtomicUsize>,
    /// How often the hostile code has been called.
    struck: AtomicUsize,
    /// Whether the entry point has called itself.
    again: AtomicBool,
    lock: Arc<Mutex<()>>,
}

/// Must be destroyed once.
pub(crate) struct Item(Arc<AtomicUsize>, Box<u8>);

impl Drop for Item {
    fn drop(&mut self) {
        assert_eq!(*self.1, 7, "an item was destroyed twice");
        *self.1 = 0;
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Strikes when it is dropped.
pub(crate) struct Bomb(Arc<Cell>, #[expect(dead_code, reason = "counted")] Item);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.strike();
    }
}

impl Cell {
    pub(crate) fn new(
        entry: &'static Entry,
        behaviour: Behaviour,
        runtime: &Weak<Runtime>,
    ) -> Arc<Self> {
        Arc::new(Self {
            entry,
            behaviour,
            token: CancelToken::new(),
            runtime: Weak::clone(runtime),
            items: Arc::default(),
            struck: AtomicUsize::new(0),
            again: AtomicBool::new(false),
            lock: Arc::default(),
        })
    }

    pub(crate) fn item(&self) -> Item {
        self.items.fetch_add(1, SeqCst);
        Item(Arc::clone(&self.items), Box::new(7))
    }

    pub(crate) fn bomb(self: &Arc<Self>) -> Bomb {
        Bomb(Arc::clone(self), self.item())
    }

    /// The hostile code. It strikes a few times only in each cell, so that loops end.
    pub(crate) fn strike(self: &Arc<Self>) {
        if self.struck.fetch_add(1, SeqCst) < 3 {
            self.behaviour.strike(self);
        }
    }

    /// Whether handles, guards and results are to be leaked.
    pub(crate) fn leaks(&self) -> bool {
        self.behaviour == Behaviour::Leak
    }

    /// Drops `value`, or leaks it.
    pub(crate) fn end<T>(&self, value: T) {
        if self.leaks() { std::mem::forget(value) } else { drop(value) }
    }

    /// Waits for a lock that a thread holds for a moment.
    pub(crate) fn wait_for_a_lock(&self) {
        let lock = Arc::clone(&self.lock);
        // Both waits suspend: the lock may be held by another strike on the same worker.
        let (held, is_held) = oneshot::channel();
        let (goes, going) = mpsc::channel::<()>();
        thread::spawn(move || {
            let _guard = lock.lock();
            _ = held.send(());
            // Also if the wait above is cancelled.
            _ = going.recv();
            sateen_testkit::give_way();
        });
        _ = is_held.recv();
        drop(goes);
        drop(self.lock.lock());
    }

    pub(crate) fn shut_down(&self) {
        if let Some(runtime) = self.runtime.upgrade() {
            // Refused on its own workers. A thread waits for a limited time, since the runtime may
            // wait for this thread.
            _ = runtime.shutdown_timeout(Duration::from_millis(1));
        }
    }

    /// Calls the entry point from within itself, once.
    pub(crate) fn enter_again(self: &Arc<Self>) {
        if !self.again.swap(true, SeqCst) {
            _ = catch_unwind(AssertUnwindSafe(|| (self.entry.call)(self)));
        }
    }

    /// Checks what must hold once the cell has ended and its place is gone.
    pub(crate) fn check(&self) {
        // A cell that leaks may keep items, but must not destroy one twice. Otherwise, threads that
        // are about to end may still hold items for a moment.
        let limit = Instant::now() + Duration::from_secs(20);
        while !self.leaks() && self.items.load(SeqCst) != 0 {
            assert!(Instant::now() < limit, "{} items were lost", self.items.load(SeqCst));
            thread::yield_now();
        }
        let may_not_happen = self.entry.may_not_strike;
        let struck = self.struck.load(SeqCst);
        assert!(struck > 0 || may_not_happen || self.leaks(), "the hostile code was not called");
    }
}

/// Why a cell cannot occur, or why nothing is promised for it.
pub(crate) fn impossible(
    entry: &Entry,
    behaviour: Behaviour,
    place: Place,
) -> Option<&'static str> {
    use Behaviour::{Cancel, EvilPayload, Panic, Shutdown};
    match (behaviour, place) {
        (Cancel, Place::Thread | Place::CurrentThread) => Some("a thread cannot be cancelled"),
        (Shutdown, Place::CurrentThread) => Some("a current-thread runtime ends with its thread"),
        (Panic | EvilPayload, _) if entry.panic_aborts => Some("documented to end the process"),
        _ => entry.except.filter(|(other, _)| *other == behaviour).map(|(_, why)| why),
    }
}
