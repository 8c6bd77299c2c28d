//! How each public generic type varies with its parameter, and which threads may have it.
//!
//! A deque takes items through a shared reference and gives them out, so it must be invariant.
//! Otherwise a borrow that is too short would go in through one view of the deque and come out of
//! another. A new type needs a row in both tables.
#![cfg(not(loom))]

mod variance {
    sateen_testkit::variance! {
        invariant Worker<T> = sateen_deque::Worker<T>;
        invariant Stealer<T> = sateen_deque::Stealer<T>;
        invariant Injector<T> = sateen_deque::Injector<T>;
        covariant Steal<T> = sateen_deque::Steal<T>;
    }
}

#[cfg(not(doctest))]
mod auto_traits {
    sateen_testkit::auto_traits! {
        Worker<T>: Send if Send, Sync if never = sateen_deque::Worker<T>;
        Stealer<T>: Send if Send, Sync if Send = sateen_deque::Stealer<T>;
        Injector<T>: Send if Send, Sync if Send = sateen_deque::Injector<T>;
        Steal<T>: Send if Send, Sync if Sync = sateen_deque::Steal<T>;
    }
}
