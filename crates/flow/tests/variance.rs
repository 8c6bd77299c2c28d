//! How each public generic type varies with its parameter, and which threads may have it.
//!
//! A queue takes items through a shared reference and gives them out, so it must be invariant.
//! Otherwise a borrow that is too short would go in through one view of the queue and come out of
//! another. A new type needs a row in both tables.
#![cfg(not(loom))]

mod variance {
    sateen_testkit::variance! {
        invariant Driven<T> = sateen_flow::Driven<T>;
        invariant Handle<T> = sateen_flow::Handle<T>;
        covariant Output<T> = sateen_flow::Output<'static, T>;
        covariant OutputOf<'a> = sateen_flow::Output<'a, u8>;
        invariant Sender<T> = sateen_flow::Sender<T>;
        invariant WorkerQueue<T> = sateen_flow::WorkerQueue<T>;
        invariant WorkerQueueBuilder<T> = sateen_flow::WorkerQueueBuilder<T>;
        covariant SendError<T> = sateen_flow::SendError<T>;
        covariant DeadLetter<T> = sateen_flow::DeadLetter<T>;
        covariant Throttle<T> = sateen_flow::Throttle<T>;
        covariant SharedThrottle<T> = sateen_flow::SharedThrottle<T>;
        covariant HandOf<'a> = sateen_flow::Hand<'a, sateen_flow::RealClock>;
    }
}

#[cfg(not(doctest))]
mod auto_traits {
    use sateen_testkit::parameters::{Both, OnlySend};

    sateen_testkit::auto_traits! {
        Handle<T>: Send if Both, Sync if Both = sateen_flow::Handle<T>;
        Output<T>: Send if Both, Sync if Both = sateen_flow::Output<'static, T>;
        Sender<T>: Send if Send, Sync if never = sateen_flow::Sender<T>;
        WorkerQueue<T>: Send if Send, Sync if Send = sateen_flow::WorkerQueue<T>;
        WorkerQueueBuilder<T>: Send if always, Sync if always = sateen_flow::WorkerQueueBuilder<T>;
        SendError<T>: Send if Send, Sync if Sync = sateen_flow::SendError<T>;
        DeadLetter<T>: Send if Send, Sync if Sync = sateen_flow::DeadLetter<T>;
        Throttle<T>: Send if Send, Sync if Sync = sateen_flow::Throttle<T>;
        SharedThrottle<T>: Send if Send, Sync if Sync = sateen_flow::SharedThrottle<T>;
    }

    /// The payloads of an error can be sent in any case.
    #[test]
    fn driven() {
        sateen_testkit::is!(sateen_flow::Driven<Both>: Send);
        sateen_testkit::is!(sateen_flow::Driven<Both>: Sync);
        sateen_testkit::is!(sateen_flow::Driven<OnlySend>: Send);
        sateen_testkit::is!(sateen_flow::Driven<OnlySend>: Sync);
    }
}
