//! A scheduling policy: the earliest deadline first, on several workers.
//!
//! ```text
//! cargo run -p sateen --example deadline
//! ```
//!
//! A task that has not started may run on any worker, so it is in one queue for all. A started task
//! stays with its worker. A worker takes the one of its two candidates that is due first.

use sateen::policy::{self, Policy, Runnable};
use sateen::{JoinHandle, Runtime, Spawn, TaskId, yield_now};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    by_deadline_and_arrival: BTreeMap<(u64, u64), Runnable>,
    arrivals: u64,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, deadline: u64, runnable: Runnable) {
        let mut waiting = self.lock();
        waiting.arrivals += 1;
        let key = (deadline, waiting.arrivals);
        waiting.by_deadline_and_arrival.insert(key, runnable);
    }

    fn pop(&self) -> Option<Runnable> {
        self.lock().by_deadline_and_arrival.pop_first().map(|(_, runnable)| runnable)
    }

    /// When the first task is due.
    fn first(&self) -> Option<u64> {
        self.lock().by_deadline_and_arrival.first_key_value().map(|(key, _)| key.0)
    }

    fn remove(&self, task: TaskId) -> Option<Runnable> {
        let waiting = &mut self.lock().by_deadline_and_arrival;
        let key = *waiting.iter().find(|(_, runnable)| runnable.id() == Some(task))?.0;
        waiting.remove(&key)
    }
}

/// One worker's view.
struct Earliest {
    shared: Arc<Queue>,
    own: Queue,
}

impl Earliest {
    fn queue(&self, runnable: &Runnable) -> &Queue {
        if runnable.is_pinned() { &self.own } else { &self.shared }
    }
}

/// Deadlines are microseconds since the start. A task without a deadline can wait.
fn deadline(runnable: &Runnable) -> u64 {
    match runnable.property() {
        0 => u64::MAX,
        deadline => deadline,
    }
}

impl Policy for Earliest {
    fn awakened(&self, runnable: Runnable) {
        self.queue(&runnable).push(deadline(&runnable), runnable);
    }

    fn pick_next(&self) -> Option<Runnable> {
        let started_first = match (self.own.first(), self.shared.first()) {
            (Some(own), Some(shared)) => own <= shared,
            (own, _) => own.is_some(),
        };
        if started_first { self.own.pop() } else { self.shared.pop() }
    }

    fn has_ready(&self) -> bool {
        self.own.first().is_some() || self.shared.first().is_some()
    }

    fn property_change(&self, task: TaskId, _: u64) {
        for queue in [&self.own, &self.shared] {
            if let Some(runnable) = queue.remove(task) {
                queue.push(deadline(&runnable), runnable);
            }
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const JOBS: u64 = 60;
    const PIECES: u32 = 20;
    let shared = Arc::new(Queue::default());
    let policy = policy::custom(move |_worker| {
        Box::new(Earliest { shared: Arc::clone(&shared), own: Queue::default() })
    });
    let runtime = Runtime::builder().workers(2).policy(policy).build()?;
    let begin = Instant::now();
    let job = |number: u64| -> JoinHandle<Duration> {
        // In no particular order, so that the policy has to sort them.
        let due = 2_000 * (1 + number * 17 % JOBS);
        Spawn::new().property(due).spawn(move || {
            for _ in 0..PIECES {
                let end = Instant::now() + Duration::from_micros(20);
                while Instant::now() < end {}
                // More urgent tasks go first.
                yield_now();
            }
            begin.elapsed().saturating_sub(Duration::from_micros(due))
        })
    };
    let jobs: Vec<_> = runtime.install(|| (0..JOBS).map(job).collect());
    let late: Vec<Duration> = jobs.into_iter().map(JoinHandle::join).collect::<Result<_, _>>()?;
    let missed = late.iter().filter(|late| !late.is_zero()).count();
    println!(
        "{JOBS} jobs, {missed} late, by {:?} at most",
        late.iter().max().unwrap_or(&Duration::ZERO)
    );
    Ok(())
}
