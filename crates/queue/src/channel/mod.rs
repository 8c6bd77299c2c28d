//! Channels: queues that threads, fibers and futures wait for, with the names and the behaviour of
//! `crossbeam-channel`.
//!
//! [`bounded`] holds items up to a limit, [`unbounded`] any number, `bounded(0)` none: there an
//! item goes from hand to hand. Both halves can be cloned. If there is no item or no room, a thread
//! blocks, a fiber of the runtime is suspended, and a future is pending, on the same channel.
//!
//! [`select!`] waits for the first of several operations. [`at`], [`after`], [`tick`] and
//! [`never()`] make receivers for it that the clock sends to.
//!
//! # Examples
//! ```
//! use sateen::channel::{bounded, select, tick};
//! use std::time::Duration;
//!
//! let (sender, receiver) = bounded(16);
//! std::thread::spawn(move || {
//!     for i in 0..100 {
//!         sender.send(i).unwrap();
//!     }
//! });
//! let report = tick(Duration::from_secs(1));
//! let mut sum = 0;
//! loop {
//!     select! {
//!         recv(receiver) -> item => match item {
//!             Ok(item) => sum += item,
//!             Err(_) => break,
//!         },
//!         recv(report) -> _ => println!("so far {sum}"),
//!     }
//! }
//! assert_eq!(sum, 4950);
//! ```
//!
//! # Coming from `crossbeam-channel`
//! Name this module in the `use` line instead. New are batches ([`Sender::send_all`],
//! [`Receiver::recv_into`]), futures ([`Sender::send_async`], [`Receiver::recv_async`]), streams
//! and sinks, and fibers.

#![doc = include_str!("README.md")]

mod buffer;
mod buffered;
mod clock;
mod counted;
mod error;
mod future;
mod handle;
mod iter;
mod meeting;
mod receiver;
mod select;
mod select_macro;
mod sender;
mod side;
mod spin_phase;
mod token;
mod wait;
mod waiters;
mod zero;
mod zero_ops;
mod zero_state;

pub use crate::{select, select_biased};
pub use error::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendError,
    SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError,
};
pub use future::{RecvFuture, RecvStream, SendFuture, SendSink};
pub use iter::{IntoIter, Iter, TryIter, Unsent};
pub use receiver::Receiver;
pub use select::{Select, SelectedOperation};
pub use sender::Sender;

use crate::mpmc::{Bounded, Unbounded};
use crate::trace::Traced;
use buffered::Buffered;
use clock::Clock;
use counted::halves;
use receiver::RxFlavor;
use sateen_base::prim::time::{Duration, Instant};
use sender::TxFlavor;
use std::sync::Arc;
use zero::Zero;

/// For the macros.
#[doc(hidden)]
pub mod internal {
    pub use super::select::{select, select_timeout, try_select};
}

/// A channel that holds up to `capacity` items. With 0 it holds none, and a sender waits until its
/// item is received.
///
/// Memory: about 500 bytes and a slot for each item, taken at once.
///
/// # Panics
/// If `capacity` is above 2^48, or there is no memory for it.
///
/// ```
/// use sateen::channel::bounded;
/// let (sender, receiver) = bounded(1);
/// sender.send(1).unwrap();
/// std::thread::spawn(move || sender.send(2)); // Waits for room.
/// assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
/// ```
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    if capacity == 0 {
        let (tx, rx) = halves(Zero::new());
        return (Sender { flavor: TxFlavor::Zero(tx) }, Receiver { flavor: RxFlavor::Zero(rx) });
    }
    let mut queue = Bounded::new(capacity);
    queue.traced = Traced::YES;
    let (tx, rx) = halves(Buffered::new(queue));
    (Sender { flavor: TxFlavor::Bounded(tx) }, Receiver { flavor: RxFlavor::Bounded(rx) })
}

/// A channel without a limit: sending never waits.
///
/// ```
/// let (sender, receiver) = sateen::channel::unbounded();
/// for i in 0..1000 {
///     sender.send(i).unwrap();
/// }
/// assert_eq!(receiver.try_iter().count(), 1000);
/// ```
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let mut queue = Unbounded::new();
    queue.traced = Traced::YES;
    let (tx, rx) = halves(Buffered::new(queue));
    (Sender { flavor: TxFlavor::Unbounded(tx) }, Receiver { flavor: RxFlavor::Unbounded(rx) })
}

fn clock(first: Option<Instant>, period: Option<Duration>) -> Receiver<Instant> {
    Receiver { flavor: RxFlavor::Timed(Arc::new(Clock::new(first, period))) }
}

/// A receiver of one item: the time `when`, once it has come. It is never disconnected.
///
/// ```
/// use std::time::{Duration, Instant};
/// let soon = Instant::now() + Duration::from_millis(1);
/// assert_eq!(sateen::channel::at(soon).recv(), Ok(soon));
/// assert!(Instant::now() >= soon);
/// ```
pub fn at(when: Instant) -> Receiver<Instant> {
    clock(Some(when), None)
}

/// A receiver of one item: the time at which `duration` has passed, once it has. It is never
/// disconnected.
///
/// ```
/// use sateen::channel::{after, select, unbounded};
/// use std::time::Duration;
/// let (_sender, receiver) = unbounded::<u8>();
/// select! {
///     recv(receiver) -> _ => unreachable!("nobody sends"),
///     recv(after(Duration::from_millis(1))) -> _ => {}
/// }
/// ```
pub fn after(duration: Duration) -> Receiver<Instant> {
    clock(Instant::now().checked_add(duration), None)
}

/// A receiver of one item each `period`, the first a period from now: the time at which it was due.
/// At most one waits to be received; the next is due a period after that one was received. It is
/// never disconnected.
///
/// ```
/// use std::time::{Duration, Instant};
/// let start = Instant::now();
/// let ticker = sateen::channel::tick(Duration::from_millis(1));
/// assert_eq!(ticker.iter().take(3).count(), 3);
/// assert!(start.elapsed() >= Duration::from_millis(3));
/// ```
pub fn tick(period: Duration) -> Receiver<Instant> {
    clock(Instant::now().checked_add(period), Some(period))
}

/// A receiver that never gets an item. It is never disconnected.
///
/// ```
/// use sateen::channel::{after, never, select};
/// use std::time::Duration;
/// let timeout: Option<Duration> = None;
/// let expired = timeout.map_or(never(), after);
/// select! {
///     recv(expired) -> _ => unreachable!("there is no limit"),
///     default => {}
/// }
/// ```
pub fn never<T>() -> Receiver<T> {
    Receiver { flavor: RxFlavor::Never }
}
