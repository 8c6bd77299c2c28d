//! Every experiment runs, at the smallest size, and checks its own result.

mod common;

use common::{output, stdout};

#[test]
fn the_tour_shows_every_experiment() {
    let text = stdout(&["tour", "--smoke"]);
    let experiments = [
        "deque",
        "forkjoin",
        "iter",
        "skynet",
        "skynet100k",
        "skynet10k",
        "switch",
        "fiber",
        "counter",
        "lock",
        "pool",
        "queue",
        "channel",
        "throttle",
        "flow",
        "listqueue",
        "shed",
        "wake",
        "dispatch",
        "idle",
    ];
    for name in experiments {
        assert!(text.contains(&format!("\n{name}: ")), "{name} has no sentence: {text}");
    }
    // Published figures stand beside ours.
    for published in [
        "51.23 / 60.23 / 60.26",
        "×1.18 ×1.00",
        "Boost.Fiber",
        "18800-28100",
        "900-1110",
        "MultiCore",
        "Bikeshed",
        "published order of merit",
        "of 8,000 K/s: 5700",
    ] {
        assert!(text.contains(published), "{published} is missing: {text}");
    }
}

#[test]
fn without_a_subcommand_it_is_the_tour() {
    // The help text says what the default is; the tour itself is too long for a test.
    let help = stdout(&["--help"]);
    for word in ["run", "list", "tour", "advise", "flow", "diff"] {
        assert!(help.contains(word), "{help}");
    }
    assert!(stdout(&["--version"]).starts_with("sateen "));
}

#[test]
fn a_run_measures_all_it_lists() {
    let listed = stdout(&["list"]);
    let measured = stdout(&["run", "--smoke", "--brief"]);
    let measured: Vec<&str> = measured.lines().filter_map(|l| l.split(' ').next()).collect();
    for id in listed.lines() {
        assert!(measured.contains(&id), "`{id}` was not measured");
    }
    assert_eq!(listed.lines().count(), measured.len());
}

#[test]
fn more_threads_than_cores_are_noted() {
    let text =
        stdout(&["run", "--smoke", "--brief", "--workers", "200", "deque/spawn-time/sateen/"]);
    assert!(text.contains("200 threads on "), "{text}");
}

/// An implementation whose runs may never end is left out with a note.
#[test]
fn a_turn_ends_at_its_time_limit() {
    let id = "deque/pair-pushpop1/sateen/w1";
    let runs = ["0", "4000000000", "4000000000"];
    let done =
        output(&[&["turn", id][..], &runs, &["0", "1000000", "--limit-us", "1000"]].concat());
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{errors}");
    assert_eq!(errors.trim(), format!("sateen: {id}: a turn took longer than 1ms"));
}

#[cfg(feature = "peers")]
#[test]
fn peers_are_compared() {
    let libraries = [
        "deque/pair-pushpop1",
        "^iter/",
        "skynet/fork",
        "skynet/spawn",
        "switch",
        "fiber",
        "^lock/",
        "listqueue",
        "^queue/",
        "^channel/",
        "^throttle/",
    ];
    // Leaves out the programs, which need a compiler of their language and have a test of their
    // own.
    let text = stdout(&[&["run", "--smoke", "--peers"], &libraries[..]].concat());
    let names = [
        "crossbeam",
        "st3",
        "rayon",
        "chili",
        "forte",
        "tokio",
        "may",
        "corosensei",
        "parking_lot",
        "spin",
        "std",
        "disruptor",
        "rtrb",
        "flume",
        "kanal",
        "crossfire",
        "governor",
        "95 % interval",
    ];
    for word in names {
        assert!(text.contains(word), "{word} is missing: {text}");
    }
}

#[cfg(feature = "peers")]
#[test]
fn allocators_and_slabs_are_pools() {
    let text = stdout(&[
        "run",
        "--smoke",
        "--peers",
        "--brief",
        "pool/(short|long-single)-fresh/",
        "pool/handoff",
    ]);
    let names = [
        "short-fresh/locked-tree-parking_lot/t8",
        "short-fresh/mimalloc/t8",
        "short-fresh/jemalloc/t8",
        "short-fresh/snmalloc/t8",
        "short-fresh/sharded-slab/t8",
        "short-fresh/slab-mutex/t8",
        "short-fresh/slab-unshared/t1",
        "long-single-fresh/slab-unshared/t1",
        "handoff/snmalloc/t2",
    ];
    for name in names {
        assert!(text.contains(&format!("pool/{name} ")), "{name} is missing: {text}");
    }
}

/// A program is measured if its compiler and library are there; otherwise there is one note.
#[cfg(feature = "peers")]
#[test]
fn programs_are_measured_or_noted() {
    // Leaves out our own tasks with other allocators, whose C code takes minutes to compile.
    let some = "skynet100k/(join|detach)/(boost|go|erlang|ghc)";
    let done = output(&["run", "--smoke", "--peers", "--brief", some, "shed/.*/onetbb"]);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{errors}");
    let text = String::from_utf8_lossy(&done.stdout);
    let programs = [
        ("skynet100k/join/boost-stealing/", "Boost.Fiber: "),
        ("skynet100k/join/boost-stealing-tcmalloc/", "Boost.Fiber with tcmalloc: "),
        ("shed/frame/onetbb/", "oneTBB: "),
        ("skynet100k/detach/go/", "Go: "),
        ("skynet100k/detach/erlang/", "Erlang: "),
        ("skynet100k/detach/ghc/", "GHC: "),
    ];
    for (id, note) in programs {
        let notes = errors.matches(&format!("not measured: {note}")).count();
        assert_eq!(notes, usize::from(!text.contains(id)), "{id}: {errors}");
    }
}

/// All programs of rayon's users compute what they must on both rayon-cores. Without rayon's
/// sources there are notes.
#[cfg(feature = "peers")]
#[test]
fn both_rayon_cores_are_measured_or_noted() {
    let done = output(&["run", "--smoke", "--peers", "--brief", "^rayon/"]);
    let errors = String::from_utf8_lossy(&done.stderr);
    let text = String::from_utf8_lossy(&done.stdout);
    let both = [("rayon", "rayon on its own"), ("sateen", "rayon on Sateen's")];
    for (name, program) in both {
        let figures = text.matches(&format!("/{name}/w")).count();
        if figures == 0 {
            assert_eq!(errors.matches(&format!("not measured: {program}")).count(), 1, "{errors}");
            continue;
        }
        assert!(done.status.success(), "{errors}");
        // 18 programs with 1, 2 and 8 workers.
        assert_eq!(figures, 54, "{text}{errors}");
    }
}

/// Without compilers there are notes, and no failure.
#[cfg(feature = "peers")]
#[test]
fn a_missing_compiler_is_a_note() {
    // A copy of the program elsewhere has no programs beside it.
    let dir = tempfile::tempdir().expect("a directory");
    let copy = dir.path().join("sateen");
    std::fs::copy(env!("CARGO_BIN_EXE_sateen"), &copy).expect("copied");
    let mut command = std::process::Command::new(&copy);
    command.args(["run", "--smoke", "--peers", "--brief", "switch/yield"]).env("PATH", "");
    let done = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{errors}");
    assert_eq!(errors.matches("Go: `go` is not installed").count(), 1, "{errors}");
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(text.contains("/tokio/") && !text.contains("/go/"), "{text}");
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let script = format!("{} list | head -n 1", env!("CARGO_BIN_EXE_sateen"));
    if cfg!(unix) {
        let done = std::process::Command::new("sh").args(["-c", &script]).output();
        let done = done.expect("a shell");
        assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    } else {
        assert!(output(&["list"]).status.success());
    }
}
