//! Peers in other languages: our programs in `peers-src`, written from each system's documentation.
//! Our own tasks with other allocators are programs too.

pub(crate) mod bikeshed;
mod recipe;
mod serve;
#[cfg(test)]
mod tests;

use crate::adapter::{Job, OURS};
use crate::error::Error;
use crate::experiment::{Group, Run};
pub(super) use recipe::Recipe;
#[cfg(feature = "peers")]
pub(super) use recipe::built;
use serve::Served;

/// A program as an implementation.
struct Peer {
    implementation: &'static str,
    recipe: &'static Recipe,
    arguments: &'static [&'static str],
    most_workers: usize,
    cases: &'static [&'static str],
}

const ANY: usize = usize::MAX;

pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

/// The command line of g++ for Boost.Fiber, with more to link. Symbols are bound at the start,
/// because binding needs more stack than a fiber has.
fn boost(more: &[&str]) -> Vec<String> {
    let mut all = words(&["g++", "-std=c++17", "-O3", "-DNDEBUG", "-o", "peer", "boost.cpp"]);
    all.extend(words(&["-Wl,-z,now", "-lboost_fiber", "-lboost_context", "-pthread"]));
    all.extend(words(more));
    all
}

const BOOST_SOURCES: &[(&str, &str)] =
    &[("boost.cpp", include_str!("../../../peers-src/boost.cpp"))];

static BOOST: Recipe = Recipe {
    name: "Boost.Fiber",
    packages: "g++ libboost-fiber-dev",
    sources: BOOST_SOURCES,
    compile: || boost(&[]),
    start: |_| words(&["./peer"]),
};

static BOOST_TCMALLOC: Recipe = Recipe {
    name: "Boost.Fiber with tcmalloc",
    packages: "libtcmalloc-minimal4",
    // The library without its headers is enough.
    compile: || boost(&["-Wl,--no-as-needed", "-l:libtcmalloc_minimal.so.4"]),
    ..BOOST
};

static GO: Recipe = Recipe {
    name: "Go",
    packages: "golang-go",
    sources: &[("peer.go", include_str!("../../../peers-src/peer.go"))],
    compile: || words(&["go", "build", "-o", "peer", "peer.go"]),
    start: |_| words(&["./peer"]),
};

static ERLANG: Recipe = Recipe {
    name: "Erlang",
    packages: "erlang-base",
    sources: &[("lab_peer.erl", include_str!("../../../peers-src/lab_peer.erl"))],
    compile: || words(&["erlc", "lab_peer.erl"]),
    start: |workers| {
        let schedulers = format!("{workers}:{workers}");
        words(&["erl", "-noshell", "+S", &schedulers, "+P", "4000000", "-run", "lab_peer", "main"])
    },
};

static GHC: Recipe = Recipe {
    name: "GHC",
    packages: "ghc",
    sources: &[("Peer.hs", include_str!("../../../peers-src/Peer.hs"))],
    compile: || words(&["ghc", "-O2", "-threaded", "-rtsopts", "-o", "peer", "Peer.hs"]),
    start: |workers| words(&["./peer", "+RTS", &format!("-N{workers}"), "-RTS"]),
};

static ONE_TBB: Recipe = Recipe {
    name: "oneTBB",
    packages: "g++ libtbb-dev",
    sources: &[("tbb.cpp", include_str!("../../../peers-src/tbb.cpp"))],
    compile: || {
        let mut all = recipe::compiler("CXX", "c++");
        all.extend(words(&["-std=c++17", "-O3", "-DNDEBUG", "-o", "peer", "tbb.cpp"]));
        all.extend(words(&["-ltbb", "-pthread"]));
        all
    },
    start: |_| words(&["./peer"]),
};

/// The command line of Cargo for one of our own small programs, with the lab's profile and target
/// directory.
fn cargo(command: &str, allocator: &str, more: &[&str]) -> Vec<String> {
    let mut all = words(&[option_env!("CARGO").unwrap_or("cargo"), command, "--quiet"]);
    all.extend(words(&["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]));
    all.extend(words(&["--features", &format!("peers,{allocator}")]));
    all.extend(words(&["--bin", &format!("sateen-{allocator}")]));
    all.extend(recipe::place_and_profile());
    all.extend(words(more));
    all
}

static MIMALLOC: Recipe = Recipe {
    name: "Sateen with mimalloc",
    packages: "gcc",
    sources: &[],
    compile: || cargo("build", "mimalloc", &[]),
    start: |_| words(&["./sateen-mimalloc"]),
};

static JEMALLOC: Recipe = Recipe {
    name: "Sateen with jemalloc",
    packages: "gcc make",
    sources: &[],
    compile: || cargo("build", "jemalloc", &[]),
    start: |_| words(&["./sateen-jemalloc"]),
};

static TCMALLOC: Recipe = Recipe {
    name: "Sateen with tcmalloc",
    packages: "libtcmalloc-minimal4",
    sources: &[],
    compile: || {
        let link = ["-Clink-arg=-Wl,--no-as-needed", "-Clink-arg=-l:libtcmalloc_minimal.so.4"];
        cargo("rustc", "tcmalloc", &[&["--"], &link[..]].concat())
    },
    start: |_| words(&["./sateen-tcmalloc"]),
};

static UNKEPT: Recipe = Recipe {
    name: "Sateen with frames from the allocator",
    packages: "cargo",
    sources: &[],
    compile: || cargo("build", "unkept", &[]),
    start: |_| words(&["./sateen-unkept"]),
};

/// Cargo's own note only says that there is no rayon.
const RAYON_NEEDS: &str = "cargo, and a network where it has not fetched rayon before";

/// The command line of Cargo for the workloads of rayon's users, in the package `which`.
fn rayon(which: &str) -> Vec<String> {
    // Loops that are alike begin alike. Otherwise one program is up to an eighth faster than the
    // other by where a loop happens to lie.
    const ALIGNED: &str = "build.rustflags=['-Cllvm-args=-align-all-nofallthru-blocks=6']";
    const PACKAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../rayon-core/programs");
    let mut all = words(&[option_env!("CARGO").unwrap_or("cargo"), "build", "--quiet", "--locked"]);
    all.extend(words(&["--manifest-path", &format!("{PACKAGES}/{which}/Cargo.toml")]));
    all.extend(words(&["--bin", &format!("{which}-workloads"), "--config", ALIGNED]));
    all.extend(recipe::place_and_profile());
    all
}

static RAYON_REPLACED: Recipe = Recipe {
    name: "rayon on Sateen's rayon-core",
    packages: RAYON_NEEDS,
    sources: &[],
    compile: || rayon("replacement"),
    start: |_| words(&["./replacement-workloads"]),
};

static RAYON: Recipe = Recipe {
    name: "rayon on its own rayon-core",
    packages: RAYON_NEEDS,
    sources: &[],
    compile: || rayon("upstream"),
    start: |_| words(&["./upstream-workloads"]),
};

const OUR_TREES: &[&str] =
    &["sateen-join", "sateen-suspend", "sateen-detach", "sateen-channel", "sateen-async"];
const TREES: &[&str] = &["skynet-join", "skynet-detach", "skynet-async"];
const TREES_AND_TURNS: &[&str] = &[
    "skynet-join",
    "skynet-detach",
    "skynet-async",
    "yield",
    "pingpong-mutex",
    "pingpong-condvar",
];

static PEERS: &[Peer] = &[
    Peer {
        implementation: "sateen-stealing-tcmalloc",
        recipe: &TCMALLOC,
        arguments: &[],
        most_workers: ANY,
        cases: OUR_TREES,
    },
    Peer {
        implementation: "sateen-stealing-mimalloc",
        recipe: &MIMALLOC,
        arguments: &[],
        most_workers: ANY,
        cases: OUR_TREES,
    },
    Peer {
        implementation: "sateen-stealing-jemalloc",
        recipe: &JEMALLOC,
        arguments: &[],
        most_workers: ANY,
        cases: OUR_TREES,
    },
    Peer {
        implementation: "sateen-stealing-unkept",
        recipe: &UNKEPT,
        arguments: &[],
        most_workers: ANY,
        cases: OUR_TREES,
    },
    Peer {
        implementation: "boost-stealing",
        recipe: &BOOST,
        arguments: &["stealing"],
        most_workers: ANY,
        cases: TREES_AND_TURNS,
    },
    Peer {
        implementation: "boost-stealing-tcmalloc",
        recipe: &BOOST_TCMALLOC,
        arguments: &["stealing"],
        most_workers: ANY,
        cases: TREES,
    },
    Peer {
        implementation: "boost-sharing",
        recipe: &BOOST,
        arguments: &["sharing"],
        most_workers: ANY,
        cases: TREES,
    },
    Peer {
        implementation: "boost-sharing-tcmalloc",
        recipe: &BOOST_TCMALLOC,
        arguments: &["sharing"],
        most_workers: ANY,
        cases: TREES,
    },
    Peer {
        implementation: "boost-roundrobin",
        recipe: &BOOST,
        arguments: &["roundrobin"],
        most_workers: 1,
        cases: TREES_AND_TURNS,
    },
    Peer {
        implementation: "boost-roundrobin-tcmalloc",
        recipe: &BOOST_TCMALLOC,
        arguments: &["roundrobin"],
        most_workers: 1,
        cases: TREES,
    },
    Peer {
        implementation: "onetbb",
        recipe: &ONE_TBB,
        arguments: &[],
        most_workers: ANY,
        cases: &["fan", "chain", "random", "frame"],
    },
    Peer {
        implementation: "go",
        recipe: &GO,
        arguments: &[],
        most_workers: ANY,
        cases: &[
            "skynet-detach",
            "yield",
            "pingpong-mutex",
            "pingpong-condvar",
            "pingpong-event",
            "million",
            "sleepers",
            "skew",
        ],
    },
    Peer {
        implementation: "erlang",
        recipe: &ERLANG,
        arguments: &[],
        most_workers: ANY,
        cases: &["skynet-detach", "yield", "pingpong-event", "million", "sleepers"],
    },
    Peer {
        implementation: "ghc",
        recipe: &GHC,
        arguments: &[],
        most_workers: ANY,
        cases: &["skynet-detach", "yield", "pingpong-event"],
    },
];

/// Both have all cases of the experiment `rayon`.
static RAYONS: [Peer; 2] = [
    Peer {
        implementation: OURS,
        recipe: &RAYON_REPLACED,
        arguments: &[],
        most_workers: ANY,
        cases: &[],
    },
    Peer { implementation: "rayon", recipe: &RAYON, arguments: &[], most_workers: ANY, cases: &[] },
];

/// Adds the programs of rayon's users to `group`, with the case of `job`.
pub(crate) fn add_rayons(group: &mut Group, job: Job) {
    RAYONS.iter().for_each(|peer| peer.add(group, job));
}

/// Adds to `group` each program that has one of `cases`, with the first case that it has.
pub(crate) fn add_all(group: &mut Group, cases: &[&'static str], job: Job) {
    for peer in PEERS.iter().filter(|p| job.workers <= p.most_workers) {
        if let Some(case) = cases.iter().find(|c| peer.cases.contains(c)) {
            let job = Job { case, ..job };
            peer.add(group, job);
        }
    }
}

impl Peer {
    /// Adds the program to `group`.
    fn add(&self, group: &mut Group, job: Job) {
        let Self { recipe, arguments, .. } = *self;
        group.add(self.implementation, move || {
            let mut words = (recipe.start)(job.workers);
            words.extend(arguments.iter().map(|a| (*a).to_owned()));
            words.extend([job.case.to_owned(), job.workers.to_string(), job.size.to_string()]);
            let mut served = Served::start(&recipe::built(recipe)?, &words, job.check)
                .map_err(|e| Error::Absent(format!("{}: {e}", recipe.name)))?;
            Ok(Run(move || Ok((job.values)(&served.run()?, &job))))
        });
    }
}
