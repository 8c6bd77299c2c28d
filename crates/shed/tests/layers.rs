//! Each module of the crate uses only modules that stand before it in the table of `lib.rs`.
#![cfg(not(any(loom, miri)))]

use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};

#[test]
fn modules_use_what_stands_before_them() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let lib = read_to_string(format!("{folder}/lib.rs")).expect("readable");
    let rows = lib.lines().filter(|line| line.starts_with("//! | "));
    let order: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    let place = |module: &str| order.iter().position(|name| *name == module);

    let mut home = BTreeMap::new();
    for line in lib.lines().filter_map(|line| line.strip_prefix("pub use ")) {
        let (module, items) = line.split_once("::").expect("of a module");
        items.split(|c: char| !c.is_alphanumeric() && c != '_').for_each(|item| {
            home.insert(item, module);
        });
    }

    let (mut files, mut uses) = (0, 0);
    for file in read_dir(folder).expect("readable") {
        let path = file.expect("readable").path();
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        if module == "lib" {
            continue;
        }
        files += 1;
        let own = place(module).unwrap_or_else(|| panic!("`{module}` is not in the table"));
        let text = read_to_string(&path).expect("readable");
        // Its tests may use all.
        let own_lines = text.lines().take_while(|line| *line != "mod tests {");
        for used in own_lines.filter_map(|line| line.trim().strip_prefix("use crate::")) {
            let names = match used.split_once("::") {
                Some((module, _)) => vec![module],
                None => used.split(|c: char| !c.is_alphanumeric() && c != '_').collect(),
            };
            for name in names.into_iter().filter(|name| !name.is_empty()) {
                let of = home.get(name).copied().unwrap_or(name);
                let before = place(of).unwrap_or_else(|| panic!("`{name}` in {module}"));
                assert!(before < own || of == module, "`{module}` uses `{of}`");
                uses += 1;
            }
        }
    }
    assert_eq!((files, uses > 100), (order.len(), true), "the table names what there is");
}
