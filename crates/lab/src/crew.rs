//! Threads that start together and are timed one by one.

use crate::error::{Error, input};
use crate::host::cores;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What one thread of the crew did.
pub(crate) struct Done<T> {
    /// From the common start to this thread's own end.
    pub(crate) elapsed: Duration,
    pub(crate) result: T,
}

/// Runs `jobs[i]` on thread `i`, all released at once, with `stack` bytes of stack each.
///
/// # Errors
/// A thread cannot be created. Those that exist end without running their job.
pub(crate) fn run<T: Send, F: FnOnce() -> T + Send>(
    stack: usize,
    jobs: Vec<F>,
) -> Result<Vec<Done<T>>, Error> {
    let mut results: Vec<Option<T>> = jobs.iter().map(|_| None).collect();
    let boxed = jobs
        .into_iter()
        .zip(&mut results)
        .map(|(job, result)| -> Job<'_> { Box::new(move || *result = Some(job())) });
    let times = run_boxed(stack, boxed.collect())?;
    let done = results.into_iter().flatten().zip(times);
    Ok(done.map(|(result, elapsed)| Done { elapsed, result }).collect())
}

type Job<'j> = Box<dyn FnOnce() + Send + 'j>;

/// The same for jobs of one type, which is compiled once. Returns how long each took.
fn run_boxed(stack: usize, jobs: Vec<Job<'_>>) -> Result<Vec<Duration>, Error> {
    let n = jobs.len();
    let arrived = AtomicUsize::new(0);
    let abandoned = AtomicBool::new(false);
    let start = OnceLock::new();
    let member = |job: Job<'_>| {
        // Ordering: pairs with the acquire load below in the other members; all begin after the
        // last arrival.
        arrived.fetch_add(1, Ordering::AcqRel);
        let mut relax = Relax::new(n);
        // Ordering: pairs with the arrivals above.
        while arrived.load(Ordering::Acquire) < n {
            // Ordering: pairs with the release store of the thread that could not start a member.
            if abandoned.load(Ordering::Acquire) {
                return None;
            }
            relax.pause();
        }
        // One start for all: a thread that gets its core late has been slow, not short.
        let start = *start.get_or_init(Instant::now);
        job();
        Some(start.elapsed())
    };
    let member = &member;
    thread::scope(|scope| {
        let mut threads = Vec::with_capacity(n);
        for (i, job) in jobs.into_iter().enumerate() {
            let builder = thread::Builder::new().name(format!("crew {i}")).stack_size(stack);
            match builder.spawn_scoped(scope, move || member(job)) {
                Ok(handle) => threads.push(handle),
                Err(e) => {
                    // Ordering: pairs with the acquire load in `member`.
                    abandoned.store(true, Ordering::Release);
                    return Err(input(format!("cannot start thread {} of {n}: {e}", i + 1)));
                }
            }
        }
        let done = threads.into_iter().map(|t| match t.join() {
            Ok(done) => done.ok_or_else(|| input("a thread was abandoned")),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        done.collect()
    })
}

/// Where threads wait for each other once, so that all have the same start.
#[derive(Debug)]
pub(crate) struct StartLine {
    threads: usize,
    arrived: AtomicUsize,
    start: OnceLock<Instant>,
}

impl StartLine {
    /// Creates a start line for `threads` threads, each of which passes once.
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, arrived: AtomicUsize::new(0), start: OnceLock::new() }
    }

    /// Waits for the others. Returns when the first of them went on.
    pub(crate) fn pass(&self) -> Instant {
        // Ordering: pairs with the acquire load below: what a thread did before the line is visible
        // to all behind it.
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let mut relax = Relax::new(self.threads);
        // Ordering: pairs with the arrivals above.
        while self.arrived.load(Ordering::Acquire) < self.threads {
            relax.pause();
        }
        *self.start.get_or_init(Instant::now)
    }
}

/// The sum of the members' times, in nanoseconds.
pub(crate) fn total_ns<T>(done: &[Done<T>]) -> f64 {
    done.iter().map(|d| d.elapsed.as_nanos() as f64).sum()
}

/// Relaxes the processor while a thread finds nothing to do: it pauses, and now and then yields its
/// time slice, often if threads share cores.
#[derive(Clone, Copy)]
pub(crate) struct Relax {
    pauses: u32,
    yield_after: u32,
}

impl Relax {
    /// For one of `threads` threads that compute at the same time.
    pub(crate) fn new(threads: usize) -> Self {
        Self { pauses: 0, yield_after: if threads > cores() { 64 } else { 4096 } }
    }

    /// Notes that there was something to do.
    #[inline(always)]
    pub(crate) fn reset(&mut self) {
        self.pauses = 0;
    }

    /// Pauses, because there was nothing to do.
    #[inline]
    pub(crate) fn pause(&mut self) {
        self.pauses += 1;
        if self.pauses >= self.yield_after {
            self.pauses = 0;
            thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}
