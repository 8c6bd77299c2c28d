//! One limit for many.

use super::rate::ENDLESS;
use super::timeline::SharedTimeline;
use super::{CLUMP, Clock, Plan, Rate, RealClock, ThrottleError, pause_async};
use crate::gaps::Run;
use crate::ledger::Ledger;
use sateen_base::prim::time::Duration;

/// Holds all its callers together back to one rate.
///
/// What is said of [`Throttle`](super::Throttle) about drift and bursts holds of their sum. Who waits has a place in line, which comes due at a time of
/// its own: callers pass in the order in which they came, and nobody is woken to find that another was faster. Who stops waiting (a dropped
/// future, a cancelled task) gives the place back, and the next who comes has it. A place that nobody uses until a burst later is
/// lost: its owner takes what is due then, or goes to the end of the line.
///
/// Cost of a check: a reading of the clock and one locked instruction in a line that all share. Threads that pass often take a
/// [`hand`](SharedThrottle::hand).
///
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

    /// So many items at once at most, after a pause.
    ///
    /// # Errors
    /// If that is 0.
    pub fn burst(mut self, items: u64) -> Result<Self, ThrottleError> {
        self.plan.set_burst(items)?;
        Ok(self)
    }

    /// So many tokens at most that a [`Hand`] takes at once, an eighth of the burst if that is less.
    ///
    /// # Errors
    /// If that is 0.
    pub fn batch(mut self, tokens: u64) -> Result<Self, ThrottleError> {
        self.plan.set_batch(tokens)?;
        Ok(self)
    }

    /// The rate it holds to.
    pub fn rate(&self) -> Rate {
        self.plan.grid.rate()
    }

    /// Takes `n` tokens if they are due and nobody waits for them; never waits. Without a limit they always are, with one never if `n`
    /// is more than the burst.
    pub fn try_take(&self, n: u64) -> bool {
        if self.plan.grid.is_unlimited() {
            return true;
        }
        let due = self.due();
        self.ledger.take_all(self.plan.floor(due), due, n)
    }

    /// Waits for a token.
    ///
    /// Blocks the thread, or suspends the fiber, as [`Throttle::wait`](super::Throttle::wait) with `batch(1)` does: each passes when it is due, and
    /// above 10,000 a second that is spinning. A [`Hand`] sleeps instead.
    pub fn wait(&self) {
        self.wait_by(|gap| self.clock.delay(gap));
    }

    /// Takes a place in line, and waits until its time has come.
    fn wait_by(&self, delay: impl Fn(Duration)) {
        if self.plan.grid.is_unlimited() {
            return;
        }
        let mut reservation = self.line_up();
        while let Err(gap) = reservation.poll() {
            delay(gap);
        }
    }

    /// [`wait`](SharedThrottle::wait) as a future. It has its place in line from the first poll on; dropped before it is ready it
    /// has taken nothing.
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

    /// For one of many that pass often: takes tokens by the batch.
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

/// A token that is not due yet.
struct Reservation<'a, C: Clock> {
    throttle: &'a SharedThrottle<C>,
    /// Its number on the grid; 0 once it has been used.
    number: u64,
}

impl<C: Clock> Reservation<'_, C> {
    /// Uses it if it is due, else says how long it is until then.
    fn poll(&mut self) -> Result<(), Duration> {
        let SharedThrottle { clock, plan, time, ledger } = self.throttle;
        clock.refresh();
        let now = time.now(clock);
        let due = plan.grid.due(now);
        if due >= self.number {
            let number = std::mem::take(&mut self.number);
            let floor = plan.floor(due);
            // Too late it is lost, and another one does as well.
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

/// One thread's share of a [`SharedThrottle`]: tokens that were due, taken by the batch and used without a look at anything
/// shared. Dropped, it gives back what it has left.
///
/// What hands hold counts as taken: so all may pass by that much more at once, after a pause. Cost of a check: 1 ns with a token in hand.
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

    /// Waits for a token: its own first, else as [`SharedThrottle::wait`] does; but where several are due in 200 µs it sleeps for so long,
    /// and goes on with those.
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
