//! How each public generic type varies with its parameter, and which threads may have it.
//!
//! A queue takes items through a shared reference and gives them out, so it must be invariant.
//! Otherwise a borrow that is too short would go in through one view of the queue and come out of
//! another. A new type needs a row in both tables.
#![cfg(not(loom))]

/// The errors named as in `crossbeam-channel` are as free as the item in them. Iterators and
/// futures are as free as the channel.
mod variance {
    sateen_testkit::variance! {
        invariant ArrayQueue<T> = sateen_queue::ArrayQueue<T>;
        invariant SegQueue<T> = sateen_queue::SegQueue<T>;
        covariant PushError<T> = sateen_queue::PushError<T>;
        invariant Bounded<T> = sateen_queue::mpmc::Bounded<T>;
        invariant Unbounded<T> = sateen_queue::mpmc::Unbounded<T>;
        invariant Batch<T> = sateen_queue::mpmc::Batch<'static, T>;
        covariant BatchOf<'a> = sateen_queue::mpmc::Batch<'a, u8>;
        invariant Producer<T> = sateen_queue::spsc::Producer<T>;
        invariant Consumer<T> = sateen_queue::spsc::Consumer<T>;
        invariant Sender<T> = sateen_queue::channel::Sender<T>;
        invariant Receiver<T> = sateen_queue::channel::Receiver<T>;
        invariant SendFuture<T> = sateen_queue::channel::SendFuture<'static, T>;
        covariant SendFutureOf<'a> = sateen_queue::channel::SendFuture<'a, u8>;
        invariant RecvFuture<T> = sateen_queue::channel::RecvFuture<'static, T>;
        covariant RecvFutureOf<'a> = sateen_queue::channel::RecvFuture<'a, u8>;
        invariant RecvStream<T> = sateen_queue::channel::RecvStream<'static, T>;
        covariant RecvStreamOf<'a> = sateen_queue::channel::RecvStream<'a, u8>;
        invariant SendSink<T> = sateen_queue::channel::SendSink<'static, T>;
        covariant SendSinkOf<'a> = sateen_queue::channel::SendSink<'a, u8>;
        covariant SendError<T> = sateen_queue::channel::SendError<T>;
        covariant TrySendError<T> = sateen_queue::channel::TrySendError<T>;
        covariant SendTimeoutError<T> = sateen_queue::channel::SendTimeoutError<T>;
        invariant Iter<T> = sateen_queue::channel::Iter<'static, T>;
        covariant IterOf<'a> = sateen_queue::channel::Iter<'a, u8>;
        invariant TryIter<T> = sateen_queue::channel::TryIter<'static, T>;
        covariant TryIterOf<'a> = sateen_queue::channel::TryIter<'a, u8>;
        invariant ChannelIntoIter<T> = sateen_queue::channel::IntoIter<T>;
        invariant Unsent<'a> = sateen_queue::channel::Unsent<std::slice::Iter<'a, u8>>;
        covariant Select<'a> = sateen_queue::channel::Select<'a>;
        covariant SelectedOperation<'a> = sateen_queue::channel::SelectedOperation<'a>;
    }
}

#[cfg(not(doctest))]
mod auto_traits {
    use std::vec;

    sateen_testkit::auto_traits! {
        ArrayQueue<T>: Send if Send, Sync if Send = sateen_queue::ArrayQueue<T>;
        SegQueue<T>: Send if Send, Sync if Send = sateen_queue::SegQueue<T>;
        IntoIter<T>: Send if Send, Sync if Send =
            <sateen_queue::SegQueue<T> as IntoIterator>::IntoIter;
        PushError<T>: Send if Send, Sync if Sync = sateen_queue::PushError<T>;
        Bounded<T>: Send if Send, Sync if Send = sateen_queue::mpmc::Bounded<T>;
        Unbounded<T>: Send if Send, Sync if Send = sateen_queue::mpmc::Unbounded<T>;
        Batch<T>: Send if Send, Sync if never = sateen_queue::mpmc::Batch<'static, T>;
        Producer<T>: Send if Send, Sync if Send = sateen_queue::spsc::Producer<T>;
        Consumer<T>: Send if Send, Sync if Send = sateen_queue::spsc::Consumer<T>;
        Sender<T>: Send if Send, Sync if Send = sateen_queue::channel::Sender<T>;
        Receiver<T>: Send if Send, Sync if Send = sateen_queue::channel::Receiver<T>;
        SendFuture<T>: Send if Send, Sync if never = sateen_queue::channel::SendFuture<'static, T>;
        RecvFuture<T>: Send if Send, Sync if never = sateen_queue::channel::RecvFuture<'static, T>;
        RecvStream<T>: Send if Send, Sync if never = sateen_queue::channel::RecvStream<'static, T>;
        SendSink<T>: Send if Send, Sync if never = sateen_queue::channel::SendSink<'static, T>;
        SendError<T>: Send if Send, Sync if Sync = sateen_queue::channel::SendError<T>;
        TrySendError<T>: Send if Send, Sync if Sync = sateen_queue::channel::TrySendError<T>;
        SendTimeoutError<T>: Send if Send, Sync if Sync =
            sateen_queue::channel::SendTimeoutError<T>;
        Iter<T>: Send if Send, Sync if Send = sateen_queue::channel::Iter<'static, T>;
        TryIter<T>: Send if Send, Sync if Send = sateen_queue::channel::TryIter<'static, T>;
        ChannelIntoIter<T>: Send if Send, Sync if Send = sateen_queue::channel::IntoIter<T>;
        Unsent<T>: Send if Send, Sync if Sync = sateen_queue::channel::Unsent<vec::IntoIter<T>>;
    }

    /// A selection drops no items, so this holds for items of any type.
    #[test]
    fn a_selection_goes_anywhere() {
        sateen_testkit::is!(sateen_queue::channel::Select<'static>: Send);
        sateen_testkit::is!(sateen_queue::channel::Select<'static>: Sync);
        sateen_testkit::not!(sateen_queue::channel::SelectedOperation<'static>: Send);
        sateen_testkit::not!(sateen_queue::channel::SelectedOperation<'static>: Sync);
    }
}
