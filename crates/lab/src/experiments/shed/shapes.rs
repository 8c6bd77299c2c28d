//! The graphs that all implementations run, as tasks and edges, so that none of them has an easier
//! one.
//!
//! Tasks are numbered from 0, and a predecessor has a smaller number than its successors. Programs
//! in other languages make the same graphs by themselves; a test compares their [`Shape::digest`].

use sateen_base::XorShift;

/// A predecessor, and a successor that waits for it.
pub(crate) type Edge = (u32, u32);

/// Tasks and what they wait for.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// How many tasks there are.
    pub(crate) tasks: u32,
    /// In a fixed order. The same edge may occur more than once.
    pub(crate) edges: Vec<Edge>,
}

impl Shape {
    /// Returns a number that is the same for the same tasks and edges in the same order, and almost
    /// certainly differs otherwise.
    #[cfg(test)]
    pub(crate) fn digest(&self) -> u64 {
        let mix =
            |state: u64, number: u32| (state ^ u64::from(number)).wrapping_mul(0x100_0000_01B3);
        let all = self.edges.iter().flat_map(|(predecessor, successor)| [*predecessor, *successor]);
        all.fold(u64::from(self.tasks), mix)
    }
}

/// Tasks between the first and the last of a fan.
pub(crate) const FAN_WIDTH: u32 = 100;
/// Tasks of one fan.
pub(crate) const FAN_TASKS: u32 = FAN_WIDTH + 2;
/// Edges of [`random`] for each task.
const RANDOM_EDGES: u32 = 4;
/// Tasks of a [`frame`].
pub(crate) const FRAME_TASKS: u32 = 300;

/// Returns `rounds` fans, each 1 → [`FAN_WIDTH`] → 1. The first task of a fan waits for the last
/// of the one before.
pub(crate) fn fan(rounds: u32) -> Shape {
    let mut edges = Vec::new();
    for first in (0..rounds).map(|round| round * FAN_TASKS) {
        let last = first + FAN_TASKS - 1;
        edges.extend((first > 0).then(|| (first - 1, first)));
        edges.extend((first + 1..last).map(|middle| (first, middle)));
        edges.extend((first + 1..last).map(|middle| (middle, last)));
    }
    Shape { tasks: rounds * FAN_TASKS, edges }
}

/// Returns `tasks` tasks in a row.
pub(crate) fn chain(tasks: u32) -> Shape {
    Shape { tasks, edges: (1..tasks).map(|task| (task - 1, task)).collect() }
}

/// Returns `tasks` tasks (at least 2) with four times as many edges, each from a random task to a
/// random one behind it.
pub(crate) fn random(tasks: u32) -> Shape {
    let mut random = XorShift::new(1);
    let others = u64::from(tasks - 1);
    let mut edge = || {
        let predecessor = random.next_u64() % others;
        let successor = predecessor + 1 + random.next_u64() % (others - predecessor);
        (predecessor as u32, successor as u32)
    };
    Shape { tasks, edges: (0..tasks * RANDOM_EDGES).map(|_| edge()).collect() }
}

/// Returns a game's frame of [`FRAME_TASKS`] tasks:
///
/// 1. The input.
/// 2. Four groups of three layers of 24. A task of a layer waits for two of the layer before: the
///    one in its own column and the next one, in a circle. Each group has an end that waits for its
///    whole last layer.
/// 3. Six tasks in a row after the four ends; the last one is the end of the frame.
pub(crate) fn frame() -> Shape {
    const GROUPS: u32 = 4;
    const LAYERS: u32 = 3;
    const WIDTH: u32 = 24;
    let input = 0;
    let task = |group, layer, column| 1 + (group * LAYERS + layer) * WIDTH + column % WIDTH;
    let end_of = |group| task(GROUPS, 0, 0) + group;
    let mut edges = Vec::new();
    for group in 0..GROUPS {
        edges.extend((0..WIDTH).map(|column| (input, task(group, 0, column))));
        for layer in 1..LAYERS {
            for column in 0..WIDTH {
                edges.push((task(group, layer - 1, column), task(group, layer, column)));
                edges.push((task(group, layer - 1, column + 1), task(group, layer, column)));
            }
        }
        edges.extend((0..WIDTH).map(|column| (task(group, LAYERS - 1, column), end_of(group))));
    }
    let first_after = end_of(GROUPS);
    edges.extend((0..GROUPS).map(|group| (end_of(group), first_after)));
    edges.extend((first_after + 1..FRAME_TASKS).map(|task| (task - 1, task)));
    Shape { tasks: FRAME_TASKS, edges }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that predecessors come first, that `roots` tasks wait for none, and that none waits
    /// for `ends` tasks.
    #[track_caller]
    fn check(shape: &Shape, tasks: u32, edges: usize, roots: usize, ends: usize) {
        assert_eq!((shape.tasks, shape.edges.len()), (tasks, edges));
        let (mut in_degrees, mut out_degrees) = (vec![0; tasks as usize], vec![0; tasks as usize]);
        for &(predecessor, successor) in &shape.edges {
            assert!(predecessor < successor && successor < tasks, "{predecessor} -> {successor}");
            in_degrees[successor as usize] += 1;
            out_degrees[predecessor as usize] += 1;
        }
        assert_eq!(
            in_degrees.iter().filter(|n| **n == 0).count(),
            roots,
            "tasks without predecessors"
        );
        assert_eq!(
            out_degrees.iter().filter(|n| **n == 0).count(),
            ends,
            "tasks without successors"
        );
    }

    #[test]
    fn fans_follow_each_other() {
        check(&fan(1), 102, 200, 1, 1);
        check(&fan(1000), 102_000, 200_999, 1, 1);
        assert!(fan(2).edges.contains(&(101, 102)));
    }

    #[test]
    fn a_chain_has_one_link_less_than_tasks() {
        check(&chain(1), 1, 0, 1, 1);
        check(&chain(1000), 1000, 999, 1, 1);
    }

    #[test]
    fn random_graphs_have_no_cycles() {
        check(&random(2), 2, 8, 1, 1);
        let shape = random(1000);
        let without = |of: fn(&Edge) -> u32| {
            (0..1000).filter(|task| !shape.edges.iter().any(|e| of(e) == *task)).count()
        };
        check(&shape, 1000, 4000, without(|e| e.1), without(|e| e.0));
        assert_eq!(random(1000).edges, shape.edges, "the same each time");
    }

    #[test]
    fn a_frame_has_300_tasks() {
        check(&frame(), 300, 96 + 4 * 96 + 96 + 4 + 5 + 1, 1, 1);
        let in_degrees = |of: u32| frame().edges.iter().filter(|e| e.1 == of).count();
        assert_eq!([25, 72, 289, 292, 293, 294, 299].map(in_degrees), [2, 2, 24, 24, 4, 1, 1]);
        // In a circle: the last column of a layer waits for the first one of the layer before.
        assert!(frame().edges.contains(&(1, 48)) && frame().edges.contains(&(24, 48)));
    }
}
