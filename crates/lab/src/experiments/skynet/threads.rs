//! A system thread for each node.

use super::judge;
use crate::error::Error;
use crate::experiment::{Group, Plan, Run};
use crate::host;
use std::io;
use std::thread::Builder;
use std::time::Instant;

/// As published: it asks for 8 KiB. The system gives its smallest stack, which is larger.
const SMALL: usize = 8 * 1024;

pub(super) fn group(plan: &Plan) -> Group {
    let leaves = plan.size(10_000, 100);
    let what = "each with a system thread, on all cores";
    let mut group = super::group("join", 2, "leaf", "10,000", what);
    for (name, stack) in [("pthread-8k", Some(SMALL)), ("std-thread", None)] {
        group.add(name, move || Ok(Run(move || run(leaves, stack))));
        // The standard library aborts if a new thread finds no room for its signal stack.
        group.keep_apart(true);
    }
    if plan.short {
        (group.min_runs, group.max_runs) = (1, Some(1));
    }
    group
}

fn run(leaves: u64, stack: Option<usize>) -> Result<Vec<f64>, Error> {
    let absent = |reason: String| Error::Absent(format!("skynet of threads: {reason}"));
    let nodes = super::tasks(leaves);
    if let Some(most) = host::most_threads()
        && (most as u64) < nodes
    {
        return Err(absent(format!("the limit of memory maps leaves room for {most} of {nodes}")));
    }
    let start = Instant::now();
    let sum = tree(0, leaves, stack).map_err(|e| absent(e.to_string()))?;
    judge(leaves, start.elapsed(), sum, leaves)
}

/// Returns the sum of the ordinals of `leaves` leaves from `first`.
fn tree(first: u64, leaves: u64, stack: Option<usize>) -> io::Result<u64> {
    if leaves == 1 {
        return Ok(first);
    }
    let tenth = leaves / 10;
    let start = |i| {
        let builder = stack.map_or_else(Builder::new, |s| Builder::new().stack_size(s));
        builder.spawn(move || tree(first + i * tenth, tenth, stack))
    };
    // All threads are joined even if one could not be started.
    let children: Vec<_> = (0..10).map(start).collect();
    let join = |child: io::Result<std::thread::JoinHandle<_>>| match child?.join() {
        Ok(sum) => sum,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    let sums: Vec<io::Result<u64>> = children.into_iter().map(join).collect();
    sums.into_iter().sum()
}
