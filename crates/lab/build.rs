//! Provenance that only the build knows: compiler, profile and the versions of what was linked.

use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// Crates whose versions belong beside a figure.
const NAMED: &[&str] = &[
    "sateen",
    "sateen-runtime",
    "sateen-sync",
    "sateen-deque",
    "sateen-pool",
    "sateen-queue",
    "sateen-shed",
    "sateen-flow",
    "sateen-iter",
    "rayon",
    "chili",
    "forte",
    "tokio",
    "crossbeam-deque",
    "crossbeam-queue",
    "crossbeam-channel",
    "flume",
    "kanal",
    "crossfire",
    "disruptor",
    "rtrb",
    "governor",
    "st3",
    "may",
    "corosensei",
    "parking_lot",
    "spin",
    "mimalloc",
    "tikv-jemallocator",
    "snmalloc-rs",
    "sharded-slab",
    "slab",
];

fn main() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output().ok();
    let version = version.and_then(|o| String::from_utf8(o.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=SATEEN_LAB_RUSTC={}", version.trim());
    for (from, to) in [("PROFILE", "PROFILE"), ("OPT_LEVEL", "OPT_LEVEL"), ("TARGET", "TARGET")] {
        let value = env::var(from).unwrap_or_default();
        println!("cargo::rustc-env=SATEEN_LAB_{to}={value}");
    }
    println!("cargo::rustc-env=SATEEN_LAB_CRATES={}", linked_versions().unwrap_or_default());
    println!("cargo::rustc-env=SATEEN_LAB_COMMIT={}", commit().unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}

/// The commit that is checked out, if this is a checkout. Git's log of it changes with each commit.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(done.stdout).ok()?;
        done.status.success().then(|| text.trim().to_owned())
    };
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if fs::metadata(&log).is_ok() {
        println!("cargo::rerun-if-changed={log}");
    }
    // A package's source may lie within somebody else's repository.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    git(&["rev-parse", "--short=12", "HEAD"])
}

/// `name=version` of the named crates, from the nearest lock file.
fn linked_versions() -> Option<String> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let lock = manifest.ancestors().map(|d| d.join("Cargo.lock")).find(|p| p.is_file())?;
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(lock).ok()?;
    let mut found = Vec::new();
    for block in text.split("[[package]]") {
        let value = |key: &str| {
            let line = block.lines().find_map(|l| l.strip_prefix(key))?;
            Some(line.trim_matches([' ', '=', '"']).to_owned())
        };
        if let (Some(name), Some(version)) = (value("name"), value("version"))
            && NAMED.contains(&name.as_str())
        {
            found.push(format!("{name}={version}"));
        }
    }
    Some(found.join(","))
}
