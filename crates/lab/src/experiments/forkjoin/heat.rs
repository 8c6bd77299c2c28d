//! Heat that spreads over a plate: sweeps, each of which waits for the one before.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let case = Case {
        case: "heat",
        unit: "ms",
        title: "time of 50 sweeps of a stencil",
        description: "50 sweeps over 1024 rows of 1024 f64. Each value becomes the mean of itself \
                      and its four neighbours. Joins halve the rows down to single ones"
            .to_owned(),
        slices: false,
        cpu: false,
        make: |smoke| if smoke { Plate::new(16, 4) } else { Plate::new(1024, 50) },
        serial: true,
    };
    super::groups(plan, workers, &case)
}

/// A square plate with a rim of constant heat.
struct Plate {
    /// Values in a row, and rows, with the rim.
    side: usize,
    sweeps: usize,
    start: Vec<f64>,
    /// The plate after all sweeps, computed without a library.
    end: Vec<f64>,
    buffers: Mutex<Buffers>,
}

/// A sweep reads one buffer and writes the other. Both have the rim.
struct Buffers {
    now: Vec<f64>,
    next: Vec<f64>,
}

impl Buffers {
    fn swap(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// Returns what a sweep reads, and the rows that it writes.
    fn halves(&mut self, side: usize) -> (&[f64], &mut [f64]) {
        (&self.now, &mut self.next[side..side * (side - 1)])
    }
}

impl Plate {
    fn new(inner: usize, sweeps: usize) -> Self {
        let side = inner + 2;
        let value = |i: usize| ((i / side * 31 + i % side * 17) % 101) as f64;
        let start: Vec<f64> = (0..side * side).map(value).collect();
        let mut buffers = Buffers { now: start.clone(), next: start.clone() };
        sweep_serial(&mut buffers, side, sweeps);
        Self { side, sweeps, start, end: buffers.now.clone(), buffers: Mutex::new(buffers) }
    }

    fn buffers(&self) -> MutexGuard<'_, Buffers> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Program for Plate {
    type Out = ();

    fn reset(&self) {
        let mut buffers = self.buffers();
        buffers.now.copy_from_slice(&self.start);
        buffers.next.copy_from_slice(&self.start);
    }

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, _: Grain) {
        let mut buffers = self.buffers();
        for _ in 0..self.sweeps {
            let (now, next) = buffers.halves(self.side);
            rows::<L>(ctx, now, next, self.side);
            buffers.swap();
        }
    }

    fn serial(&self) -> Option<()> {
        sweep_serial(&mut self.buffers(), self.side, self.sweeps);
        Some(())
    }

    /// The order of the additions in a value is fixed, so all bits must agree.
    fn check(&self, (): ()) -> Result<(), Error> {
        expect("whether the plate is as warm as it must be", self.buffers().now == self.end, true)
    }
}

/// Computes the rows `next`. `now` has these rows, the row before and the row behind.
fn rows<L: ForkJoin>(ctx: &mut L::Ctx<'_>, now: &[f64], next: &mut [f64], side: usize) {
    let count = next.len() / side;
    if count == 1 {
        row(now, next, side);
        return;
    }
    let half = count / 2 * side;
    let (upper, lower) = next.split_at_mut(half);
    L::join(
        ctx,
        |c| rows::<L>(c, &now[..half + 2 * side], upper, side),
        |c| rows::<L>(c, &now[half..], lower, side),
    );
}

fn sweep_serial(buffers: &mut Buffers, side: usize, sweeps: usize) {
    for _ in 0..sweeps {
        let (now, next) = buffers.halves(side);
        for (i, next) in next.chunks_exact_mut(side).enumerate() {
            row(&now[i * side..(i + 3) * side], next, side);
        }
        buffers.swap();
    }
}

/// Computes one row from the three rows `now`, without its two values of the rim.
fn row(now: &[f64], next: &mut [f64], side: usize) {
    let (above, rest) = now.split_at(side);
    let (here, below) = rest.split_at(side);
    let (left, right) = (here, &here[2..]);
    let inner = next[1..side - 1].iter_mut().zip(&above[1..]).zip(&below[1..]);
    let beside = left.iter().zip(right).zip(&here[1..]);
    for (((next, above), below), ((left, right), here)) in inner.zip(beside) {
        *next = (here + above + below + left + right) * 0.2;
    }
}
