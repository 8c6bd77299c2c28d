//! Graphs with results, run again and again.

use super::World;
use crate::error::{Error, expect};
use sateen::flow::Graph;
use sateen_base::XorShift;

pub(super) fn run(world: &World<'_>, mut random: XorShift) -> Result<(), Error> {
    while !world.is_over() {
        round(world, &mut random)?;
    }
    Ok(())
}

/// Layers of tasks, each of which adds one to the largest result of some before it.
fn round(world: &World<'_>, random: &mut XorShift) -> Result<(), Error> {
    let (layers, width) = (1 + random.below(10), 1 + random.below(20));
    let failed = |e: sateen::flow::GraphError| Error::Wrong(format!("a graph: {e}"));
    let mut graph = Graph::new();
    let mut last: Vec<_> = (0..width).map(|_| graph.task(|| 1_u64)).collect();
    for _ in 1..layers {
        last = (0..width)
            .map(|i| {
                let from = &last[random.below(i + 1)..];
                graph.task_with(from, |results| results.into_iter().max().map_or(0, |n| n + 1))
            })
            .collect();
    }
    for _ in 0..3 {
        graph.run(world.runtime).map_err(failed)?;
        for task in &last {
            expect("depth of a graph", *graph.result(task).map_err(failed)?, layers as u64)?;
        }
        world.ledger.did((layers * width) as u64);
    }
    Ok(())
}
