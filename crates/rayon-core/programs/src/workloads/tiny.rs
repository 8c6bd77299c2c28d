//! A loop of about 20 µs, again and again.

use crate::{Made, Workload};
use rayon::ThreadPool;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Items of a loop.
const ITEMS: usize = 3_000;
/// Rounds of the hash that an item takes: about 7 ns.
const ROUNDS: u32 = 10;

/// One worker starts all loops.
struct Tiny {
    loops: usize,
    items: Vec<u64>,
    end: Vec<u64>,
}

/// A thread outside of the pool starts each loop and waits for it.
struct Outside(Tiny);

/// The size is the number of loops, here and below.
pub(crate) fn inside(loops: usize) -> Made {
    Ok(Box::new(Tiny::new(loops)))
}

pub(crate) fn outside(loops: usize) -> Made {
    Ok(Box::new(Outside(Tiny::new(loops))))
}

fn hash(item: u64) -> u64 {
    (0..ROUNDS).fold(item, |n, _| (n ^ n >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

impl Tiny {
    fn new(loops: usize) -> Self {
        let end = (0..ITEMS as u64).map(|i| (0..loops).fold(i, |item, _| hash(item))).collect();
        Self { loops, items: vec![0; ITEMS], end }
    }

    fn once(&mut self) {
        self.items.par_iter_mut().for_each(|item| *item = hash(*item));
    }
}

impl Workload for Tiny {
    fn reset(&mut self) {
        self.items.iter_mut().zip(0..).for_each(|(item, i)| *item = i);
    }

    fn run(&mut self) {
        for _ in 0..self.loops {
            self.once();
        }
    }

    fn check(&self) -> Result<(), String> {
        let wrong = self.items.iter().zip(&self.end).position(|(found, wanted)| found != wanted);
        wrong.map_or(Ok(()), |i| Err(format!("item {i} was not hashed once in each loop")))
    }
}

impl Workload for Outside {
    fn reset(&mut self) {
        self.0.reset();
    }

    fn run(&mut self) {
        self.0.run();
    }

    fn timed(&mut self, pool: &ThreadPool) -> Duration {
        let began = Instant::now();
        for _ in 0..self.0.loops {
            pool.install(|| self.0.once());
        }
        began.elapsed()
    }

    fn check(&self) -> Result<(), String> {
        self.0.check()
    }
}
