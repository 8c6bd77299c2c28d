//! Bodies that attract one another: each step is a loop that reads all, and one that moves each.

use crate::draw::numbers;
use crate::{Made, Workload};
use rayon::prelude::*;

const STEPS: usize = 5;
/// Keeps two bodies at one place from an infinite force.
const SOFT: f64 = 1e-3;
const SPAN: f64 = 1e-3;

type Vector = [f64; 3];

#[derive(Clone, Copy, PartialEq)]
struct Body {
    at: Vector,
    speed: Vector,
    mass: f64,
}

impl Body {
    fn pull(&self, all: &[Self]) -> Vector {
        let mut sum = [0.0; 3];
        for other in all {
            let away: Vector = std::array::from_fn(|k| other.at[k] - self.at[k]);
            let square = away.iter().map(|d| d * d).sum::<f64>() + SOFT;
            let force = other.mass / (square * square.sqrt());
            for (sum, away) in sum.iter_mut().zip(away) {
                *sum += away * force;
            }
        }
        sum
    }

    fn go(&mut self, pull: Vector) {
        for ((at, speed), pull) in self.at.iter_mut().zip(&mut self.speed).zip(pull) {
            *speed += pull * SPAN;
            *at += *speed * SPAN;
        }
    }
}

struct Sky {
    begin: Vec<Body>,
    bodies: Vec<Body>,
    end: Vec<Body>,
}

/// The size is the number of bodies.
pub(crate) fn make(bodies: usize) -> Made {
    let mut draw = numbers().map(|n| (n >> 11) as f64 / (1u64 << 53) as f64);
    let mut three = || std::array::from_fn(|_| draw.next().expect("endless"));
    let begin: Vec<Body> =
        (0..bodies).map(|_| Body { at: three(), speed: three(), mass: three()[0] }).collect();
    let mut end = begin.clone();
    for _ in 0..STEPS {
        let pulls: Vec<Vector> = end.iter().map(|body| body.pull(&end)).collect();
        end.iter_mut().zip(pulls).for_each(|(body, pull)| body.go(pull));
    }
    Ok(Box::new(Sky { bodies: begin.clone(), begin, end }))
}

impl Workload for Sky {
    fn reset(&mut self) {
        self.bodies.copy_from_slice(&self.begin);
    }

    fn run(&mut self) {
        for _ in 0..STEPS {
            let bodies = &self.bodies;
            let pulls: Vec<Vector> = bodies.par_iter().map(|body| body.pull(bodies)).collect();
            self.bodies.par_iter_mut().zip(pulls).for_each(|(body, pull)| body.go(pull));
        }
    }

    fn check(&self) -> Result<(), String> {
        // Each body adds its forces in the same order, so even the last bit is the same.
        let wrong = self.bodies.iter().zip(&self.end).position(|(found, wanted)| found != wanted);
        wrong.map_or(Ok(()), |i| Err(format!("body {i} is not where it must be")))
    }
}
