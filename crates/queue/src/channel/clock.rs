//! Channels whose items are points in time: the clock sends them.

use super::error::{RecvTimeoutError, TryRecvError};
use super::spin_phase::has_passed;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::{RawSpinLock, SpinLock};
use sateen_sync::park::{self, Awaited};

/// A receiver's view of such a channel, whose items are of type `T`.
pub(super) trait Timed<T>: Send + Sync {
    /// Takes the item if its time has come.
    fn try_recv(&self) -> Result<T, TryRecvError>;

    /// Waits for an item.
    fn recv(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError>;

    /// When the next item comes, unless another receiver takes it; `None` if never.
    fn next(&self) -> Option<Instant>;
}

/// An item at a time, and with a period others after it: [`at`](super::at) and
/// [`tick`](super::tick).
pub(super) struct Clock {
    next: SpinLock<Option<Instant>>,
    period: Option<Duration>,
}

impl Clock {
    /// `first` is `None` if no clock will ever reach it.
    pub(super) fn new(first: Option<Instant>, period: Option<Duration>) -> Self {
        Self { next: SpinLock::from_raw(RawSpinLock::new(), first), period }
    }

    /// Takes the next item if `may` agrees to its time. The item after it is due a period after
    /// that time, or after now if that is later: missed ticks are not made up for.
    fn take(&self, may: impl FnOnce(Instant) -> bool) -> Option<Instant> {
        let mut next = self.next.lock();
        let at = next.filter(|at| may(*at))?;
        *next = self.period.and_then(|period| at.max(Instant::now()).checked_add(period));
        Some(at)
    }
}

impl Timed<Instant> for Clock {
    fn try_recv(&self) -> Result<Instant, TryRecvError> {
        self.take(has_passed).ok_or(TryRecvError::Empty)
    }

    fn recv(&self, deadline: Option<Instant>) -> Result<Instant, RecvTimeoutError> {
        let in_time = |at: &Instant| deadline.is_none_or(|deadline| *at <= deadline);
        if self.period.is_some() {
            // Taken first and waited for then, so that each of several receivers has its own tick.
            let taken = self.take(|at| in_time(&at));
            sleep(taken.or(deadline));
            return taken.ok_or(RecvTimeoutError::Timeout);
        }
        // The only item stays for other receivers until its time has come: this one may be
        // cancelled while it waits.
        while let Some(at) = self.next().filter(in_time) {
            sleep(Some(at));
            if let Some(item) = self.take(has_passed) {
                return Ok(item);
            }
        }
        sleep(deadline);
        Err(RecvTimeoutError::Timeout)
    }

    fn next(&self) -> Option<Instant> {
        *self.next.lock()
    }
}

/// Blocks until `deadline`; without one, for ever.
pub(super) fn sleep(deadline: Option<Instant>) {
    let timer = Awaited::new("timer", std::ptr::null());
    park::waiting_for(timer, || {
        while !deadline.is_some_and(has_passed) {
            match deadline {
                Some(deadline) => park::park_until(deadline),
                None => park::park(),
            }
        }
    });
}
