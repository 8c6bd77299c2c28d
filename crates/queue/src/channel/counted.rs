//! The two halves of a channel: how many there are of each, and when the channel goes.
//!
//! The thread that drops the last of a half tells the channel, then takes `half_gone`. The second
//! thread that takes it finds it taken and frees the channel. So each tells the channel while it
//! exists, and no thread uses it afterwards.

use sateen_base::abort_with;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::{AtomicBool, AtomicUsize};
use sateen_base::unwind::FirstPanic;
use sateen_pool::HeapSizes;
use std::alloc::{Layout, handle_alloc_error};
use std::ops::Deref;
use std::ptr::NonNull;

/// Memory for channels: some programs make them as often as others make tasks.
static KEPT: HeapSizes<8, 128, 128> = HeapSizes::new();

/// What a channel does when the last half of a kind is gone.
pub(super) trait Channel {
    fn senders_gone(&self);
    fn receivers_gone(&self);
}

/// A channel on the heap, and its halves.
struct Counted<C> {
    senders: AtomicUsize,
    receivers: AtomicUsize,
    half_gone: AtomicBool,
    channel: C,
}

/// A half: `TX` says which.
pub(super) struct Half<C: Channel, const TX: bool>(NonNull<Counted<C>>);

/// The sending half.
pub(super) type Tx<C> = Half<C, true>;
/// The receiving half.
pub(super) type Rx<C> = Half<C, false>;

// SAFETY: a half is a counted reference to the channel, which may be shared and dropped by any
// thread.
unsafe impl<C: Channel + Send + Sync, const TX: bool> Send for Half<C, TX> {}
// SAFETY: as above.
unsafe impl<C: Channel + Send + Sync, const TX: bool> Sync for Half<C, TX> {}

/// One of each.
pub(super) fn halves<C: Channel>(channel: C) -> (Tx<C>, Rx<C>) {
    let layout = Layout::new::<Counted<C>>();
    let memory = KEPT.take(layout).unwrap_or_else(|| handle_alloc_error(layout));
    let counted = memory.cast::<Counted<C>>();
    // SAFETY: fresh memory of this layout.
    unsafe {
        counted.write(Counted {
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(1),
            half_gone: AtomicBool::new(false),
            channel,
        });
    }
    (Half(counted), Half(counted))
}

/// Drops a channel and gives its memory back, also if dropping unwinds.
///
/// # Safety
/// Made by [`halves`], and no thread uses it any more.
unsafe fn free<C>(counted: NonNull<Counted<C>>) {
    struct Give<C>(NonNull<Counted<C>>);
    impl<C> Drop for Give<C> {
        fn drop(&mut self) {
            // SAFETY: taken for this layout by `halves`; the channel in it is dropped.
            unsafe { KEPT.give(self.0.cast(), Layout::new::<Counted<C>>()) };
        }
    }
    let give = Give(counted);
    // SAFETY: by the contract.
    unsafe { give.0.drop_in_place() };
}

impl<C: Channel, const TX: bool> Half<C, TX> {
    fn counted(&self) -> &Counted<C> {
        // SAFETY: freed only when the last halves of both kinds are gone, and this is one.
        unsafe { self.0.as_ref() }
    }

    fn count(&self) -> &AtomicUsize {
        if TX { &self.counted().senders } else { &self.counted().receivers }
    }

    /// The channel's address: no two channels that exist have the same.
    pub(super) fn address(&self) -> usize {
        self.0.addr().get()
    }

    /// Whether both are halves of one channel.
    pub(super) fn same<const OTHER: bool>(&self, other: &Half<C, OTHER>) -> bool {
        self.0 == other.0
    }
}

impl<C: Channel, const TX: bool> Deref for Half<C, TX> {
    type Target = C;

    #[inline(always)]
    fn deref(&self) -> &C {
        &self.counted().channel
    }
}

impl<C: Channel, const TX: bool> Clone for Half<C, TX> {
    fn clone(&self) -> Self {
        // Relaxed: the new half comes from an old one, which keeps the count up.
        if self.count().fetch_add(1, Ordering::Relaxed) > isize::MAX as usize {
            abort_with("more halves of a channel than memory could hold");
        }
        Self(self.0)
    }
}

impl<C: Channel, const TX: bool> Drop for Half<C, TX> {
    fn drop(&mut self) {
        // Ordering: Release and Acquire, so that all that each half did comes before the end of the
        // last one.
        if self.count().fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        self.last_gone();
    }
}

impl<C: Channel, const TX: bool> Half<C, TX> {
    /// The last half of a kind is dropped. Items that no receiver will take are dropped here, and
    /// wakers are called. If one of these panics, the channel is still told and freed.
    #[cold]
    fn last_gone(&self) {
        let mut panics = FirstPanic::new();
        panics.catch(|| if TX { self.senders_gone() } else { self.receivers_gone() });
        // Ordering: Release and Acquire, so that all the other half did comes before the channel is
        // freed.
        if self.counted().half_gone.swap(true, Ordering::AcqRel) {
            // SAFETY: made by `halves`; the other half has taken the flag too and uses it no more.
            panics.catch(|| unsafe { free(self.0) });
        }
        panics.resume();
    }
}
