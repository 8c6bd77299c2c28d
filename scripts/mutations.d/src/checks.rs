//! What is run for a fault: the models and tests that `docs/verification.md` names for its file.

use crate::faults::Fault;
use std::fmt;

/// A test program of a crate, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Check {
    /// The folder in `crates/`.
    pub(crate) crate_name: String,
    /// A file of the folder `tests`; `None` for the unit tests of the source.
    pub(crate) program: Option<String>,
    /// The beginning of a test's name.
    pub(crate) filter: Option<String>,
}

impl Check {
    pub(crate) fn is_model(&self) -> bool {
        self.program.as_ref().is_some_and(|name| name.starts_with("loom_"))
    }

    pub(crate) fn package(&self) -> String {
        format!("sateen-{}", self.crate_name)
    }

    /// Parses `NAME`, `NAME::TEST` or `src/FILE.rs::TEST`, each with or without `CRATE/` in front.
    pub(crate) fn parse(text: &str, own: &str) -> Self {
        let (path, filter) = match text.split_once("::") {
            Some((path, filter)) => (path, Some(filter.to_owned())),
            None => (text, None),
        };
        let (crate_name, program) = match path.split_once('/') {
            _ if path.starts_with("src/") => (own, None),
            Some((other, rest)) if rest.starts_with("src/") => (other, None),
            Some((other, rest)) => (other, Some(rest.to_owned())),
            None => (own, Some(path.to_owned())),
        };
        Self { crate_name: crate_name.to_owned(), program, filter }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.crate_name, self.program.as_deref().unwrap_or("src"))?;
        self.filter.as_ref().map_or(Ok(()), |filter| write!(f, "::{filter}"))
    }
}

/// Returns the rows of the page: a source file, and what checks it.
pub(crate) struct Table(Vec<(String, Vec<Check>)>);

impl Table {
    pub(crate) fn read() -> Result<Self, String> {
        let path = "docs/verification.md";
        let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let (mut rows, mut own) = (Vec::new(), "");
        for line in text.lines() {
            own = line.strip_prefix("## sateen-").unwrap_or(own);
            let cells: Vec<&str> = line.split('|').collect();
            if own.is_empty() || cells.len() != 10 {
                continue;
            }
            let names = |cell: usize| cells[cell].split('`').skip(1).step_by(2);
            // Models first, because they say why they fail.
            let checks: Vec<Check> =
                [4, 6, 7].into_iter().flat_map(names).map(|n| Check::parse(n, own)).collect();
            for file in names(2) {
                rows.push((format!("crates/{own}/src/{file}"), checks.clone()));
            }
        }
        Self(rows)
    }

    /// Returns what to run for a fault: what it names, or what the page names for its file.
    pub(crate) fn of(&self, fault: &Fault) -> Result<Vec<Check>, String> {
        let (own, file) = (fault.own(), fault.file());
        let named: Vec<&String> = fault.models.iter().chain(&fault.tests).collect();
        if !named.is_empty() {
            return Ok(named.into_iter().map(|name| Check::parse(name, own)).collect());
        }
        let mut found: Vec<Check> = Vec::new();
        for (_, checks) in self.0.iter().filter(|(listed, _)| listed == file) {
            for check in checks {
                if !found.contains(check) {
                    found.push(check.clone());
                }
            }
        }
        found.sort_by_key(|check| !check.is_model());
        match found.is_empty() {
            true => Err(format!("docs/verification.md names no test for {file}")),
            false => Ok(found),
        }
    }
}

#[test]
fn a_row_gives_its_models_first() {
    let page = "## sateen-base\n\
                | A | `x.rs` | [r](r) | `loom_x`, `sync/loom_y::z` | `c` | n | \
                `src/x.rs::t` | n |\n";
    let table = Table::parse(page);
    let mut fault = Fault::of("n", "crates/base/src/x.rs", None, "a", "b");
    let shown = |fault: &Fault| -> Vec<String> {
        table.of(fault).unwrap().iter().map(ToString::to_string).collect()
    };
    assert_eq!(shown(&fault), ["base/loom_x", "sync/loom_y::z", "base/src::t"]);
    fault.tests = vec!["u::v".to_owned()];
    assert_eq!(shown(&fault), ["base/u::v"]);
    fault.models = vec!["loom_w".to_owned()];
    assert_eq!(shown(&fault), ["base/loom_w", "base/u::v"]);
    assert!(table.of(&Fault::of("n", "crates/base/src/y.rs", None, "a", "b")).is_err());
}
