//! What runs on a thread of `std` or on a worker of rayon runs in a task, a branch, a loop and a
//! scope of the default settings, in a dev build, too.
//!
//! The frames are stand-ins for those of crates that `scripts/real-crates` tries themselves.

use sateen::prelude::*;
use sateen::{CurrentThread, Runtime, Spawn, join, par_map, scope, spawn, spawn_async};
use std::hint::black_box;

/// KiB of stack that calls of crates use in a dev build.
const CALLS: [(&str, usize); 5] = [
    ("image's decoders, brotli, toml, minijinja, lz4_flex, blake3, regex", 112),
    ("flate2, serde_json of 120 arrays", 304),
    ("zip", 440),
    ("syn", 1_384),
    ("nearly all that a thread has", 1_900),
];

/// Uses `kib` KiB of stack and a little more. Returns how many.
fn use_stack(kib: usize) -> usize {
    fn go(top: usize, kib: usize) -> usize {
        let frame = black_box([kib as u8; 256]);
        let used = top.abs_diff((&raw const frame).addr());
        if used >= kib << 10 { kib } else { go(top, kib).min(usize::from(frame[7]) + kib) }
    }
    let here = 0_u8;
    go((&raw const here).addr(), kib)
}

/// Runs `f` wherever user code runs.
fn everywhere(f: impl Fn() + Copy + Send + Sync + 'static) {
    par_map(&[1, 2, 3], |_| f());
    spawn(f).join().expect("in a task");
    let a_future = spawn_async(async move { f() });
    a_future.join().expect("in a future");
    join(f, f);
    scope(|s| (0..3).for_each(|_| s.spawn(move |_| f())));
    let nested = move || {
        let inner = spawn(move || _ = join(f, || (0..3).into_par_iter().for_each(|_| f())));
        inner.join().expect("a nested task");
    };
    spawn(nested).join().expect("nested");
    let runtime: CurrentThread = Runtime::current_thread().expect("a runtime");
    runtime.run(f);
}

/// A histogram in an array, as one folds it with rayon.
fn histogram<const N: usize>(items: u64) {
    let add = |mut counts: [u64; N], item: u64| {
        counts[item as usize % N] += 1;
        counts
    };
    let merge = |mut a: [u64; N], b: [u64; N]| {
        a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
        a
    };
    let counts = (0..items).into_par_iter().fold(|| [0; N], add).reduce(|| [0; N], merge);
    assert_eq!(counts.iter().sum::<u64>(), items);
}

#[test]
fn calls_of_other_crates() {
    for (_, kib) in CALLS {
        everywhere(move || assert_eq!(use_stack(kib), kib));
    }
}

#[test]
fn a_task_that_is_joined_in_place_has_its_stack() {
    let outer = spawn(|| {
        // What the outer task uses is not missing in the inner one.
        let used = black_box([1_u8; 900 << 10]);
        let inner = spawn(|| use_stack(1_900));
        inner.join().expect("fits") + usize::from(used[0]) - 1
    });
    assert_eq!(outer.join().expect("fits"), 1_900);
}

#[test]
fn histograms() {
    everywhere(|| histogram::<256>(20_000));
    everywhere(|| histogram::<1024>(5_000));
    if !cfg!(debug_assertions) {
        everywhere(|| histogram::<2048>(20_000));
    }
}

#[test]
fn large_items() {
    everywhere(|| {
        let page = |i: u32| [i.wrapping_mul(2_654_435_761); 1024];
        let mut items: Vec<[u32; 1024]> = (0..200).map(page).collect();
        items.par_sort();
        assert!(items.is_sorted());
        items.par_sort_unstable_by(|a, b| b.cmp(a));
        assert!(items.is_sorted_by(|a, b| a >= b));
        let items: Vec<[u8; 16 << 10]> =
            (0..100_u8).into_par_iter().map(|i| [i; 16 << 10]).collect();
        assert!(items.iter().zip(0..100).all(|(item, i)| item[77] == i));
    });
}

#[test]
fn joins_nested_as_deep_as_memory_goes() {
    fn deep(depth: usize) -> usize {
        let frame = black_box([1_u8; 1024]);
        if depth == 0 {
            return 0;
        }
        let (below, one) = join(|| deep(depth - 1), || usize::from(frame[5]));
        below + one
    }
    // A hundred thousand from each place: `recursion_by_joins_ends_with_memory` of the runtime.
    everywhere(|| assert_eq!(deep(10_000), 10_000));
    assert_eq!(deep(100_000), 100_000);
}

/// The whole size that was asked for, of a runtime, a task, or both.
#[test]
fn sizes_from_none_to_the_largest() {
    const MOST: usize = 1 << 30;
    let name = |error: &dyn std::error::Error| error.to_string();
    for size in [0, 1, 1 << 20, MOST] {
        let runtime = Runtime::builder().workers(1).stack_size(size).build().expect("a runtime");
        runtime.install(|| use_stack(if size > 1 { 1_000 } else { 4 }));
        for own in [0, 1, 1 << 20, MOST] {
            let used = if own.max(size) > 1 { 4 } else { 2 };
            let task = runtime.spawn_with(Spawn::new().stack_size(own), move || use_stack(used));
            assert_eq!(task.join().expect("ran"), used);
        }
        for own in [MOST + 1, usize::MAX] {
            let task = runtime.spawn_with(Spawn::new().stack_size(own), || ());
            let error = task.join().expect_err("too large");
            assert!(name(&error).contains(&own.to_string()), "{error}");
        }
    }
    for size in [MOST + 1, usize::MAX] {
        let error = Runtime::builder().stack_size(size).build().expect_err("too large");
        assert!(name(&error).contains(&size.to_string()), "{error}");
    }
}

/// Large results pass many levels of nested work.
#[test]
fn large_results() {
    fn sum(range: std::ops::Range<usize>) -> [usize; 512] {
        if range.len() == 1 {
            return [range.start; 512];
        }
        let middle = range.start + range.len() / 2;
        let (mut a, b) = join(|| sum(range.start..middle), || sum(middle..range.end));
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    }
    everywhere(|| assert_eq!(sum(0..500), [499 * 250; 512]));
}
