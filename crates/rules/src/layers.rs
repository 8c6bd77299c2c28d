//! Layer check: a crate of this workspace uses lower layers only, never a sibling.
//!
//! Cargo already refuses cycles. This test also refuses the shortcuts that would become cycles, and
//! requires a layer for each new crate. The checker is a function from the JSON of `cargo metadata`
//! to a list of complaints, so that a test can show that it complains.

use super::{read, root};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;

/// Every crate of the workspace and its layer, planned ones included. `ARCHITECTURE.md` has the
/// same table, with what lives where.
const LAYERS: [(&str, u32); 14] = [
    ("sateen-testkit", 0),
    ("sateen-rules", 0),
    ("sateen-base", 0),
    ("sateen-top", 0),
    ("sateen-sync", 1),
    ("sateen-pool", 1),
    ("sateen-queue", 2),
    ("sateen-deque", 3),
    ("sateen-shed", 3),
    ("sateen-runtime", 4),
    ("sateen-flow", 5),
    ("sateen-iter", 5),
    ("sateen", 6),
    ("sateen-lab", 7),
];

/// What is wrong with the workspace that `metadata` (of `cargo metadata`) describes: one line each.
///
/// * A member without a layer.
/// * A member that depends on its own layer or a higher one. Dependencies of tests, examples and
///   benches may be siblings. They may also be higher, if they are named without a version, because
///   packaging leaves those out. (Of two crates that need each other for packaging, neither can be
///   published first.)
/// * A member that depends, by path, on something that is no member.
fn complaints(metadata: &Value, layers: &[(&str, u32)]) -> Vec<String> {
    let layer_of: BTreeMap<&str, u32> = layers.iter().copied().collect();
    let packages = metadata["packages"].as_array().expect("`packages` is a list");
    let members: Vec<&str> = packages.iter().map(name).collect();
    let mut found = Vec::new();
    for package in packages {
        let crate_name = name(package);
        let Some(&own) = layer_of.get(crate_name) else {
            found.push(format!("{crate_name}: no layer; give it one in the table"));
            continue;
        };
        for dependency in package["dependencies"].as_array().expect("`dependencies` is a list") {
            let used = name(dependency);
            let Some(&other) = layer_of.get(used) else {
                if dependency["path"].is_string() && !members.contains(&used) {
                    found.push(format!("{crate_name} uses {used}, which is outside the workspace"));
                }
                continue;
            };
            // `null` is an ordinary dependency; the others are "dev" and "build".
            let for_tests_only = dependency["kind"] == "dev";
            let left_out_of_packages = for_tests_only && dependency["req"] == "*";
            if other > own && !left_out_of_packages {
                found.push(format!(
                    "{crate_name} (layer {own}) uses {used} of the higher layer {other}"
                ));
            } else if other == own && !for_tests_only {
                found.push(format!("{crate_name} uses its sibling {used} of layer {own}"));
            }
        }
    }
    found
}

fn name(of: &Value) -> &str {
    of["name"].as_str().expect("`name` is a string")
}

#[test]
fn every_crate_uses_lower_layers_only() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be started");
    assert!(
        output.status.success(),
        "cargo metadata failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let members = metadata["packages"].as_array().map_or(0, Vec::len);
    assert!(members > 1, "the workspace was not found: {members} packages");
    let found = complaints(&metadata, &LAYERS);
    assert!(found.is_empty(), "layers are crossed:\n  {}", found.join("\n  "));
}

#[test]
fn the_architecture_page_has_the_same_layers() {
    let text = read(&root().join("ARCHITECTURE.md"));
    for (crate_name, layer) in LAYERS {
        let row = format!("| {layer} | `{crate_name}` |");
        assert!(text.contains(&row), "ARCHITECTURE.md has no row that begins `{row}`");
    }
}

#[test]
fn every_crate_says_its_layer() {
    let crates = root().join("crates");
    for (crate_name, layer) in LAYERS {
        let folder = crates.join(crate_name.trim_start_matches("sateen-")).join("src");
        let entry =
            [folder.join("lib.rs"), folder.join("main.rs")].into_iter().find(|f| f.exists());
        let Some(entry) = entry else { continue }; // A planned crate.
        let text = read(&entry);
        let opening: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let said = opening.join(" ").to_lowercase().contains(&format!("layer {layer}"));
        assert!(said, "{} does not open with its layer, {layer}", entry.display());
    }
}

/// A dependency: its name and kind.
type Used<'a> = (&'a str, Option<&'a str>);

/// Metadata of a workspace, made from its packages with their dependencies.
fn workspace(packages: &[(&str, &[Used<'_>])]) -> Value {
    let packages: Vec<Value> = packages
        .iter()
        .map(|(name, dependencies)| {
            let dependencies: Vec<Value> = dependencies
                .iter()
                .map(|(name, kind)| json!({"name": name, "kind": kind, "path": "/somewhere"}))
                .collect();
            json!({"name": name, "dependencies": dependencies})
        })
        .collect();
    json!({"packages": packages})
}

const MADE_UP: [(&str, u32); 4] = [("ground", 0), ("left", 1), ("right", 1), ("roof", 2)];

#[test]
fn lower_layers_may_be_used_and_others_are_no_concern() {
    let fine = workspace(&[
        ("ground", &[]),
        ("left", &[("ground", None)]),
        ("roof", &[("ground", None), ("left", Some("build"))]),
    ]);
    assert_eq!(complaints(&fine, &MADE_UP), Vec::<String>::new());

    let mut with_stranger = workspace(&[("ground", &[("libc", None)])]);
    with_stranger["packages"][0]["dependencies"][0]["path"] = Value::Null;
    assert_eq!(complaints(&with_stranger, &MADE_UP), Vec::<String>::new());
}

#[test]
fn a_sibling_is_reported() {
    let bad = workspace(&[("left", &[("right", None)]), ("right", &[])]);
    assert_eq!(complaints(&bad, &MADE_UP), ["left uses its sibling right of layer 1"]);
    let bad = workspace(&[("left", &[("right", Some("build"))]), ("right", &[])]);
    assert_eq!(complaints(&bad, &MADE_UP), ["left uses its sibling right of layer 1"]);
}

#[test]
fn a_higher_layer_is_reported() {
    let bad = workspace(&[("ground", &[("roof", None)]), ("roof", &[])]);
    assert_eq!(complaints(&bad, &MADE_UP), ["ground (layer 0) uses roof of the higher layer 2"]);
}

#[test]
fn tests_may_use_a_sibling_and_without_a_version_a_higher_layer() {
    let fine = workspace(&[("left", &[("right", Some("dev"))]), ("right", &[])]);
    assert_eq!(complaints(&fine, &MADE_UP), Vec::<String>::new());
    let bad = workspace(&[("left", &[("roof", Some("dev"))]), ("roof", &[])]);
    assert_eq!(complaints(&bad, &MADE_UP), ["left (layer 1) uses roof of the higher layer 2"]);
    let mut fine = bad;
    fine["packages"][0]["dependencies"][0]["req"] = json!("*");
    assert_eq!(complaints(&fine, &MADE_UP), Vec::<String>::new());
}

#[test]
fn a_crate_without_a_layer_is_reported() {
    let bad = workspace(&[("newcomer", &[("ground", None)]), ("ground", &[])]);
    assert_eq!(complaints(&bad, &MADE_UP), ["newcomer: no layer; give it one in the table"]);
}

#[test]
fn a_path_out_of_the_workspace_is_reported() {
    let bad = workspace(&[("left", &[("elsewhere", None)])]);
    assert_eq!(complaints(&bad, &MADE_UP), ["left uses elsewhere, which is outside the workspace"]);
}
