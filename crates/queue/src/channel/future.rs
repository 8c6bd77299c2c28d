//! Sending and receiving as futures, streams and sinks.
//!
//! A future's waiter lies in the future and points into the channel. It is declared before the half
//! that keeps the channel alive, and so is dropped before it.

use super::error::{RecvError, SendError};
use super::receiver::RxFlavor;
use super::sender::TxFlavor;
use super::side::{Offering, Receiving};
use super::{Receiver, Sender};
use crate::PushError;
use futures_core::{FusedStream, Stream};
use futures_sink::Sink;
use sateen_sync::wait_queue::Waiter;
use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, ready};

/// A half of a channel, borrowed or owned.
enum Held<'a, H> {
    Borrowed(&'a H),
    Own(H),
}

impl<H> Deref for Held<'_, H> {
    type Target = H;

    fn deref(&self) -> &H {
        match self {
            Self::Borrowed(half) => half,
            Self::Own(half) => half,
        }
    }
}

/// # Safety
/// The channel outlives every use of the reference.
unsafe fn beyond<'a, C>(channel: &C) -> &'a C {
    // SAFETY: by the contract.
    unsafe { &*ptr::from_ref(channel) }
}

/// How a future waits.
enum Waiting<'a, M> {
    NotYet,
    /// In the queue of a channel with a buffer.
    Queued(Waiter<'a>),
    /// For the other side of a channel without a buffer.
    Meeting(M),
    /// For the clock.
    #[cfg(not(loom))]
    Asleep(sateen_sync::timer::Sleep),
}

impl<'a, M> Waiting<'a, M> {
    /// # Safety
    /// `self` is pinned.
    unsafe fn queued(&mut self, new: impl FnOnce() -> Waiter<'a>) -> Pin<&mut Waiter<'a>> {
        if !matches!(self, Self::Queued(_)) {
            *self = Self::Queued(new());
        }
        let Self::Queued(waiter) = self else { unreachable!("made above") };
        // SAFETY: pinned with `self`, and replaced only by another kind of waiting, which the
        // channel never uses.
        unsafe { Pin::new_unchecked(waiter) }
    }

    fn meeting(&mut self, new: impl FnOnce() -> M) -> &mut M {
        if !matches!(self, Self::Meeting(_)) {
            *self = Self::Meeting(new());
        }
        let Self::Meeting(side) = self else { unreachable!("made above") };
        side
    }
}

/// Receiving, again and again.
struct Receive<'a, T> {
    waiting: Waiting<'a, Receiving<'a, T>>,
    receiver: Held<'a, Receiver<T>>,
}

impl<'a, T> Receive<'a, T> {
    fn new(receiver: Held<'a, Receiver<T>>) -> Self {
        Self { waiting: Waiting::NotYet, receiver }
    }

    /// `None`: there will never be an item.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        // SAFETY: `waiting` is pinned with `self` and never moved; `receiver` is not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        match &this.receiver.flavor {
            RxFlavor::Bounded(channel) => {
                // SAFETY: the receiver keeps the channel alive, and is dropped after the waiter.
                // `self` is pinned.
                let (channel, waiter) = unsafe {
                    let channel = beyond(&**channel);
                    (channel, this.waiting.queued(|| channel.receiving()))
                };
                channel.poll_recv(waiter, cx)
            }
            RxFlavor::Unbounded(channel) => {
                // SAFETY: as above.
                let (channel, waiter) = unsafe {
                    let channel = beyond(&**channel);
                    (channel, this.waiting.queued(|| channel.receiving()))
                };
                channel.poll_recv(waiter, cx)
            }
            RxFlavor::Zero(channel) => {
                // SAFETY: as above.
                let channel = unsafe { beyond(&**channel) };
                this.waiting.meeting(|| Receiving::new(channel)).poll(cx)
            }
            #[cfg(not(loom))]
            RxFlavor::Timed(clock) => loop {
                if let Ok(item) = clock.try_recv() {
                    return Poll::Ready(Some(item));
                }
                let Some(at) = clock.next() else { return Poll::Pending };
                if !matches!(&this.waiting, Waiting::Asleep(sleep) if sleep.deadline() == Some(at))
                {
                    this.waiting = Waiting::Asleep(sateen_sync::timer::sleep_until_async(at));
                }
                let Waiting::Asleep(sleep) = &mut this.waiting else { return Poll::Pending };
                // SAFETY: pinned with `self`; replaced where it lies.
                ready!(unsafe { Pin::new_unchecked(sleep) }.poll(cx));
            },
            // The model has no clock.
            #[cfg(loom)]
            RxFlavor::Timed(_) => Poll::Pending,
            RxFlavor::Never => Poll::Pending,
        }
    }
}

/// Sending, again and again.
struct Send<'a, T> {
    waiting: Waiting<'a, Offering<'a, T>>,
    /// The item, until it is sent.
    item: Option<T>,
    sender: Held<'a, Sender<T>>,
}

impl<'a, T> Send<'a, T> {
    fn new(sender: Held<'a, Sender<T>>, item: Option<T>) -> Self {
        Self { waiting: Waiting::NotYet, item, sender }
    }

    /// Sends the item; ready if there is none.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        // SAFETY: `waiting` is pinned with `self` and never moved; the others are not pinned.
        let this = unsafe { self.get_unchecked_mut() };
        if this.item.is_none() {
            return Poll::Ready(Ok(()));
        }
        let sent = match &this.sender.flavor {
            TxFlavor::Bounded(channel) => {
                // SAFETY: the sender keeps the channel alive, and is dropped after the waiter.
                // `self` is pinned.
                let (channel, waiter) = unsafe {
                    let channel = beyond(&**channel);
                    (channel, this.waiting.queued(|| channel.sending()))
                };
                ready!(channel.poll_send(waiter, &mut this.item, cx))
            }
            TxFlavor::Unbounded(channel) => {
                match this.item.take().map(|item| channel.try_send(item)) {
                    None | Some(Ok(())) => Ok(()),
                    Some(Err(PushError::Full(item) | PushError::Closed(item))) => {
                        this.item = Some(item);
                        Err(())
                    }
                }
            }
            TxFlavor::Zero(channel) => {
                // SAFETY: as above.
                let channel = unsafe { beyond(&**channel) };
                let offering = this.waiting.meeting(|| Offering::new(channel));
                ready!(offering.poll(&mut this.item, cx))
            }
        };
        Poll::Ready(match (sent, this.item.take()) {
            (Err(()), Some(item)) => Err(SendError(item)),
            _ => Ok(()),
        })
    }
}

/// The future of [`Sender::send_async`]. Dropped before it is ready, it has not sent its item and
/// drops it.
///
/// In a channel of capacity 0 it sends when it is polled, once a receiver has come since it began
/// to wait. So a receiver on the same thread must not block before that.
#[must_use = "futures do nothing unless polled"]
pub struct SendFuture<'a, T>(Send<'a, T>);

/// The future of [`Receiver::recv_async`]. Dropped before it is ready, it has received no item: the
/// one that it was woken for goes to another receiver.
///
/// The item of a send that is complete stays in the channel until a receiver takes it, also with
/// capacity 0. The last receiver drops it.
#[must_use = "futures do nothing unless polled"]
pub struct RecvFuture<'a, T>(Receive<'a, T>);

/// The stream of [`Receiver::stream`].
#[must_use = "streams do nothing unless polled"]
pub struct RecvStream<'a, T> {
    receive: Receive<'a, T>,
    ended: bool,
}

/// The sink of [`Sender::sink`]. It may hold one item that there was no room for: flush it before
/// you drop it.
#[must_use = "sinks do nothing unless polled"]
pub struct SendSink<'a, T>(Send<'a, T>);

impl<T> Sender<T> {
    /// [`send`](Self::send) as a future.
    ///
    /// ```
    /// use sateen::channel::bounded;
    /// use sateen::sync::block_on;
    /// let (sender, receiver) = bounded(1);
    /// let thread = std::thread::spawn(move || receiver.iter().sum::<i32>());
    /// block_on(async {
    ///     for i in 0..10 {
    ///         sender.send_async(i).await.unwrap();
    ///     }
    /// });
    /// drop(sender);
    /// assert_eq!(thread.join().unwrap(), 45);
    /// ```
    pub fn send_async(&self, item: T) -> SendFuture<'_, T> {
        SendFuture(Send::new(Held::Borrowed(self), Some(item)))
    }

    /// A sink that sends here.
    pub fn sink(&self) -> SendSink<'_, T> {
        SendSink(Send::new(Held::Borrowed(self), None))
    }

    /// The same sink, with this sender in it.
    pub fn into_sink<'a>(self) -> SendSink<'a, T>
    where
        T: 'a,
    {
        SendSink(Send::new(Held::Own(self), None))
    }
}

impl<T> Receiver<T> {
    /// [`recv`](Self::recv) as a future.
    ///
    /// ```
    /// use sateen::channel::{RecvError, unbounded};
    /// use sateen::sync::block_on;
    /// let (sender, receiver) = unbounded();
    /// std::thread::spawn(move || sender.send(1));
    /// block_on(async {
    ///     assert_eq!(receiver.recv_async().await, Ok(1));
    ///     assert_eq!(receiver.recv_async().await, Err(RecvError));
    /// });
    /// ```
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture(Receive::new(Held::Borrowed(self)))
    }

    /// A stream of received items. It ends when the channel is empty and all senders are gone.
    pub fn stream(&self) -> RecvStream<'_, T> {
        RecvStream { receive: Receive::new(Held::Borrowed(self)), ended: false }
    }

    /// The same stream, with this receiver in it.
    pub fn into_stream<'a>(self) -> RecvStream<'a, T>
    where
        T: 'a,
    {
        RecvStream { receive: Receive::new(Held::Own(self)), ended: false }
    }
}

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the only field, pinned with `self`.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the only field, pinned with `self`.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
            .poll(cx)
            .map(|item| item.ok_or(RecvError))
    }
}

impl<T> Stream for RecvStream<'_, T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if self.ended {
            return Poll::Ready(None);
        }
        // SAFETY: pinned with `self`, and never moved.
        let receive = unsafe { self.as_mut().map_unchecked_mut(|this| &mut this.receive) };
        let item = ready!(receive.poll(cx));
        if item.is_none() {
            // SAFETY: a plain value, not pinned.
            unsafe { self.get_unchecked_mut() }.ended = true;
        }
        Poll::Ready(item)
    }
}

impl<T> FusedStream for RecvStream<'_, T> {
    fn is_terminated(&self) -> bool {
        self.ended
    }
}

impl<'a, T> SendSink<'a, T> {
    fn send(self: Pin<&mut Self>) -> Pin<&mut Send<'a, T>> {
        // SAFETY: the only field, pinned with `self`.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
    }
}

impl<T> Sink<T> for SendSink<'_, T> {
    type Error = SendError<T>;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.send().poll(cx)
    }

    fn start_send(self: Pin<&mut Self>, item: T) -> Result<(), SendError<T>> {
        assert!(self.0.item.is_none(), "an item was given to a sink that was not ready");
        // SAFETY: `item` is a plain value, not pinned.
        unsafe { self.send().get_unchecked_mut() }.item = Some(item);
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.send().poll(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), SendError<T>>> {
        self.send().poll(cx)
    }
}

impl<T> fmt::Debug for SendFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendFuture { .. }")
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvFuture { .. }")
    }
}

impl<T> fmt::Debug for RecvStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvStream { .. }")
    }
}

impl<T> fmt::Debug for SendSink<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendSink { .. }")
    }
}
