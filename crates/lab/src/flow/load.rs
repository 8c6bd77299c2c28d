//! Numbers from senders through a worker queue, at rates that can be changed during the run.

use super::args::{ClockKind, Settings};
use super::watch::{Look, Waits, Wanted};
use crate::error::{Error, input};
use crate::exhibits::{SampledClock, TscClock};
use sateen_base::CachePadded;
use sateen_flow::{Clock, Rate, RealClock, Sender, Throttle, WorkerQueue};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a slow handler takes.
const SLOW: Duration = Duration::from_millis(10);
/// The longest wait of a sender for its throttle in one go, so that the sender notices changes
/// meanwhile.
const PIECE: Duration = Duration::from_millis(10);

/// Senders, and a queue with as many workers.
#[derive(Debug)]
pub(super) struct Load {
    control: Arc<Control>,
    counts: Arc<Counts>,
    queue: WorkerQueue<u64>,
    senders: Vec<JoinHandle<()>>,
    start: Instant,
}

/// What senders and workers are told.
#[derive(Debug)]
struct Control {
    wanted: Mutex<Wanted>,
    changed: Condvar,
    /// How often the settings changed. Senders read it at each item.
    version: AtomicU64,
    stopped: AtomicBool,
    /// Workers below this number have a slow handler.
    slow: AtomicUsize,
}

/// Counts of what was done. Each is on a line of its own, and one thread writes it.
#[derive(Debug)]
struct Counts {
    sent: Box<[CachePadded<AtomicU64>]>,
    /// Sent, and returned because there was no room.
    refused: Box<[CachePadded<AtomicU64>]>,
    received: Box<[CachePadded<AtomicU64>]>,
}

fn counts(n: usize) -> Box<[CachePadded<AtomicU64>]> {
    (0..n).map(|_| CachePadded::default()).collect()
}

/// Counts one item. Only one thread counts there.
#[inline(always)]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn sum(counts: &[CachePadded<AtomicU64>]) -> u64 {
    counts.iter().map(|c| c.load(Ordering::Relaxed)).sum()
}

/// Returns the limit of `items` a second; infinitely many are no limit.
///
/// # Errors
/// `items` is not a rate.
pub(super) fn limit(items: f64) -> Result<Rate, Error> {
    if items == f64::INFINITY {
        return Ok(Rate::UNLIMITED);
    }
    Rate::per_second(items).map_err(|e| input(e.to_string()))
}

/// Does something with a clock.
pub(super) trait WithClock {
    type Result;
    fn run<C: Clock + Clone + Send + 'static>(self, clock: C) -> Self::Result;
}

/// Runs `what` with the clock that is asked for.
///
/// # Errors
/// This machine has no such clock.
pub(super) fn with_clock<W: WithClock>(kind: ClockKind, what: W) -> Result<W::Result, Error> {
    Ok(match kind {
        ClockKind::Exact => what.run(RealClock::new()),
        ClockKind::Sampled(every) => what.run(SampledClock::new(every)),
        ClockKind::Tsc => {
            let none = "--clock tsc: this processor has no counter of constant speed";
            what.run(TscClock::new().ok_or_else(|| input(none))?)
        }
    })
}

impl Control {
    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut Wanted)) {
        change(&mut self.lock());
        // A thread that waits checks the version under the lock, so no thread misses the change.
        self.version.fetch_add(1, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Waits until the settings have changed since `version`, or for `time`.
    fn wait(&self, version: u64, time: Option<Duration>) {
        let wanted = self.lock();
        let same = |_: &mut Wanted| self.version.load(Ordering::Relaxed) == version;
        match time {
            Some(time) => drop(self.changed.wait_timeout_while(wanted, time, same)),
            None => drop(self.changed.wait_while(wanted, same)),
        }
    }
}

struct Start<'a>(&'a Settings);

impl WithClock for Start<'_> {
    type Result = Result<Load, Error>;

    fn run<C: Clock + Clone + Send + 'static>(self, clock: C) -> Self::Result {
        let Settings { threads, send_rate, receive_rate, .. } = *self.0;
        let (send, receive) = (limit(send_rate)?, limit(receive_rate)?);
        let control = Arc::new(Control {
            wanted: Mutex::new(Wanted { send_rate, receive_rate, paused: false, slow: 0 }),
            changed: Condvar::new(),
            version: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            slow: AtomicUsize::new(0),
        });
        let counts = Arc::new(Counts {
            sent: counts(threads),
            refused: counts(threads),
            received: counts(threads),
        });
        let (told, counted) = (Arc::clone(&control), Arc::clone(&counts));
        let builder = self.0.builder().receive_rate(receive).clock(clock.clone());
        let queue = builder.start(move |worker, _: &mut u64| {
            if worker < told.slow.load(Ordering::Relaxed) {
                thread::sleep(SLOW);
            }
            count(&counted.received[worker]);
        });
        let queue = queue.map_err(|e| input(e.to_string()))?;
        let senders = Vec::with_capacity(threads);
        // Senders that exist end when the load is dropped.
        let mut load = Load { control, counts, queue, senders, start: Instant::now() };
        for number in 0..threads {
            let sender = OneSender {
                number,
                sender: load.queue.sender(),
                control: Arc::clone(&load.control),
                counts: Arc::clone(&load.counts),
                throttle: Throttle::new(send, clock.clone()),
            };
            let builder = thread::Builder::new().name(format!("sender {number}"));
            let started = builder.spawn(move || sender.run());
            let started = started.map_err(|e| {
                input(format!("cannot start sender {} of {threads}: {e}", number + 1))
            })?;
            load.senders.push(started);
        }
        Ok(load)
    }
}

struct OneSender<C> {
    number: usize,
    sender: Sender<u64>,
    control: Arc<Control>,
    counts: Arc<Counts>,
    throttle: Throttle<C>,
}

impl<C: Clock> OneSender<C> {
    /// Sends until it is told to stop, or the queue is closed.
    fn run(mut self) {
        let (sent, refused) = (&self.counts.sent[self.number], &self.counts.refused[self.number]);
        let (mut version, mut paused) = (0, false);
        let mut item = 0;
        loop {
            let now = self.control.version.load(Ordering::Relaxed);
            if now != version {
                version = now;
                if self.control.stopped.load(Ordering::Relaxed) {
                    return;
                }
                let wanted = *self.control.lock();
                paused = wanted.paused;
                // The rate was checked before.
                if let Ok(rate) = limit(wanted.send_rate)
                    && rate != self.throttle.rate()
                {
                    self.throttle.set_rate(rate);
                }
            }
            if paused {
                self.control.wait(version, None);
                continue;
            }
            if !self.throttle.try_take(1) {
                let each = self.throttle.rate().get().map_or(0.0, f64::recip);
                if each > PIECE.as_secs_f64() {
                    self.control.wait(version, Some(PIECE));
                    continue;
                }
                self.throttle.wait();
            }
            match self.sender.send(item) {
                Ok(()) => count(sent),
                Err(back) if back.reason == sateen_flow::Refusal::Full => {
                    count(sent);
                    count(refused);
                }
                Err(_) => return,
            }
            item += 1;
        }
    }
}

impl Load {
    /// Starts senders and workers.
    ///
    /// # Errors
    /// A thread cannot be started, or the queue cannot be built.
    pub(super) fn start(settings: &Settings) -> Result<Self, Error> {
        with_clock(settings.clock, Start(settings))?
    }

    /// Returns the run as it is now.
    pub(super) fn look(&self) -> Look {
        let at = self.start.elapsed();
        let stats = self.queue.stats();
        let percentile = |percent| stats.waits.percentile(percent);
        Look {
            at,
            // First what leaves, then what comes in.
            workers: self.counts.received.iter().map(|c| c.load(Ordering::Relaxed)).collect(),
            received: sum(&self.counts.received),
            dropped: stats.dropped + sum(&self.counts.refused),
            depths: stats.queues.iter().map(|depth| *depth as u64).collect(),
            sent: sum(&self.counts.sent),
            waits: Waits {
                p50: percentile(50.0),
                p90: percentile(90.0),
                p99: percentile(99.0),
                max: stats.waits.max(),
            },
        }
    }

    /// Returns the current settings.
    pub(super) fn wanted(&self) -> Wanted {
        *self.control.lock()
    }

    /// Changes the settings.
    pub(super) fn change(&self, wanted: Wanted) {
        self.control.slow.store(wanted.slow, Ordering::Relaxed);
        // Rates come from the command line or from steps between valid rates.
        if let Ok(rate) = limit(wanted.receive_rate) {
            self.queue.set_receive_rate(rate);
        }
        self.control.tell(|now| *now = wanted);
    }

    /// Stops senders and workers. Returns the counts at the end. Items that no worker handled count
    /// as in the queues.
    pub(super) fn stop(mut self) -> Look {
        let before = self.look();
        let left = self.end();
        // From here on nothing is counted.
        Look { at: before.at, depths: vec![left], ..self.look() }
    }

    /// Stops all threads. Returns how many items no worker handled.
    fn end(&mut self) -> u64 {
        self.control.stopped.store(true, Ordering::Relaxed);
        self.control.tell(|_| {});
        let left = self.queue.abort().len();
        for sender in self.senders.drain(..) {
            // A sender does not panic. If it did, the counts would tell.
            let _ = sender.join();
        }
        self.queue.close();
        left as u64
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.end();
    }
}
