//! A copy of the source that holds all canaries at once, for one build of all models.
//!
//! In the copy each function of a canary begins with `if planted("NAME") { body with the fault }
//! else`, before the body as it is. The variable `SATEEN_FAULT` names the canary that a run plants.
//! Without it each function does what its source says.

use crate::checks::Check;
use crate::faults::{Edit, Fault, edited};
use crate::source::bodies;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What the copy's `sateen-base` has more than the source.
const PLANTED: &str = r#"
/// Whether the fault `name` is planted.
#[cfg(loom)]
#[allow(missing_docs)]
pub fn planted(name: &str) -> bool {
    use std::sync::OnceLock;
    static PLANTED: OnceLock<Option<std::ffi::OsString>> = OnceLock::new();
    let planted = PLANTED.get_or_init(|| std::env::var_os("SATEEN_FAULT"));
    planted.as_deref().is_some_and(|planted| planted == name)
}
"#;

const BASE: &str = "crates/base/src/lib.rs";

/// The faults of one function: the fault's name, and its edits there.
type OfBody = Vec<(String, Vec<Edit>)>;

/// Returns the files that differ in the copy, with their text there.
pub(crate) fn embedded(
    faults: &[Fault],
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut files: BTreeMap<String, BTreeMap<usize, OfBody>> = BTreeMap::new();
    for fault in faults.iter().filter(|fault| !fault.models.is_empty()) {
        let within = |why: String| format!("{}: {why}", fault.name);
        for (file, edits) in fault.edits(read).map_err(within)? {
            let all = bodies(&read(file)?);
            for edit in edits {
                let place = &edit.place;
                let inside =
                    |b: &std::ops::Range<usize>| b.start <= place.start && place.end <= b.end;
                let Some(body) = all.iter().position(inside) else {
                    return Err(within(format!("not in one function of {file}")));
                };
                let of_body = files.entry(file.to_owned()).or_default().entry(body).or_default();
                match of_body.last_mut().filter(|(name, _)| *name == fault.name) {
                    Some((_, edits)) => edits.push(edit),
                    None => of_body.push((fault.name.clone(), vec![edit])),
                }
            }
        }
    }
    let mut out = BTreeMap::new();
    for (file, of_bodies) in files {
        let text = with_all(&file, &read(&file)?, &of_bodies)?;
        out.insert(file, text);
    }
    let base = out.remove(BASE).map_or_else(|| read(BASE), Ok)?;
    out.insert(BASE.to_owned(), base + PLANTED);
    Ok(out)
}

fn with_all(
    file: &str,
    source: &str,
    of_bodies: &BTreeMap<usize, OfBody>,
) -> Result<String, String> {
    let base = if file.starts_with("crates/base/src/") { "crate" } else { "sateen_base" };
    let mut edits = Vec::new();
    for (number, body) in bodies(source).into_iter().enumerate() {
        let Some(faults) = of_bodies.get(&number) else { continue };
        let own = &source[body.clone()];
        let mut new = String::new();
        for (name, within) in faults {
            let moved = |edit: &Edit| Edit {
                place: edit.place.start - body.start..edit.place.end - body.start,
                new: edit.new.clone(),
            };
            let within: Vec<Edit> = within.iter().map(moved).collect();
            let faulty = edited(own, &within).map_err(|why| format!("{name}: {why}"))?;
            _ = write!(new, " if {base}::planted(\"{name}\") {{{faulty}\n}} else");
        }
        edits.push(Edit { place: body, new: format!("{new} {{{own}\n}}\n") });
    }
    edited(source, &edits)
}

/// Returns one line for each canary and each of its models: the folder of the model's crate, the
/// canary, the model, and the beginning of its tests' names if it has one.
pub(crate) fn runs(faults: &[Fault]) -> String {
    let mut lines = String::new();
    for fault in faults {
        for check in fault.models.iter().map(|model| Check::parse(model, fault.own())) {
            let (program, filter) = (check.program.unwrap_or_default(), check.filter);
            let filter = filter.map_or_else(String::new, |filter| format!(" {filter}"));
            _ = writeln!(lines, "{} {} {program}{filter}", check.crate_name, fault.name);
        }
    }
    lines
}

#[test]
fn each_function_has_its_faults_before_its_body() {
    let read = |file: &str| {
        Ok(match file {
            "crates/a/src/b.rs" => "fn f() { one(); }\nfn g() -> u8 { two() }\n".to_owned(),
            _ => String::new(),
        })
    };
    let fault = |name: &str, pieces: &[(&str, &str)]| Fault {
        name: name.into(),
        models: vec!["loom_x".into(), "c/loom_y::z".into()],
        pieces: pieces
            .iter()
            .map(|(old, new)| crate::faults::Piece {
                file: "crates/a/src/b.rs".into(),
                at: None,
                old: (*old).into(),
                new: (*new).into(),
            })
            .collect(),
        ..Fault::default()
    };
    let faults = [fault("p", &[("one();", ""), ("two()", "2")]), fault("q", &[("two", "three")])];
    let text = embedded(&faults, &read).unwrap()["crates/a/src/b.rs"].clone();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "fn f() { if sateen_base::planted(\"p\") { } else { one(); } } \
         fn g() -> u8 { if sateen_base::planted(\"p\") { 2 } else \
         if sateen_base::planted(\"q\") { three () } else { two() } }"
    );
    assert_eq!(runs(&faults[..1]), "a p loom_x\nc p loom_y z\n");
    // A piece has to lie in one function.
    assert!(embedded(&[fault("r", &[("fn f", "fn h")])], &read).is_err());
}
