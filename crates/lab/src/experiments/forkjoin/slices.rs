//! Loops over a slice, by the libraries that have such loops of their own.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let sum = Case {
        case: "sum-slice",
        unit: "ms",
        title: "time of the sum of a slice",
        description: "sum of 4 * 10^6 u64 in a slice".to_owned(),
        slices: true,
        make: |smoke| Sum(values(smoke)),
        serial: true,
    };
    super::groups(plan, workers, &sum)
}

/// Returns 0, 1, 2 and so on.
fn values(smoke: bool) -> Vec<u64> {
    (0..if smoke { 4_000 } else { 4_000_000 }).collect()
}

struct Sum(Vec<u64>);

impl Program for Sum {
    type Out = u64;

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, _: Grain) -> u64 {
        L::sum_slice(ctx, &self.0)
    }

    fn serial(&self) -> Option<u64> {
        Some(self.0.iter().sum())
    }

    fn check(&self, out: u64) -> Result<(), Error> {
        let n = self.0.len() as u64;
        expect("the sum of the slice", out, n * (n - 1) / 2)
    }
}
