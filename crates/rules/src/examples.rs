//! Examples name the crate that users depend on.

use super::{files, none, read, root, shown};

/// The crates that the facade re-exports.
const RE_EXPORTED: [&str; 8] =
    ["sync", "pool", "queue", "deque", "shed", "runtime", "flow", "iter"];

/// The text of a line of a doc comment, without its marker.
fn doc_text(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
}

/// Lines in code blocks that name a library crate of the workspace by its own name. `lines` are
/// text in Markdown; a line that is `None` stands between two texts and ends an open block.
fn own_names<'a>(lines: impl Iterator<Item = Option<&'a str>>) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (number, line) in lines.enumerate() {
        let Some(line) = line else {
            inside = false;
            continue;
        };
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if inside && names_own_crate(line) {
            found.push((number + 1, line.trim()));
        }
    }
    found
}

/// Whether `line` holds a path that begins with the name of a library crate of the workspace.
fn names_own_crate(line: &str) -> bool {
    line.match_indices("sateen_").any(|(at, prefix)| {
        let before = line[..at].chars().next_back();
        let rest = line[at + prefix.len()..].trim_start_matches(|c: char| c.is_ascii_lowercase());
        let whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        whole && rest.starts_with("::")
    })
}

#[test]
fn examples_name_the_facade() {
    let mut found = Vec::new();
    for name in RE_EXPORTED {
        let folder = root().join("crates").join(name);
        for file in files(&folder, "rs").into_iter().chain(files(&folder, "md")) {
            let text = read(&file);
            let bad = if file.extension().is_some_and(|e| e == "rs") {
                own_names(text.lines().map(doc_text))
            } else {
                own_names(text.lines().map(Some))
            };
            found.extend(bad.iter().map(|(line, what)| format!("{}:{line}: {what}", shown(&file))));
        }
    }
    none("users depend on `sateen`: name it in examples", &found);
}

#[test]
fn an_example_with_another_name_is_found() {
    let source = "/// ```\n/// use sateen_queue::mpmc;\n/// sateen::join(f, g);\n/// ```\n\
                  /// Built on `sateen_base::prim`.\nuse sateen_base::prim;\n\
                  /// ```\nfn f() {}\n//! sateen_sync::Mutex\n";
    let found = own_names(source.lines().map(doc_text));
    assert_eq!(found, [(2, "use sateen_queue::mpmc;")]);
    assert!(!names_own_crate("let my_sateen_queue::x = sateen_queue;"));
}
