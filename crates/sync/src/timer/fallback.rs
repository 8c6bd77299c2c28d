//! Timers of plain threads: one queue, and one thread that is started on first use.
//!
//! | `served` | meaning | changed by |
//! |---|---|---|
//! | `NOT` 0 | there is no thread | its starter: `STARTING` |
//! | `STARTING` 1 | a thread is starting it | it: `SERVED`, or `NOT` if the system refused |
//! | `SERVED` 2 | the thread runs, for good | |

use super::TimerQueue;
use crate::thread_parker::ThreadParker;
use sateen_base::os::{self, PerProcess};
use sateen_base::prim::time::Instant;
use sateen_base::prim::{AtomicU32, Ordering};
use sateen_base::unwind::run_and_discard;
use std::io;

const NOT: u32 = 0;
const STARTING: u32 = 1;
const SERVED: u32 = 2;

pub(super) struct Fallback {
    pub(super) queue: TimerQueue,
    served: AtomicU32,
    parker: ThreadParker,
}

impl Fallback {
    fn new() -> Self {
        Self { queue: TimerQueue::new(), served: AtomicU32::new(NOT), parker: ThreadParker::new() }
    }

    /// The queue of this process: a forked child has none of its parent's threads.
    pub(super) fn here() -> &'static Self {
        static FALLBACK: PerProcess<Fallback> = PerProcess::new();
        FALLBACK.get(Self::new)
    }

    /// Whether a thread will fire the queue. Starts a thread if there is none. Returns false if the
    /// system refuses, or another caller is just starting it. In that case call again soon, and
    /// fire the queue yourself.
    #[inline]
    pub(super) fn is_served(&'static self) -> bool {
        // Relaxed: only the thread's parker is used, which has its own ordering.
        self.served.load(Ordering::Relaxed) == SERVED || self.start()
    }

    #[cold]
    fn start(&'static self) -> bool {
        let order = Ordering::Relaxed;
        match self.served.compare_exchange(NOT, STARTING, order, order) {
            Ok(_) => {
                let started = self.spawn().is_ok();
                self.served.store(if started { SERVED } else { NOT }, order);
                started
            }
            Err(state) => state == SERVED,
        }
    }

    fn spawn(&'static self) -> io::Result<()> {
        let name = Some("sateen-timer".to_owned());
        os::start_thread(name, None, Box::new(move || self.run())).map(drop)
    }

    /// Called when a timer was armed that comes before all others. It leaves a token, which wakes
    /// the thread or is there when it parks. Then the thread reads the new time.
    pub(super) fn earlier_timer(&self) {
        self.parker.unpark();
    }

    fn run(&self) {
        loop {
            match self.queue.earliest() {
                None => self.parker.park(),
                Some(at) => {
                    self.parker.park_timeout(at.saturating_duration_since(Instant::now()));
                }
            }
            // A waker's panic was reported by the panic hook; the other wakers were woken.
            run_and_discard(|| self.queue.fire(Instant::now()));
        }
    }
}
