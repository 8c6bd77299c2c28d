//! How each public generic type varies with its parameter, and which threads may have it.
//!
//! A new type needs a row in both tables.
#![cfg(not(loom))]

mod variance {
    sateen_testkit::variance! {
        covariant JoinHandle<T> = sateen_runtime::JoinHandle<T>;
        covariant FiberLocal<T> = sateen_runtime::FiberLocal<T>;
        invariant Scope<'a> = sateen_runtime::Scope<'a>;
        covariant Sleeper<'a> = sateen_runtime::policy::Sleeper<'a>;
    }
}

#[cfg(feature = "trace")]
mod variance_of_traces {
    sateen_testkit::variance! {
        covariant Trace<'a> = sateen_runtime::Trace<'a>;
    }
}

#[cfg(all(feature = "inspect", unix))]
mod variance_of_looks {
    sateen_testkit::variance! {
        covariant QueueLook<'a> = sateen_runtime::inspect::QueueLook<'a>;
    }
}

#[cfg(not(doctest))]
mod auto_traits {
    sateen_testkit::auto_traits! {
        JoinHandle<T>: Send if Send, Sync if Send = sateen_runtime::JoinHandle<T>;
        FiberLocal<T>: Send if always, Sync if always = sateen_runtime::FiberLocal<T>;
    }
}
