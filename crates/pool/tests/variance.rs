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
        Allocate, BlockPool, Blocks, BoxIn, BuildError, Count, HeapSizes, LockFreeTree, Magazine,
    };
    use std::cell::Cell;
    use std::ptr::NonNull;

    sateen_testkit::auto_traits! {
        Pool<T>: Send if Send, Sync if Send = sateen_pool::Pool<T>;
        PoolBox<T>: Send if Send, Sync if Both = sateen_pool::PoolBox<'static, T>;
        ArcPoolBox<T>: Send if Send, Sync if Both = sateen_pool::ArcPoolBox<T>;
        BoxIn<T>: Send if Send, Sync if Both = BoxIn<std::sync::Arc<sateen_pool::Pool<T>>>;
        Ref<T>: Send if Both, Sync if Both = sateen_pool::Ref<'static, T, Magazine>;
        Builder<T>: Send if always, Sync if always = sateen_pool::Builder<T, Magazine>;
        Full<T>: Send if Send, Sync if Sync = sateen_pool::Full<T>;
    }

    /// A strategy for one thread, which gives each block once.
    struct OneThread(Cell<usize>);

    // SAFETY: no block comes twice, as none comes back.
    unsafe impl Allocate for OneThread {
        const NAME: &'static str = "one-thread";
        fn new(_: &Blocks) -> Result<Self, BuildError> {
            Ok(Self(Cell::new(0)))
        }
        unsafe fn take(&self, blocks: &Blocks) -> Option<NonNull<u8>> {
            let index = self.0.replace(self.0.get() + 1);
            (index < blocks.capacity()).then(|| blocks.at(index))
        }
        unsafe fn give(&self, _: &Blocks, _: NonNull<u8>) {}
        fn in_use(&self, _: &Blocks) -> usize {
            self.0.get()
        }
        fn bookkeeping(&self) -> usize {
            0
        }
    }

    /// Raw blocks belong to no thread, so a pool is as free as its strategy.
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
        free!(LockFreeTree, Magazine, LockFreeTree<Count>, Magazine<Count>);
        sateen_testkit::is!(HeapSizes<1, 8, 8>: Sync);
        sateen_testkit::is!(BlockPool<OneThread>: Send);
        sateen_testkit::not!(BlockPool<OneThread>: Sync);
        sateen_testkit::not!(sateen_pool::Pool<u8, OneThread>: Sync);
        sateen_testkit::not!(sateen_pool::PoolBox<'static, u8, OneThread>: Send);
    }
}
