//! A worker's list of ready fibers.

use super::stealing::part_stale;
use crate::entry::Entry;
use crate::fiber::Fiber;
use crate::task::Priority;
use sateen_base::prefetch_write;
use sateen_base::prim::UnsafeCell;
use std::cell::Cell;
use std::collections::VecDeque;

/// The ready fibers of one worker.
pub(super) type ReadyFibers = PriorityFifo;

/// Entries for one worker: those of high priority first, then in order of arrival. Its cells keep
/// it on one thread.
pub(super) struct PriorityFifo {
    normal: UnsafeCell<VecDeque<Entry>>,
    /// High and low: rarely used.
    others: UnsafeCell<[VecDeque<Entry>; 2]>,
    others_len: Cell<usize>,
}

/// From this many entries on, the first lines that a fiber touches have left the L1 cache.
const MANY: usize = 64;
/// The assumed size of a cache line.
const LINE: usize = 64;
/// How many lines below a stack's top are likely to be in use.
const STACK_LINES: usize = 9;

/// Prefetches what resuming the front fibers will touch: first the fiber itself, and three turns
/// later the top of its stack, whose address the fiber holds.
#[inline(never)]
fn fetch_ahead(entries: &VecDeque<Entry>) {
    if let Some(fiber) = entries.get(6).and_then(|entry| entry.as_fiber()) {
        let at = std::ptr::from_ref(fiber).cast::<u8>();
        (0..size_of::<Fiber>()).step_by(LINE).for_each(|i| prefetch_write(at.wrapping_add(i)));
    }
    if let Some(fiber) = entries.get(3).and_then(|entry| entry.as_fiber()) {
        let top = fiber.record().bottom().wrapping_add(fiber.record().size());
        let line = |i: usize| top.wrapping_sub(i * LINE) as *const u8;
        (1..=STACK_LINES).for_each(|i| prefetch_write(line(i)));
    }
}

impl PriorityFifo {
    pub(super) fn new() -> Self {
        Self {
            normal: UnsafeCell::new(VecDeque::new()),
            others: UnsafeCell::new(Default::default()),
            others_len: Cell::new(0),
        }
    }

    #[inline]
    pub(super) fn push(&self, entry: Entry, priority: Priority) {
        if priority == Priority::Normal {
            // SAFETY: the cell keeps this on one thread; the reference ends here.
            self.normal.with_mut(|normal| unsafe { (*normal).push_back(entry) });
        } else {
            self.push_other(entry, priority);
        }
    }

    #[inline]
    pub(super) fn pop(&self) -> Option<Entry> {
        if self.others_len.get() != 0 {
            return self.pop_other();
        }
        self.normal.with_mut(|normal| {
            // SAFETY: as above.
            let normal = unsafe { &mut *normal };
            if normal.len() >= MANY {
                fetch_ahead(normal);
            }
            normal.pop_front()
        })
    }

    /// Takes the youngest of normal priority.
    #[inline]
    pub(super) fn pop_youngest(&self) -> Option<Entry> {
        // SAFETY: as above.
        self.normal.with_mut(|normal| unsafe { (*normal).pop_back() })
    }

    /// Moves stale entries to `stale`. Returns how many are left.
    #[cold]
    pub(super) fn take_stale(&self, stale: &mut Vec<Entry>) -> usize {
        let mut sift = |entries: &mut VecDeque<Entry>| {
            *entries = part_stale(std::mem::take(entries).into(), stale).into();
            entries.len()
        };
        // SAFETY: as above.
        let normal = self.normal.with_mut(|normal| sift(unsafe { &mut *normal }));
        let others = self.others.with_mut(|others| {
            // SAFETY: as above.
            unsafe { &mut *others }.iter_mut().map(sift).sum()
        });
        self.others_len.set(others);
        normal + others
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // SAFETY: as above.
        self.others_len.get() == 0 && self.normal.with(|normal| unsafe { (*normal).is_empty() })
    }

    #[cold]
    fn push_other(&self, entry: Entry, priority: Priority) {
        let low = usize::from(priority == Priority::Low);
        self.others_len.set(self.others_len.get() + 1);
        // SAFETY: as above.
        self.others.with_mut(|others| unsafe { (&mut *others)[low].push_back(entry) });
    }

    #[cold]
    fn pop_other(&self) -> Option<Entry> {
        // SAFETY: as above, both times.
        let other = |low: usize| self.others.with_mut(|o| unsafe { (&mut *o)[low].pop_front() });
        let counted = |entry: Option<Entry>| {
            entry.inspect(|_| self.others_len.set(self.others_len.get() - 1))
        };
        // SAFETY: as above.
        let normal = || self.normal.with_mut(|normal| unsafe { (*normal).pop_front() });
        counted(other(0)).or_else(normal).or_else(|| counted(other(1)))
    }
}
