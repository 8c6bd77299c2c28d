//! Each module of the shed uses only modules that stand before it in the table of its `lib.rs`.

use super::{files, read, root};
use std::collections::BTreeMap;

#[test]
fn modules_use_what_stands_before_them() {
    let folder = root().join("crates/shed/src");
    let lib = read(&folder.join("lib.rs"));
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

    let (mut modules, mut uses) = (0, 0);
    for path in files(&folder, "rs") {
        let module = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
        if module == "lib" {
            continue;
        }
        modules += 1;
        let own = place(module).unwrap_or_else(|| panic!("`{module}` is not in the table"));
        let text = read(&path);
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
    assert_eq!((modules, uses > 100), (order.len(), true), "the table names what there is");
}
