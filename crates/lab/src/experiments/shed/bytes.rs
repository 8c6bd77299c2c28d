//! The memory that a shed takes, besides payloads.

use crate::adapter::OURS;
use crate::error::{Error, input};
use crate::experiment::{Figure, Group, Run, Trend};
use sateen_shed::Shed;

/// How many more tasks the difference is of. Part of the figures' meaning.
const MORE: u64 = 1_000_000;
type Payload = u64;

pub(super) fn groups() -> [Group; 2] {
    [
        group("bytes-task", "bytes per task", "memory of a task, besides its payload", || {
            Ok(bytes(2 * MORE, MORE)? - bytes(MORE, MORE)? - (MORE as usize * size_of::<Payload>()))
        }),
        group("bytes-dependency", "bytes per dependency", "memory of a dependency", || {
            Ok(bytes(MORE, 2 * MORE)? - bytes(MORE, MORE)?)
        }),
    ]
}

fn group(case: &str, name: &str, what: &str, more: fn() -> Result<usize, Error>) -> Group {
    let figure = Figure {
        case: case.to_owned(),
        config: "n1000000".to_owned(),
        name: format!("{name}/1,000,000 more"),
        unit: "B",
        trend: Trend::Lower,
        description: format!(
            "{what}: measured on 1,000,000 more, in a shed with a million of both"
        ),
    };
    let mut group = Group::new(1, vec![figure]);
    (group.warmups, group.min_runs, group.max_runs) = (0, 1, Some(1));
    group.in_tour = false;
    group.add(OURS, move || Ok(Run(move || Ok(vec![more()? as f64 / MORE as f64]))));
    group
}

fn bytes(tasks: u64, dependencies: u64) -> Result<usize, Error> {
    let size = Shed::<Payload>::required_size(tasks, dependencies, 1);
    size.ok_or_else(|| input("a shed of two million tasks cannot be addressed"))
}
