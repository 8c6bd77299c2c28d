//! How each public generic type varies with its parameter, and which threads may have it.
//!
//! A shed takes payloads through a shared reference and gives them out, so it must be invariant.
//! Otherwise a borrow that is too short would go in through one view of the shed and come out of
//! another. A new type needs a row in both tables.
#![cfg(not(loom))]

mod variance {
    sateen_testkit::variance! {
        invariant Shed<T> = sateen_shed::Shed<T>;
        invariant ShedIn<T> = sateen_shed::ShedIn<'static, T>;
        covariant ShedInOf<'a> = sateen_shed::ShedIn<'a, u8>;
        invariant Builder<T> = sateen_shed::Builder<T>;
        invariant Instance<T> = sateen_shed::Instance<std::sync::Arc<sateen_shed::Shed<T>>>;
        covariant InstanceOf<'a> = sateen_shed::Instance<&'a sateen_shed::Shed<u8>>;
        covariant Snapshot<T> = sateen_shed::Snapshot<T>;
        covariant Template<T> = sateen_shed::Template<T>;
        covariant NotInstalled<T> = sateen_shed::NotInstalled<T>;
        covariant Full<T> = sateen_shed::Full<T>;
        covariant Growing<T> = sateen_shed::Growing<T>;
    }
}

#[cfg(not(doctest))]
mod auto_traits {
    use sateen_shed::{Growing, Instance, Sharded, Shed};
    use std::sync::Arc;

    sateen_testkit::auto_traits! {
        Plain<T>: Send if Send, Sync if Send = Shed<T>;
        Striped<T>: Send if Send, Sync if Send = Shed<T, Sharded<8>>;
        Grown<T>: Send if Send, Sync if Send = Shed<T, Growing>;
        ShedIn<T>: Send if Send, Sync if Send = sateen_shed::ShedIn<'static, T>;
        Builder<T>: Send if always, Sync if always = sateen_shed::Builder<T>;
        Installed<T>: Send if Send, Sync if Send = Instance<Arc<Shed<T>>>;
        Snapshot<T>: Send if Send, Sync if Sync = sateen_shed::Snapshot<T>;
        Template<T>: Send if Send, Sync if Sync = sateen_shed::Template<T>;
        NotInstalled<T>: Send if Send, Sync if Sync = sateen_shed::NotInstalled<T>;
        Full<T>: Send if Send, Sync if Sync = sateen_shed::Full<T>;
    }
}
