//! Naive Fibonacci without a cut-off: nothing but joins.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use std::hint::black_box;
use std::time::Duration;

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let case = Case {
        case: "fib",
        unit: "ns",
        title: "time per call of fib",
        description: "fib(36) without a cut-off: time per call".to_owned(),
        slices: false,
        cpu: false,
        make: |smoke| Fib { n: if smoke { 16 } else { 36 } },
        serial: true,
    };
    super::groups(plan, workers, &case)
}

struct Fib {
    n: u32,
}

impl Program for Fib {
    type Out = u64;

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, _: Grain) -> u64 {
        fib::<L>(ctx, black_box(self.n))
    }

    fn serial(&self) -> Option<u64> {
        Some(plain(black_box(self.n)))
    }

    fn check(&self, out: u64) -> Result<(), Error> {
        expect("fib", out, fibonacci(self.n))
    }

    fn value(&self, elapsed: Duration) -> f64 {
        elapsed.as_nanos() as f64 / (2 * fibonacci(self.n + 1) - 1) as f64
    }
}

fn fib<L: ForkJoin>(ctx: &mut L::Ctx<'_>, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = L::join(ctx, |c| fib::<L>(c, n - 1), |c| fib::<L>(c, n - 2));
    a + b
}

/// The plain recursion. The sum is checked, because a plain sum lets the compiler turn the second
/// call into a loop, which would remove half of the calls.
#[inline(never)]
fn plain(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = (plain(n - 1), plain(n - 2));
    a.checked_add(b).expect("a Fibonacci number of 64 bits")
}

/// Returns the n-th Fibonacci number.
fn fibonacci(n: u32) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}
