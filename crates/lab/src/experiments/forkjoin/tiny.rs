//! A loop so short that starting it and waiting for its end are a large part of its time.

use super::{Case, Grain, Program};
use crate::adapter::ForkJoin;
use crate::error::{Error, expect};
use crate::experiment::{Group, Plan};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Items of a loop.
const ITEMS: usize = 2_000;
/// Rounds of the hash that an item takes: about 3 ns.
const ROUNDS: u32 = 6;

pub(super) fn groups(plan: &Plan, workers: &[usize]) -> Vec<Group> {
    let case = Case {
        case: "for-tiny",
        unit: "µs",
        title: "time per loop of 2000 items",
        description: "a loop over 2000 items of about 3 ns, one loop after another".to_owned(),
        slices: false,
        cpu: true,
        make: |smoke| Tiny::new(if smoke { 10 } else { 1_000 }),
        serial: true,
    };
    super::groups(plan, workers, &case)
}

/// Numbers that each loop hashes once more, so that a call that is missing or comes twice shows.
struct Tiny {
    loops: u32,
    numbers: Vec<AtomicU64>,
    /// The numbers after all loops.
    end: Vec<u64>,
}

impl Tiny {
    fn new(loops: u32) -> Self {
        let end = |i| (0..loops).fold(i, |number, _| hash(number));
        Self {
            loops,
            numbers: (0..ITEMS as u64).map(AtomicU64::new).collect(),
            end: (0..ITEMS as u64).map(end).collect(),
        }
    }

    #[inline(always)]
    fn step(&self, i: usize) {
        let number = &self.numbers[i];
        number.store(hash(number.load(Ordering::Relaxed)), Ordering::Relaxed);
    }
}

#[inline(always)]
fn hash(number: u64) -> u64 {
    (0..ROUNDS).fold(number, |n, _| (n ^ n >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

impl Program for Tiny {
    type Out = ();

    fn reset(&self) {
        for (i, number) in self.numbers.iter().enumerate() {
            number.store(i as u64, Ordering::Relaxed);
        }
    }

    fn run<L: ForkJoin>(&self, ctx: &mut L::Ctx<'_>, grain: Grain) {
        for _ in 0..self.loops {
            L::for_each(ctx, ITEMS, grain.of(ITEMS), |i| self.step(i));
        }
    }

    fn serial(&self) -> Option<()> {
        for _ in 0..self.loops {
            (0..ITEMS).for_each(|i| self.step(i));
        }
        Some(())
    }

    fn check(&self, (): ()) -> Result<(), Error> {
        let mut both = self.numbers.iter().zip(&self.end);
        let same = both.all(|(number, end)| number.load(Ordering::Relaxed) == *end);
        expect("whether each number is hashed once in each loop", same, true)
    }

    fn value(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e6 / f64::from(self.loops)
    }
}
