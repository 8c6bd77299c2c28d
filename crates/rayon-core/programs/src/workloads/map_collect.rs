//! Numbers and their images, collected in several ways.

use crate::{Made, Workload, expect};
use rayon::prelude::*;
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Mutex;

/// What a run collects.
enum Found {
    Nothing,
    Vector(Vec<u64>),
    Map(HashMap<u64, u64>),
}

struct Collect {
    size: u64,
    collect: fn(u64) -> Found,
    found: Found,
}

fn image(n: u64) -> u64 {
    (n ^ n >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn pairs(size: u64) -> impl IndexedParallelIterator<Item = (u64, u64)> {
    // Ranges of 64 bits have no index.
    (0..size as usize).into_par_iter().map(|n| (n as u64, image(n as u64)))
}

fn make(size: usize, collect: fn(u64) -> Found) -> Made {
    Ok(Box::new(Collect { size: size as u64, collect, found: Found::Nothing }))
}

/// Into a vector, whose length is known. The size is that of what is collected, here and below.
pub(crate) fn into_vec(size: usize) -> Made {
    make(size, |size| Found::Vector(pairs(size).map(|(_, image)| image).collect()))
}

/// Into a map, as the library does it.
pub(crate) fn into_map(size: usize) -> Made {
    make(size, |size| Found::Map(pairs(size).collect()))
}

/// Into a map for each part, which are then put together.
pub(crate) fn by_fold(size: usize) -> Made {
    make(size, |size| {
        let parts = pairs(size).fold(HashMap::new, |mut map, (n, image)| {
            map.insert(n, image);
            map
        });
        Found::Map(parts.reduce(HashMap::new, |a, b| {
            let (mut more, fewer) = if a.len() < b.len() { (b, a) } else { (a, b) };
            more.extend(fewer);
            more
        }))
    })
}

/// Into one map under a lock.
pub(crate) fn under_mutex(size: usize) -> Made {
    make(size, |size| {
        let map = Mutex::new(HashMap::new());
        pairs(size).for_each(|(n, image)| {
            map.lock().unwrap().insert(n, image);
        });
        Found::Map(map.into_inner().unwrap())
    })
}

impl Workload for Collect {
    fn reset(&mut self) {
        self.found = Found::Nothing;
    }

    fn run(&mut self) {
        self.found = (self.collect)(black_box(self.size));
    }

    fn check(&self) -> Result<(), String> {
        let len = match &self.found {
            Found::Nothing => 0,
            Found::Vector(vector) => vector.len(),
            Found::Map(map) => map.len(),
        };
        expect("what is collected", len as u64, self.size)?;
        let get = |n: u64| match &self.found {
            Found::Nothing => None,
            Found::Vector(vector) => vector.get(n as usize).copied(),
            Found::Map(map) => map.get(&n).copied(),
        };
        let wrong = (0..self.size).find(|n| get(*n) != Some(image(*n)));
        wrong.map_or(Ok(()), |n| Err(format!("{n} has not its own image")))
    }
}
