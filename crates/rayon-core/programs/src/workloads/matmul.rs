//! A product of square matrices, divided into quarters by joins.
//!
//! A matrix lies in quarters, each of which lies in quarters, down to blocks that lie in rows. So a
//! quarter is a slice.

use crate::draw::numbers;
use crate::{Made, Workload, expect};
use rayon::join;

/// The side of a block.
const BLOCK: usize = 32;

struct Product {
    side: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

/// The size is the length of a row.
pub(crate) fn make(side: usize) -> Made {
    if !side.is_power_of_two() || side < BLOCK {
        return Err(format!("a power of two, at least {BLOCK}"));
    }
    // Small whole numbers, so that all sums are exact.
    let mut draw = numbers().map(|n| (n >> 61) as f64);
    let mut matrix = || draw.by_ref().take(side * side).collect();
    Ok(Box::new(Product { side, a: matrix(), b: matrix(), c: vec![0.0; side * side] }))
}

fn quarters(m: &[f64]) -> [&[f64]; 4] {
    let mut parts = m.chunks(m.len() / 4);
    std::array::from_fn(|_| parts.next().expect("four quarters"))
}

/// Adds the product of `a` and `b` to `c`.
fn multiply(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == BLOCK * BLOCK {
        return multiply_block(c, a, b);
    }
    let ([a00, a01, a10, a11], [b00, b01, b10, b11]) = (quarters(a), quarters(b));
    let (top, bottom) = c.split_at_mut(c.len() / 2);
    let ((c00, c01), (c10, c11)) =
        (top.split_at_mut(top.len() / 2), bottom.split_at_mut(bottom.len() / 2));
    let both = |c: &mut [f64], a: [&[f64]; 2], b: [&[f64]; 2]| {
        multiply(c, a[0], b[0]);
        multiply(c, a[1], b[1]);
    };
    join(
        || join(|| both(c00, [a00, a01], [b00, b10]), || both(c01, [a00, a01], [b01, b11])),
        || join(|| both(c10, [a10, a11], [b00, b10]), || both(c11, [a10, a11], [b01, b11])),
    );
}

// Not inlined, so that both sides run the same machine code.
#[inline(never)]
fn multiply_block(c: &mut [f64], a: &[f64], b: &[f64]) {
    for (c, a) in c.chunks_exact_mut(BLOCK).zip(a.chunks_exact(BLOCK)) {
        for (factor, b) in a.iter().zip(b.chunks_exact(BLOCK)) {
            for (c, b) in c.iter_mut().zip(b) {
                *c += factor * b;
            }
        }
    }
}

/// Returns `m` times the vector `x`.
fn times(m: &[f64], x: &[f64]) -> Vec<f64> {
    if x.len() == BLOCK {
        return m.chunks(BLOCK).map(|row| row.iter().zip(x).map(|(m, x)| m * x).sum()).collect();
    }
    let (quarters, (x0, x1)) = (quarters(m), x.split_at(x.len() / 2));
    let half = |left: &[f64], right: &[f64]| -> Vec<f64> {
        times(left, x0).iter().zip(times(right, x1)).map(|(a, b)| a + b).collect()
    };
    [half(quarters[0], quarters[1]), half(quarters[2], quarters[3])].concat()
}

impl Workload for Product {
    fn reset(&mut self) {
        self.c.fill(0.0);
    }

    fn run(&mut self) {
        multiply(&mut self.c, &self.a, &self.b);
    }

    fn check(&self) -> Result<(), String> {
        // Freivalds: c times a vector is a times (b times the vector).
        let x: Vec<f64> = numbers().map(|n| (n >> 54) as f64).take(self.side).collect();
        let wanted = times(&self.a, &times(&self.b, &x));
        expect("the product, times a vector", times(&self.c, &x) == wanted, true)
    }
}
