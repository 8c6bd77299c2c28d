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
        cpu: false,
        make: |smoke| Sum(values(smoke)),
        serial: true,
    };
    let map = Case {
        case: "map-vec",
        unit: "ms",
        title: "time of a map",
        description: "4 * 10^6 u64 of a slice, mapped by one multiplication into a new vector"
            .to_owned(),
        slices: true,
        cpu: false,
        make: |smoke| Map(values(smoke)),
        serial: true,
    };
    let mut groups = super::groups(plan, workers, &sum);
    groups.extend(super::groups(plan, workers, &map));
    groups
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

struct Map(Vec<u64>);

impl Map {
    #[inline(always)]
    fn image(value: u64) -> u64 {
        value.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl Program for Map {
    type Out = Vec<u64>;

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, _: Grain) -> Vec<u64> {
        L::map_slice(ctx, &self.0, |value| Self::image(*value))
    }

    fn serial(&self) -> Option<Vec<u64>> {
        Some(self.0.iter().map(|value| Self::image(*value)).collect())
    }

    fn check(&self, out: Vec<u64>) -> Result<(), Error> {
        let same = out.len() == self.0.len()
            && out.iter().zip(&self.0).all(|(image, value)| *image == Self::image(*value));
        expect("whether each value is mapped", same, true)
    }
}
