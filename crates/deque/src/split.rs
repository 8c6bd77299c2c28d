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
use crate::index::{Top, gap, none};
use crate::inner::Inner;
use crate::prim::Ordering;
use crate::stage::Stage;
use crate::worker::Worker;
use sateen_base::fence;

/// How far an owner that shares each push may leave the guard behind. With the room of the largest
/// deque and of a batch it stays below half a round of indices.
const MAX_LAG: i32 = if cfg!(loom) { 1 } else { 1 << 29 };

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
        // Thieves that ask leave the owner its newest item, which it probably pops next.
        let kept = u32::from(!self.own.shares_all.get());
        let floor = bottom.wrapping_sub(kept);
        self.own.floor.set(floor);
        self.reopen(self.seen().generation());
        let mut idle = guard;
        if gap(guard, floor) > MAX_LAG {
            // Ordering: Release, for thieves that read it and look at `top` again.
            let (done, failed) = (Ordering::Release, Ordering::Relaxed);
            // It fails if a thief has raised the guard; the next push looks again.
            if self.inner.owner.guard.compare_exchange(guard, floor, done, failed).is_ok() {
                idle = floor;
            }
        }
        // No value of `guard` is idle until the next slow pop.
        self.own.idle_guard.set(!idle);
    }

    /// Lets thieves of `generation` claim the items before `floor`.
    pub(crate) fn reopen(&self, generation: u32) {
        let open = Top::new(generation, self.own.floor.get());
        // Ordering: Release pairs with the Acquire in `look_split`: the items are visible.
        self.inner.owner.open.store(open.0, Ordering::Release);
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
        fence::light();
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
        // Ordering: Release, for thieves that read it and look at `top` again.
        self.inner.owner.guard.store(keep, Ordering::Release);
        self.own.idle_guard.set(keep);
        self.own.shares_all.set(false);
        self.own.floor.set(keep);
        self.reopen(seen.after(Top::NEW_EPOCH).generation());
        // Ordering: Release shows the lowered `bottom`, `guard` and `open` to thieves of the new
        // epoch; those of the old one fail. The owner needs only the thieves' claims, which are
        // in the word: their marks say which cells are free.
        let top =
            Top(self.inner.top.fetch_add(Top::NEW_EPOCH, Ordering::Release)).after(Top::NEW_EPOCH);
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
            return none(items);
        }
        self.publish_slow(top, open, items as u32)
    }

    /// Publishes the older half, rounded up, of `items` items from `top` on, where `open` was seen.
    /// Publishes all of them if thieves have taken all that was public: probably the owner
    /// computes, and each half would cost a heavy fence.
    #[cold]
    #[inline(never)]
    fn publish_slow(&self, top: Top, open: Top, items: u32) -> Steal<(Top, u32)> {
        // Ordering: Acquire pairs with the owner's Release stores, so that the second look at `top`
        // shows what the owner knew.
        let guard = self.owner.guard.load(Ordering::Acquire);
        if self.top.load(Ordering::Relaxed) != top.0 {
            // This thief may have slept: `end` could lie half a round before the guard, which looks
            // as if it were ahead.
            return Steal::Retry;
        }
        let all = guard == top.index();
        let end = top.index().wrapping_add(if all { items } else { items.div_ceil(2) });
        if gap(guard, end) > 0 {
            // Relaxed: the heavy fence below orders it before the second look.
            let relaxed = Ordering::Relaxed;
            if self.owner.guard.compare_exchange(guard, end, relaxed, relaxed).is_err() {
                return Steal::Retry;
            }
        }
        fence::heavy();
        // Ordering: Acquire as in `look_split`. A pop of an index before `end` that this does not
        // show will see the guard.
        let bottom = self.owner.bottom.load(Ordering::Acquire);
        let end = if gap(bottom, end) > 0 { bottom } else { end };
        let public = gap(top.index(), end);
        if public <= 0 {
            return none(public);
        }
        // Ordering: Release hands this second look on to other thieves. If the owner has moved on
        // to another generation, no thief heeds it. An exchange, because this thief may have slept:
        // half a round later `end` would look as if it were ahead of `top`. If it fails, this thief
        // claims alone.
        let new = Top::new(top.generation(), end);
        let (done, failed) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.owner.open.compare_exchange(open.0, new.0, done, failed);
        Steal::Success((top, public as u32))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Asymmetric;

    /// A deque whose owner shares each push; `None` where the system has no asymmetric fence.
    fn sharing(index: u32) -> Option<Worker<u8, Asymmetric>> {
        let w = Worker::for_tests(true, u32::MAX, index, true);
        w.push(0);
        let looked = w.inner.look_split().success();
        w.is_split().then(|| {
            let (top, items) = looked.expect("an item");
            assert_eq!(items, 1);
            // SAFETY: a claim of one, taken once.
            unsafe { w.inner.claim(top, 1).expect("no other thief").take(0) };
            w
        })
    }

    /// The owner has pushed so many items, each of them claimed, without a pop: the guard lags.
    fn lag(w: &Worker<u8, Asymmetric>, pushes: u32) {
        let guard = w.bottom().wrapping_sub(pushes);
        w.inner.owner.guard.store(guard, Ordering::Relaxed);
        w.own.idle_guard.set(!guard);
    }

    #[test]
    fn a_guard_that_lags_by_half_a_round_still_guards() {
        for index in [0, i32::MAX as u32 - 1, u32::MAX - 1] {
            for pushes in (1 << 31) - 4..=i32::MAX as u32 {
                let Some(w) = sharing(index) else { return };
                lag(&w, pushes);
                w.push(1);
                let guard = w.inner.owner.guard.load(Ordering::Relaxed);
                assert!((0..=MAX_LAG).contains(&gap(guard, w.bottom())), "{pushes}");
                // A thief has looked when the owner pops.
                let looked = w.inner.look_split().success();
                let popped = w.pop();
                let claimed = looked.and_then(|(top, _)| w.inner.claim(top, 1));
                assert_eq!((popped, claimed.is_some()), (Some(1), false), "{pushes}");
            }
        }
    }

    #[test]
    fn a_thief_that_wakes_half_a_round_later_changes_nothing() {
        for behind in [1, 1 << 30, i32::MAX as u32, 1 << 31, (1 << 31) + 1, 3 << 30, u32::MAX] {
            let Some(w) = sharing(7) else { return };
            w.push(1);
            let words =
                || [&w.inner.owner.guard, &w.inner.owner.bottom].map(|w| w.load(Ordering::Relaxed));
            let open = || w.inner.owner.open.load(Ordering::Relaxed);
            let (before, opened) = (words(), open());
            let top = Top(w.inner.top.load(Ordering::Relaxed));
            let old = Top::new(top.generation(), top.index().wrapping_sub(behind));
            assert!(w.inner.publish_slow(old, old, 5).is_retry());
            assert_eq!((words(), open()), (before, opened));
            assert_eq!(w.pop(), Some(1));
        }
    }
}
