//! The throttle of one owner: no atomics.

use super::rate::ENDLESS;
use super::timeline::Timeline;
use super::{Clock, Plan, Rate, RealClock, ThrottleError, pause_async};
use sateen_base::prim::time::Duration;

/// Holds its owner back to a rate.
///
/// * **It does not drift.** Item *n* is let through no earlier than *n* intervals after the start, however late those
///   before came; so in the long run the rate is exact, and in any span of time *t* no more than `burst + ⌈rate·t⌉`
///   pass.
/// * **Lateness is made up for,** up to the [burst](Throttle::burst): by default what is due in 0.1 s, or one item if that is less.
///   Who comes later than that loses the rest.
/// * **What is due is taken in batches,** with one reading of the clock for each: by default an eighth of the burst
///   at most. A token in hand costs a decrement. With [`batch(1)`](Throttle::batch) the clock is read for every item.
///
/// * **Waiting costs little.** Where several items are due in 200 µs it sleeps until those are, and lets them through together: at 1,000,000 a
///   second that takes a thirtieth of a processor. With `batch(1)`, and at lower rates, it sleeps until 60 µs before the time, gives way to other
///   fibers and threads until 3 µs before it, and then spins: each item passes when it is due, to the microsecond, at the price of a processor.
///
/// Cost of a check that passes: 1 ns with a token in hand, else a reading of the clock.
///
/// ```
/// use sateen::flow::{Clock, ManualClock, Rate, Throttle};
/// let clock = ManualClock::new();
/// let mut throttle = Throttle::new(Rate::per_second(10.0)?, clock.clone());
/// for _ in 0..=50 {
///     throttle.wait();
/// }
/// assert_eq!(clock.elapsed().as_secs(), 5);
/// # Ok::<(), sateen::flow::ThrottleError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Throttle<C = RealClock> {
    clock: C,
    plan: Plan,
    /// Time on the grid.
    time: Timeline,
    /// What has been taken of the grid, with what is in hand.
    taken: u64,
    /// Tokens that may be used without a look at the clock.
    hand: u64,
}

impl<C: Clock> Throttle<C> {
    /// At most `rate` from now on. The first item passes at once.
    pub fn new(rate: Rate, clock: C) -> Self {
        clock.refresh();
        let time = Timeline::new(clock.nanos(), 0);
        Self { clock, plan: Plan::default().at(rate), time, taken: 0, hand: 0 }
    }

    /// So many items at once at most, after a pause.
    ///
    /// # Errors
    /// If that is 0.
    pub fn burst(mut self, items: u64) -> Result<Self, ThrottleError> {
        self.plan.set_burst(items)?;
        Ok(self)
    }

    /// So many tokens at most for one reading of the clock, an eighth of the burst if that is less.
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

    /// Another rate from now on; what was said of burst and batch holds. An item that is due passes at once, and on the way to
    /// the next it goes on from where it is: half an interval at one rate and half at the other let one pass. What else was
    /// due and not used is lost.
    pub fn set_rate(&mut self, rate: Rate) {
        // First, for it may panic.
        self.clock.refresh();
        let now = self.clock.nanos();
        let progress = self.progress(now);
        self.plan = self.plan.at(rate);
        self.hand = 0;
        (self.taken, self.time) = match progress {
            None => (0, Timeline::new(now, 0)),
            // As if one had passed so long ago.
            Some(progress) => (1, Timeline::new(now, self.plan.grid.time_to(progress))),
        };
    }

    /// How far it is from the last item to the next, from 0 to 1; none if one is due.
    fn progress(&mut self, now: u64) -> Option<f64> {
        let grid = &self.plan.grid;
        if grid.is_unlimited() {
            return Some(0.0);
        }
        let passed = self.time.at(now);
        match self.taken.checked_sub(grid.due(passed)) {
            _ if self.hand > 0 => None,
            Some(0) => Some(grid.progress(passed)),
            // Without a clock that went back there are no items ahead.
            Some(_) => Some(0.0),
            None => None,
        }
    }

    /// Its clock.
    pub(crate) fn clock(&self) -> &C {
        &self.clock
    }

    /// Takes `n` tokens if they are due; never waits. Without a limit they always are. With one it is false always if `n` is more than
    /// the burst less the rest of a batch: only with batches of 1 can all of a burst be taken in one go.
    #[inline]
    pub fn try_take(&mut self, n: u64) -> bool {
        if self.hand < n {
            return self.take(n) || self.take_anew(n);
        }
        self.hand -= n;
        true
    }

    /// Waits until the next item may pass.
    ///
    /// Blocks the thread, or suspends the fiber; see [`Throttle`] for how.
    #[inline]
    pub fn wait(&mut self) {
        if self.hand > 0 {
            self.hand -= 1;
        } else if !self.take(1) {
            self.wait_slow();
        }
    }

    /// Waits until a token is due, and takes it.
    #[cold]
    fn wait_slow(&mut self) {
        while !self.take_anew(1) {
            self.delay();
        }
    }

    /// Waits for about as long as [`gap`](Self::gap) says.
    pub(crate) fn delay(&self) {
        let gap = self.gap();
        if self.plan.clump > 1 { self.clock.rest(gap) } else { self.clock.delay(gap) }
    }

    /// Takes one token, or says how long it is until there is one.
    pub(crate) fn poll(&mut self) -> Result<(), Duration> {
        if self.try_take(1) { Ok(()) } else { Err(self.gap()) }
    }

    /// One token was not used.
    pub(crate) fn put_back(&mut self) {
        self.hand += 1;
    }

    /// How long it is until the next token is due, or the next few if they come so fast that waiting for one would be spinning.
    pub(crate) fn gap(&self) -> Duration {
        let now = self.time.peek(self.clock.nanos());
        let next = self.taken.saturating_add(self.plan.clump);
        Duration::from_nanos(self.plan.grid.time_of(next).saturating_sub(now).max(1))
    }

    /// [`wait`](Throttle::wait) as a future. Dropped before it is ready it has taken nothing.
    ///
    /// ```
    /// use sateen::flow::{Clock, ManualClock, Rate, Throttle};
    /// let clock = ManualClock::new();
    /// let mut throttle = Throttle::new(Rate::per_second(1.0)?, clock.clone());
    /// sateen::sync::block_on(async {
    ///     throttle.until_ready().await;
    ///     throttle.until_ready().await;
    /// });
    /// assert_eq!(clock.elapsed().as_secs(), 1);
    /// # Ok::<(), sateen::flow::ThrottleError>(())
    /// ```
    pub async fn until_ready(&mut self) {
        while let Err(gap) = self.poll() {
            pause_async(&self.clock, gap).await;
        }
    }

    /// With fewer than `n` in hand: looks at the clock and takes what is missing, and into the hand what makes it a batch; false if
    /// that is not due.
    ///
    /// A call, so that who has a token in hand pays for nothing else.
    #[inline(never)]
    fn take(&mut self, n: u64) -> bool {
        if self.plan.grid.is_unlimited() {
            self.hand = ENDLESS;
            return true;
        }
        let now = self.clock.nanos();
        let mut due = self.plan.grid.due(self.time.at(now));
        if due == ENDLESS {
            due = self.begin_anew(now);
        }
        // What was in hand may just have been used as part of a burst.
        let taken = self.taken.max(due.saturating_sub(self.plan.burst - (self.plan.batch - 1)));
        let (left, missing) = (due.saturating_sub(taken), n - self.hand);
        if left < missing {
            return false;
        }
        let granted = left.min(self.plan.batch.max(missing));
        self.taken = taken + granted;
        self.hand = granted - missing;
        true
    }

    /// The grid is at the end of the numbers: another begins. How many are due on it.
    #[cold]
    fn begin_anew(&mut self, now: u64) -> u64 {
        self.time = Timeline::new(now, 0);
        self.taken = 0;
        self.plan.grid.due(0)
    }

    /// [`take`](Self::take) by a clock that does not stand still.
    #[cold]
    fn take_anew(&mut self, n: u64) -> bool {
        self.clock.refresh();
        self.take(n)
    }
}
