//! Every abort of the library crates has a row in `docs/aborts.md`, with the reason why it stays.

use super::texts::{How, said};
use super::verification::{names, rows};
use super::{files, none, products, read, root, shown};
use std::collections::BTreeSet;
use std::path::Path;

const COLUMNS: [&str; 4] = ["Message", "Where", "Who can reach it", "Why it must abort"];
/// Where the functions are defined that abort.
const DEFINED: &str = "crates/base/src/abort.rs";
/// A measuring program may end as it likes.
const LEFT_OUT: &str = "crates/lab";

/// The file below `src`, and the message, of each abort of a crate.
type Aborts = BTreeSet<(String, String)>;

/// The aborts in the crate in `folder`, and those whose message is no literal.
fn in_source(folder: &Path) -> (Aborts, Vec<String>) {
    let (mut aborts, mut wrong) = (Aborts::new(), Vec::new());
    let source = folder.join("src");
    for file in files(&source, "rs").into_iter().filter(|file| shown(file) != DEFINED) {
        let name = shown(&file)[shown(&source).len() + 1..].to_owned();
        for said in said(&read(&file), &BTreeSet::new()) {
            match said.text {
                _ if said.how != How::Abort => {}
                Some(text) => _ = aborts.insert((name.clone(), text)),
                None => wrong.push(format!("{}:{}: no literal", shown(&file), said.line)),
            }
        }
    }
    (aborts, wrong)
}

/// What differs between the `aborts` of a crate and the rows with these messages and files.
fn complaints(crate_name: &str, aborts: &Aborts, rows: &[Vec<String>]) -> Vec<String> {
    let mut found = Vec::new();
    let (mut listed, mut needed) = (Aborts::new(), BTreeSet::new());
    for cells in rows {
        for (column, cell) in COLUMNS.iter().zip(cells).filter(|(_, cell)| cell.is_empty()) {
            found.push(format!("{crate_name}: {}: {column} is empty: {cell}", cells[0]));
        }
        for message in names(&cells[0]) {
            needed.insert(message.to_owned());
            let places = names(&cells[1]).map(|file| (file.to_owned(), message.to_owned()));
            listed.extend(places);
        }
    }
    let missing = aborts.difference(&listed);
    found.extend(missing.map(|(file, text)| format!("{crate_name}: {file}: no row: {text}")));
    let said = |message: &String| aborts.iter().any(|(_, text)| text == message);
    let gone = needed.iter().filter(|message| !said(message));
    found.extend(gone.map(|message| format!("{crate_name}: nobody says: {message}")));
    let used = |file: &String| aborts.iter().any(|(at, _)| at == file);
    let gone: BTreeSet<_> = listed.iter().map(|(file, _)| file).filter(|f| !used(f)).collect();
    found.extend(gone.into_iter().map(|file| format!("{crate_name}: no abort in {file}")));
    found
}

#[test]
fn every_abort_has_its_row() {
    let (rows, mut found) = rows(&read(&root().join("docs/aborts.md")), &root(), &COLUMNS);
    for folder in products().iter().filter(|folder| shown(folder) != LEFT_OUT) {
        let (aborts, wrong) = in_source(folder);
        found.extend(wrong);
        let own = rows.iter().filter(|row| row.folder == *folder);
        let own: Vec<_> = own.map(|row| row.cells.clone()).collect();
        found.extend(complaints(&shown(folder), &aborts, &own));
    }
    none("docs/aborts.md", &found);
}

#[test]
fn a_missing_row_is_reported() {
    let of = |all: &[(&str, &str)]| {
        all.iter().map(|&(file, text)| (file.to_owned(), text.to_owned())).collect::<Aborts>()
    };
    let row = |cells: [&str; 4]| vec![cells.map(str::to_owned).to_vec()];
    let aborts = of(&[("a.rs", "x"), ("b.rs", "x")]);
    let fine = row(["`x`", "`a.rs`, `b.rs`", "nobody", "memory"]);
    assert_eq!(complaints("c", &aborts, &fine), Vec::<String>::new());
    let bad = row(["`x`, `y`", "`a.rs`, `d.rs`", "nobody", ""]);
    let expected = [
        "c: `x`, `y`: Why it must abort is empty: ",
        "c: b.rs: no row: x",
        "c: nobody says: y",
        "c: no abort in d.rs",
    ];
    assert_eq!(complaints("c", &aborts, &bad), expected);
}
