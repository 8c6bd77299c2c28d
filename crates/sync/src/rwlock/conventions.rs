//! The raw lock under `lock_api`'s traits.
//!
//! The guards of `lock_api` unlock and relock (`unlocked`, `bump`) by these calls, and stand for a
//! held lock. So no call here unwinds between releasing the lock and having it again: waits without
//! a time limit are not interrupted, and a waker's panic is discarded by the unlock. A timed wait
//! and an upgrade may unwind: the guard is then unchanged.

use super::raw::{HELD_READ, HELD_UPGRADABLE, HELD_WRITE, Kind, RawRwLock};
use sateen_base::prim::time::{Duration, Instant};

// SAFETY: `Kind::grant` admits a writer only if the lock is free, and a reader only if there is no
// writer. Only the unlock of the same kind undoes a grant.
unsafe impl lock_api::RawRwLock for RawRwLock {
    #[cfg(not(loom))]
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = Self::new();
    #[cfg(loom)]
    const INIT: Self = panic!("loom locks are made with `lock_api::RwLock::from_raw`");

    // A holder is not tied to a thread.
    type GuardMarker = lock_api::GuardSend;

    #[inline]
    fn lock_shared(&self) {
        self.take(Kind::Read);
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.try_take(Kind::Read, false)
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        self.give_back(HELD_READ, 0);
    }

    #[inline]
    fn lock_exclusive(&self) {
        self.take(Kind::Write);
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        self.try_take(Kind::Write, false)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        self.give_back(HELD_WRITE, 0);
    }

    fn is_locked(&self) -> bool {
        self.word().any
    }

    fn is_locked_exclusive(&self) -> bool {
        self.word().writer
    }
}

// SAFETY: a fair unlock is an unlock.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    unsafe fn unlock_shared_fair(&self) {
        self.bar();
        self.give_back(HELD_READ, 0);
    }

    unsafe fn unlock_exclusive_fair(&self) {
        self.bar();
        self.give_back(HELD_WRITE, 0);
    }
}

// SAFETY: a writer becomes one reader in one step.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    unsafe fn downgrade(&self) {
        self.give_back(HELD_WRITE, HELD_READ);
    }
}

// SAFETY: true is returned only to an admitted caller.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        self.take_for(Kind::Read, timeout)
    }

    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        self.take_until(Kind::Read, timeout)
    }

    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        self.take_for(Kind::Write, timeout)
    }

    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        self.take_until(Kind::Write, timeout)
    }
}

// SAFETY: a recursive reader is a reader. It waits only for a writer that holds the lock, and there
// is none while the reader itself holds the lock.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    #[inline]
    fn lock_shared_recursive(&self) {
        self.take(Kind::ReadAgain);
    }

    #[inline]
    fn try_lock_shared_recursive(&self) -> bool {
        self.try_take(Kind::ReadAgain, false)
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        self.take_for(Kind::ReadAgain, timeout)
    }

    fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
        self.take_until(Kind::ReadAgain, timeout)
    }
}

// SAFETY: `UPGRADABLE` admits neither writers nor other upgradable readers. Upgrading requires that
// the readers are gone, and is one step.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    #[inline]
    fn lock_upgradable(&self) {
        self.take(Kind::Upgradable);
    }

    #[inline]
    fn try_lock_upgradable(&self) -> bool {
        self.try_take(Kind::Upgradable, false)
    }

    #[inline]
    unsafe fn unlock_upgradable(&self) {
        self.give_back(HELD_UPGRADABLE, 0);
    }

    #[inline]
    unsafe fn upgrade(&self) {
        self.upgrade();
    }

    #[inline]
    unsafe fn try_upgrade(&self) -> bool {
        self.try_take(Kind::Upgrade, false)
    }
}

// SAFETY: a fair unlock is an unlock.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    unsafe fn unlock_upgradable_fair(&self) {
        self.bar();
        self.give_back(HELD_UPGRADABLE, 0);
    }
}

// SAFETY: each is one step from one state of the table to another.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    unsafe fn downgrade_upgradable(&self) {
        self.give_back(HELD_UPGRADABLE, HELD_READ);
    }

    unsafe fn downgrade_to_upgradable(&self) {
        self.give_back(HELD_WRITE, HELD_UPGRADABLE);
    }
}

// SAFETY: true is returned only to a caller that was admitted, or upgraded.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        self.take_for(Kind::Upgradable, timeout)
    }

    fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
        self.take_until(Kind::Upgradable, timeout)
    }

    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        self.take_for(Kind::Upgrade, timeout)
    }

    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        self.take_until(Kind::Upgrade, timeout)
    }
}
