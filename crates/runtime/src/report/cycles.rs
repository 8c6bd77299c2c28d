//! Who waits for whom, in circles.

use super::info::{FiberInfo, FiberState};
use std::collections::HashMap;

/// The cycles among waiting fibers, each by the indices of its members, in the order of waiting.
///
/// Each fiber waits for one owner at most, so a walk from each, marked with its number, finds every
/// cycle once: where a walk meets its own mark.
pub(super) fn find(fibers: &[FiberInfo]) -> Vec<Vec<usize>> {
    let by_id: HashMap<u64, usize> = fibers.iter().enumerate().map(|(i, f)| (f.id, i)).collect();
    let next = |index: usize| {
        let fiber: &FiberInfo = &fibers[index];
        let owner = fiber.waits_for.as_ref()?.owner.as_ref()?;
        (fiber.state == FiberState::Waiting).then(|| by_id.get(&owner.id).copied())?
    };
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
