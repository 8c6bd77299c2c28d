//! Events of threads that are not workers. They share a ring, under a lock.
//!
//! An event that affects a runtime, such as waking a task, goes into that runtime's trace. An event
//! on a channel goes into every running trace, because a channel belongs to no runtime.
//!
//! A thread may write here in the middle of a step that others wait for. So nothing here waits for
//! more than the copy of an event, and nothing allocates under a lock.

use super::event::{Kind, NONE, Words, head};
use super::on::told;
use crate::trace_ring::Ring;
use sateen_base::prim::{Arc, AtomicBool, AtomicU64, Ordering};
use sateen_base::trace::{is_heard, listen};
use sateen_base::{RawSpinLock, SpinLock, os, thread_number, tsc};
use std::sync::{Mutex, PoisonError};

/// A runtime's ring for other threads.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Whether there is a ring.
    runs: AtomicBool,
    ring: SpinLock<Option<Arc<Ring>>>,
}

/// The traces that are running.
static RUNNING: SpinLock<Vec<Arc<Outside>>> =
    SpinLock::from_raw(<RawSpinLock as lock_api::RawMutex>::INIT, Vec::new());

impl Outside {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { runs: AtomicBool::new(false), ring: SpinLock::new(None) })
    }

    /// Begins a trace: events go into `ring`.
    pub(super) fn begin(self: &Arc<Self>, ring: Arc<Ring>) {
        let before = self.ring.lock().replace(ring);
        drop(before);
        // Ordering: Relaxed here and below; the lock orders.
        self.runs.store(true, Ordering::Relaxed);
        change(|running| {
            if !running.iter().any(|other| Arc::ptr_eq(other, self)) {
                running.push(Arc::clone(self));
            }
        });
    }

    pub(super) fn end(self: &Arc<Self>) {
        self.runs.store(false, Ordering::Relaxed);
        let before = self.ring.lock().take();
        drop(before);
        change(|running| running.retain(|other| !Arc::ptr_eq(other, self)));
    }

    /// Writes an event of the calling thread, which is not a worker. Costs one load while there is
    /// no trace.
    #[inline]
    pub(super) fn write(&self, event: impl FnOnce() -> Words) {
        if self.runs.load(Ordering::Relaxed) {
            let event = event();
            self.write_slow(this_thread(event[0]), event);
        }
    }

    #[cold]
    fn write_slow(&self, thread: Words, event: Words) {
        // Under the lock, the caller is the ring's only writer.
        if let Some(ring) = &*self.ring.lock() {
            ring.write(thread);
            ring.write(event);
        }
    }
}

/// Writes an event of the calling thread, which is not a worker, into all traces.
#[cold]
pub(super) fn write_to_all(event: Words) {
    let thread = this_thread(event[0]);
    for outside in &*RUNNING.lock() {
        outside.write_slow(thread, event);
    }
}

/// Begins an arrow on the calling thread, which is not a worker. Returns its number, or 0 if there
/// is no trace.
#[inline]
pub(super) fn arrow(kind: u64) -> u64 {
    if is_heard() { arrow_slow(kind) } else { 0 }
}

#[cold]
fn arrow_slow(kind: u64) -> u64 {
    // Above the numbers that workers draw.
    static NUMBERS: AtomicU64 = AtomicU64::new(1 << 58);
    let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
    write_to_all([tsc::now(), head(Kind::ArrowStart, 0, NONE), number, kind]);
    number
}

/// Identifies the thread of the next event.
fn this_thread(now: u64) -> Words {
    let number = thread_number::get_or_assign().unwrap_or(0xff_ffff);
    let [low, high] = [0, 8].map(|at| {
        let mut word = [0; 8];
        word.copy_from_slice(&os::thread_name()[at..at + 8]);
        u64::from_le_bytes(word)
    });
    [now, head(Kind::Thread, number, 0), low, high]
}

/// Changes the list of running traces.
fn change(f: impl FnOnce(&mut Vec<Arc<Outside>>)) {
    // Held by the one thread that changes the list.
    static CHANGES: Mutex<()> = Mutex::new(());
    let _one = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut new = Vec::with_capacity(64);
    loop {
        // Allocates room for the copy outside of the lock.
        let running = RUNNING.lock();
        if running.len() < new.capacity() {
            new.extend(running.iter().cloned());
            break;
        }
        let wanted = 2 * running.len();
        drop(running);
        new.reserve(wanted);
    }
    f(&mut new);
    listen((!new.is_empty()).then_some(told));
    let old = std::mem::replace(&mut *RUNNING.lock(), new);
    drop(old);
}
