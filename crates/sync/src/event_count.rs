//! An eventcount: sleeping workers, and waking one of them. One futex per sleeper, one bitmap for
//! all.
//!
//! The protocol and its proof are in the crate's `README.md`, section *Eventcount*. State of a
//! slot:
//!
//! | word | bit in the bitmap | meaning | changed by |
//! |---|---|---|---|
//! | `AWAKE` 0 | 0 | not announced | owner: `announce` |
//! | `ANNOUNCED` 1 | 1 | rescans, may sleep soon | owner: `sleep`, `cancel`; notifier: clears bit |
//! | `ASLEEP` 2 | 1 | sleeps in the kernel, or soon will | owner: time-out; notifier: clears bit |
//! | 1 or 2 | 0 | claimed by one notifier, soon `NOTIFIED` | that notifier |
//! | `NOTIFIED` 3 | 0 | a notification waits to be taken | owner: `sleep`, `cancel` |
//!
//! Access: only the slot's owner sets its bit and writes the words other than `NOTIFIED`. Whoever
//! clears a set bit, owner or notifier, decides the fate of the announcement. `count` is raised
//! before a bit is set and lowered after one was cleared, so it is never too low.

use crate::sys::{Deadline, FutexWord};
use sateen_base::CachePadded;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicU64, AtomicUsize};
use sateen_base::prim::time::Duration;
use std::fmt;

const AWAKE: u32 = 0;
const ANNOUNCED: u32 = 1;
const ASLEEP: u32 = 2;
const NOTIFIED: u32 = 3;

/// A fixed number of slots, in each of which one worker sleeps. Any thread wakes them one by one.
///
/// # The fence is the caller's
///
/// A worker must not fall asleep while work is being published, and a publisher must not pay when
/// there are no sleepers. Each side writes its own word and then reads the other's. That needs a
/// full fence between write and read on both sides, or a light one on one side and a heavy one on
/// the other ([`sateen_base::fence`]). This type issues no fence, because only the caller knows
/// which ones it needs:
///
/// ```text
/// sleeper                                   publisher
///   announce(slot)                            publish the work
///   full fence, or heavy()                    full fence, or light()
///   rescan everything it would have run       if has_sleepers() { notify_one() }
///   found work? cancel(slot), run it
///   nothing?    sleep(slot, ..)
/// ```
///
/// * A heavy fence of the sleeper allows a light one of the publisher, and vice versa. Two light
///   ones lose wake-ups.
/// * The sleeper's fence comes after `announce` has returned and before the first read of the
///   rescan. The publisher's comes after the work is visible and before `has_sleepers`.
/// * With both, either the rescan finds the work, or `has_sleepers` is true and `notify_one` finds
///   the slot (or another announced one).
/// * Without the sleeper's fence, sleep with a time limit and rescan.
/// * Writes before a notification are visible to the notified worker.
///
/// A notification is never lost: it goes either to [`sleep`](Self::sleep), which returns true, or
/// to [`cancel`](Self::cancel), which returns false. A worker that receives one must look for work
/// once more, or pass it on.
///
/// Each slot has one owner at a time, and only the owner calls `announce`, `sleep` and `cancel` for
/// it.
///
/// # Cost
/// 128 bytes per slot, allocated in [`new`](Self::new); nothing allocates afterwards.
///
/// # Examples
///
/// ```
/// use sateen::sync::EventCount;
/// use std::sync::atomic::{AtomicBool, Ordering, fence};
///
/// let (sleepers, work) = (EventCount::new(1), AtomicBool::new(false));
/// std::thread::scope(|s| {
///     s.spawn(|| {
///         while !work.load(Ordering::Acquire) {
///             sleepers.announce(0);
///             fence(Ordering::SeqCst);
///             if work.load(Ordering::Acquire) {
///                 sleepers.cancel(0);
///             } else {
///                 sleepers.sleep(0, None);
///             }
///         }
///     });
///     work.store(true, Ordering::Release);
///     fence(Ordering::SeqCst);
///     if sleepers.has_sleepers() {
///         sleepers.notify_one();
///     }
/// });
/// ```
pub struct EventCount {
    /// Number of announced slots, or slightly more. Hot paths read it; sleeping and waking write
    /// it.
    count: CachePadded<AtomicUsize>,
    /// Bit `s % 64` of word `s / 64` is set while slot `s` is announced and unclaimed.
    bits: Box<[AtomicU64]>,
    slots: Box<[CachePadded<FutexWord>]>,
}

impl EventCount {
    /// Most slots there can be.
    pub const MAX_SLOTS: usize = 65_535;

    /// `slots` slots, none announced.
    ///
    /// # Panics
    /// If `slots` is more than [`MAX_SLOTS`](Self::MAX_SLOTS).
    pub fn new(slots: usize) -> Self {
        assert!(slots <= Self::MAX_SLOTS, "{slots} slots wanted, at most {}", Self::MAX_SLOTS);
        Self {
            count: CachePadded::new(AtomicUsize::new(0)),
            bits: (0..slots.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            slots: (0..slots).map(|_| CachePadded::new(FutexWord::new(AWAKE))).collect(),
        }
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Whether any slot is announced. Issue the publisher's fence first (see [`EventCount`]).
    ///
    /// # Cost
    ///
    /// One relaxed load of a word that is written only when workers fall asleep or are woken.
    #[inline(always)]
    pub fn has_sleepers(&self) -> bool {
        self.sleepers() != 0
    }

    /// Number of announced slots at some moment. A slot that is just being announced or claimed may
    /// or may not be counted.
    #[inline(always)]
    pub fn sleepers(&self) -> usize {
        // Relaxed: the caller's fence orders it after the publication of its work.
        self.count.load(Ordering::Relaxed)
    }

    /// Number of slots that are announced and not notified, read one after another. Exact while
    /// none is being announced, notified or cancelled.
    ///
    /// # Cost
    /// One load for 64 slots.
    pub fn announced(&self) -> usize {
        // Ordering: Acquire pairs with the Release in `announce`, so the owner's earlier writes are
        // visible.
        let count = |bits: &AtomicU64| bits.load(Ordering::Acquire).count_ones() as usize;
        self.bits.iter().map(count).sum()
    }

    /// Announces that the owner of `slot` is about to sleep. Then issue the sleeper's fence,
    /// rescan, and call [`sleep`](Self::sleep) or [`cancel`](Self::cancel).
    ///
    /// # Panics
    /// If there is no such slot, or it is already announced.
    pub fn announce(&self, slot: usize) {
        let word = self.slots[slot].word();
        let before = word.load(Ordering::Relaxed);
        assert!(before == AWAKE, "slot {slot} is announced already");
        // Relaxed: the bit below publishes it, and no thread reads it before.
        word.store(ANNOUNCED, Ordering::Relaxed);
        // Before the bit, so that clearing the bit never lowers a count of 0.
        self.count.fetch_add(1, Ordering::Relaxed);
        // Ordering: Release pairs with the Acquire in `claim`: a notifier's `NOTIFIED` comes after
        // `ANNOUNCED`. Otherwise `ANNOUNCED` could overwrite it.
        self.bits[slot / 64].fetch_or(1 << (slot % 64), Ordering::Release);
    }

    /// Withdraws the announcement of `slot`. Returns true if it was still there. Returns false if
    /// it had already received a notification, which is consumed now, and the caller must act on
    /// it.
    ///
    /// Waits for a notifier between its two steps (a few instructions, unless preempted).
    ///
    /// # Panics
    /// If there is no such slot, or it is not announced.
    pub fn cancel(&self, slot: usize) -> bool {
        let word = self.slots[slot].word();
        assert!(word.load(Ordering::Relaxed) != AWAKE, "slot {slot} is not announced");
        let claimed = self.claim(slot / 64, 1 << (slot % 64));
        if claimed {
            word.store(AWAKE, Ordering::Relaxed);
            return true;
        }
        let notified = self.sleep(slot, None);
        debug_assert!(notified, "an untimed sleep ended without a notification");
        false
    }

    /// Blocks the OS thread until `slot` is notified (true) or `timeout` has passed (false). `None`
    /// waits for ever.
    ///
    /// Call it after [`announce`](Self::announce). It returns at once if the notification came in
    /// between. After a time-out the slot is still announced: cancel it, or sleep again.
    ///
    /// # Cost
    /// A futex wait; a notification that is already there costs one locked instruction.
    ///
    /// # Panics
    /// If there is no such slot, or it is not announced.
    pub fn sleep(&self, slot: usize, timeout: Option<Duration>) -> bool {
        let futex = &*self.slots[slot];
        let word = futex.word();
        // Ordering: Acquire on failure pairs with the Release in `wake`.
        match word.compare_exchange(ANNOUNCED, ASLEEP, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => {}
            Err(NOTIFIED) => return self.take_notification(slot),
            Err(other) => assert!(other == ASLEEP, "slot {slot} is not announced"),
        }
        let mut deadline = Deadline::new(timeout);
        while futex.wait_until(ASLEEP, &mut deadline) {
            // Ordering: Acquire pairs with the Release in `wake`.
            if word.load(Ordering::Acquire) == NOTIFIED {
                return self.take_notification(slot);
            }
        }
        // Return to a state whose notifier needs no system call, unless one came at the last
        // moment.
        // Ordering: Acquire on failure pairs with the Release in `wake`.
        match word.compare_exchange(ASLEEP, ANNOUNCED, Ordering::Relaxed, Ordering::Acquire) {
            Ok(_) => false,
            Err(_) => self.take_notification(slot),
        }
    }

    /// Notifies one announced slot and wakes it; `None` if none is announced. It is unspecified
    /// which one (currently the lowest). Issue the publisher's fence first (see [`EventCount`]).
    ///
    /// # Cost
    /// One load for 64 slots. If a slot is found, three locked instructions, and a system call if
    /// it is already asleep.
    pub fn notify_one(&self) -> Option<usize> {
        self.notify_any(|_| u64::MAX)
    }

    /// Like [`notify_one`](Self::notify_one), but notifies `slot` only if no other is announced.
    ///
    /// # Cost
    /// See [`notify_one`](Self::notify_one).
    pub fn notify_one_but(&self, slot: usize) -> Option<usize> {
        let others = |index| if index == slot / 64 { !(1 << (slot % 64)) } else { u64::MAX };
        self.notify_any(others).or_else(|| self.notify(slot).then_some(slot))
    }

    /// Notifies one announced slot, among those selected by the bits of `wanted` for their word.
    fn notify_any(&self, wanted: impl Fn(usize) -> u64) -> Option<usize> {
        if !self.has_sleepers() {
            return None;
        }
        for (index, bits) in self.bits.iter().enumerate() {
            // Relaxed: a hint; the claim decides.
            let mut seen = bits.load(Ordering::Relaxed) & wanted(index);
            while seen != 0 {
                let bit = seen & seen.wrapping_neg();
                if self.claim(index, bit) {
                    let slot = index * 64 + bit.trailing_zeros() as usize;
                    self.wake(slot);
                    return Some(slot);
                }
                seen = bits.load(Ordering::Relaxed) & wanted(index);
            }
        }
        None
    }

    /// Notifies `slot` if it is announced. Returns whether it was.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn notify(&self, slot: usize) -> bool {
        assert!(slot < self.slots.len(), "no slot {slot}");
        let (index, bit) = (slot / 64, 1 << (slot % 64));
        // Relaxed: the caller's fence orders it after the publication. Usually the bit is not set.
        let claimed = self.bits[index].load(Ordering::Relaxed) & bit != 0 && self.claim(index, bit);
        if claimed {
            self.wake(slot);
        }
        claimed
    }

    /// Clears `bit`. Returns true for the one caller that found it set.
    fn claim(&self, index: usize, bit: u64) -> bool {
        // Ordering: Acquire pairs with the Release in `announce`.
        let claimed = self.bits[index].fetch_and(!bit, Ordering::Acquire) & bit != 0;
        if claimed {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        claimed
    }

    /// Hands the notification to `slot`, whose bit the caller cleared.
    fn wake(&self, slot: usize) {
        let futex = &*self.slots[slot];
        // Ordering: Release pairs with the Acquire accesses in `sleep`: the woken worker sees what
        // its notifier published.
        if futex.word().swap(NOTIFIED, Ordering::Release) == ASLEEP {
            futex.wake();
        }
    }

    /// The owner has seen `NOTIFIED`, so no other thread touches the word until it announces again.
    fn take_notification(&self, slot: usize) -> bool {
        self.slots[slot].word().store(AWAKE, Ordering::Relaxed);
        true
    }
}

impl fmt::Debug for EventCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = (self.slots(), self.sleepers());
        f.debug_struct("EventCount").field("slots", &counts.0).field("sleepers", &counts.1).finish()
    }
}
