//! Faults, and the file of those written by hand.

use std::path::Path;

/// A piece of a file, and what replaces it.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) name: String,
    /// What a draw goes by. It stays the same when other lines change. Empty for faults written by
    /// hand.
    pub(crate) key: String,
    /// Path from the root of the repository.
    pub(crate) file: String,
    /// Where the piece begins; `None` if it occurs only once.
    pub(crate) at: Option<usize>,
    pub(crate) old: String,
    pub(crate) new: String,
    /// What should notice the fault, as in `docs/verification.md`. If empty, what that page names
    /// for the file.
    pub(crate) tests: Vec<String>,
}

impl Fault {
    /// Returns `source` with the fault in it.
    pub(crate) fn plant(&self, source: &str) -> Result<String, String> {
        let found: Vec<usize> = source.match_indices(&self.old).map(|(at, _)| at).collect();
        let at = match self.at {
            Some(at) if found.contains(&at) => at,
            Some(_) => return Err("is not there any more".to_owned()),
            None if found.len() == 1 => found[0],
            None => return Err(format!("its text occurs {} times in {}", found.len(), self.file)),
        };
        Ok([&source[..at], &self.new, &source[at + self.old.len()..]].concat())
    }
}

/// Reads a file of faults:
///
/// ```text
/// == NAME
/// file crates/X/src/Y.rs
/// tests loom_a, b::c         (optional)
/// - old text, on as many lines as it has
/// + new text
/// ```
pub(crate) fn read(path: &Path) -> Result<Vec<Fault>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut faults: Vec<Fault> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| Err(format!("{}:{}: {what}", path.display(), number + 1));
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("== ") {
            if faults.iter().any(|fault| fault.name == name) {
                return wrong("the name is used already");
            }
            faults.push(Fault {
                name: name.to_owned(),
                key: String::new(),
                file: String::new(),
                at: None,
                old: String::new(),
                new: String::new(),
                tests: Vec::new(),
            });
            continue;
        }
        let Some(fault) = faults.last_mut() else { return wrong("no `== NAME` above") };
        let append = |to: &mut String, line: &str| {
            if !to.is_empty() {
                to.push('\n');
            }
            to.push_str(line);
        };
        match line.split_once(' ') {
            Some(("file", file)) => fault.file = file.to_owned(),
            Some(("tests", all)) => fault.tests = all.split(", ").map(str::to_owned).collect(),
            Some(("-", old)) => append(&mut fault.old, old),
            Some(("+", new)) => append(&mut fault.new, new),
            // Nothing replaces it.
            None if line == "+" => {}
            _ => return wrong("neither `file`, `tests`, `- old` nor `+ new`"),
        }
    }
    for fault in &faults {
        if fault.file.is_empty() || fault.old.is_empty() {
            return Err(format!("{}: {} has no file or no old text", path.display(), fault.name));
        }
    }
    Ok(faults)
}

#[test]
fn text_is_replaced_where_it_occurs_once() {
    let mut fault = Fault {
        name: "n".into(),
        key: String::new(),
        file: "f".into(),
        at: None,
        old: "b".into(),
        new: "x".into(),
        tests: Vec::new(),
    };
    assert_eq!(fault.plant("abc").unwrap(), "axc");
    assert!(fault.plant("abcb").is_err());
    fault.at = Some(3);
    assert_eq!(fault.plant("abcb").unwrap(), "abcx");
    fault.at = Some(2);
    assert!(fault.plant("abcb").is_err());
}
