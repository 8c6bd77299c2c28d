//! Parallel loops: many cheap iterations, few of very different length, and a reduction.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let uniform = Case {
        case: "for-uniform",
        unit: "ms",
        title: "time of a uniform loop",
        description: "10^7 iterations of one hash each".to_owned(),
        slices: false,
        cpu: false,
        make: |smoke| Loop::new(if smoke { 10_000 } else { 10_000_000 }, 1),
        serial: true,
    };
    let skewed = Case {
        case: "for-skewed",
        title: "time of a skewed loop",
        description: "10^5 iterations, of which every thousandth takes 10^4 times as long"
            .to_owned(),
        make: |smoke| {
            if smoke { Loop::new(2_000, 100) } else { Loop::new(100_000, 10_000) }
        },
        ..uniform
    };
    let reduce = Case {
        case: "reduce",
        unit: "ms",
        title: "time of a sum",
        description: "sum of 10^7 f64".to_owned(),
        slices: false,
        cpu: false,
        make: |smoke| Sum::new(if smoke { 10_000 } else { 10_000_000 }),
        serial: true,
    };
    let mut groups = super::groups(plan, workers, &uniform);
    groups.extend(super::groups(plan, workers, &skewed));
    groups.extend(super::groups(plan, workers, &reduce));
    groups
}

/// A loop whose iterations hash their index. It counts rare hashes, so that the work is needed and
/// nothing is shared.
struct Loop {
    n: usize,
    /// How many hashes every thousandth iteration computes.
    long: usize,
    /// How many rare hashes there are.
    rare: u64,
    found: AtomicU64,
}

impl Loop {
    fn new(n: usize, long: usize) -> Self {
        let mut this = Self { n, long, rare: 0, found: AtomicU64::new(0) };
        this.rare = (0..n).filter(|&i| this.is_rare(i)).count() as u64;
        this
    }

    #[inline(always)]
    fn is_rare(&self, i: usize) -> bool {
        let rounds = if self.long > 1 && i.is_multiple_of(1000) { self.long } else { 1 };
        let mut hash = i as u64;
        for _ in 0..rounds {
            hash = (hash ^ hash >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        hash >> 48 == 0
    }

    #[inline(always)]
    fn step(&self, i: usize) {
        if self.is_rare(i) {
            self.found.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Program for Loop {
    type Out = ();

    fn reset(&self) {
        self.found.store(0, Ordering::Relaxed);
    }

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, grain: Grain) {
        L::for_each(ctx, self.n, grain.of(self.n), |i| self.step(i));
    }

    fn serial(&self) -> Option<()> {
        (0..self.n).for_each(|i| self.step(i));
        Some(())
    }

    fn check(&self, (): ()) -> Result<(), Error> {
        expect("the number of rare hashes", self.found.load(Ordering::Relaxed), self.rare)
    }
}

/// Small whole numbers, so that the sum does not depend on the order.
struct Sum {
    values: Vec<f64>,
}

impl Sum {
    fn new(n: usize) -> Self {
        Self { values: (0..n).map(|i| (i % 1000) as f64).collect() }
    }
}

impl Program for Sum {
    type Out = f64;

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, grain: Grain) -> f64 {
        L::sum(ctx, &self.values, grain.of(self.values.len()))
    }

    fn serial(&self) -> Option<f64> {
        Some(self.values.iter().sum())
    }

    fn check(&self, out: f64) -> Result<(), Error> {
        expect("the sum", out, (self.values.len() / 1000) as f64 * 499_500.0)
    }
}
