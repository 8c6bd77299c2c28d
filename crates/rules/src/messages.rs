//! Each text that tells a user of a mistake is in the table of its crate, `tests/messages.rs`: with
//! the mistake, or with the reason why no test makes it.

use super::texts::{How, errors, fixed, literals, said, shows};
use super::{files, none, products, read, shown};
use std::collections::BTreeSet;
use std::path::Path;

/// Crates without a table: what users do not see, programs, what has its texts from another crate,
/// and the facade.
const LEFT_OUT: [&str; 5] =
    ["crates/base", "crates/lab", "crates/rayon-core", "crates/sateen", "crates/top"];

/// The lines of `source` with texts that none of `shown_texts` shows.
fn missing(
    source: &str,
    errors: &BTreeSet<String>,
    shown_texts: &[String],
) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for said in said(source, errors).into_iter().filter(|said| said.how != How::Abort) {
        let Some(text) = said.text else { continue };
        let says = fixed(&text).iter().any(|part| part.chars().any(char::is_alphabetic));
        if says && !shown_texts.iter().any(|shown| shows(shown, &text)) {
            found.push((said.line, text));
        }
    }
    found
}

#[test]
fn each_text_is_in_its_table() {
    let mut found = Vec::new();
    for folder in products().iter().filter(|folder| !LEFT_OUT.contains(&shown(folder).as_str())) {
        let table = folder.join("tests/messages.rs");
        let texts = if table.is_file() { literals(&read(&table)) } else { Vec::new() };
        // Models that begin near a stall are tests, too.
        let is_test = |file: &Path| file.ends_with("tests.rs") || file.ends_with("stalls.rs");
        let sources = files(&folder.join("src"), "rs").into_iter().filter(|file| !is_test(file));
        let sources: Vec<_> = sources.map(|file| (shown(&file), read(&file))).collect();
        let errors = sources.iter().flat_map(|(_, source)| errors(source)).collect();
        for (file, source) in &sources {
            let bad = missing(source, &errors, &texts).into_iter();
            found.extend(bad.map(|(line, text)| format!("{file}:{line}: {text:?}")));
        }
    }
    none("texts without a row in the crate's `tests/messages.rs`", &found);
}

#[test]
fn a_text_without_a_row_is_reported() {
    let source = "fn f() { panic!(\"no {x}\"); }\nfn g() { x.expect(\"gone\"); panic!(\"{}\", 1) }";
    let missing = |shown: &[&str]| {
        let shown: Vec<_> = shown.iter().map(|&text| text.to_owned()).collect();
        missing(source, &BTreeSet::new(), &shown)
    };
    assert_eq!(missing(&["no 3", "gone"]), []);
    assert_eq!(missing(&["no 3"]), [(2, "gone".to_owned())]);
}
