//! Graphs of who waits for whom, and the cycles in them.

use alloc::vec;
use alloc::vec::Vec;

/// Who waits for whom among `0..len`.
pub(crate) struct Graph {
    /// How many each waits for.
    pub(crate) open: Vec<u32>,
    /// Where in `parents` those begin that wait for each; one more for the end.
    first: Vec<usize>,
    parents: Vec<u32>,
}

impl Graph {
    /// `edges` are pairs of who waits, and for whom.
    pub(crate) fn new(len: usize, edges: &[(u32, u32)]) -> Self {
        let mut graph =
            Self { open: vec![0; len], first: vec![0; len + 1], parents: vec![0; edges.len()] };
        for &(parent, child) in edges {
            graph.open[parent as usize] += 1;
            graph.first[child as usize] += 1;
        }
        let mut end = 0;
        for first in &mut graph.first {
            end += *first;
            *first = end;
        }
        // From behind, so that those of a child stay in their order: `first` moves from the end to the beginning.
        for &(parent, child) in edges.iter().rev() {
            let first = &mut graph.first[child as usize];
            *first -= 1;
            graph.parents[*first] = parent;
        }
        graph
    }

    /// Who waits for `child`.
    pub(crate) fn parents(&self, child: usize) -> &[u32] {
        &self.parents[self.first[child]..self.first[child + 1]]
    }

    /// Some that wait for each other: each for the next, and the last for the first. Kahn's topological sort (1962): what it cannot sort
    /// is on a cycle, or waits for one.
    pub(crate) fn cycle(&self) -> Option<Vec<u32>> {
        let mut open = self.open.clone();
        let mut sorted: Vec<u32> =
            (0..).zip(&open).filter(|(_, open)| **open == 0).map(|(i, _)| i).collect();
        let mut next = 0;
        while let Some(&child) = sorted.get(next) {
            next += 1;
            for &parent in self.parents(child as usize) {
                open[parent as usize] -= 1;
                if open[parent as usize] == 0 {
                    sorted.push(parent);
                }
            }
        }
        if sorted.len() == open.len() {
            return None;
        }
        // Each of the rest waits for one of the rest.
        let mut waits_for = vec![0; open.len()];
        let mut any = 0;
        for child in (0..open.len()).filter(|&child| open[child] > 0) {
            self.parents(child).iter().for_each(|&p| waits_for[p as usize] = child as u32);
            any = child as u32;
        }
        // After so many steps we are on a cycle.
        (0..open.len()).for_each(|_| any = waits_for[any as usize]);
        let mut cycle = vec![any];
        let mut at = waits_for[any as usize];
        while at != any {
            cycle.push(at);
            at = waits_for[at as usize];
        }
        Some(cycle)
    }
}
