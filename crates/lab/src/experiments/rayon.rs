//! Programs of rayon's users, on upstream's rayon-core and on ours.
//!
//! Both rayon-cores have the same `links` key, of which Cargo allows one in a lock file. So they
//! are two programs (`crates/rayon-core/programs`), which the lab builds and asks for runs as it
//! does with programs in other languages.

use crate::adapter::Job;
use crate::experiment::{Experiment, Figure, Group, Plan, Trend};
use crate::host::{cores, plural};
use crate::peers;

/// The experiment `rayon`.
pub(crate) struct Rayon;

/// A workload: its name, its sizes, and what it is.
struct Case {
    name: &'static str,
    full: u64,
    smoke: u64,
    what: &'static str,
}

const fn case(name: &'static str, full: u64, smoke: u64, what: &'static str) -> Case {
    Case { name, full, smoke, what }
}

const CASES: [Case; 18] = [
    case("fib", 32, 12, "fib(32) by joins without a cut-off"),
    case("nbody", 1_000, 20, "five steps of 1,000 bodies that attract one another"),
    case("life", 256, 16, "50 generations of Conway's game of life, 256 rows of 256"),
    case("life-bridge", 256, 16, "the same with rows from a plain iterator, through `par_bridge`"),
    case("quicksort", 1_000_000, 500, "a quicksort of 1,000,000 numbers by joins"),
    case("mergesort", 1_000_000, 5_000, "a mergesort of 1,000,000 numbers by joins"),
    case("matmul", 256, 64, "a product of matrices of 256 x 256, quartered by joins"),
    case("sieve", 10_000_000, 1_000, "the primes below 10,000,000, in segments"),
    case("tsp", 15, 6, "the shortest round trip of 15 cities, by branch and bound in a scope"),
    case("map-collect-vec", 1_000_000, 500, "1,000,000 numbers, mapped into a vector"),
    case("map-collect-hash", 200_000, 500, "200,000 pairs, collected into a hash map"),
    case("map-collect-fold", 200_000, 500, "the same into a map for each part, then put together"),
    case("map-collect-mutex", 200_000, 500, "the same into one map under a mutex"),
    case("str-split", 4_000_000, 1_000, "the words of a text of 4,000,000 bytes"),
    case("find-early", 2_000_000, 500, "20 searches among 2,000,000 items; the first 1 % do"),
    case("find-late", 2_000_000, 500, "20 searches among 2,000,000 items; 99 % are needed"),
    case("tiny-loops", 10_000, 10, "10,000 parallel loops of about 20 µs, one after another"),
    case("tiny-loops-outside", 10_000, 10, "the same, each started by a thread outside"),
];

impl Experiment for Rayon {
    fn name(&self) -> &'static str {
        "rayon"
    }

    fn about(&self) -> &'static str {
        "Programs of rayon's users on upstream's rayon-core and on ours, which takes its place by \
         a patch. One program cannot have both, so there are two. They are built from the same \
         sources with the same rayon, compiler and profile. They take turns in one run, each alone \
         and on a fresh pool, and take the time themselves. So nothing but rayon-core differs."
    }

    fn groups(&self, plan: &Plan) -> Vec<Group> {
        // Cargo builds both programs, for which it may need a network, so only on request.
        if !plan.peers.all() {
            return Vec::new();
        }
        let workers = plan.workers_or(&[1, 2, 8]);
        let groups = CASES.iter().flat_map(|case| workers.iter().map(|n| group(plan, case, *n)));
        groups.collect()
    }
}

fn group(plan: &Plan, case: &Case, workers: usize) -> Group {
    let figure = Figure {
        case: case.name.to_owned(),
        config: format!("w{workers}"),
        name: format!("time of {}/{workers} worker{}", case.name, plural(workers)),
        unit: "ms",
        trend: Trend::Lower,
        description: format!("{}: time of a run", case.what),
    };
    let mut group = Group::new(workers, vec![figure]);
    group.in_tour = workers <= cores().max(2);
    let size = plan.size(case.full, case.smoke);
    let values = |ns: &[f64], _: &Job| vec![ns[0] / 1e6];
    // A program says its size once it has checked its result.
    peers::add_rayons(&mut group, Job { case: case.name, workers, size, check: size, values });
    group
}
