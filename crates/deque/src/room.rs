//! Room in the owner's buffer: growing, shrinking, and buffers that thieves still use.

use crate::buffer::{Buffer, Retired};
use crate::index::{Top, gap};
use crate::prim::Ordering;
use crate::stage::Stage;
use crate::worker::Worker;

impl<T, S: Stage> Worker<T, S> {
    /// Counts a pop that left few items. Halves the buffer after as many such pops as it has cells,
    /// because these pops have paid for the copy. A deque that fills and drains again and again
    /// keeps the room that it needs.
    #[cold]
    pub(crate) fn count_low(&self) {
        let pops = self.own.low_pops.get() + 1;
        self.own.low_pops.set(pops);
        let capacity = self.own.buffer.get().capacity();
        if pops < capacity || capacity == Buffer::<T>::MIN {
            return;
        }
        // A split deque counted its private items only.
        if self.len() <= capacity as usize / 4 {
            self.switch_to(capacity / 2);
        } else {
            self.own.low_pops.set(0);
        }
    }

    /// Learns how far thieves have come, and which of their claims are resolved.
    #[inline]
    pub(crate) fn catch_up(&self) {
        // Ordering: Relaxed, the marks show what the thieves have done.
        let top = Top(self.inner.top.load(Ordering::Relaxed));
        self.own.seen.set(top);
        let buffer = self.own.buffer.get();
        // SAFETY: the buffer is current; claims are looked at in order.
        let resolved = unsafe { buffer.first_unresolved(self.own.resolved.get(), top.index()) };
        if resolved != self.own.resolved.get() {
            self.own.any_marks.set(true);
        }
        self.own.resolved.set(resolved);
        self.own.limit.set(resolved.wrapping_add(buffer.capacity()));
    }

    /// Ensures that `items` items can be pushed.
    #[inline]
    pub(crate) fn reserve(&self, items: u32) {
        if (gap(self.bottom(), self.own.limit.get()) as u32) < items {
            self.make_room(items);
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn make_room(&self, items: u32) {
        self.catch_up();
        self.sweep();
        let capacity = self.own.buffer.get().capacity();
        let bottom = self.bottom();
        let free = gap(bottom, self.own.limit.get()) as u32;
        let len = gap(self.own.seen.get().index(), bottom).max(0) as u32;
        // A little room would be used up at once, and this function is not cheap.
        let enough = free >= items.max(capacity / 8);
        let oversized = capacity > Buffer::<T>::MIN && len < capacity / 8;
        if enough && !oversized {
            return;
        }
        let wanted = (len as u64 + items as u64).next_power_of_two();
        let roomy = if wanted - (len as u64) < wanted / 4 { 2 * wanted } else { wanted };
        // The buffer shrinks to half of its present size at most. A burst that comes again then
        // grows it in few steps.
        let new = roomy.max(capacity as u64 / 2).max(Buffer::<T>::MIN as u64);
        assert!(new <= Buffer::<T>::MAX as u64, "deque capacity overflow");
        self.switch_to(new as u32);
    }

    /// Replaces the buffer by one of `capacity`. Thieves go on: those that claim before the
    /// generation changes use the old buffer, those that come later the new one.
    #[cold]
    pub(crate) fn switch_to(&self, capacity: u32) {
        let (inner, own) = (&*self.inner, &self.own);
        let old = own.buffer.get();
        let new = Buffer::new(capacity);
        let before = Top(inner.top.load(Ordering::Relaxed));
        // SAFETY: both are the owner's; thieves only read the old one, and do not know the new one.
        unsafe { old.copy_to(new, before.index(), self.bottom()) };
        let next = before.after(Top::NEW_BUFFER);
        // Relaxed: published by the addition below. This half belongs to the buffer before the old
        // one, in whose generations no exchange succeeds any more.
        inner.root[next.half()].store(new.pack(), Ordering::Relaxed);
        if self.is_split() {
            self.reopen(next.generation());
        }
        // Ordering: AcqRel. Release pairs with the Acquire of thieves that read `top`: they see the
        // new buffer. Items claimed since the copy began were copied for nothing.
        let top =
            Top(inner.top.fetch_add(Top::NEW_BUFFER, Ordering::AcqRel)).after(Top::NEW_BUFFER);
        let mut retired = Retired::new(old, own.resolved.get(), top.index());
        if !retired.try_free() {
            own.retired.borrow_mut().push(retired);
            own.any_retired.set(true);
        }
        own.seen.set(top);
        own.buffer.set(new);
        own.resolved.set(top.index());
        own.any_marks.set(false);
        own.limit.set(top.index().wrapping_add(capacity));
        own.low_pops.set(0);
        let low = if capacity == Buffer::<T>::MIN { 0 } else { capacity as i32 / 8 };
        own.low.set(low.max(self.flavor.least_low()));
    }

    /// Frees retired buffers that thieves have left.
    #[cold]
    pub(crate) fn sweep(&self) {
        let mut retired = self.own.retired.borrow_mut();
        retired.retain_mut(|retired| !retired.try_free());
        self.own.any_retired.set(!retired.is_empty());
    }
}
