//! All places in the source where a fault can be drawn: orderings, fences, wake-ups.

use crate::faults::Fault;
use crate::source::blanked;
use std::path::{Path, PathBuf};

/// The crates whose source is drawn from.
const CRATES: [&str; 8] = ["base", "sync", "pool", "queue", "deque", "shed", "runtime", "flow"];

/// Source that is not drawn from: the facade and the system's services, which no model sees.
const LEFT_OUT: [&str; 3] =
    ["crates/base/src/prim/", "crates/base/src/os/", "crates/base/src/fence.rs"];

/// What an ordering is weakened to. Each weaker ordering is a fault of its own.
const WEAKER: [(&str, &[&str]); 4] = [
    ("Acquire", &["Relaxed"]),
    ("Release", &["Relaxed"]),
    ("AcqRel", &["Acquire", "Release"]),
    ("SeqCst", &["Relaxed"]),
];

/// Beginnings of the names of calls that wake other threads. Leaving one out is a fault.
const CALLS: [&str; 3] = ["wake", "notify", "unpark"];

/// A place that is excused from the draw, with the reason.
pub(crate) struct Excuse {
    file: String,
    line: String,
    weaker: String,
}

/// Parses a line of `excused.txt`: `FILE | LINE | WEAKER | WHY`, where LINE is the whole line
/// without its indentation.
pub(crate) fn excused() -> Result<Vec<Excuse>, String> {
    let path = "scripts/mutations.d/excused.txt";
    let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
    let mut found = Vec::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
        let parts: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let [file, code, weaker, why] = parts[..] else {
            return Err(format!("{path}: `{line}` has not four parts"));
        };
        let source = std::fs::read_to_string(file).map_err(|e| format!("{path}: {file}: {e}"))?;
        if why.is_empty() || !source.lines().any(|l| l.trim() == code) {
            return Err(format!("{path}: no line `{code}` in {file}, or no reason"));
        }
        let [file, line, weaker] = [file, code, weaker].map(str::to_owned);
        found.push(Excuse { file, line, weaker });
    }
    Ok(found)
}

/// Returns every fault that can be drawn, in the order of files and lines.
pub(crate) fn all(excused: &[Excuse]) -> Result<Vec<Fault>, String> {
    let mut found = Vec::new();
    for name in CRATES {
        let mut files = Vec::new();
        collect(Path::new(&format!("crates/{name}/src")), &mut files)?;
        files.sort();
        for file in files {
            let shown = file.to_string_lossy().replace('\\', "/");
            let tests = shown.ends_with("tests.rs") || shown.contains("/tests/");
            if tests || LEFT_OUT.iter().any(|part| shown.starts_with(part)) {
                continue;
            }
            let source = std::fs::read_to_string(&file).map_err(|e| format!("{shown}: {e}"))?;
            found.extend(of_source(&shown, &source, excused));
        }
    }
    Ok(found)
}

/// Draws `count` of `sites` by `seed`, and returns them in their order. Each site draws its own
/// number from the seed and from its line, so a change of the source replaces the faults of the
/// changed lines and few others.
pub(crate) fn draw(sites: Vec<Fault>, count: usize, seed: u64) -> Vec<Fault> {
    let drawn = |fault: &Fault| {
        // FNV-1a, then the finalizer of SplitMix64, because seeds and lines may differ by little.
        let start = 0xCBF2_9CE4_8422_2325 ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        let mut z = fault.key.bytes().fold(start, step);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut numbered: Vec<(usize, Fault)> = sites.into_iter().enumerate().collect();
    numbered.sort_by_cached_key(|(place, fault)| (drawn(fault), *place));
    numbered.truncate(count);
    numbered.sort_by_key(|(place, _)| *place);
    numbered.into_iter().map(|(_, fault)| fault).collect()
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<(), String> {
    let shown = folder.display();
    for entry in std::fs::read_dir(folder).map_err(|e| format!("{shown}: {e}"))? {
        let path = entry.map_err(|e| format!("{shown}: {e}"))?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
    Ok(())
}

fn of_source(file: &str, source: &str, excused: &[Excuse]) -> Vec<Fault> {
    let mut found = Vec::new();
    let code = blanked(source, true);
    let end = code.find("#[cfg(test)]").unwrap_or(code.len());
    let mut start = 0;
    let mut weakened_above = false;
    for (number, line) in code[..end].split_inclusive('\n').enumerate() {
        let whole = source[start..].lines().next().unwrap_or("").trim();
        let mut add = |at: usize, old: &str, new: &str, what: &str| {
            let excuse = |e: &Excuse| e.file == file && e.line == whole && e.weaker == what;
            if excused.iter().any(excuse) {
                return;
            }
            let short = file.replace("crates/", "").replace("/src/", "/");
            let again =
                found.iter().filter(|f: &&Fault| f.pieces[0].at == Some(start + at)).count();
            let mark = if again == 0 { String::new() } else { format!("-{again}") };
            let key = format!("{file} {whole} {what}");
            let twins = found.iter().filter(|f: &&Fault| f.key.starts_with(&key)).count();
            let name = format!("{short}:{}:{}:{what}{mark}", number + 1, at + 1);
            let mut fault = Fault::of(&name, file, Some(start + at), old, new);
            fault.key = format!("{key} {twins}");
            found.push(fault);
        };
        let first = line.trim_start();
        let import = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "];
        let skipped = import.iter().any(|word| first.starts_with(word))
            || weakened_above
            || first.contains("cfg(loom)");
        weakened_above =
            first.starts_with("#[cfg(") && first.contains("loom") && !first.contains("not(loom)");
        if !skipped {
            fences(line, &mut add);
            orderings(file, line, &mut add);
            calls(line, &mut add);
        }
        start += line.len();
    }
    found
}

type Add<'a> = dyn FnMut(usize, &str, &str, &str) + 'a;

/// Finds statements that are a fence and nothing else.
fn fences(line: &str, add: &mut Add<'_>) {
    let statement = line.trim();
    let fence = ["fence(", "full_fence(", "prim::fence("].iter().any(|f| statement.starts_with(f));
    let light = ["fence::light(", "asymmetric::light(", "light("];
    if (fence || light.iter().any(|f| statement.starts_with(f))) && statement.ends_with(");") {
        let at = line.len() - line.trim_start().len();
        add(at, statement, "();", "fence");
    }
}

fn orderings(file: &str, line: &str, add: &mut Add<'_>) {
    if line.contains("fence(") {
        return;
    }
    let prim = if file.starts_with("crates/base/") { "crate" } else { "sateen_base" };
    for (strong, weaker) in WEAKER {
        for (at, _) in line.match_indices(strong) {
            let before = line[..at].chars().next_back();
            let after = line[at + strong.len()..].chars().next();
            let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            // A struct of that name is declared, built or imported, and never an argument.
            let named = line[..at].trim_end().ends_with("Ordering::");
            let rest = line[at + strong.len()..].trim_start();
            let argument = [",", ")", ";", "}"].iter().any(|end| rest.starts_with(end));
            if word(before) || word(after) || !(named || argument && !line.contains("struct")) {
                continue;
            }
            let qualified = if named { "" } else { "Ordering::" };
            for weak in weaker {
                let new = match qualified {
                    "" => (*weak).to_owned(),
                    _ => format!("{prim}::prim::Ordering::{weak}"),
                };
                add(at, strong, &new, &weak.to_lowercase());
            }
        }
    }
}

/// Finds statements that are a wake-up and nothing else.
fn calls(line: &str, add: &mut Add<'_>) {
    let statement = line.trim();
    if !statement.ends_with(");") || statement.starts_with("let ") || statement.contains('=') {
        return;
    }
    // The last method of the chain counts.
    let Some(open) = statement.find('(') else { return };
    let mut open = open;
    let mut depth = 0;
    for (at, c) in statement.char_indices() {
        match c {
            '(' if depth == 0 => {
                open = at;
                depth = 1;
            }
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return;
        }
    }
    let head = &statement[..open];
    let Some((_, method)) = head.rsplit_once('.') else { return };
    let begins = |name: &str| {
        method.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    if CALLS.iter().any(|name| begins(name)) {
        let at = line.len() - line.trim_start().len();
        // What follows the call is left out with it.
        let rest = if statement.starts_with("return ") { "return;" } else { "();" };
        add(at, statement, rest, "skipped");
    }
}

#[test]
fn sites_are_found_outside_of_comments_and_tests() {
    let source = "use prim::{Acquire};\n// Ordering: Release\n\
        fn f() {\n    a.store(1, Ordering::Release);\n    fence(SeqCst);\n    x.swap(1, AcqRel);\n\
        \x20   self.waker.wake();\n    let w = x.wake();\n\
        }\n#[cfg(test)]\nmod t { a.load(Acquire); }\n";
    let names: Vec<String> = of_source("crates/a/src/b.rs", source, &[])
        .into_iter()
        .map(|fault| {
            assert!(fault.pieces[0].edit(source).is_ok());
            fault.name
        })
        .collect();
    let expected = [
        "a/b.rs:4:26:relaxed",
        "a/b.rs:5:5:fence",
        "a/b.rs:6:15:acquire",
        "a/b.rs:6:15:release-1",
        "a/b.rs:7:5:skipped",
    ];
    assert_eq!(names, expected);
}

#[test]
fn a_draw_depends_on_its_seed_only() {
    let sites = |keys: std::ops::Range<usize>| -> Vec<Fault> {
        let named =
            |n: usize| Fault { key: n.to_string(), name: n.to_string(), ..Fault::default() };
        keys.map(named).collect()
    };
    let names = |keys, seed| -> Vec<String> {
        draw(sites(keys), 5, seed).into_iter().map(|fault| fault.name).collect()
    };
    assert_eq!(names(0..50, 3), names(0..50, 3));
    assert_ne!(names(0..50, 3), names(0..50, 4));
    assert_eq!(names(0..50, 3).len(), 5);
    // One more site replaces at most one fault.
    let (fewer, more) = (names(0..50, 3), names(0..51, 3));
    assert!(fewer.iter().filter(|name| !more.contains(name)).count() <= 1);
}
