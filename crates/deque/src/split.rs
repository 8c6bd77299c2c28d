//! The asymmetric stage: a published part with the usual claims, a private part without fences.
//!
//! ```text
//!   top              open              bottom
//!    ▼                 ▼                ▼
//!    | public: claimed | private: popped |
//!    |   by exchange   | without a fence |
//! ```
//!
//! | word | stored by | meaning |
//! |---|---|---|
//! | `floor` | owner (its own) | the owner gave indices before it to thieves, or saw them claimed |
//! | `guard` | thieves raise, owner lowers | a thief is about to take indices before it |
//! | `open` | either | generation and index: its claims before the index need no fence |
//!
//! The owner pops an index at or after both `floor` and `guard` the fast way. Otherwise it pops it
//! by a new epoch. That makes all exchanges in flight fail, tells which items were claimed, and
//! takes back the newer half of the public ones. README: "The private part".

use crate::Steal;
use crate::index::{Top, gap};
use crate::inner::Inner;
use crate::prim::Ordering;
use crate::stage::Stage;
use crate::worker::Worker;
use sateen_base::canary;
use sateen_base::fence;

impl<T, S: Stage> Worker<T, S> {
    /// Publishes the items before the newest if thieves have asked for more.
    #[inline(always)]
    pub(crate) fn share(&self, bottom: u32) {
        // Relaxed: a hint that thieves want more. It does not change in a deque that is not split.
        let guard = self.inner.owner.guard.load(Ordering::Relaxed);
        if guard != self.own.idle_guard.get() {
            self.share_slow(bottom, guard);
        }
    }

    /// From the next push on, thieves may claim all items, until the owner pops one of them. The
    /// owner calls it when it expects thieves: one that finds no public item pays a heavy fence.
    #[doc(hidden)]
    pub fn share_coming(&self) {
        if self.is_split() {
            self.own.idle_guard.set(!self.inner.owner.guard.load(Ordering::Relaxed));
            self.own.shares_all.set(true);
        }
    }

    #[cold]
    #[inline(never)]
    fn share_slow(&self, bottom: u32, guard: u32) {
        // No value of `guard` is idle until the next slow pop.
        self.own.idle_guard.set(!guard);
        // Thieves that ask leave the owner its newest item, which it probably pops next.
        let kept = u32::from(!self.own.shares_all.get());
        self.own.floor.set(bottom.wrapping_sub(kept));
        self.reopen(self.seen().generation());
    }

    /// Lets thieves of `generation` claim the items before `floor`.
    pub(crate) fn reopen(&self, generation: u32) {
        let open = Top::new(generation, self.own.floor.get());
        let order = if canary!("deque-open") { Ordering::Relaxed } else { Ordering::Release };
        // Ordering: Release pairs with the Acquire in `look_split`: the items are visible.
        self.inner.owner.open.store(open.0, order);
    }

    /// LIFO with a private part: no fence and no locked instruction if the newest item is private.
    #[inline(always)]
    pub(crate) fn pop_private(&self) -> Option<T> {
        let bottom = self.bottom();
        let newest = bottom.wrapping_sub(1);
        let private = gap(self.own.floor.get(), newest);
        if private < self.low() {
            return self.pop_low_private_slow(bottom);
        }
        if self.lower_private(newest) < 0 {
            return self.pop_public_slow(bottom);
        }
        Some(self.take_newest(newest))
    }

    /// Lowers `bottom` to `newest`; how far that is ahead of the guard.
    #[inline(always)]
    fn lower_private(&self, newest: u32) -> i32 {
        let owner = &self.inner.owner;
        // Ordering: Release as every store of `bottom`. The light fence pairs with the heavy one in
        // `publish_slow`: either the thief sees this store, or the owner sees its guard.
        owner.bottom.store(newest, Ordering::Release);
        if !canary!("deque-light") {
            fence::light();
        }
        gap(owner.guard.load(Ordering::Relaxed), newest)
    }

    /// `pop_private` with few private items left, or none, in a large buffer.
    #[cold]
    #[inline(never)]
    fn pop_low_private_slow(&self, bottom: u32) -> Option<T> {
        let newest = bottom.wrapping_sub(1);
        if gap(self.own.floor.get(), newest) < 0 {
            return self.pop_public_slow(bottom);
        }
        if self.lower_private(newest) < 0 {
            return self.pop_public_slow(bottom);
        }
        let item = self.take_newest(newest);
        self.count_low();
        Some(item)
    }

    /// Pops an item that thieves may claim, and takes back the newer half of the public ones.
    /// The shared `bottom` is at `bottom`, or already one less.
    #[cold]
    #[inline(never)]
    fn pop_public_slow(&self, bottom: u32) -> Option<T> {
        let seen = self.seen();
        let newest = bottom.wrapping_sub(1);
        let items = gap(seen.index(), bottom);
        if items <= 0 {
            if self.bottom() != bottom {
                // Ordering: Release as every store of `bottom`.
                self.inner.owner.bottom.store(bottom, Ordering::Release);
            }
            return self.found_empty();
        }
        // Ordering: as above.
        self.inner.owner.bottom.store(newest, Ordering::Release);
        let keep = seen.index().wrapping_add(items as u32 / 2);
        // Before the new epoch: a thief of that one may raise the guard again, and must not be
        // overwritten. One of the old epoch that raises it now only costs another slow pop.
        self.inner.owner.guard.store(keep, Ordering::Relaxed);
        self.own.idle_guard.set(keep);
        self.own.shares_all.set(false);
        self.own.floor.set(keep);
        self.reopen(seen.after(Top::NEW_EPOCH).generation());
        let step = if canary!("deque-new-epoch") { 0 } else { Top::NEW_EPOCH };
        // Ordering: Release shows the lowered `bottom`, `guard` and `open` to thieves of the new
        // epoch; those of the old one fail. The owner needs only the thieves' claims, which are
        // in the word: their marks say which cells are free.
        let top = Top(self.inner.top.fetch_add(step, Ordering::Release)).after(step);
        self.set_seen(top);
        let older = gap(top.index(), newest);
        if gap(keep, top.index()) > 0 {
            self.own.floor.set(top.index());
        }
        if older >= 0 {
            return Some(self.take_newest(newest));
        }
        // Ordering: Release as every store of `bottom`.
        self.inner.owner.bottom.store(bottom, Ordering::Release);
        self.found_empty()
    }
}

impl<T, S: Stage> Inner<T, S> {
    /// How many items thieves may claim at `top`, and the value of `top`.
    ///
    /// Looks at the published part first. If that is empty and private items are there, publishes
    /// the older half of them.
    #[inline]
    pub(crate) fn look_split(&self) -> Steal<(Top, u32)> {
        // Ordering: Acquire pairs with the owner's new generation: a thief that sees it sees the
        // words that the owner lowered before.
        let top = Top(self.top.load(Ordering::Acquire));
        // Ordering: Acquire pairs with the Release in `reopen` and `publish_slow`.
        let open = Top(self.owner.open.load(Ordering::Acquire));
        let public = gap(top.index(), open.index());
        if open.generation() == top.generation() && public > 0 {
            return Steal::Success((top, public as u32));
        }
        // Ordering: Acquire pairs with the owner's stores of `bottom`.
        let bottom = self.owner.bottom.load(Ordering::Acquire);
        let items = gap(top.index(), bottom);
        if items <= 0 {
            return Steal::Empty;
        }
        self.publish_slow(top, items as u32)
    }

    /// Publishes the older half, rounded up, of `items` items from `top` on. Publishes all of them
    /// if thieves have taken all that was public: probably the owner computes, and each half would
    /// cost a heavy fence.
    #[cold]
    #[inline(never)]
    fn publish_slow(&self, top: Top, items: u32) -> Steal<(Top, u32)> {
        let mut guard = self.owner.guard.load(Ordering::Relaxed);
        let all = guard == top.index();
        let end = top.index().wrapping_add(if all { items } else { items.div_ceil(2) });
        while gap(guard, end) > 0 {
            // Relaxed: the heavy fence below orders it before the second look.
            let relaxed = Ordering::Relaxed;
            match self.owner.guard.compare_exchange_weak(guard, end, relaxed, relaxed) {
                Ok(_) => break,
                Err(now) => guard = now,
            }
        }
        if !canary!("deque-heavy") {
            fence::heavy();
        }
        // Ordering: Acquire as in `look_split`. A pop of an index before `end` that this does not
        // show will see the guard.
        let bottom = self.owner.bottom.load(Ordering::Acquire);
        let end = if gap(bottom, end) > 0 { bottom } else { end };
        let public = gap(top.index(), end);
        if public <= 0 {
            return Steal::Empty;
        }
        // Ordering: Release hands this second look on to other thieves. If the owner has moved on
        // to another generation, no thief heeds it.
        self.owner.open.store(Top::new(top.generation(), end).0, Ordering::Release);
        Steal::Success((top, public as u32))
    }
}
