//! One push and one take by a thread alone: the owner's path without anything else.

use super::{Open, fill};
use crate::adapter::{Deque, Taken};
use crate::error::{Error, expect};
use crate::experiment::{Figure, Group, Plan, Trend};
use std::hint::black_box;
use std::time::Instant;

/// Takes after each push, after 64 pushes, and by stealing after 64 pushes.
pub(super) fn groups(plan: &Plan) -> Vec<Group> {
    let pairs = plan.size(1 << 19, 1 << 10);
    let one = |case: &str, batch: u64, steal: bool, what: &str| {
        let figure = Figure {
            case: format!("pair-{case}"),
            config: "w1".to_owned(),
            name: format!("{what}/1 worker"),
            unit: "ns",
            trend: Trend::Lower,
            description: format!("{what}, by a thread alone: time for one push and one take"),
        };
        fill(plan, Group::new(1, vec![figure]), Pairs { pairs, batch, steal })
    };
    vec![
        one("pushpop1", 1, false, "a push, then a pop"),
        one("pushpop64", 64, false, "64 pushes, then 64 pops"),
        one("pushsteal64", 64, true, "64 pushes, then 64 steals"),
    ]
}

#[derive(Clone, Copy)]
struct Pairs {
    pairs: u64,
    batch: u64,
    steal: bool,
}

impl Open for Pairs {
    fn run<D: Deque>(&self) -> Result<Vec<f64>, Error> {
        let worker = D::new(64);
        let thief = D::stealer(&worker);
        let mut sum = 0;
        let start = Instant::now();
        if self.steal {
            for round in 0..self.pairs / self.batch {
                for i in 0..self.batch {
                    D::push(&worker, black_box(round + i));
                }
                for _ in 0..self.batch {
                    if let Taken::Item(item) = D::steal(&thief) {
                        sum += item;
                    }
                }
            }
        } else {
            for round in 0..self.pairs / self.batch {
                for i in 0..self.batch {
                    D::push(&worker, black_box(round + i));
                }
                for _ in 0..self.batch {
                    sum += D::pop(&worker).unwrap_or(0);
                }
            }
        }
        let elapsed = start.elapsed();
        let want: u64 = (0..self.pairs / self.batch)
            .map(|round| self.batch * round + self.batch * (self.batch - 1) / 2)
            .sum();
        expect("the sum of what was taken", sum, want)?;
        Ok(vec![elapsed.as_nanos() as f64 / self.pairs as f64])
    }
}
