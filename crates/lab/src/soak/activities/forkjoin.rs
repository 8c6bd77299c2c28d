//! Branches, scopes, loops and sorts, compared with what a plain loop computes.

use super::World;
use crate::error::{Error, expect};
use sateen::{fork, join, par_for, par_map, par_reduce, par_sort, par_sort_unstable, scope};
use sateen_base::XorShift;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        let n = 10 + random.below(12);
        let size = 1 + random.below(50_000);
        let seed = random.next_u64();
        let kind = random.below(6);
        let operations = world.runtime.install(|| match kind {
            0 => trees(n),
            1 => forks(n),
            2 => scopes(n),
            3 => loops(size),
            4 => maps(size),
            _ => sorts(size, seed),
        })?;
        world.ledger.did(operations);
    }
    Ok(())
}

fn tree(depth: usize) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = join(|| tree(depth - 1), || tree(depth - 1));
    a + b
}

fn trees(depth: usize) -> Result<u64, Error> {
    expect("leaves of a tree", tree(depth), 1 << depth)?;
    Ok(1 << depth)
}

fn forked(depth: usize) -> u64 {
    if depth == 0 {
        return 1;
    }
    fork([depth - 1; 4].map(|depth| move || forked(depth))).iter().sum()
}

fn forks(n: usize) -> Result<u64, Error> {
    let depth = n / 3;
    expect("leaves of a forked tree", forked(depth), 1 << (2 * depth))?;
    Ok(1 << (2 * depth))
}

fn scopes(n: usize) -> Result<u64, Error> {
    let (depth, leaves) = (n / 3, AtomicU64::new(0));
    fn grow<'s>(s: &sateen::Scope<'s>, depth: usize, leaves: &'s AtomicU64) {
        if depth == 0 {
            leaves.fetch_add(1, Relaxed);
            return;
        }
        for _ in 0..4 {
            s.spawn(move |s| grow(s, depth - 1, leaves));
        }
    }
    scope(|s| grow(s, depth, &leaves));
    expect("leaves of a scope", leaves.into_inner(), 1 << (2 * depth))?;
    Ok(1 << (2 * depth))
}

fn loops(size: usize) -> Result<u64, Error> {
    let sum = AtomicU64::new(0);
    par_for(0..size, |i| _ = sum.fetch_add(i as u64, Relaxed));
    let want = (size as u64 - 1) * size as u64 / 2;
    expect("sum of a loop", sum.into_inner(), want)?;
    let reduced = par_reduce(0..size, || 0, |i| i as u64, |a, b| a + b);
    expect("reduction of a loop", reduced, want)?;
    Ok(2 * size as u64)
}

fn maps(size: usize) -> Result<u64, Error> {
    let numbers: Vec<usize> = (0..size).collect();
    let doubled = par_map(&numbers, |n| Box::new(n * 2));
    expect("length of a map", doubled.len(), size)?;
    let right = doubled.iter().enumerate().all(|(i, n)| **n == i * 2);
    expect("order of a map", right, true)?;
    Ok(size as u64)
}

fn sorts(size: usize, seed: u64) -> Result<u64, Error> {
    let mut random = XorShift::new(seed);
    let mut numbers: Vec<u64> = (0..size).map(|_| random.next_u64() % 1000).collect();
    let mut want = numbers.clone();
    want.sort_unstable();
    if seed.is_multiple_of(2) {
        par_sort(&mut numbers);
    } else {
        par_sort_unstable(&mut numbers);
    }
    expect("a sorted vector", numbers == want, true)?;
    Ok(size as u64)
}
