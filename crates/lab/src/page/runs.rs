//! The results files of a page, under names of their own.

use crate::error::{Error, input};
use crate::report::json::Document;
use sateen_top::foreign::Foreign;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// One results file.
#[derive(Debug)]
pub(super) struct Run {
    /// The file's name without its folder and ending, different for each run.
    pub(super) label: String,
    pub(super) document: Document,
    notes: HashMap<Foreign, Vec<Foreign>>,
}

impl Run {
    pub(super) fn new(label: String, document: Document) -> Self {
        let notes = document.machine.notes();
        Self { label, document, notes }
    }

    /// Returns how many threads can run at once there.
    pub(super) fn cores(&self) -> Option<u64> {
        self.document.machine.whole("cores")
    }

    /// Returns the notes on the figure `id`: why the machine was not fit for it.
    pub(super) fn notes(&self, id: &Foreign) -> Vec<&str> {
        self.notes.get(id).into_iter().flatten().map(Foreign::plain).collect()
    }
}

/// Reads `paths`.
///
/// # Errors
/// One of them is not a results file, or has no figures.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<Run>, Error> {
    let mut runs: Vec<Run> = Vec::new();
    for path in paths {
        let document = Document::read(path)?;
        if document.metrics().next().is_none() {
            return Err(input(format!("cannot use `{}`: it has no figures", path.display())));
        }
        let label = free(stem(path), &runs);
        runs.push(Run::new(label, document));
    }
    Ok(runs)
}

fn stem(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Foreign::from(&*name).plain().to_owned()
}

/// Returns `name`, with a number if a run has it already.
fn free(name: String, runs: &[Run]) -> String {
    let taken = |name: &str| runs.iter().any(|r| r.label == name);
    if !taken(&name) {
        return name;
    }
    (2..).map(|n| format!("{name} ({n})")).find(|n| !taken(n)).unwrap_or(name)
}
