//! The strategies of `sateen-pool`, with some of our locks.

use super::locks::spin::{NoAtomics, OsMutex, Ttas, TtasAdaptiveFutex};
use crate::blocks::Raw;
use crate::exhibits::pools;
use sateen_pool::{self as pool, Count};

pub(crate) type Global = Raw<pools::Global>;
pub(crate) type LockFreeFlags = Raw<pools::LockFreeFlags>;
pub(crate) type LockFreeTree = Raw<pool::LockFreeTree>;
pub(crate) type Magazine = Raw<pool::Magazine>;
pub(crate) type LockedFlagsFutex = Raw<pools::LockedFlags<TtasAdaptiveFutex>>;
pub(crate) type LockedBitsFutex = Raw<pools::LockedBits<TtasAdaptiveFutex>>;
pub(crate) type LockedTreeFutex = Raw<pools::LockedTree<TtasAdaptiveFutex>>;
pub(crate) type LockedBitsTtas = Raw<pools::LockedBits<Ttas>>;
pub(crate) type LockedBitsOsMutex = Raw<pools::LockedBits<OsMutex>>;

// For one thread.
pub(crate) type LockedFlagsNoAtomics = Raw<pools::LockedFlags<NoAtomics>>;
pub(crate) type LockedBitsNoAtomics = Raw<pools::LockedBits<NoAtomics>>;
pub(crate) type LockedTreeNoAtomics = Raw<pools::LockedTree<NoAtomics>>;

// With a probe that counts.
pub(crate) type CountingLockFreeFlags = Raw<pools::LockFreeFlags<Count>>;
pub(crate) type CountingLockFreeTree = Raw<pool::LockFreeTree<Count>>;
pub(crate) type CountingMagazine = Raw<pool::Magazine<Count>>;
pub(crate) type CountingLockedFlags = Raw<pools::LockedFlags<TtasAdaptiveFutex, Count>>;
pub(crate) type CountingLockedBits = Raw<pools::LockedBits<TtasAdaptiveFutex, Count>>;
pub(crate) type CountingLockedTree = Raw<pools::LockedTree<TtasAdaptiveFutex, Count>>;
