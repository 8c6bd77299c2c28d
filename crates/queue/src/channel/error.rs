//! Why a channel did not take or give an item.
//!
//! The enumerations are exhaustive, unlike others here: code written for `crossbeam-channel`
//! matches on all of their variants, and must still compile.

use std::error::Error;
use std::fmt;

/// An error of [`send`](super::Sender::send): all receivers are gone. Holds the item.
///
/// ```
/// use sateen::channel::{SendError, unbounded};
/// let (sender, receiver) = unbounded();
/// drop(receiver);
/// assert_eq!(sender.send(1), Err(SendError(1)));
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

/// An error of [`try_send`](super::Sender::try_send). Holds the item.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// There is no room now; without a buffer, no receiver waits.
    Full(T),
    /// All receivers are gone.
    Disconnected(T),
}

/// An error of [`send_timeout`](super::Sender::send_timeout). Holds the item.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum SendTimeoutError<T> {
    /// There was no room within the time; without a buffer, no receiver took it.
    Timeout(T),
    /// All receivers are gone.
    Disconnected(T),
}

/// An error of [`recv`](super::Receiver::recv): the channel is empty and all senders are gone.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct RecvError;

/// An error of [`try_recv`](super::Receiver::try_recv).
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum TryRecvError {
    /// There is no item now; without a buffer, no sender waits.
    Empty,
    /// There is no item, and all senders are gone.
    Disconnected,
}

/// An error of [`recv_timeout`](super::Receiver::recv_timeout).
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum RecvTimeoutError {
    /// No item came within the time.
    Timeout,
    /// There is no item, and all senders are gone.
    Disconnected,
}

/// An error of [`try_select`](super::Select::try_select): no operation is possible now.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct TrySelectError;

/// An error of [`select_timeout`](super::Select::select_timeout): no operation was possible within
/// the time.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct SelectTimeoutError;

/// An error of [`try_ready`](super::Select::try_ready): no operation is possible now.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct TryReadyError;

/// An error of [`ready_timeout`](super::Select::ready_timeout): no operation was possible within
/// the time.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub struct ReadyTimeoutError;

const SEND_DISCONNECTED: &str = "sending on a disconnected channel";
const RECV_DISCONNECTED: &str = "receiving on an empty and disconnected channel";

impl<T> SendError<T> {
    /// The item back.
    ///
    /// ```
    /// assert_eq!(sateen::channel::SendError(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// The item back.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(item) | Self::Disconnected(item) => item,
        }
    }

    /// Whether there may be room later.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether all receivers are gone.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected(_))
    }
}

impl<T> SendTimeoutError<T> {
    /// The item back.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(item) | Self::Disconnected(item) => item,
        }
    }

    /// Whether the time ran out.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout(_))
    }

    /// Whether all receivers are gone.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected(_))
    }
}

impl TryRecvError {
    /// Whether an item may come later.
    pub fn is_empty(&self) -> bool {
        *self == Self::Empty
    }

    /// Whether all senders are gone.
    pub fn is_disconnected(&self) -> bool {
        *self == Self::Disconnected
    }
}

impl RecvTimeoutError {
    /// Whether the time ran out.
    pub fn is_timeout(&self) -> bool {
        *self == Self::Timeout
    }

    /// Whether all senders are gone.
    pub fn is_disconnected(&self) -> bool {
        *self == Self::Disconnected
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(SendError(item): SendError<T>) -> Self {
        Self::Disconnected(item)
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(SendError(item): SendError<T>) -> Self {
        Self::Disconnected(item)
    }
}

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        Self::Disconnected
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        Self::Disconnected
    }
}

/// Items need not be `Debug`.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendError(..)")
    }
}

/// Items need not be `Debug`.
impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_full() { "Full(..)" } else { "Disconnected(..)" })
    }
}

/// Items need not be `Debug`.
impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_timeout() { "Timeout(..)" } else { "Disconnected(..)" })
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(SEND_DISCONNECTED)
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_full() { "sending on a full channel" } else { SEND_DISCONNECTED })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_timeout() { "timed out waiting to send" } else { SEND_DISCONNECTED })
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(RECV_DISCONNECTED)
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_empty() { "receiving on an empty channel" } else { RECV_DISCONNECTED })
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_timeout() { "timed out waiting to receive" } else { RECV_DISCONNECTED })
    }
}

impl fmt::Display for TrySelectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("no operation of the selection is possible now")
    }
}

impl fmt::Display for SelectTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("timed out waiting for an operation of the selection")
    }
}

impl fmt::Display for TryReadyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("no operation of the selection is ready now")
    }
}

impl fmt::Display for ReadyTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("timed out waiting for an operation of the selection to be ready")
    }
}

impl<T> Error for SendError<T> {}
impl<T> Error for TrySendError<T> {}
impl<T> Error for SendTimeoutError<T> {}
impl Error for RecvError {}
impl Error for TryRecvError {}
impl Error for RecvTimeoutError {}
impl Error for TrySelectError {}
impl Error for SelectTimeoutError {}
impl Error for TryReadyError {}
impl Error for ReadyTimeoutError {}
