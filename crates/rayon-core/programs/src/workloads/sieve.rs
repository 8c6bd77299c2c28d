//! The sieve of Eratosthenes, in segments that fit a cache.

use crate::{Made, Workload, expect};
use rayon::prelude::*;

/// Odd numbers in a segment.
const SEGMENT: usize = 32 * 1024;

struct Sieve {
    /// The odd primes whose squares are below the limit.
    small: Vec<usize>,
    /// Whether the odd number 2i + 1 is a prime.
    primes: Vec<bool>,
    found: usize,
    wanted: usize,
}

/// The size is the limit: primes are less.
pub(crate) fn make(limit: usize) -> Made {
    if limit < 10 {
        return Err("at least 10".to_owned());
    }
    let mut all = vec![true; limit];
    for n in (2..).take_while(|n| n * n < limit) {
        if all[n] {
            all[n * n..].iter_mut().step_by(n).for_each(|prime| *prime = false);
        }
    }
    let wanted = all[2..].iter().filter(|prime| **prime).count();
    let small = (3..).take_while(|n| n * n < limit).filter(|n| all[*n]).collect();
    Ok(Box::new(Sieve { small, primes: vec![true; limit / 2], found: 0, wanted }))
}

/// Strikes the multiples of `small` out of a segment that begins with the odd number 2`first` + 1.
fn strike(segment: &mut [bool], first: usize, small: &[usize]) {
    let end = first + segment.len();
    for prime in small {
        // The multiple 2i + 1 of an odd prime: i goes up by the prime.
        let square = prime * prime / 2;
        if square >= end {
            break;
        }
        let from = if square >= first {
            square
        } else {
            first + (prime - (first - square) % prime) % prime
        };
        for i in (from..end).step_by(*prime) {
            segment[i - first] = false;
        }
    }
}

impl Workload for Sieve {
    fn reset(&mut self) {
        self.primes.fill(true);
    }

    fn run(&mut self) {
        let small = &self.small;
        let segments = self.primes.par_chunks_mut(SEGMENT).enumerate();
        segments.for_each(|(i, segment)| strike(segment, i * SEGMENT, small));
        // The first odd number, 1, is none, but 2 is one.
        self.found = self.primes.par_iter().filter(|prime| **prime).count();
    }

    fn check(&self) -> Result<(), String> {
        expect("the number of primes", self.found, self.wanted)
    }
}
