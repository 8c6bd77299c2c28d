//! One item among many, near the begin or near the end: how soon the others stop.

use crate::{Made, Workload, expect};
use rayon::prelude::*;
use std::hint::black_box;

/// Searches of one run.
const SEARCHES: usize = 20;
/// The item that is wanted. All others are less.
const WANTED: u32 = u32::MAX;

struct Find {
    items: Vec<u32>,
    place: usize,
    found: Vec<Option<usize>>,
}

/// After a hundredth of the items. The size is their number.
pub(crate) fn early(size: usize) -> Made {
    make(size, size / 100)
}

/// Before the last hundredth.
pub(crate) fn late(size: usize) -> Made {
    make(size, size - 1 - size / 100)
}

fn make(size: usize, place: usize) -> Made {
    if size > WANTED as usize {
        return Err(format!("at most {WANTED} items"));
    }
    let mut items: Vec<u32> = (0..size as u32).collect();
    items[place] = WANTED;
    Ok(Box::new(Find { items, place, found: Vec::new() }))
}

impl Workload for Find {
    fn run(&mut self) {
        let search = |_| self.items.par_iter().position_any(|item| *item == black_box(WANTED));
        self.found = (0..SEARCHES).map(search).collect();
    }

    fn check(&self) -> Result<(), String> {
        let found = self.found.iter().copied().collect::<Option<Vec<_>>>();
        expect("where the item is", found, Some(vec![self.place; SEARCHES]))
    }
}
