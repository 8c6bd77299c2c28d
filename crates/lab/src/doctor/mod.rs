//! `sateen doctor`: what this machine is, what its steps cost, and what is lost on it.

mod machine;

use crate::costs::Costs;
use crate::error::Error;
use crate::host;
use crate::report::print;

/// Prints the report.
///
/// # Errors
/// Standard output cannot be written.
pub(crate) fn run() -> Result<(), Error> {
    print(&host::summary())?;
    let facts = machine::facts();
    let costs = rows(&Costs::measure());
    let named = facts.iter().map(|fact| fact.what).chain(costs.iter().map(|cost| cost.0));
    let width = named.map(str::len).max().unwrap_or(0);
    let mut lost = host::complaints();
    for fact in facts {
        print(&format!("  {:width$}  {}", fact.what, fact.value))?;
        lost.extend(fact.lost.map(str::to_owned));
    }
    print("\nCosts")?;
    for (what, nanoseconds) in costs {
        print(&format!("  {what:width$}  {}", words(nanoseconds)))?;
    }
    if lost.is_empty() {
        print("\nNothing is lost on this machine.")
    } else {
        let lines = lost.iter().map(|sentence| format!("\n  * {sentence}"));
        print(&format!("\nWhat is lost{}", lines.collect::<String>()))
    }
}

fn rows(costs: &Costs) -> Vec<(&'static str, f64)> {
    let rows = [
        ("locked instruction", Some(costs.locked_ns)),
        ("full fence", Some(costs.fence_ns)),
        ("`pause`", Some(costs.pause_ns)),
        ("look at the clock", Some(costs.clock_ns)),
        ("call to wake a thread", costs.futex_wake_ns),
        ("from there until it runs", costs.wake_to_run_ns),
        ("heavy fence, busy cores", costs.heavy_fence_ns),
    ];
    rows.into_iter().filter_map(|(what, cost)| Some((what, cost?))).collect()
}

fn words(nanoseconds: f64) -> String {
    if nanoseconds < 1000.0 {
        format!("{nanoseconds:.1} ns")
    } else {
        format!("{:.1} µs", nanoseconds / 1000.0)
    }
}
