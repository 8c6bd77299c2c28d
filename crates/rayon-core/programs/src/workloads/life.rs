//! Conway's game of life on a torus: a short loop for each generation.

use crate::draw::numbers;
use crate::{Made, Workload};
use rayon::prelude::*;

const GENERATIONS: usize = 50;

struct Life {
    side: usize,
    bridge: bool,
    begin: Vec<u8>,
    cells: Vec<u8>,
    next: Vec<u8>,
    end: Vec<u8>,
}

/// Rows are the items of an indexed iterator. The size is the length of a row, and their number.
pub(crate) fn rows(side: usize) -> Made {
    Ok(Box::new(Life::new(side, false)))
}

/// Rows come from a plain iterator, through a bridge.
pub(crate) fn bridge(side: usize) -> Made {
    Ok(Box::new(Life::new(side, true)))
}

impl Life {
    fn new(side: usize, bridge: bool) -> Self {
        let begin: Vec<u8> = numbers().map(|n| u8::from(n >> 62 == 0)).take(side * side).collect();
        let (mut end, mut next) = (begin.clone(), begin.clone());
        for _ in 0..GENERATIONS {
            for (y, row) in next.chunks_mut(side).enumerate() {
                fill(row, &end, y);
            }
            std::mem::swap(&mut end, &mut next);
        }
        Self { side, bridge, cells: begin.clone(), begin, next, end }
    }
}

/// Computes row `y` of the generation after `cells`.
fn fill(row: &mut [u8], cells: &[u8], y: usize) {
    let (side, rows) = (row.len(), cells.len() / row.len());
    let line = |y: usize| &cells[y % rows * side..][..side];
    let (above, same, below) = (line(y + rows - 1), line(y), line(y + 1));
    for (x, cell) in row.iter_mut().enumerate() {
        let left = if x == 0 { side - 1 } else { x - 1 };
        let right = if x + 1 == side { 0 } else { x + 1 };
        let three = |line: &[u8]| line[left] + line[x] + line[right];
        let around = three(above) + three(same) + three(below) - same[x];
        *cell = u8::from(around == 3 || around == 2 && same[x] == 1);
    }
}

impl Workload for Life {
    fn reset(&mut self) {
        self.cells.copy_from_slice(&self.begin);
    }

    fn run(&mut self) {
        for _ in 0..GENERATIONS {
            let cells = &self.cells;
            let each = |(y, row): (usize, &mut [u8])| fill(row, cells, y);
            if self.bridge {
                self.next.chunks_mut(self.side).enumerate().par_bridge().for_each(each);
            } else {
                self.next.par_chunks_mut(self.side).enumerate().for_each(each);
            }
            std::mem::swap(&mut self.cells, &mut self.next);
        }
    }

    fn check(&self) -> Result<(), String> {
        let wrong = self.cells.iter().zip(&self.end).position(|(found, wanted)| found != wanted);
        wrong.map_or(Ok(()), |i| Err(format!("cell {i} is wrong after the last generation")))
    }
}
