//! Every dependency of a manifest stands in `docs/dependencies.md`, with its reason.

use super::{crates, none, read, root, shown};
use std::collections::BTreeSet;

/// The packages that `manifest` depends on, ours left out. A renamed one stands under the name that
/// the manifest gives it.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let (mut found, mut inside) = (BTreeSet::new(), false);
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            inside = table.ends_with("dependencies") && table != "workspace.dependencies";
        } else if inside && let Some((key, _)) = line.split_once('=') {
            let name = key.trim().trim_end_matches(".workspace");
            if !line.starts_with('#') && !name.starts_with("sateen") {
                found.insert(name);
            }
        }
    }
    found
}

/// The words of `page` between backticks.
fn words(page: &str) -> BTreeSet<&str> {
    page.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_dependency_has_its_reason() {
    let page = read(&root().join("docs/dependencies.md"));
    let known = words(&page);
    let mut found = Vec::new();
    for folder in crates().into_iter().chain([root().join("fuzz")]) {
        let manifest = read(&folder.join("Cargo.toml"));
        let missing = dependencies(&manifest).into_iter().filter(|name| !known.contains(name));
        found.extend(missing.map(|name| format!("{}: {name}", shown(&folder))));
    }
    none("give these a line in docs/dependencies.md", &found);
}

#[test]
fn dependencies_are_found_in_each_table() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\n# c = \"1\"\n\
        b = { version = \"1\" }\nsateen-base.workspace = true\n[features]\nd = []\n\
        [target.'cfg(unix)'.dev-dependencies]\ne = \"1\"\n[workspace.dependencies]\nf = \"1\"\n";
    assert_eq!(dependencies(manifest), BTreeSet::from(["a", "b", "e"]));
    assert_eq!(words("a `b` c `d e`"), BTreeSet::from(["b", "d e"]));
}
