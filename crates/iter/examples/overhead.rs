//! What a loop costs beside its items: `cargo run --release -p sateen-iter --example overhead`.
//!
//! Each figure is the least of many runs on a runtime of one worker, in nanoseconds.

use sateen::prelude::*;
use std::hint::black_box;
use std::time::Instant;

fn least(times: u32, mut f: impl FnMut()) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..30 {
        let start = Instant::now();
        (0..times).for_each(|_| f());
        least = least.min(start.elapsed().as_nanos() as f64 / f64::from(times));
    }
    least
}

fn main() -> Result<(), sateen::BuildError> {
    let runtime = sateen::Runtime::builder().workers(1).build()?;
    runtime.install(|| {
        let small: Vec<u64> = (0..2000).collect();
        let large: Vec<u64> = (0..1_000_000).collect();
        let show = |name: &str, ns: f64| println!("{name:<40}{ns:>12.1}");
        show(
            "par_for, 2,000",
            least(3000, || {
                sateen::par_for(0..2000, |i| {
                    black_box(i);
                })
            }),
        );
        show(
            "for_each of a range, 2,000",
            least(3000, || {
                (0..2000usize).into_par_iter().for_each(|i| {
                    black_box(i);
                });
            }),
        );
        show(
            "sequential for_each, 2,000",
            least(3000, || {
                (0..2000usize).for_each(|i| {
                    black_box(i);
                });
            }),
        );
        show(
            "sum of a slice, 2,000",
            least(3000, || {
                black_box(black_box(&small).par_iter().sum::<u64>());
            }),
        );
        show(
            "sequential sum, 2,000",
            least(3000, || {
                black_box(black_box(&small).iter().sum::<u64>());
            }),
        );
        show(
            "sum of a slice, 1,000,000",
            least(10, || {
                black_box(black_box(&large).par_iter().sum::<u64>());
            }),
        );
        show(
            "sequential sum, 1,000,000",
            least(10, || {
                black_box(black_box(&large).iter().sum::<u64>());
            }),
        );
        show(
            "map and collect, 1,000,000",
            least(3, || {
                black_box(black_box(&large).par_iter().map(|n| n * 3).collect::<Vec<_>>());
            }),
        );
        let mut target: Vec<u64> = Vec::new();
        show(
            "sequential, into a vector",
            least(3, || {
                target.clear();
                target.extend(black_box(&large).iter().map(|n| n * 3));
                black_box(&mut target);
            }),
        );
        show(
            "map and collect_into_vec, the same",
            least(3, || {
                black_box(&large).par_iter().map(|n| n * 3).collect_into_vec(&mut target);
            }),
        );
        show(
            "par_map, 1,000,000",
            least(3, || {
                black_box(sateen::par_map(black_box(&large), |n| n * 3));
            }),
        );
        show(
            "filter and collect, 1,000,000",
            least(3, || {
                black_box(large.par_iter().filter(|n| **n % 3 == 0).collect::<Vec<_>>());
            }),
        );
        show(
            "sequential filter and collect",
            least(3, || {
                black_box(large.iter().filter(|n| **n % 3 == 0).collect::<Vec<_>>());
            }),
        );
        show(
            "enumerate and zip, 1,000,000",
            least(3, || {
                let sum = |((i, a), b): ((usize, &u64), &u64)| i as u64 ^ a ^ b;
                black_box(large.par_iter().enumerate().zip(&large).map(sum).sum::<u64>());
            }),
        );
        show(
            "vectors by value, 2,000",
            least(300, || {
                black_box(small.clone().into_par_iter().map(|n| n + 1).sum::<u64>());
            }),
        );
    });
    Ok(())
}
