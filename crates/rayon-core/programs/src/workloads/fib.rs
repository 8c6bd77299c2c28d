//! Naive Fibonacci without a cut-off: nothing but joins.

use crate::{Made, Workload, expect};
use rayon::join;
use std::hint::black_box;

struct Fib {
    n: usize,
    found: u64,
}

/// The size is the number's place in the row.
pub(crate) fn make(n: usize) -> Made {
    if n > 90 { Err("at most 90".to_owned()) } else { Ok(Box::new(Fib { n, found: 0 })) }
}

fn fib(n: usize) -> u64 {
    if n < 2 {
        return n as u64;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

impl Workload for Fib {
    fn run(&mut self) {
        self.found = fib(black_box(self.n));
    }

    fn check(&self) -> Result<(), String> {
        let wanted = (0..self.n).fold((0, 1), |(a, b), _| (b, a + b)).0;
        expect("the Fibonacci number", self.found, wanted)
    }
}
