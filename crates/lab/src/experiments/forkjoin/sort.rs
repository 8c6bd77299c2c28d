//! Sorting, by the libraries that have a sort of their own.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use sateen_base::XorShift;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let case = Case {
        case: "sort",
        unit: "ms",
        title: "time of a sort",
        description: "sorting 10^7 random u64".to_owned(),
        slices: true,
        cpu: false,
        make: |smoke| Sort::new(if smoke { 5_000 } else { 10_000_000 }),
        serial: true,
    };
    super::groups(plan, workers, &case)
}

struct Sort {
    input: Vec<u64>,
    /// Wrapping sum of the input: a sort neither loses nor invents values.
    sum: u64,
    /// A copy of the input before each run.
    values: Mutex<Vec<u64>>,
}

impl Sort {
    fn new(n: usize) -> Self {
        let mut rng = XorShift::new(7);
        let input: Vec<u64> = (0..n).map(|_| rng.next_u64()).collect();
        let sum = input.iter().fold(0, |s: u64, v| s.wrapping_add(*v));
        Self { sum, values: Mutex::new(input.clone()), input }
    }

    fn values(&self) -> MutexGuard<'_, Vec<u64>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Program for Sort {
    type Out = ();

    fn reset(&self) {
        self.values().copy_from_slice(&self.input);
    }

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, _: Grain) {
        L::sort(ctx, &mut self.values());
    }

    fn serial(&self) -> Option<()> {
        self.values().sort_unstable();
        Some(())
    }

    fn check(&self, (): ()) -> Result<(), Error> {
        let values = self.values();
        expect("whether the values are in order", values.is_sorted(), true)?;
        let sum = values.iter().fold(0, |s: u64, v| s.wrapping_add(*v));
        expect("the sum of the sorted values", sum, self.sum)
    }
}
