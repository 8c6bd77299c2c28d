//! One limit for many callers.

use super::rate::ENDLESS;
use super::timeline::SharedTimeline;
use super::{CLUMP, Clock, Plan, Rate, RealClock, ThrottleError, pause_async};
use crate::gaps::Run;
use crate::ledger::Ledger;
use sateen_base::prim::time::Duration;

/// Holds all its callers together to one rate.
///
/// Drift and bursts of their sum are those of a [`Throttle`](super::Throttle). A caller that waits
/// has a reservation in line, which is due at a time of its own. So callers pass in the order in
/// which they came, and none is woken in time only to find that another was faster.
///
/// A caller that stops waiting (a dropped future, a cancelled task) gives its reservation back, and
/// the next caller gets it. A reservation that is not used within a burst is lost: its owner takes
/// another token that is due, or goes to the end of the line.
///
/// # Cost
/// A check reads the clock and executes one locked instruction in a cache line that all callers
/// share. Threads that pass often take a [`hand`](SharedThrottle::hand).
///
/// # Examples
/// ```
/// use sateen::flow::{Rate, RealClock, SharedThrottle};
/// let throttle = SharedThrottle::new(Rate::per_second(1000.0)?, RealClock::new());
/// let start = std::time::Instant::now();
/// std::thread::scope(|s| {
///     for _ in 0..2 {
///         s.spawn(|| (0..3).for_each(|_| throttle.wait()));
///     }
/// });
/// assert!(start.elapsed().as_millis() >= 5);
/// # Ok::<(), sateen::flow::ThrottleError>(())
/// ```
#[derive(Debug)]
pub struct SharedThrottle<C = RealClock> {
    clock: C,
    plan: Plan,
    time: SharedTimeline,
    ledger: Ledger,
}

impl<C: Clock> SharedThrottle<C> {
    /// At most `rate` from now on. The first item passes at once.
    pub fn new(rate: Rate, clock: C) -> Self {
        clock.refresh();
        let time = SharedTimeline::new(clock.nanos());
        Self { clock, plan: Plan::default().at(rate), time, ledger: Ledger::new() }
    }

    /// At most `items` pass at once after a pause.
    ///
    /// # Errors
    /// [`ThrottleError::ZeroBurst`] if `items` is 0.
    pub fn burst(mut self, items: u64) -> Result<Self, ThrottleError> {
        self.plan.set_burst(items)?;
        Ok(self)
    }

    /// A [`Hand`] takes at most `tokens` at once, and no more than an eighth of the burst.
    ///
    /// # Errors
    /// [`ThrottleError::ZeroBatch`] if `tokens` is 0.
    pub fn batch(mut self, tokens: u64) -> Result<Self, ThrottleError> {
        self.plan.set_batch(tokens)?;
        Ok(self)
    }

    /// The rate that it holds its callers to.
    pub fn rate(&self) -> Rate {
        self.plan.grid.rate()
    }

    /// Takes `n` tokens if they are due and no caller waits for them; never waits. Returns whether
    /// it did: always without a limit, never with one if `n` is more than the burst.
    pub fn try_take(&self, n: u64) -> bool {
        if self.plan.grid.is_unlimited() {
            return true;
        }
        let due = self.due();
        self.ledger.take_all(self.plan.floor(due), due, n)
    }

    /// Waits for a token.
    ///
    /// Blocks the thread, or suspends the fiber, as [`Throttle::wait`](super::Throttle::wait) with
    /// `batch(1)` does: each caller passes when its token is due. Above 10,000 a second that is
    /// spinning; a [`Hand`] sleeps instead.
    pub fn wait(&self) {
        self.wait_by(|gap| self.clock.delay(gap));
    }

    /// Makes a reservation, and waits until it is due.
    fn wait_by(&self, delay: impl Fn(Duration)) {
        if self.plan.grid.is_unlimited() {
            return;
        }
        let mut reservation = self.line_up();
        while let Err(gap) = reservation.poll() {
            delay(gap);
        }
    }

    /// [`wait`](SharedThrottle::wait) as a future. It has its reservation from the first poll on.
    /// If it is dropped before it is ready, it has taken nothing.
    ///
    /// ```
    /// use sateen::flow::{Clock, ManualClock, Rate, SharedThrottle};
    /// let clock = ManualClock::new();
    /// let throttle = SharedThrottle::new(Rate::per_second(1.0)?, clock.clone());
    /// sateen::sync::block_on(async {
    ///     throttle.until_ready().await;
    ///     throttle.until_ready().await;
    /// });
    /// assert_eq!(clock.elapsed().as_secs(), 1);
    /// # Ok::<(), sateen::flow::ThrottleError>(())
    /// ```
    pub async fn until_ready(&self) {
        if self.plan.grid.is_unlimited() {
            return;
        }
        let mut reservation = self.line_up();
        while let Err(gap) = reservation.poll() {
            pause_async(&self.clock, gap).await;
        }
    }

    /// A handle for one of many callers that pass often: it takes tokens by the batch.
    ///
    /// ```
    /// use sateen::flow::{ManualClock, Rate, SharedThrottle};
    /// let throttle = SharedThrottle::new(Rate::UNLIMITED, ManualClock::new());
    /// let mut hand = throttle.hand();
    /// (0..1000).for_each(|_| hand.wait());
    /// # Ok::<(), sateen::flow::ThrottleError>(())
    /// ```
    pub fn hand(&self) -> Hand<'_, C> {
        Hand { throttle: self, tokens: Run::default() }
    }

    /// How many are due by now.
    fn due(&self) -> u64 {
        self.plan.grid.due(self.time.now(&self.clock))
    }

    fn line_up(&self) -> Reservation<'_, C> {
        Reservation { throttle: self, number: self.ledger.line_up(self.plan.floor(self.due())) }
    }
}

/// A number on the grid whose token is not used yet.
struct Reservation<'a, C: Clock> {
    throttle: &'a SharedThrottle<C>,
    /// 0 once it has been used.
    number: u64,
}

impl<C: Clock> Reservation<'_, C> {
    /// Uses the reservation if it is due, else returns how long it is until then.
    fn poll(&mut self) -> Result<(), Duration> {
        let SharedThrottle { clock, plan, time, ledger } = self.throttle;
        clock.refresh();
        let now = time.now(clock);
        let due = plan.grid.due(now);
        if due >= self.number {
            let number = std::mem::take(&mut self.number);
            let floor = plan.floor(due);
            // If it is too old it is lost, and any other due one serves as well.
            if number > floor || ledger.take_some(floor, due, 1).len > 0 {
                return Ok(());
            }
            self.number = ledger.line_up(floor);
        }
        let at = plan.grid.time_of(self.number);
        Err(Duration::from_nanos(at.saturating_sub(now).max(1)))
    }
}

impl<C: Clock> Drop for Reservation<'_, C> {
    fn drop(&mut self) {
        if self.number != 0 {
            self.throttle.ledger.give_back(Run { last: self.number, len: 1 });
        }
    }
}

/// One thread's share of a [`SharedThrottle`]: tokens that were due, taken by the batch and used
/// without access to shared memory.
///
/// When it is dropped, it gives back what it has left. Tokens in hands count as taken, so after a
/// pause as many more items may pass at once.
///
/// # Cost
/// A check costs 1 ns with a token in hand.
#[derive(Debug)]
pub struct Hand<'a, C: Clock> {
    throttle: &'a SharedThrottle<C>,
    tokens: Run,
}

impl<C: Clock> Hand<'_, C> {
    /// Takes a token if one is due; never waits.
    #[inline]
    pub fn try_take(&mut self) -> bool {
        if self.tokens.len == 0 {
            self.refill();
        }
        let any = self.tokens.len > 0;
        self.tokens.len -= u64::from(any);
        any
    }

    /// Waits for a token: takes its own first, else waits as [`SharedThrottle::wait`] does. If
    /// several tokens come in 200 µs, it sleeps for that long and goes on with those.
    #[inline]
    pub fn wait(&mut self) {
        if !self.try_take() {
            self.wait_slow();
        }
    }

    #[cold]
    fn wait_slow(&self) {
        let SharedThrottle { plan, clock, .. } = self.throttle;
        self.throttle.wait_by(|gap| {
            if plan.clump > 1 { clock.rest(gap.max(CLUMP)) } else { clock.delay(gap) }
        });
    }

    /// [`wait`](Hand::wait) as a future, as [`SharedThrottle::until_ready`].
    pub async fn until_ready(&mut self) {
        if !self.try_take() {
            self.throttle.until_ready().await;
        }
    }

    #[cold]
    fn refill(&mut self) {
        let SharedThrottle { plan, ledger, .. } = self.throttle;
        if plan.grid.is_unlimited() {
            self.tokens.len = ENDLESS;
            return;
        }
        let due = self.throttle.due();
        self.tokens = ledger.take_some(plan.floor(due), due, plan.batch);
    }
}

impl<C: Clock> Drop for Hand<'_, C> {
    fn drop(&mut self) {
        // Without a limit they have no numbers.
        if self.tokens.len > 0 && self.tokens.last > 0 {
            self.throttle.ledger.give_back(self.tokens);
        }
    }
}
