//! Detects cycles of tasks that wait for each other.
//!
//! A survey visits the waiting fibers one after another while others run. So a cycle in its result
//! may never have existed. A cycle is reported if a second survey, begun after the first, shows the
//! same waits of the same fibers in a cycle. Proof: `README.md`, "Seeing what waits"; model:
//! `loom_cycles.rs`.

// Public to the models only.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use std::collections::HashMap;

/// A fiber as a survey saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The fiber's number.
    pub id: u64,
    /// When its wait began. No two waits that surveys can see of one fiber began at the same time.
    pub since: u64,
    /// The owner of what it waits for; `None` if it does not wait, or the owner is unknown.
    pub owner: Option<u64>,
}

/// Finds the cycles. Each is a list of its members' indices, in the order of waiting.
///
/// Each fiber waits for at most one owner. A walk starts from each fiber and marks the fibers that
/// it visits with its number. A walk that meets its own mark has found a cycle, and each cycle is
/// found once.
pub fn find(fibers: &[Seen]) -> Vec<Vec<usize>> {
    // An activation that continues on fresh stacks has one number on all of them. Only the
    // innermost wait counts, which is the one for an owner.
    let mut by_id: HashMap<u64, usize> = HashMap::new();
    for (i, fiber) in fibers.iter().enumerate() {
        let place = by_id.entry(fiber.id).or_insert(i);
        if fiber.owner.is_some() {
            *place = i;
        }
    }
    let next = |index: usize| by_id.get(&fibers[index].owner?).copied();
    let mut marks = vec![usize::MAX; fibers.len()];
    let mut cycles = Vec::new();
    for walk in 0..fibers.len() {
        let mut at = Some(walk);
        while let Some(index) = at
            && marks[index] == usize::MAX
        {
            marks[index] = walk;
            at = next(index);
        }
        let Some(first) = at.filter(|&index| marks[index] == walk) else { continue };
        let mut cycle = vec![first];
        let mut at = next(first);
        while let Some(index) = at.filter(|&index| index != first) {
            cycle.push(index);
            at = next(index);
        }
        cycles.push(cycle);
    }
    cycles
}

/// Whether the `cycle` of one survey is also in the next survey, `again`: the same fibers, in the
/// same waits, in one cycle.
pub fn is_seen_again(cycle: &[Seen], again: &[Seen]) -> bool {
    let same = |a: &Seen, b: &Seen| (a.id, a.since) == (b.id, b.since);
    let is_it = |other: &Vec<usize>| {
        let has = |a: &Seen| other.iter().any(|&b| same(a, &again[b]));
        cycle.len() == other.len() && cycle.iter().all(has)
    };
    find(again).iter().any(is_it)
}
