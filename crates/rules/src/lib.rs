//! Rules about source and pages that neither the compiler nor clippy knows, as tests.
//!
//! Layer 0. They only read text, so this crate depends on no other crate of the workspace, and
//! `cargo test -p sateen-rules` builds in seconds.
//!
//! Each rule is a function from text to complaints, shown to complain on made-up text, and a test
//! that applies it to the whole workspace. The rules:
//!
//! * atomics, threads, cells and clocks of library crates come from the facade `sateen_base::prim`,
//!   so that the model checker sees them (`tokens.rs`);
//! * library crates have clippy forbid what reads the environment (`clippy.toml`);
//! * no test is switched off, and no code is left to be written (`tokens.rs`);
//! * every canary names models that exist (`verification.rs`);
//! * no source file is longer than 600 lines;
//! * every crate shows an example that is compiled or run;
//! * examples name the crate that users depend on (`examples.rs`);
//! * no line of a source file or a page has more than 100 columns (`width.rs`);
//! * a crate uses lower layers only (`layers.rs`), and so does a module of the shed
//!   (`shed_modules.rs`);
//! * every public generic type says how it varies with its parameter (`generics.rs`);
//! * links between the pages of this repository lead somewhere (`links.rs`);
//! * each source file that threads share has a row in `docs/verification.md`, and everything that
//!   the page names exists (`verification.rs`);
//! * so does everything that `docs/soundness.md` names (`soundness.rs`);
//! * each text that tells of a mistake is in the crate's `tests/messages.rs` (`messages.rs`);
//! * every abort has a row in `docs/aborts.md`, with the reason why it stays (`aborts.rs`);
//! * every dependency has a line in `docs/dependencies.md` (`dependencies.rs`).

#![cfg(test)]

mod aborts;
mod dependencies;
mod examples;
mod generics;
mod layers;
mod links;
mod messages;
mod names;
mod shed_modules;
mod soundness;
mod texts;
mod tokens;
mod verification;
mod width;

use std::path::{Path, PathBuf};

/// The most lines of a source file. A longer file holds more than one thing.
const LONGEST: usize = 600;
/// But a trait is one block, and what the compiler says of a wrong argument is six lines longer for
/// a method that a macro puts there.
const LONG_TRAIT: &str = "crates/iter/src/iter/parallel_iterator.rs";

/// Crates that exist for tests only.
const FOR_TESTS: [&str; 2] = ["crates/rules", "crates/testkit"];

/// Where real primitives are allowed: file or folder, the path used, and why.
const EXCEPTIONS: [(&str, &str, &str); 7] = [
    ("crates/base/src/prim/", "", "it is the facade"),
    ("crates/base/src/fence.rs", "", "a compiler fence is not modelled; loom's stands beside it"),
    ("crates/base/src/os/", "", "futex words belong to the kernel; models do not come here"),
    ("crates/base/src/spin.rs", "loom::", "a model cannot wait by spinning"),
    ("crates/base/src/trace.rs", "core::", "what a trace holds decides nothing in a model"),
    ("crates/rayon-core/src/", "std::thread", "users see its threads; models do not come here"),
    ("crates/sync/src/sys.rs", "loom::", "thread locals and the futex of a model"),
];

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the workspace is two folders up")
}

/// `path` from the root, with `/` on every system.
fn shown(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.components().map(|c| c.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Files below `folder` that end in `.extension`, in order. None if it does not exist. Build
/// folders and hidden ones are left out.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if folder.is_dir() {
        for path in listed(folder) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !name.starts_with('.') && name != "target" {
                found.extend(files(&path, extension));
            } else if path.is_file() && path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found
}

/// What lies in `folder`, in order.
fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// The folders `crates/*`.
fn crates() -> Vec<PathBuf> {
    let mut found = listed(&root().join("crates"));
    found.retain(|path| path.join("Cargo.toml").is_file());
    assert!(found.len() > 1, "{} has no crates", root().display());
    found
}

/// The crates that users or the lab build: not those that exist for tests.
fn products() -> Vec<PathBuf> {
    let mut found = crates();
    found.retain(|path| !FOR_TESTS.contains(&shown(path).as_str()));
    found
}

#[track_caller]
fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn primitives_come_from_the_facade() {
    let mut found = Vec::new();
    for library in products().iter().filter(|path| path.join("src/lib.rs").is_file()) {
        if library.ends_with("crates/top") {
            continue; // It is a program beside its library, and has no models.
        }
        for file in files(&library.join("src"), "rs") {
            let shown = shown(&file);
            let tests_only = shown.contains("/tests/") || shown.ends_with("/tests.rs");
            if tests_only {
                continue;
            }
            let excused = |path: &str| {
                EXCEPTIONS
                    .iter()
                    .any(|(at, prefix, _)| shown.starts_with(at) && path.starts_with(prefix))
            };
            let used = tokens::real_primitives(&read(&file));
            let bad = used.into_iter().filter(|(_, path)| !excused(path));
            found.extend(bad.map(|(line, path)| format!("{shown}:{line}: {path}")));
        }
    }
    none("use `sateen_base::prim` instead, or state an exception in EXCEPTIONS", &found);
}

#[test]
fn libraries_do_not_read_the_environment_themselves() {
    let mut found = Vec::new();
    for library in products().iter().map(|path| path.join("src/lib.rs")).filter(|it| it.is_file()) {
        let lint = "#![cfg_attr(not(test), warn(clippy::disallowed_methods))]";
        if !read(&library).lines().any(|line| line == lint) {
            found.push(shown(&library));
        }
    }
    none("switch `clippy::disallowed_methods` on, as the other libraries do", &found);
}

#[test]
fn exceptions_are_needed() {
    for (at, prefix, why) in EXCEPTIONS {
        assert!(!why.is_empty(), "{at}: say why");
        let path = root().join(at);
        let files = if path.is_dir() { files(&path, "rs") } else { vec![path] };
        let used = files.iter().flat_map(|file| tokens::real_primitives(&read(file)));
        assert!(used.into_iter().any(|(_, path)| path.starts_with(prefix)), "{at}: not needed");
    }
}

#[test]
fn nothing_is_switched_off_or_left_to_be_written() {
    let mut found = Vec::new();
    for file in crates().iter().flat_map(|folder| files(folder, "rs")) {
        let bad = tokens::unfinished(&read(&file));
        found
            .extend(bad.into_iter().map(|(line, what)| format!("{}:{line}: {what}", shown(&file))));
    }
    none("finish these", &found);
}

#[test]
fn no_source_file_is_too_long() {
    let mut found = Vec::new();
    for file in crates().iter().flat_map(|folder| files(&folder.join("src"), "rs")) {
        let lines = read(&file).lines().count();
        if lines > LONGEST && shown(&file) != LONG_TRAIT {
            found.push(format!("{}: {lines} lines", shown(&file)));
        }
    }
    none("more than 600 lines", &found);
}

#[test]
fn every_crate_shows_an_example() {
    let mut found = Vec::new();
    for folder in products() {
        let example = !files(&folder.join("examples"), "rs").is_empty();
        // A program without a library has tests that run it.
        let library = folder.join("src/lib.rs").is_file();
        let shown_here = if library {
            files(&folder.join("src"), "rs").iter().any(|file| has_doc_example(&read(file)))
        } else {
            let tests = files(&folder.join("tests"), "rs");
            tests.iter().any(|file| read(file).contains("CARGO_BIN_EXE_"))
        };
        if !example && !shown_here {
            found.push(shown(&folder));
        }
    }
    none("crates without an example that is compiled or run", &found);
}

/// Whether a doc comment holds a block of Rust that `cargo test` compiles.
fn has_doc_example(source: &str) -> bool {
    let mut inside = false;
    for line in source.lines().map(str::trim_start) {
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            inside = false;
            continue;
        };
        if let Some(kind) = doc.trim().strip_prefix("```") {
            let rust = matches!(kind, "" | "rust" | "no_run" | "should_panic");
            if !inside && rust {
                return true;
            }
            inside = !inside;
        }
    }
    false
}

#[test]
fn only_rust_blocks_are_examples() {
    assert!(has_doc_example("/// Adds.\n///\n/// ```\n/// f();\n/// ```\nfn f() {}"));
    assert!(!has_doc_example("//! ```text\n//! a -> b\n//! ```\n"));
    assert!(!has_doc_example("// ```\n// f();\n// ```\n"));
}

#[test]
fn links_between_pages_lead_somewhere() {
    let pages = files(&root(), "md");
    assert!(!pages.is_empty(), "no pages below {}", root().display());
    let mut found = Vec::new();
    for page in pages {
        let bad = links::broken(&page, &read(&page));
        found.extend(bad.into_iter().map(|link| format!("{}: {link}", shown(&page))));
    }
    none("broken links", &found);
}
