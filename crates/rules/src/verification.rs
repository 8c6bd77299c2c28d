//! Checks the tables in `docs/verification.md`: what checks each concurrent protocol.

use super::{crates, files, products, read, root, shown, tokens};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The columns of each table.
const COLUMNS: [&str; 8] =
    ["Protocol", "Source", "README", "Model", "Canary", "Twin", "Stress", "Fuzz"];

/// Crates that the tables leave out: one re-exports, one measures, one looks at others.
const LEFT_OUT: [&str; 3] = ["crates/sateen", "crates/lab", "crates/top"];

/// One row, with the folder of its crate.
pub(super) struct Row {
    pub(super) folder: PathBuf,
    pub(super) cells: Vec<String>,
}

/// The rows of the page's tables of `columns`, and what is wrong with its form.
pub(super) fn rows(page: &str, root: &Path, columns: &[&str]) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut wrong, mut folder) = (Vec::new(), Vec::new(), None);
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            let name = heading.strip_prefix("sateen-").unwrap_or(heading);
            folder = (!name.contains(' ')).then(|| root.join("crates").join(name));
        }
        let Some(cells) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
            continue;
        };
        let cells: Vec<String> = cells.split('|').map(|cell| cell.trim().to_owned()).collect();
        if cells == columns || cells.iter().all(|cell| cell.chars().all(|c| c == '-')) {
            continue;
        }
        match &folder {
            _ if cells.len() != columns.len() => {
                wrong.push(format!(
                    "{}: {} cells instead of {}",
                    cells[0],
                    cells.len(),
                    columns.len()
                ));
            }
            Some(folder) => rows.push(Row { folder: folder.clone(), cells }),
            None => wrong.push(format!("{}: below no crate's heading", cells[0])),
        }
    }
    (rows, wrong)
}

/// The texts between backticks.
pub(super) fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The folder that `name` belongs to, and the name without it: `CRATE/NAME` is another crate's.
pub(super) fn at<'a>(name: &'a str, own: &Path) -> (PathBuf, &'a str) {
    if let Some((first, rest)) = name.split_once('/') {
        let other = own.with_file_name(first);
        if other.join("Cargo.toml").is_file() {
            return (other, rest);
        }
    }
    (own.to_path_buf(), name)
}

/// Whether `name`, a `FILE::TEST` or a whole file of tests, exists.
pub(super) fn is_test(name: &str, own: &Path) -> bool {
    let (folder, name) = at(name, own);
    let (file, test) = name.split_once("::").map_or((name, None), |(f, t)| (f, Some(t)));
    let path = match file.strip_suffix(".rs") {
        Some(_) => folder.join(file),
        None => folder.join("tests").join(format!("{file}.rs")),
    };
    // The name may be an argument of a macro that makes the test.
    path.is_file() && test.is_none_or(|test| tokens::has_word(&read(&path), test))
}

/// What is wrong with `row`, whose crate's canaries and the page's fuzz targets are known.
fn complaints(row: &Row, canaries: &BTreeSet<String>, root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for (column, cell) in COLUMNS.iter().zip(&row.cells) {
        if cell.is_empty() {
            found.push(format!("{column} is empty"));
        }
        for name in names(cell) {
            let good = match *column {
                "Source" => row.folder.join("src").join(name).is_file(),
                "Canary" => canaries.contains(name),
                "Fuzz" => root.join(format!("fuzz/fuzz_targets/{name}.rs")).is_file(),
                "Model" | "Twin" | "Stress" => is_test(name, &row.folder),
                _ => true,
            };
            if !good {
                found.push(format!("{column}: no `{name}`"));
            }
        }
    }
    if names(&row.cells[1]).next().is_none() {
        found.push("names no source file".to_owned());
    }
    found.into_iter().map(|what| format!("{}: {what}", row.cells[0])).collect()
}

/// The canaries of a list `tests/faults.txt`: the faults that name models, and these.
fn canaries(list: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut found, mut name) = (Vec::new(), "");
    for line in list.lines() {
        name = line.strip_prefix("== ").unwrap_or(name);
        if let Some(models) = line.strip_prefix("models ") {
            found.push((name, models.split(", ").collect()));
        }
    }
    found
}

/// Whether `name`, a model or `MODEL::PART` of the names of its tests, exists.
fn is_model(name: &str, own: &Path) -> bool {
    let (folder, name) = at(name, own);
    let (file, part) = name.split_once("::").unwrap_or((name, ""));
    let path = folder.join("tests").join(format!("{file}.rs"));
    file.starts_with("loom_") && path.is_file() && read(&path).contains(part)
}

fn lists() -> impl Iterator<Item = (PathBuf, String)> {
    let list = |folder: PathBuf| {
        let list = folder.join("tests/faults.txt");
        list.is_file().then(|| (folder, read(&list)))
    };
    crates().into_iter().filter_map(list)
}

#[test]
fn canaries_name_models_that_exist() {
    let mut found = Vec::new();
    for (folder, list) in lists() {
        for (name, models) in canaries(&list) {
            let gone = models.iter().filter(|model| !is_model(model, &folder));
            found.extend(gone.map(|model| format!("{name}: no `{model}`")));
        }
    }
    super::none("canaries that prove nothing", &found);
}

fn page() -> String {
    read(&root().join("docs/verification.md"))
}

#[test]
fn what_the_table_names_exists() {
    let (rows, mut found) = rows(&page(), &root(), &COLUMNS);
    assert!(rows.len() > 10, "the tables were not found: {} rows", rows.len());
    let lists: Vec<(PathBuf, String)> = lists().collect();
    let canaries = lists
        .iter()
        .flat_map(|(_, list)| canaries(list))
        .map(|(name, _)| name.to_owned())
        .collect();
    found.extend(rows.iter().flat_map(|row| complaints(row, &canaries, &root())));
    super::none("docs/verification.md", &found);
}

#[test]
fn what_threads_share_has_a_row() {
    let (rows, _) = rows(&page(), &root(), &COLUMNS);
    let listed: BTreeSet<PathBuf> = rows
        .iter()
        .flat_map(|row| names(&row.cells[1]).map(|name| row.folder.join("src").join(name)))
        .collect();
    let mut found = Vec::new();
    for folder in products() {
        if LEFT_OUT.contains(&shown(&folder).as_str()) {
            continue;
        }
        for file in files(&folder.join("src"), "rs") {
            if tokens::shares(&read(&file))
                && !file.ends_with("tests.rs")
                && !listed.contains(&file)
            {
                found.push(shown(&file));
            }
        }
    }
    super::none("give these a row in docs/verification.md, under Source", &found);
}

#[test]
fn every_model_is_in_the_table() {
    let (rows, _) = rows(&page(), &root(), &COLUMNS);
    let listed: BTreeSet<PathBuf> = rows
        .iter()
        .flat_map(|row| {
            names(&row.cells[3]).map(|name| {
                let (folder, name) = at(name, &row.folder);
                let file = name.split("::").next().unwrap_or(name);
                folder.join("tests").join(format!("{file}.rs"))
            })
        })
        .collect();
    let models = crates().into_iter().flat_map(|folder| files(&folder.join("tests"), "rs"));
    let mut found: Vec<String> = models
        .filter(|file| file.file_name().is_some_and(|n| n.to_string_lossy().starts_with("loom_")))
        .filter(|file| !listed.contains(file))
        .map(|file| shown(&file))
        .collect();
    found.sort();
    super::none("name these in docs/verification.md, under Model", &found);
}

#[test]
fn a_bad_row_is_reported() {
    let row = |cells: [&str; 8]| Row {
        folder: root().join("crates/base"),
        cells: cells.map(str::to_owned).to_vec(),
    };
    let canaries = BTreeSet::from(["known".to_owned()]);
    let spin = "`src/spin.rs::excludes_with_more_threads_than_cores`";
    let fine =
        row(["A", "`spin.rs`", "[x](y)", "`loom_spin`", "`known`", "no answers", spin, "no input"]);
    assert_eq!(complaints(&fine, &canaries, &root()), Vec::<String>::new());
    let elsewhere = row(["A", "`spin.rs`", "[x](y)", "`sync/loom_park`", "`known`", "n", "n", "n"]);
    assert_eq!(complaints(&elsewhere, &canaries, &root()), Vec::<String>::new());
    let bad =
        row(["A", "`gone.rs`", "", "`loom_spin::gone`", "`gone`", "`gone::x`", "n", "`gone`"]);
    let expected = [
        "A: Source: no `gone.rs`",
        "A: README is empty",
        "A: Model: no `loom_spin::gone`",
        "A: Canary: no `gone`",
        "A: Twin: no `gone::x`",
        "A: Fuzz: no `gone`",
    ];
    assert_eq!(complaints(&bad, &canaries, &root()), expected);
}

#[test]
fn canaries_are_read_from_their_list() {
    let list = "== a fault\n- x\n+ y\n\n== canary\nmodels loom_a, b/loom_c::d\n- models x\n+\n";
    assert_eq!(canaries(list), [("canary", vec!["loom_a", "b/loom_c::d"])]);
    let base = root().join("crates/base");
    assert!(is_model("loom_spin", &base) && is_model("sync/loom_counter::a_stripe", &base));
    assert!(!is_model("loom_spin::gone", &base) && !is_model("loom_gone", &base));
}

#[test]
fn rows_belong_to_the_crate_above_them() {
    let page = "| lost | b | c | d | e | f | g | h |\n## sateen-base\n\n\
        | Protocol | Source | README | Model | Canary | Twin | Stress | Fuzz |\n\
        |---|---|---|---|---|---|---|---|\n\
        | a | b | c | d | e | f | g | h |\n| short | b |\n";
    let (rows, wrong) = rows(page, Path::new("."), &COLUMNS);
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].folder, Path::new("./crates/base"));
    assert_eq!(wrong, ["lost: below no crate's heading", "short: 2 cells instead of 8"]);
}
