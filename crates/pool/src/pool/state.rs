//! The state word of a slot: which of its entries a key means, and how many guards refer to it.
//!
//! | Bits | Field |
//! |---|---|
//! | 63..32 | generation: entries that this slot has had, modulo 2^32 |
//! | 31 | live: keys of this generation find the entry |
//! | 30..0 | guards: references handed out and not yet given back |
//!
//! | State | Live | Guards | The block is |
//! |---|---|---|---|
//! | vacant(g) | 0 | 0 | free, or a box |
//! | live(g, n) | 1 | n | the table's |
//! | leaving(g, n) | 0 | n > 0 | the guards' |
//!
//! | State | Step out of it |
//! |---|---|
//! | vacant(g) | `publish`, by the block's owner: live(g, 0) |
//! | live(g, n) | `enter`: live(g, n+1) |
//! | live(g, n) | `leave`: live(g, n-1) |
//! | live(g, n) | `remove`: leaving(g+1, n), or vacant(g+1) if n is 0 |
//! | leaving(g, n) | `leave`: leaving(g, n-1), or vacant(g) if n is 1 |
//!
//! The thread that makes the step to vacant owns the block, with the value in it, from then on. All
//! zeros is vacant(0): fresh memory from the system needs no initialising.

use sateen_base::acquire_fence;
use sateen_base::prim::Ordering;
use sateen_base::prim::searched::AtomicU64;

const LIVE: u64 = 1 << 31;
const GUARDS: u64 = LIVE - 1;
/// The generation's unit.
const GENERATION: u64 = 1 << 32;

#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct State(AtomicU64);

/// What a removal found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removed {
    /// There is no entry of that generation, now or ever again (until the generation wraps).
    Stale,
    /// The entry is removed, and the block is the caller's.
    Last,
    /// The entry is removed, and the last guard gets the block.
    Guarded,
}

impl State {
    /// Vacant: under the model, whose words are more than zeros.
    #[cfg(loom)]
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The word of a live entry of `generation` without guards.
    fn live(generation: u32) -> u64 {
        u64::from(generation) << 32 | LIVE
    }

    /// The generation of the slot's next entry if it is vacant, of its entry if it is live.
    pub(crate) fn generation(&self) -> u32 {
        (self.0.load(Ordering::Relaxed) >> 32) as u32
    }

    /// vacant(g) → live(g, 0). The caller owns the block, which holds a value.
    #[inline]
    pub(crate) fn publish(&self) {
        // Relaxed: only the block's owner writes a vacant word, and taking the block made all
        // before visible.
        let vacant = self.0.load(Ordering::Relaxed);
        debug_assert_eq!(vacant & (LIVE | GUARDS), 0, "published twice");
        // Ordering: Release pairs with the Acquire in `enter` and `remove`: the value is written
        // before it is found.
        self.0.store(vacant | LIVE, Ordering::Release);
    }

    /// live(g, n) → live(g, n+1). Returns whether there was an entry of that generation.
    ///
    /// # Panics
    /// If 2^31 - 1 guards are out.
    #[inline]
    pub(crate) fn enter(&self, generation: u32) -> bool {
        let mut seen = self.0.load(Ordering::Relaxed);
        while seen & !GUARDS == Self::live(generation) {
            assert!(seen & GUARDS < GUARDS, "{GUARDS} guards of one entry");
            // Ordering: Acquire pairs with the Release in `publish`: the value is read after it was
            // written.
            match self.0.compare_exchange_weak(seen, seen + 1, Ordering::Acquire, Ordering::Relaxed)
            {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    /// Undoes one `enter`. Returns whether the block is the caller's now.
    #[inline]
    pub(crate) fn leave(&self) -> bool {
        // Ordering: Release pairs with the fence below and with the Acquire in `remove`: reads
        // through the guard come before the last one drops the value.
        let before = self.0.fetch_sub(1, Ordering::Release);
        debug_assert_ne!(before & GUARDS, 0, "a guard left twice");
        let last = before & (LIVE | GUARDS) == 1;
        if last {
            // Ordering: Acquire pairs with the Release of the other guards' `leave` and of
            // `remove`.
            acquire_fence!(self.0);
        }
        last
    }

    /// live(g, n) → leaving(g+1, n), or vacant(g+1); only if n is 0 where `guarded` is false.
    #[inline]
    pub(crate) fn remove(&self, generation: u32, guarded: bool) -> Removed {
        let mut seen = self.0.load(Ordering::Relaxed);
        while seen & !GUARDS == Self::live(generation) {
            let guards = seen & GUARDS;
            if guards != 0 && !guarded {
                return Removed::Guarded;
            }
            let gone = (seen & !LIVE).wrapping_add(GENERATION);
            // Ordering: Acquire pairs with the Release in `publish` and `leave`: the value is
            // dropped or moved after it was written and last read. Release pairs with the fence in
            // `leave`: the last guard drops the value after what the remover did before.
            match self.0.compare_exchange_weak(seen, gone, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if guards == 0 => return Removed::Last,
                Ok(_) => return Removed::Guarded,
                Err(now) => seen = now,
            }
        }
        Removed::Stale
    }

    /// Whether there is an entry of that generation. If other threads remove entries, the answer
    /// may be out of date.
    #[inline]
    pub(crate) fn is_live(&self, generation: u32) -> bool {
        self.0.load(Ordering::Relaxed) & !GUARDS == Self::live(generation)
    }

    /// Whether the slot holds a value of the table: a live one, or one left by leaked guards. The
    /// caller has the pool to itself.
    pub(crate) fn is_kept(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (LIVE | GUARDS) != 0
    }

    /// Whether it is live, whatever its generation. The caller has the pool to itself.
    pub(crate) fn is_entry(&self) -> bool {
        self.0.load(Ordering::Relaxed) & LIVE != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn state(word: u64) -> State {
        State(AtomicU64::new(word))
    }

    #[test]
    fn the_generation_comes_round() {
        let state = state(u64::from(u32::MAX) * GENERATION);
        state.publish();
        assert!(state.is_live(u32::MAX) && state.enter(u32::MAX) && !state.enter(0));
        assert_eq!(state.remove(u32::MAX, false), Removed::Guarded);
        assert!(state.is_live(u32::MAX));
        assert_eq!(state.remove(u32::MAX, true), Removed::Guarded);
        assert!(!state.is_live(u32::MAX) && !state.is_live(0) && state.is_kept());
        assert_eq!(state.remove(u32::MAX, true), Removed::Stale);
        assert!(state.leave() && !state.is_kept());
        assert_eq!(state.generation(), 0);
        state.publish();
        assert_eq!((state.remove(0, true), state.generation()), (Removed::Last, 1));
    }

    #[test]
    #[should_panic = "guards of one entry"]
    fn guards_do_not_run_over() {
        let state = state(LIVE | GUARDS);
        state.enter(0);
    }
}
