//! The timekeeper: a thread that minds the timers while all workers are awake.
//!
//! Each runtime has its own. The first call makes it, and it ends with the runtime. It sleeps until
//! the earliest timer, or until it is called: without a limit while there are no timers, or a
//! worker watches (`watcher.rs`). It fires nothing itself, since wakers are other people's code. It
//! raises `TIMER` at the workers, which fire where they poll.
//!
//! | state | meaning | leaves it |
//! |---|---|---|
//! | `NONE` | there is no thread | a caller: to `RUNS`, and back if the system refuses |
//! | `RUNS` | there is one, or it is being made | the runtime's end: to `ENDED` |
//! | `ENDED` | there is none, or it leaves | |

use crate::shared::Shared;
use crate::watcher::NEVER;
use sateen_base::os;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicU8, AtomicU64, Ordering};
use sateen_sync::park::ThreadParker;

const NONE: u8 = 0;
const RUNS: u8 = 1;
const ENDED: u8 = 2;

/// Bytes of stack that the thread needs.
const STACK: usize = 64 << 10;
/// How long no thread is asked for after the system has refused one.
const RETRY: Duration = Duration::from_secs(1);

/// See the [module's documentation](self).
pub(crate) struct Timekeeper {
    state: AtomicU8,
    parker: ThreadParker,
    /// The moment that times are counted from.
    base: Instant,
    /// Before this time no thread is asked for.
    retry: AtomicU64,
}

impl Timekeeper {
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU8::new(NONE),
            parker: ThreadParker::new(),
            base: Instant::now(),
            retry: AtomicU64::new(0),
        }
    }

    /// `at` as a number that can be compared.
    pub(crate) fn ticks(&self, at: Instant) -> u64 {
        let nanos = at.saturating_duration_since(self.base).as_nanos();
        u64::try_from(nanos).unwrap_or(NEVER).min(NEVER - 1)
    }

    /// Asks the thread to look, as no worker sleeps. Without a thread, timers wait until a worker
    /// has nothing else to do, or looks at the clock anyway.
    #[cold]
    pub(crate) fn call(&self, shared: &Arc<Shared>) {
        // Ordering: Relaxed; the thread uses nothing of the caller's but what the parker orders.
        match self.state.compare_exchange(NONE, RUNS, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => self.start(shared),
            Err(RUNS) => self.parker.unpark(),
            Err(_) => {}
        }
    }

    fn start(&self, shared: &Arc<Shared>) {
        let now = self.ticks(Instant::now());
        let mut started = false;
        if now >= self.retry.load(Ordering::Relaxed) {
            shared.helper_starts();
            let body = Arc::clone(shared);
            let run = move || body.timekeeper.run(&body);
            let name = Some("sateen-clock".to_owned());
            started = os::start_thread(name, Some(STACK), Box::new(run)).is_ok();
            if !started {
                shared.helper_left();
                self.retry.store(now + RETRY.as_nanos() as u64, Ordering::Relaxed);
            }
        }
        if !started {
            // Unless the runtime has ended meanwhile.
            let _ = self.state.compare_exchange(RUNS, NONE, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Ends the thread; none is made any more.
    pub(crate) fn end(&self) {
        self.state.store(ENDED, Ordering::Relaxed);
        self.parker.unpark();
    }

    /// The thread's life.
    fn run(&self, shared: &Shared) {
        while self.state.load(Ordering::Relaxed) != ENDED {
            let at = shared.watcher.look(|| shared.earliest_timer());
            let left = at.saturating_sub(self.ticks(Instant::now()));
            if at == NEVER {
                self.parker.park();
            } else if left > 0 {
                self.parker.park_timeout(Duration::from_nanos(left));
            } else {
                shared.watcher.raise(shared.workers.iter().map(|worker| worker.requests()));
                self.parker.park();
            }
        }
        shared.helper_left();
    }
}
