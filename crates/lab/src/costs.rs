//! What the processor and the kernel ask for the steps that every lock and scheduler is made of.

use crate::stats::median;
use sateen_base::{CachePadded, fence, os};
use serde::Serialize;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence as full_fence};
use std::thread;
use std::time::{Duration, Instant};

/// Costs in nanoseconds, as they go into the JSON of each run.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Costs {
    /// An atomic addition to a line in this core's cache.
    pub(crate) locked_ns: f64,
    /// A sequentially consistent fence.
    pub(crate) fence_ns: f64,
    /// One `pause` instruction.
    pub(crate) pause_ns: f64,
    /// A look at the monotonic clock.
    pub(crate) clock_ns: f64,
    /// The call that wakes a thread which sleeps in the kernel; none if no thread can be had.
    pub(crate) futex_wake_ns: Option<f64>,
    /// From that call until the thread runs; none likewise.
    pub(crate) wake_to_run_ns: Option<f64>,
    /// The heavy side of the asymmetric fence beside a busy core; none without `membarrier`, or
    /// without a thread.
    pub(crate) heavy_fence_ns: Option<f64>,
}

impl Costs {
    /// Measures them, in about 20 ms. Each is the least, or for the kernel's the median, of some
    /// tries.
    pub(crate) fn measure() -> Self {
        let word = CachePadded::new(AtomicU64::new(0));
        let (futex_wake_ns, wake_to_run_ns) = wake().unzip();
        Self {
            locked_ns: each(|| _ = black_box(&word).fetch_add(1, Ordering::SeqCst)),
            // The store keeps the compiler from making one fence of many.
            fence_ns: each(|| {
                black_box(&word).store(1, Ordering::Relaxed);
                full_fence(Ordering::SeqCst);
            }),
            pause_ns: each(spin_loop),
            clock_ns: each(|| _ = black_box(Instant::now())),
            futex_wake_ns,
            wake_to_run_ns,
            heavy_fence_ns: if fence::is_asymmetric() { heavy_fence() } else { None },
        }
    }
}

/// Nanoseconds of one step: the least of some batches, as any of them may be interrupted.
fn each(step: impl Fn()) -> f64 {
    const STEPS: u32 = 10_000;
    let batches = (0..7).map(|_| {
        let start = Instant::now();
        (0..STEPS).for_each(|_| step());
        start.elapsed().as_nanos() as f64 / f64::from(STEPS)
    });
    batches.fold(f64::INFINITY, f64::min)
}

/// The heavy fence while a thread of this process keeps another core busy.
fn heavy_fence() -> Option<f64> {
    let stop = AtomicBool::new(false);
    let busy = || {
        while !stop.load(Ordering::Relaxed) {
            spin_loop();
        }
    };
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, busy).ok()?;
        let mut times: Vec<f64> = (0..50)
            .map(|_| {
                let start = Instant::now();
                let _fence = fence::heavy();
                start.elapsed().as_nanos() as f64
            })
            .collect();
        stop.store(true, Ordering::Relaxed);
        Some(median(&mut times))
    })
}

/// What waking a thread takes: the call itself, and the time until the thread runs.
fn wake() -> Option<(f64, f64)> {
    const WAKES: u32 = 50;
    let (turn, answered) = (AtomicU32::new(0), AtomicU64::new(0));
    let start = Instant::now();
    let now = || start.elapsed().as_nanos() as u64;
    let sleeper = || {
        for seen in 0..WAKES {
            while turn.load(Ordering::Acquire) == seen {
                os::futex_wait(&turn, seen, None);
            }
            // Ordering: Release pairs with the Acquire below: the answer belongs to this turn.
            answered.store(now(), Ordering::Release);
        }
    };
    thread::scope(|scope| {
        thread::Builder::new().spawn_scoped(scope, sleeper).ok()?;
        let (mut calls, mut runs) = (Vec::new(), Vec::new());
        for next in 1..=WAKES {
            // Long enough for the other thread to fall asleep.
            thread::sleep(Duration::from_micros(100));
            let before = answered.load(Ordering::Acquire);
            let asked = now();
            turn.store(next, Ordering::Release);
            os::futex_wake_one(&turn);
            calls.push((now() - asked) as f64);
            let ran = loop {
                match answered.load(Ordering::Acquire) {
                    at if at == before => thread::yield_now(),
                    at => break at,
                }
            };
            runs.push(ran.saturating_sub(asked) as f64);
        }
        Some((median(&mut calls), median(&mut runs)))
    })
}
