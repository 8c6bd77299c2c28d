//! Waiting for one of several operations. Protocol and proof: `README.md` beside this file.

use super::clock;
use super::error::{
    ReadyTimeoutError, RecvError, SelectTimeoutError, SendError, TryReadyError, TrySelectError,
};
use super::handle::Handle;
use super::spin_phase::{SpinPhase, has_passed};
use super::token::Token;
use super::wait::{Case, Selection, Wait};
use super::{Receiver, Sender};
use sateen_base::XorShift;
use sateen_base::prim::time::{Duration, Instant};
use sateen_sync::park::{self, Awaited};
use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;

/// An operation and its number.
type Entry<'a> = (&'a dyn Handle, usize);

/// How long to wait.
#[derive(Clone, Copy)]
enum Limit {
    Now,
    Never,
    At(Instant),
}

impl Limit {
    fn deadline(self) -> Option<Instant> {
        match self {
            Self::At(deadline) => Some(deadline),
            Self::Now | Self::Never => None,
        }
    }

    fn is_over(self) -> bool {
        match self {
            Self::Now => true,
            Self::Never => false,
            Self::At(deadline) => has_passed(deadline),
        }
    }
}

/// Shuffles the operations, so that none is preferred.
fn shuffle(entries: &mut [Entry<'_>]) {
    thread_local! {
        static RANDOM: Cell<Option<XorShift>> = const { Cell::new(None) };
    }
    if cfg!(loom) {
        return;
    }
    // A thread that is ending draws no number, and prefers the first operation.
    let _ = RANDOM.try_with(|cell| {
        let mut random =
            cell.take().unwrap_or_else(|| XorShift::new(ptr::from_ref(cell).addr() as u64));
        for i in (1..entries.len()).rev() {
            entries.swap(i, random.below(i + 1));
        }
        cell.set(Some(random));
    });
}

/// Chooses the first operation that is possible, in the order of `entries`; returns its position.
///
/// A caller that gives up has called it twice. After one call it could have missed both items if an
/// item comes to one channel and another is taken from a second channel only then.
fn try_all(entries: &[Entry<'_>], token: &mut Token) -> Option<usize> {
    entries.iter().position(|(handle, _)| handle.try_select(token))
}

/// Chooses an operation; waits for one if none is possible.
fn run<'a>(entries: &mut [Entry<'a>], limit: Limit, biased: bool) -> Option<SelectedOperation<'a>> {
    if !biased {
        shuffle(entries);
    }
    let mut token = Token::default();
    let mut spin = SpinPhase::new(limit.deadline());
    let at = loop {
        if let Some(at) = try_all(entries, &mut token) {
            break at;
        }
        if limit.is_over() && cfg!(not(loom)) || matches!(limit, Limit::Now) {
            break try_all(entries, &mut token)?;
        }
        // A caller that a peer may meet spins where the peer sees it: listed.
        if entries.iter().any(|(handle, _)| handle.meets()) || !spin.pause() {
            break run_slow(entries, limit, spin, &mut token)?;
        }
    };
    let (handle, index) = entries[at];
    Some(SelectedOperation { token: Some(token), index, handle })
}

#[cold]
fn run_slow(
    entries: &[Entry<'_>],
    limit: Limit,
    mut spin: SpinPhase,
    token: &mut Token,
) -> Option<usize> {
    loop {
        let selection = Arc::new(Selection::new());
        let mut waits = Waits::new(entries, |index, handle| {
            handle.wait(Case { selection: selection.clone(), index })
        });
        if waits.all {
            waits.sleep(limit, &mut spin, || selection.claimed().is_some());
        }
        // From here on no peer claims it.
        if let Some(at) = selection.close()
            && waits.list[at].as_mut().complete(token)
        {
            return Some(at);
        }
        let chosen = try_all(entries, token);
        match chosen {
            // Permits of the other cases go on to other waiters.
            Some(at) if at < waits.list.len() => waits.list[at].as_mut().keep_permit(),
            Some(_) => {}
            // Another thread was faster: there is nothing to wake other waiters for.
            None => waits.list.iter_mut().for_each(|wait| wait.as_mut().keep_permit()),
        }
        if chosen.is_some() || limit.is_over() {
            return chosen;
        }
    }
}

/// Finds an operation that is possible, or waits until one is; returns its number.
fn run_ready(entries: &mut [Entry<'_>], limit: Limit, biased: bool) -> Option<usize> {
    if !biased {
        shuffle(entries);
    }
    let mut spin = SpinPhase::new(limit.deadline());
    let ready = |entries: &[Entry<'_>]| {
        entries.iter().find(|(handle, _)| handle.is_ready()).map(|(_, index)| *index)
    };
    loop {
        if let Some(index) = ready(entries) {
            return Some(index);
        }
        if limit.is_over() {
            // Once more, as in `try_all`.
            return ready(entries);
        }
        if spin.pause() {
            continue;
        }
        let mut waits = Waits::new(entries, |_, handle| handle.watch());
        if waits.all {
            waits.sleep(limit, &mut spin, || false);
        }
        if ready(entries).is_none() {
            waits.list.iter_mut().for_each(|wait| wait.as_mut().keep_permit());
        }
        // If an operation is ready, the next waiter in each queue is woken too: the caller may not
        // use what it is told of.
    }
}

/// The operations of a selection while it waits.
struct Waits<'a, 'e> {
    entries: &'e [Entry<'a>],
    list: Vec<Pin<Box<dyn Wait + 'a>>>,
    /// None was possible meanwhile: all wait.
    all: bool,
}

impl<'a, 'e> Waits<'a, 'e> {
    fn new(
        entries: &'e [Entry<'a>],
        start: impl Fn(usize, &'a dyn Handle) -> Option<Pin<Box<dyn Wait + 'a>>>,
    ) -> Self {
        let mut waits = Self { entries, list: Vec::with_capacity(entries.len()), all: true };
        for (at, (handle, _)) in entries.iter().enumerate() {
            match start(at, *handle) {
                Some(wait) => waits.list.push(wait),
                None => {
                    waits.all = false;
                    break;
                }
            }
        }
        waits
    }

    /// Blocks until one is woken, `claimed` holds, or it is time for one of them or to give up.
    /// Spins first, for what is left of the phase.
    fn sleep(&mut self, limit: Limit, spin: &mut SpinPhase, claimed: impl Fn() -> bool) {
        let times = self.entries.iter().filter_map(|(handle, _)| handle.deadline());
        let deadline = times.chain(limit.deadline()).min();
        let what = Awaited::new("channel: selection", std::ptr::null());
        park::waiting_for(what, || {
            loop {
                if claimed() || self.list.iter_mut().any(|wait| wait.as_mut().is_woken()) {
                    return;
                }
                if spin.pause() {
                    continue;
                }
                match deadline {
                    Some(deadline) => park::park_until(deadline),
                    None => park::park(),
                }
                if deadline.is_some_and(has_passed) {
                    return;
                }
            }
        });
    }
}

/// Waits for one of several operations that are known only at run time. For a fixed set see
/// [`select!`](super::select).
///
/// Add operations with [`Select::send`] and [`Select::recv`]; each returns the operation's number.
/// Then call one of the `select` functions, and complete the [`SelectedOperation`] that it returns.
/// The `ready` functions only say which operation would be possible.
///
/// If several operations are possible, one is chosen at random. A [`Select::new_biased`] chooses
/// the one that was added first.
///
/// # Cost
/// If an operation is possible, no more than trying them in turn. To wait, one allocation for each
/// operation and one more.
///
/// # Examples
/// ```
/// use sateen::channel::{Select, unbounded};
/// let channels: Vec<_> = (0..3).map(|_| unbounded()).collect();
/// channels[1].0.send("one").unwrap();
///
/// let mut select = Select::new();
/// for (_, receiver) in &channels {
///     select.recv(receiver);
/// }
/// let operation = select.select();
/// let index = operation.index();
/// assert_eq!((index, operation.recv(&channels[index].1)), (1, Ok("one")));
/// ```
#[derive(Clone, Default)]
pub struct Select<'a> {
    entries: Vec<Entry<'a>>,
    next: usize,
    biased: bool,
}

// SAFETY: a selection uses senders and receivers through shared references. Items may be of types
// that stay on their thread, and then so do their senders and receivers. Without these a selection
// on another thread only moves items, and drops none (`Handle::abort`).
unsafe impl Send for Select<'_> {}
// SAFETY: as above; selecting takes `&mut self`.
unsafe impl Sync for Select<'_> {}

impl<'a> Select<'a> {
    /// No operations yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// No operations yet; of those that are possible, the one that was added first is chosen.
    ///
    /// ```
    /// use sateen::channel::{Select, unbounded};
    /// let (sender, receiver) = unbounded();
    /// sender.send(1).unwrap();
    /// let mut select = Select::new_biased();
    /// let first = select.recv(&receiver);
    /// select.recv(&receiver);
    /// assert_eq!(select.ready(), first);
    /// ```
    pub fn new_biased() -> Self {
        Self { biased: true, ..Self::default() }
    }

    /// Adds sending to `sender`; returns the operation's number.
    pub fn send<T>(&mut self, sender: &'a Sender<T>) -> usize {
        self.add(sender)
    }

    /// Adds receiving from `receiver`; returns the operation's number.
    pub fn recv<T>(&mut self, receiver: &'a Receiver<T>) -> usize {
        self.add(receiver)
    }

    fn add(&mut self, handle: &'a dyn Handle) -> usize {
        let index = self.next;
        self.next += 1;
        self.entries.push((handle, index));
        index
    }

    /// Removes the operation with this number; the others keep theirs.
    ///
    /// # Panics
    /// If no operation has this number.
    pub fn remove(&mut self, index: usize) {
        let at = self.entries.iter().position(|(_, number)| *number == index);
        let Some(at) = at else { panic!("no operation has number {index}") };
        self.entries.remove(at);
    }

    /// Chooses an operation that is possible now.
    ///
    /// # Errors
    /// If none is possible.
    pub fn try_select(&mut self) -> Result<SelectedOperation<'a>, TrySelectError> {
        limited(&mut self.entries, Limit::Now, self.biased).ok_or(TrySelectError)
    }

    /// Waits until an operation is possible, and chooses it. A thread blocks, a fiber is suspended.
    ///
    /// # Panics
    /// If there are no operations.
    pub fn select(&mut self) -> SelectedOperation<'a> {
        unlimited(&mut self.entries, self.biased)
    }

    /// [`select`](Self::select) with a limit.
    ///
    /// # Errors
    /// If no operation was possible within `timeout`.
    pub fn select_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        within(&mut self.entries, timeout, self.biased)
    }

    /// [`select`](Self::select) until `deadline`.
    ///
    /// # Errors
    /// If no operation was possible before.
    pub fn select_deadline(
        &mut self,
        deadline: Instant,
    ) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
        limited(&mut self.entries, Limit::At(deadline), self.biased).ok_or(SelectTimeoutError)
    }

    /// The number of an operation that is possible now. It may have become impossible when it is
    /// tried.
    ///
    /// # Errors
    /// If none is possible.
    pub fn try_ready(&mut self) -> Result<usize, TryReadyError> {
        run_ready(&mut self.entries, Limit::Now, self.biased).ok_or(TryReadyError)
    }

    /// Waits until an operation is possible, and returns its number. It may have become impossible
    /// when it is tried.
    ///
    /// # Panics
    /// If there are no operations.
    pub fn ready(&mut self) -> usize {
        self.ready_within(None).unwrap_or_else(|| unreachable!("without a limit"))
    }

    /// [`ready`](Self::ready) with a limit.
    ///
    /// # Errors
    /// If no operation was possible within `timeout`.
    pub fn ready_timeout(&mut self, timeout: Duration) -> Result<usize, ReadyTimeoutError> {
        self.ready_within(Instant::now().checked_add(timeout)).ok_or(ReadyTimeoutError)
    }

    /// [`ready`](Self::ready) until `deadline`.
    ///
    /// # Errors
    /// If no operation was possible before.
    pub fn ready_deadline(&mut self, deadline: Instant) -> Result<usize, ReadyTimeoutError> {
        self.ready_within(Some(deadline)).ok_or(ReadyTimeoutError)
    }

    fn ready_within(&mut self, deadline: Option<Instant>) -> Option<usize> {
        if self.entries.is_empty() {
            assert!(deadline.is_some(), "no operations have been added to `Select`");
            clock::sleep(deadline);
            return None;
        }
        let limit = deadline.map_or(Limit::Never, Limit::At);
        run_ready(&mut self.entries, limit, self.biased)
    }
}

impl fmt::Debug for Select<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Select").field("operations", &self.entries.len()).finish_non_exhaustive()
    }
}

fn limited<'a>(
    entries: &mut [Entry<'a>],
    limit: Limit,
    biased: bool,
) -> Option<SelectedOperation<'a>> {
    if entries.is_empty() {
        if let Limit::At(deadline) = limit {
            clock::sleep(Some(deadline));
        }
        return None;
    }
    run(entries, limit, biased)
}

fn unlimited<'a>(entries: &mut [Entry<'a>], biased: bool) -> SelectedOperation<'a> {
    assert!(!entries.is_empty(), "no operations have been added to `Select`");
    run(entries, Limit::Never, biased).unwrap_or_else(|| unreachable!("without a limit"))
}

fn within<'a>(
    entries: &mut [Entry<'a>],
    timeout: Duration,
    biased: bool,
) -> Result<SelectedOperation<'a>, SelectTimeoutError> {
    match Instant::now().checked_add(timeout) {
        Some(deadline) => limited(entries, Limit::At(deadline), biased).ok_or(SelectTimeoutError),
        None => Ok(unlimited(entries, biased)),
    }
}

/// The operations with their numbers.
fn numbered<const N: usize>(handles: [&dyn Handle; N]) -> [Entry<'_>; N] {
    let mut number = 0;
    handles.map(|handle| {
        number += 1;
        (handle, number - 1)
    })
}

/// For the macro.
#[doc(hidden)]
pub fn try_select<const N: usize>(
    handles: [&dyn Handle; N],
    biased: bool,
) -> Result<SelectedOperation<'_>, TrySelectError> {
    limited(&mut numbered(handles), Limit::Now, biased).ok_or(TrySelectError)
}

/// For the macro.
#[doc(hidden)]
pub fn select<const N: usize>(handles: [&dyn Handle; N], biased: bool) -> SelectedOperation<'_> {
    unlimited(&mut numbered(handles), biased)
}

/// For the macro.
#[doc(hidden)]
pub fn select_timeout<const N: usize>(
    handles: [&dyn Handle; N],
    timeout: Duration,
    biased: bool,
) -> Result<SelectedOperation<'_>, SelectTimeoutError> {
    within(&mut numbered(handles), timeout, biased)
}

/// An operation that was chosen and must be completed: by [`SelectedOperation::send`] or
/// [`SelectedOperation::recv`], with the sender or the receiver that was added for it, or a clone.
///
/// # Panics
/// When it is dropped without having been completed, unless the thread is panicking already. A
/// received item is then lost (forgotten, not dropped), and an item to be sent does not come.
///
/// An operation that is forgotten ([`std::mem::forget`]) holds up no other items. Receivers pass
/// over its slot as soon as an item lies behind it or no room is left, and a rendezvous with a time
/// limit ends in time.
#[must_use = "a chosen operation must be completed"]
pub struct SelectedOperation<'a> {
    /// `None` once it is completed.
    token: Option<Token>,
    index: usize,
    handle: &'a dyn Handle,
}

impl SelectedOperation<'_> {
    /// The operation's number.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Completes it by sending `item`.
    ///
    /// It waits only if its slot is gone and there is no room elsewhere. The slot is gone if
    /// receivers have passed over it, for an item behind it or to make room; without a buffer, if
    /// the receiver has left.
    ///
    /// # Errors
    /// If all receivers are gone; with the item.
    ///
    /// # Panics
    /// If this sender is neither the one that was added nor a clone of it; `item` is dropped.
    pub fn send<T>(mut self, sender: &Sender<T>, item: T) -> Result<(), SendError<T>> {
        assert!(self.is_of(sender), "the selected operation is not of this sender");
        match self.token.take() {
            Some(token) => sender.commit(token.reservation, item).map_err(SendError),
            None => Err(SendError(item)),
        }
    }

    /// Completes it by receiving.
    ///
    /// # Errors
    /// If the channel is empty and all senders are gone.
    ///
    /// # Panics
    /// If this receiver is neither the one that was added nor a clone of it.
    pub fn recv<T>(mut self, receiver: &Receiver<T>) -> Result<T, RecvError> {
        assert!(self.is_of(receiver), "the selected operation is not of this receiver");
        // SAFETY: chosen by a receiver of the same channel: both exist, so an address names one
        // channel, whose items are of type `T`.
        self.token.take().and_then(|mut token| unsafe { token.item.take() }).ok_or(RecvError)
    }

    /// Whether it was chosen for `handle` or a clone of it.
    fn is_of(&self, handle: &dyn Handle) -> bool {
        self.handle.half() == handle.half()
    }
}

impl fmt::Debug for SelectedOperation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelectedOperation").field("index", &self.index).finish_non_exhaustive()
    }
}

impl Drop for SelectedOperation<'_> {
    fn drop(&mut self) {
        if let Some(mut token) = self.token.take() {
            self.handle.abort(&mut token);
            assert!(
                std::thread::panicking(),
                "a selected operation was dropped without having been completed"
            );
        }
    }
}
