//! The asymmetric fence: a Dekker handshake whose frequent side is free.
//!
//! Two threads each store to their own word and then read the other's. At least one must see the
//! other's store. That takes a full fence between store and load on *both* sides, or a [`light`]
//! fence on one side and a [`heavy`] fence on the other:
//!
//! ```text
//! owner (often)              thief (seldom)
//!   top = t - 1                split = n
//!   light()                    heavy()
//!   read split                 read top
//! ```
//!
//! [`light`] only keeps the compiler from reordering the accesses. [`heavy`] makes the kernel run a
//! full fence on every processor that runs a thread of this process (`membarrier`, private
//! expedited). For each owner that fence falls somewhere in its program order. Either the owner's
//! store came before the fence, and the thief sees it. Or its load comes after the fence, and sees
//! the thief's store. Measured here: 0.14 µs when the other cores are idle, 16 to 22 µs when they
//! are busy.
//!
//! Without kernel support (see [`is_asymmetric`]) [`light`] is not enough. Callers then always take
//! their slow paths, which contain full fences. Under loom and Miri, and without the feature `std`,
//! both sides are full fences. The two sides have different types, so that only a light-heavy pair
//! can be written.
//!
//! Source: Cilk's THE protocol (Frigo and others, 1998), with the fence moved to the thief as in
//! Liu and others, "Asymmetric memory fences".

use crate::prim;

/// Proof that a heavy fence was issued. Code that reads the other side's word demands it.
#[derive(Debug)]
pub struct HeavyFence(());

/// The free side: keeps the compiler, but not the processor, from moving the store below the load.
/// Under Miri, and without the feature `std`, it is a full fence.
#[inline(always)]
pub fn light() {
    #[cfg(all(feature = "std", not(any(loom, miri))))]
    core::sync::atomic::compiler_fence(prim::Ordering::SeqCst);
    #[cfg(any(not(feature = "std"), loom, miri))]
    prim::fence(prim::Ordering::SeqCst);
}

/// The expensive side: a full fence on every core that runs a thread of this process.
///
/// If [`is_asymmetric`] is false, this is a full fence of the calling thread only.
#[inline]
pub fn heavy() -> HeavyFence {
    prim::fence(prim::Ordering::SeqCst);
    #[cfg(all(feature = "std", not(loom)))]
    if is_asymmetric() {
        crate::os::heavy_barrier();
    }
    HeavyFence(())
}

/// Whether [`light`] is enough on the frequent side. The first call registers with the kernel.
///
/// Call it before starting threads: registering then costs 5 µs, and 25 ms later. True under Miri
/// and without the feature `std`, where [`light`] is a full fence.
pub fn is_asymmetric() -> bool {
    #[cfg(feature = "std")]
    {
        static ASYMMETRIC: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        *ASYMMETRIC.get_or_init(|| {
            let wanted = crate::os::variable("SATEEN_NO_MEMBARRIER").is_none();
            wanted && crate::os::register_heavy_barrier()
        })
    }
    #[cfg(not(feature = "std"))]
    true
}
