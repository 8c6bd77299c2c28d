//! Guards, futures and handles that are forgotten by the ten thousand do not slow down others.
//!
//! Each row forgets (`std::mem::forget`) one kind of value 10,000 times, and then uses the same
//! object in the usual way. A structure that keeps what was forgotten in a list, and walks along
//! that list in a hot path, fails here.
//!
//! Time is measured, because no other measure spans all crates. A row does not depend on luck:
//!
//! * The round with forgotten values and the round without them alternate. Each is some ten
//!   microseconds long, and the fastest of many rounds counts. Noise only makes a round slower, so
//!   it must hit every single one of them to be seen.
//! * The limit is four times the time without forgotten values, and 20 µs more. A walk along 10,000
//!   values takes hundreds of times as long; the promise, 1.2 times, is far below it.
//!
//! The exact ratios, in an optimised build: `cargo test --release -p sateen --test leaked --
//! --nocapture`.

mod queues;
mod tasks;
mod waits;

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

/// How many values a row forgets.
const LEAKS: usize = 10_000;
/// Rounds of each kind.
const ROUNDS: usize = 200;
/// A round may take so many times as long as without forgotten values.
const MOST_TIMES: u32 = 4;
/// And so much longer, whatever that time is.
const MARGIN: Duration = Duration::from_micros(20);

/// One kind of value.
pub(crate) struct Row {
    name: &'static str,
    /// Makes an object, forgets that many values of it, and returns one round of usual work.
    make: fn(usize) -> Round,
}

pub(crate) type Round = Box<dyn FnMut()>;

pub(crate) const fn row(name: &'static str, make: fn(usize) -> Round) -> Row {
    Row { name, make }
}

/// An object that lives as long as what was forgotten.
pub(crate) fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Polls a future once, and forgets it if it is not ready.
pub(crate) fn forget_pending<F: Future>(future: F) {
    let mut future: Pin<Box<F>> = Box::pin(future);
    let pending = future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
    assert!(pending, "the future to be forgotten is ready");
    std::mem::forget(future);
}

/// A round that calls `f` that many times.
pub(crate) fn round<R>(times: usize, mut f: impl FnMut() -> R + 'static) -> Round {
    Box::new(move || (0..times).for_each(|_| _ = black_box(f())))
}

fn time(round: &mut Round) -> Duration {
    let start = Instant::now();
    round();
    start.elapsed()
}

/// The fastest rounds without forgotten values and with them.
fn measure(row: &Row) -> (Duration, Duration) {
    let (mut fresh, mut leaked) = ((row.make)(0), (row.make)(LEAKS));
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        best.0 = best.0.min(time(&mut fresh));
        best.1 = best.1.min(time(&mut leaked));
    }
    best
}

#[test]
fn what_is_forgotten_slows_nothing_down() {
    let mut slow = Vec::new();
    for row in [queues::ALL, waits::ALL, tasks::ALL].into_iter().flatten() {
        let (fresh, leaked) = measure(row);
        let times = leaked.as_secs_f64() / fresh.as_secs_f64();
        println!("{:50} {fresh:>10.1?} {leaked:>10.1?} {times:>8.2} times", row.name);
        if leaked > fresh * MOST_TIMES + MARGIN {
            slow.push(format!("{}: {times:.1} times as slow", row.name));
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
