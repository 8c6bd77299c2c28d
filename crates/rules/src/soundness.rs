//! Checks the tables in `docs/soundness.md`: what user code may do wherever it is called.

use super::verification::{at, is_test, names, rows};
use super::{files, read, root};
use std::path::Path;

/// The columns of each table.
const COLUMNS: [&str; 9] = [
    "Your code",
    "Called by",
    "Panic",
    "Wait",
    "Spawn",
    "Shut down",
    "Drop owner",
    "Leaked",
    "Test",
];
/// What begins the name of an entry of the tests in `crates/sateen/tests/hostile`.
const GENERATED: &str = "hostile: ";

/// Whether `name`, a `FILE::FUNCTION`, is in the sources of the crate in `folder`.
fn is_caller(name: &str, folder: &Path) -> bool {
    let Some((file, function)) = name.split_once("::") else { return false };
    let path = folder.join("src").join(file);
    path.is_file() && read(&path).lines().any(|line| defines(line, function))
}

/// Whether `line` begins the function.
fn defines(line: &str, function: &str) -> bool {
    let name = line.split_once("fn ").and_then(|(_, rest)| rest.strip_prefix(function));
    name.is_some_and(|rest| rest.starts_with(['(', '<']))
}

/// Whether `name` is an `ENTRY` of the generated tests, as in `hostile: ENTRY`.
fn is_entry(name: &str) -> bool {
    let Some(entry) = name.strip_prefix(GENERATED) else { return false };
    let quoted = format!("\"{entry}\"");
    let entries = root().join("crates/sateen/tests/hostile/entries");
    files(&entries, "rs").iter().any(|file| read(file).contains(&quoted))
}

/// What is wrong with the row of `cells`, in the table of the crate in `folder`.
fn complaints(cells: &[String], folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for (column, cell) in COLUMNS.iter().zip(cells) {
        if cell.is_empty() {
            found.push(format!("{column} is empty"));
        }
    }
    let (callers, tests) = (&cells[1], &cells[COLUMNS.len() - 1]);
    if names(callers).next().is_none() {
        found.push("names no caller".to_owned());
    }
    if names(tests).next().is_none() {
        found.push("names no test".to_owned());
    }
    let wrong = |name: &&str| !is_caller(name, folder);
    found.extend(names(callers).filter(wrong).map(|name| format!("Called by: no `{name}`")));
    // A whole file proves nothing in particular.
    let shows = |name: &str| at(name, folder).1.contains("::") && is_test(name, folder);
    let wrong = |name: &&str| !shows(name) && !is_entry(name);
    found.extend(names(tests).filter(wrong).map(|name| format!("Test: no `{name}`")));
    found.into_iter().map(|what| format!("{}: {what}", cells[0])).collect()
}

#[test]
fn what_the_page_names_exists() {
    let (rows, mut found) = rows(&read(&root().join("docs/soundness.md")), &root(), &COLUMNS);
    assert!(rows.len() > 10, "the tables were not found: {} rows", rows.len());
    found.extend(rows.iter().flat_map(|row| complaints(&row.cells, &row.folder)));
    super::none("docs/soundness.md", &found);
}

#[test]
fn a_bad_row_is_reported() {
    let folder = root().join("crates/base");
    let row = |called: &str, panic: &str, test: &str| {
        ["A", called, panic, "w", "s", "e", "d", "l", test].map(str::to_owned)
    };
    let spin = "`src/spin.rs::excludes_with_more_threads_than_cores`";
    for test in [spin, "`runtime/timers::limits_nest`", "`hostile: scope: body`"] {
        let fine = row("`unwind.rs::discard`", "stops", test);
        assert_eq!(complaints(&fine, &folder), Vec::<String>::new());
    }
    let tests = "`runtime/timers`, `gone::x`, `hostile: gone`";
    let bad = row("`unwind.rs::gone`, `gone.rs::discard`", "", tests);
    let expected = [
        "A: Panic is empty",
        "A: Called by: no `unwind.rs::gone`",
        "A: Called by: no `gone.rs::discard`",
        "A: Test: no `runtime/timers`",
        "A: Test: no `gone::x`",
        "A: Test: no `hostile: gone`",
    ];
    assert_eq!(complaints(&bad, &folder), expected);
    let empty = row("somebody", "stops", "soon");
    assert_eq!(complaints(&empty, &folder), ["A: names no caller", "A: names no test"]);
}
