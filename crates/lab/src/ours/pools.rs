//! The strategies of `sateen-pool`, with some of our locks.

use super::locks::spin::{NoAtomics, OsMutex, Ttas, TtasAdaptiveFutex};
use crate::blocks::Raw;
use sateen_pool::{self as pool, Count};

pub(crate) type Global = Raw<pool::Global>;
pub(crate) type LockFreeFlags = Raw<pool::LockFreeFlags>;
pub(crate) type LockFreeTree = Raw<pool::LockFreeTree>;
pub(crate) type Magazine = Raw<pool::Magazine>;
pub(crate) type LockedFlagsFutex = Raw<pool::LockedFlags<TtasAdaptiveFutex>>;
pub(crate) type LockedBitsFutex = Raw<pool::LockedBits<TtasAdaptiveFutex>>;
pub(crate) type LockedTreeFutex = Raw<pool::LockedTree<TtasAdaptiveFutex>>;
pub(crate) type LockedBitsTtas = Raw<pool::LockedBits<Ttas>>;
pub(crate) type LockedBitsOsMutex = Raw<pool::LockedBits<OsMutex>>;

// For one thread.
pub(crate) type LockedFlagsNoAtomics = Raw<pool::LockedFlags<NoAtomics>>;
pub(crate) type LockedBitsNoAtomics = Raw<pool::LockedBits<NoAtomics>>;
pub(crate) type LockedTreeNoAtomics = Raw<pool::LockedTree<NoAtomics>>;

// With a probe that counts.
pub(crate) type CountingLockFreeFlags = Raw<pool::LockFreeFlags<Count>>;
pub(crate) type CountingLockFreeTree = Raw<pool::LockFreeTree<Count>>;
pub(crate) type CountingMagazine = Raw<pool::Magazine<Count>>;
pub(crate) type CountingLockedFlags = Raw<pool::LockedFlags<TtasAdaptiveFutex, Count>>;
pub(crate) type CountingLockedBits = Raw<pool::LockedBits<TtasAdaptiveFutex, Count>>;
pub(crate) type CountingLockedTree = Raw<pool::LockedTree<TtasAdaptiveFutex, Count>>;
