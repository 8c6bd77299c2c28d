//! Every public generic type has a row in its crate's `tests/variance.rs`: its variance, and for
//! which parameters it is `Send` and `Sync`.

use super::{files, read, root, shown};

/// The crates whose types have tables.
const CRATES: [&str; 7] = ["queue", "pool", "deque", "shed", "runtime", "flow", "iter"];

/// `pub` types that no user can name: crate and name.
const UNSEEN: [(&str, &str); 16] = [
    ("flow", "Keeper"),
    ("deque", "Bare"),
    ("flow", "Lane"),
    ("flow", "Link"),
    ("flow", "Slot"),
    ("runtime", "Aside"),
    ("runtime", "CountLatch"),
    ("runtime", "Distant"),
    ("runtime", "GateGuard"),
    ("runtime", "Inbox"),
    ("runtime", "Latch"),
    ("runtime", "Links"),
    ("runtime", "LiveFutures"),
    ("runtime", "OutsideLatch"),
    ("runtime", "RawScope"),
    ("runtime", "StartedOn"),
];

/// Names of the public generic types that `source` declares.
fn generics(source: &str) -> Vec<&str> {
    let kinds = ["pub struct ", "pub enum ", "pub union ", "pub type "];
    let declared = source.lines().filter_map(|line| {
        let rest = kinds.iter().find_map(|kind| line.trim_start().strip_prefix(kind))?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        rest[end..].starts_with('<').then_some(&rest[..end])
    });
    declared.collect()
}

/// The public generic types that `table` does not name.
fn missing<'a>(source: &'a str, table: &str) -> Vec<&'a str> {
    let named = |name: &&str| {
        let row = format!("{name}<");
        table.lines().any(|line| line.contains(&row))
    };
    generics(source).into_iter().filter(|name| !named(name)).collect()
}

#[test]
fn every_public_generic_type_has_a_row() {
    let mut complaints = Vec::new();
    for name in CRATES {
        let folder = root().join("crates").join(name);
        let table = read(&folder.join("tests/variance.rs"));
        for file in files(&folder.join("src"), "rs") {
            let source = read(&file);
            let unseen = |ty: &&str| UNSEEN.contains(&(name, *ty));
            for ty in missing(&source, &table).into_iter().filter(|ty| !unseen(ty)) {
                complaints.push(format!("{}: {ty} has no row in tests/variance.rs", shown(&file)));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn a_type_without_a_row_is_found() {
    let source =
        "pub struct Plain;\npub struct Queue<T>(T);\n    pub enum Kind<'a> {\nstruct Own<T>;";
    assert_eq!(generics(source), ["Queue", "Kind"]);
    assert_eq!(missing(source, "invariant Queue<T> = x::Queue<T>;"), ["Kind"]);
}
