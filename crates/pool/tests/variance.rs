//! How each public generic type varies with its parameter, and which threads may have it.
//!
//! A pool takes values through a shared reference and gives them out, so it must be invariant.
//! Otherwise a borrow that is too short would go in through one view of the pool and come out of
//! another. A new type needs a row in both tables.
#![cfg(not(loom))]

mod variance {
    sateen_testkit::variance! {
        invariant Pool<T> = sateen_pool::Pool<T>;
        invariant PoolBox<T> = sateen_pool::PoolBox<'static, T>;
        invariant PoolBoxOf<'a> = sateen_pool::PoolBox<'a, u8>;
        invariant ArcPoolBox<T> = sateen_pool::ArcPoolBox<T>;
        invariant BoxIn<T> = sateen_pool::BoxIn<std::sync::Arc<sateen_pool::Pool<T>>>;
        invariant Ref<T> = sateen_pool::Ref<'static, T, sateen_pool::Magazine>;
        covariant RefOf<'a> = sateen_pool::Ref<'a, u8, sateen_pool::Magazine>;
        covariant Builder<T> = sateen_pool::Builder<T, sateen_pool::Magazine>;
        covariant Full<T> = sateen_pool::Full<T>;
    }
}

#[cfg(not(doctest))]
mod auto_traits {
    use sateen_pool::{
        BlockPool, BoxIn, Count, Global, HeapSizes, LockFreeFlags, LockFreeTree, LockedBits,
        LockedFlags, LockedTree, Magazine,
    };

    sateen_testkit::auto_traits! {
        Pool<T>: Send if Send, Sync if Send = sateen_pool::Pool<T>;
        PoolBox<T>: Send if Send, Sync if Both = sateen_pool::PoolBox<'static, T>;
        ArcPoolBox<T>: Send if Send, Sync if Both = sateen_pool::ArcPoolBox<T>;
        BoxIn<T>: Send if Send, Sync if Both = BoxIn<std::sync::Arc<sateen_pool::Pool<T>>>;
        Ref<T>: Send if Both, Sync if Both = sateen_pool::Ref<'static, T, Magazine>;
        Builder<T>: Send if always, Sync if always = sateen_pool::Builder<T, Magazine>;
        Full<T>: Send if Send, Sync if Sync = sateen_pool::Full<T>;
        Global<T>: Send if Send, Sync if Sync = Global<T>;
    }

    /// A lock for one thread, as `lock_api` allows.
    struct OneThread(std::cell::Cell<bool>);

    // SAFETY: the lock is not shared between threads, so a cell is enough.
    unsafe impl lock_api::RawMutex for OneThread {
        #[allow(clippy::declare_interior_mutable_const)]
        const INIT: Self = Self(std::cell::Cell::new(false));
        type GuardMarker = lock_api::GuardNoSend;
        fn lock(&self) {
            assert!(self.try_lock());
        }
        fn try_lock(&self) -> bool {
            !self.0.replace(true)
        }
        unsafe fn unlock(&self) {
            self.0.set(false);
        }
    }

    /// Raw blocks belong to no thread, so a strategy is as free as its lock.
    #[test]
    fn strategies() {
        macro_rules! free {
            ($($ty:ty),*) => { $(
                sateen_testkit::is!($ty: Send);
                sateen_testkit::is!($ty: Sync);
                sateen_testkit::is!(BlockPool<$ty>: Send);
                sateen_testkit::is!(BlockPool<$ty>: Sync);
            )* };
        }
        free!(Global, LockFreeFlags, LockFreeTree, LockedFlags, LockedBits, LockedTree, Magazine);
        free!(LockFreeFlags<Count>, LockFreeTree<Count>, Magazine<Count>);
        sateen_testkit::is!(HeapSizes<1, 8, 8>: Sync);
        macro_rules! one_thread {
            ($($ty:ty),*) => { $(
                sateen_testkit::is!(BlockPool<$ty>: Send);
                sateen_testkit::not!(BlockPool<$ty>: Sync);
                sateen_testkit::not!(sateen_pool::Pool<u8, $ty>: Sync);
                sateen_testkit::not!(sateen_pool::PoolBox<'static, u8, $ty>: Send);
            )* };
        }
        one_thread!(LockedFlags<OneThread>, LockedBits<OneThread>, LockedTree<OneThread>);
    }
}
