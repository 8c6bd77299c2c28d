//! The timekeeper thread, which watches timers while all workers are awake.
//!
//! Each runtime has its own. The first call creates it, and it ends with the runtime. It sleeps
//! until the earliest timer, or until it is called. It sleeps without a limit if there are no
//! timers, or if a worker watches (`watcher.rs`). It fires no timer itself, because wakers may be
//! user code. It raises `TIMER` at the workers, which fire timers where they poll.
//!
//! | state | meaning | changed by |
//! |---|---|---|
//! | `NONE` | there is no thread | a caller: to `RUNS`, and back if the system refuses |
//! | `RUNS` | there is one, or it is being started | the runtime's end: to `ENDED` |
//! | `ENDED` | there is none, or it is leaving | |

use crate::shared::Shared;
use crate::watcher::NEVER;
use sateen_base::os;
use sateen_base::prim::time::{Duration, Instant};
use sateen_base::prim::{Arc, AtomicU8, AtomicU64, Ordering};
use sateen_sync::park::ThreadParker;

const NONE: u8 = 0;
const RUNS: u8 = 1;
const ENDED: u8 = 2;

/// Stack size of the thread, in bytes.
const STACK: usize = 64 << 10;
/// How long to wait after the system has refused a thread.
const RETRY: Duration = Duration::from_secs(1);

/// See the [module's documentation](self).
pub(crate) struct Timekeeper {
    state: AtomicU8,
    parker: ThreadParker,
    /// The zero of the times below.
    base: Instant,
    /// No thread is requested before this time.
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

    /// `at` as a number, for comparisons.
    pub(crate) fn ticks(&self, at: Instant) -> u64 {
        let nanos = at.saturating_duration_since(self.base).as_nanos();
        u64::try_from(nanos).unwrap_or(NEVER).min(NEVER - 1)
    }

    /// Asks the thread to check, because no worker sleeps. Without a thread, timers wait until a
    /// worker is idle, or reads the clock anyway.
    #[cold]
    pub(crate) fn call(&self, shared: &Arc<Shared>) {
        // Ordering: Relaxed; the thread only uses what the parker orders.
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

    /// Ends the thread; no further one is started.
    pub(crate) fn end(&self) {
        self.state.store(ENDED, Ordering::Relaxed);
        self.parker.unpark();
    }

    /// The thread's main function.
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
