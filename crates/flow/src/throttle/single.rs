//! The throttle of one owner: no atomics.

use super::rate::ENDLESS;
use super::timeline::Timeline;
use super::{Clock, Plan, Rate, RealClock, ThrottleError, pause_async};
use sateen_base::prim::time::Duration;

/// Holds its owner to a rate.
///
/// * **It does not drift.** Item *n* passes no earlier than *n* intervals after the start, however
///   late the items before it came. So in the long run the rate is exact, and in any span of time
///   *t* no more than `burst + ⌈rate·t⌉` pass.
/// * **It makes up for lateness,** up to the [burst](Throttle::burst): by default what is due in
///   0.1 s, or one item if that is less. A caller that comes later than that loses the rest.
/// * **It takes what is due in batches,** with one reading of the clock for each: by default an
///   eighth of the burst at most. With [`batch(1)`](Throttle::batch) it reads the clock for every
///   item.
/// * **Waiting costs little.** If several items are due in 200 µs, it sleeps until those are, and
///   lets them through together: at 1,000,000 a second that takes a thirtieth of a processor. With
///   `batch(1)`, and at lower rates, it sleeps until 60 µs before the time, yields to other fibers
///   and threads until 3 µs before it, and then spins. Each item then passes when it is due, to the
///   microsecond, at the price of a processor.
///
/// # Cost
/// A check that passes costs 1 ns with a token in hand, else a reading of the clock.
///
/// # Examples
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
    /// How much of the grid has been taken, including tokens that are not used yet.
    taken: u64,
    /// Tokens that may be used without reading the clock.
    hand: u64,
}

impl<C: Clock> Throttle<C> {
    /// At most `rate` from now on. The first item passes at once.
    pub fn new(rate: Rate, clock: C) -> Self {
        clock.refresh();
        let time = Timeline::new(clock.nanos(), 0);
        Self { clock, plan: Plan::default().at(rate), time, taken: 0, hand: 0 }
    }

    /// At most `items` pass at once after a pause.
    ///
    /// # Errors
    /// [`ThrottleError::ZeroBurst`] if `items` is 0.
    pub fn burst(mut self, items: u64) -> Result<Self, ThrottleError> {
        self.plan.set_burst(items)?;
        Ok(self)
    }

    /// At most `tokens` for one reading of the clock, and no more than an eighth of the burst.
    ///
    /// # Errors
    /// [`ThrottleError::ZeroBatch`] if `tokens` is 0.
    pub fn batch(mut self, tokens: u64) -> Result<Self, ThrottleError> {
        self.plan.set_batch(tokens)?;
        Ok(self)
    }

    /// The rate that it holds its owner to.
    pub fn rate(&self) -> Rate {
        self.plan.grid.rate()
    }

    /// Holds to another rate from now on, with the same wishes for burst and batch.
    ///
    /// An item that is due passes at once. Progress towards the next item counts: half an interval
    /// at one rate and half at the other let one pass. Other items that were due and not used are
    /// lost.
    pub fn set_rate(&mut self, rate: Rate) {
        // First, because it may panic.
        self.clock.refresh();
        let now = self.clock.nanos();
        let progress = self.progress(now);
        self.plan = self.plan.at(rate);
        self.hand = 0;
        (self.taken, self.time) = match progress {
            None => (0, Timeline::new(now, 0)),
            // As if an item had passed that long ago.
            Some(progress) => (1, Timeline::new(now, self.plan.grid.time_to(progress))),
        };
    }

    /// The part of the interval from the last item to the next that has passed, from 0 to 1; `None`
    /// if an item is due.
    fn progress(&mut self, now: u64) -> Option<f64> {
        let grid = &self.plan.grid;
        if grid.is_unlimited() {
            return Some(0.0);
        }
        let passed = self.time.at(now);
        match self.taken.checked_sub(grid.due(passed)) {
            _ if self.hand > 0 => None,
            Some(0) => Some(grid.progress(passed)),
            // Items are ahead only after a clock went back.
            Some(_) => Some(0.0),
            None => None,
        }
    }

    /// Its clock.
    pub(crate) fn clock(&self) -> &C {
        &self.clock
    }

    /// Takes `n` tokens if they are due; never waits. Returns whether it did.
    ///
    /// Without a limit tokens are always due. With one it always returns false if `n` is more than
    /// the burst less the rest of a batch: only with batches of 1 can a whole burst be taken at
    /// once.
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

    /// Takes one token, or returns how long it is until there is one.
    pub(crate) fn poll(&mut self) -> Result<(), Duration> {
        if self.try_take(1) { Ok(()) } else { Err(self.gap()) }
    }

    /// One token was not used.
    pub(crate) fn put_back(&mut self) {
        self.hand += 1;
    }

    /// How long it is until the next token is due, or the next clump if waiting for one would be
    /// spinning.
    pub(crate) fn gap(&self) -> Duration {
        let now = self.time.peek(self.clock.nanos());
        let next = self.taken.saturating_add(self.plan.clump);
        Duration::from_nanos(self.plan.grid.time_of(next).saturating_sub(now).max(1))
    }

    /// [`wait`](Throttle::wait) as a future. If it is dropped before it is ready, it has taken
    /// nothing.
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

    /// Called with fewer than `n` tokens in hand. Reads the clock, takes the missing ones, and
    /// keeps in hand what completes a batch. Returns false if they are not due.
    ///
    /// Not inlined, so that a caller with a token in hand pays for nothing else.
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
        // Tokens that were held may just have been used as part of a burst.
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

    /// The grid has reached the end of the numbers: begins another one. Returns how many are due on
    /// it.
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
