//! The results files of a page, under names of their own.

use crate::error::{Error, input};
use crate::report::json::Document;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// One results file.
#[derive(Debug)]
pub(super) struct Run {
    /// The file's name without its folder and ending, different for each run.
    pub(super) label: String,
    pub(super) document: Document,
}

impl Run {
    /// Returns how many threads can run at once there.
    pub(super) fn cores(&self) -> Option<u64> {
        self.document.machine.get("cores").and_then(Value::as_u64)
    }

    /// Returns the notes on the figure `id`: why the machine was not fit for it.
    pub(super) fn notes(&self, id: &str) -> Vec<&str> {
        let notes = self.document.machine.get("notes").and_then(|notes| notes.get(id));
        let all = notes.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        all.iter().filter_map(Value::as_str).collect()
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
        runs.push(Run { label, document });
    }
    Ok(runs)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns `name`, with a number if a run has it already.
fn free(name: String, runs: &[Run]) -> String {
    let taken = |name: &str| runs.iter().any(|r| r.label == name);
    if !taken(&name) {
        return name;
    }
    (2..).map(|n| format!("{name} ({n})")).find(|n| !taken(n)).unwrap_or(name)
}
