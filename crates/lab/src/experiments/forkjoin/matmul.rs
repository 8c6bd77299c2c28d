//! Matrix product by recursive halving, on matrices stored tile by tile in Z-order, so that each
//! quadrant is one slice and the recursion needs no unsafe code.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use std::sync::Mutex;

/// Side of a tile, whose product is computed in place.
const TILE: usize = 32;

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let case = Case {
        case: "matmul",
        unit: "ms",
        title: "time of a matrix product",
        description: "product of two matrices of 1024 x 1024 f64 by recursive halving".to_owned(),
        slices: false,
        cpu: false,
        make: |smoke| Product::new(if smoke { 64 } else { 1024 }),
        serial: true,
    };
    super::groups(plan, workers, &case)
}

struct Product {
    side: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    /// Zeroed before each run.
    c: Mutex<Vec<f64>>,
}

impl Product {
    /// Small whole numbers: all sums are exact.
    fn new(side: usize) -> Self {
        let filled = |f: fn(usize, usize) -> usize| {
            let mut m = vec![0.0; side * side];
            for (row, column) in (0..side).flat_map(|r| (0..side).map(move |c| (r, c))) {
                m[position(row, column)] = f(row, column) as f64;
            }
            m
        };
        let a = filled(|r, c| (3 * r + 5 * c) % 7);
        let b = filled(|r, c| (2 * r + 3 * c) % 5);
        Self { side, a, b, c: Mutex::new(vec![0.0; side * side]) }
    }

    /// Returns `m` times the vector `x`.
    fn times(&self, m: &[f64], x: &[f64]) -> Vec<f64> {
        let row = |r: usize| x.iter().enumerate().map(|(c, x)| m[position(r, c)] * x).sum();
        (0..self.side).map(row).collect()
    }

    fn c(&self) -> std::sync::MutexGuard<'_, Vec<f64>> {
        self.c.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Returns the position of an element: tiles in Z-order, rows within a tile.
fn position(row: usize, column: usize) -> usize {
    let spread = |v: usize| (0..16).fold(0, |z, bit| z | (v >> bit & 1) << (2 * bit));
    let tile = spread(row / TILE) << 1 | spread(column / TILE);
    tile * TILE * TILE + row % TILE * TILE + column % TILE
}

impl Program for Product {
    type Out = ();

    fn reset(&self) {
        self.c().fill(0.0);
    }

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, _: Grain) {
        multiply::<L>(ctx, &mut self.c(), &self.a, &self.b);
    }

    fn serial(&self) -> Option<()> {
        multiply_serial(&mut self.c(), &self.a, &self.b);
        Some(())
    }

    /// Checks `C x = A (B x)` for two vectors; a wrong element shows in one of them.
    fn check(&self, (): ()) -> Result<(), Error> {
        let c = self.c();
        for vector in [|_: usize| 1.0, |i: usize| (i % 11) as f64] {
            let x: Vec<f64> = (0..self.side).map(vector).collect();
            let want = self.times(&self.a, &self.times(&self.b, &x));
            let got = self.times(&c, &x);
            expect("whether the product is right", got == want, true)?;
        }
        Ok(())
    }
}

/// Returns the four quadrants: upper left, upper right, lower left, lower right.
fn quadrants(m: &[f64]) -> [&[f64]; 4] {
    let (upper, lower) = m.split_at(m.len() / 2);
    let (a, b) = upper.split_at(upper.len() / 2);
    let (c, d) = lower.split_at(lower.len() / 2);
    [a, b, c, d]
}

fn quadrants_mut(m: &mut [f64]) -> [&mut [f64]; 4] {
    let (upper, lower) = m.split_at_mut(m.len() / 2);
    let (a, b) = upper.split_at_mut(upper.len() / 2);
    let (c, d) = lower.split_at_mut(lower.len() / 2);
    [a, b, c, d]
}

/// Computes `c += a * b`: the quadrants of `c` in parallel, the two products of each one after the
/// other.
fn multiply<L: ForkJoin>(ctx: &mut L::Ctx<'_>, c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() <= TILE * TILE {
        tile(c, a, b);
        return;
    }
    let [c0, c1, c2, c3] = quadrants_mut(c);
    let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (quadrants(a), quadrants(b));
    L::join(
        ctx,
        |x| {
            L::join(
                x,
                |x| twice::<L>(x, c0, (a0, b0), (a1, b2)),
                |x| {
                    twice::<L>(x, c1, (a0, b1), (a1, b3));
                },
            )
        },
        |x| {
            L::join(
                x,
                |x| twice::<L>(x, c2, (a2, b0), (a3, b2)),
                |x| {
                    twice::<L>(x, c3, (a2, b1), (a3, b3));
                },
            )
        },
    );
}

fn twice<L: ForkJoin>(
    ctx: &mut L::Ctx<'_>,
    c: &mut [f64],
    first: (&[f64], &[f64]),
    second: (&[f64], &[f64]),
) {
    multiply::<L>(ctx, c, first.0, first.1);
    multiply::<L>(ctx, c, second.0, second.1);
}

fn multiply_serial(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() <= TILE * TILE {
        tile(c, a, b);
        return;
    }
    let [c0, c1, c2, c3] = quadrants_mut(c);
    let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (quadrants(a), quadrants(b));
    let products =
        [(c0, a0, b0, a1, b2), (c1, a0, b1, a1, b3), (c2, a2, b0, a3, b2), (c3, a2, b1, a3, b3)];
    for (c, a, b, a_next, b_next) in products {
        multiply_serial(c, a, b);
        multiply_serial(c, a_next, b_next);
    }
}

/// Computes `c += a * b` for one tile. The inner loop runs along rows and vectorises.
fn tile(c: &mut [f64], a: &[f64], b: &[f64]) {
    for (c_row, a_row) in c.chunks_exact_mut(TILE).zip(a.chunks_exact(TILE)) {
        for (factor, b_row) in a_row.iter().zip(b.chunks_exact(TILE)) {
            for (sum, b) in c_row.iter_mut().zip(b_row) {
                *sum += factor * b;
            }
        }
    }
}
