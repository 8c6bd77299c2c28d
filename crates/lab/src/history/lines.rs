//! From the files of a directory to a line for each figure.

use super::change::{Change, changes};
use crate::error::{Error, input};
use crate::plot::Estimate;
use crate::plot::figures::entries;
use crate::report::json::Document;
use sateen_top::foreign::Foreign;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// One results file.
#[derive(Clone, Debug)]
pub(super) struct Commit {
    /// The file's name without its ending, and the time in front of its hash.
    pub(super) name: Foreign,
    /// The file's name without its ending.
    pub(super) full: Foreign,
    /// What it was measured on.
    pub(super) cpu: Foreign,
}

/// One figure over the commits.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) id: Foreign,
    pub(super) unit: Foreign,
    pub(super) lower_is_better: bool,
    /// A value for each commit that has one.
    pub(super) values: Vec<Option<Estimate>>,
    /// Their indices are those of commits.
    pub(super) changes: Vec<Change>,
}

/// The commits, and the figures: those that changed last come first.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) commits: Vec<Commit>,
    pub(super) lines: Vec<Line>,
}

impl Line {
    /// Returns whether `change` is for the worse.
    pub(super) fn is_worse(&self, change: &Change) -> bool {
        (change.after > change.before) == self.lower_is_better
    }

    /// Returns what `change` says, such as `+12 %`.
    pub(super) fn says(change: &Change) -> String {
        let share = 100.0 * (change.after / change.before - 1.0);
        match share {
            share if !share.is_finite() || share.abs() > 900.0 => {
                let ratio = change.after / change.before;
                if ratio.is_finite() { format!("× {ratio:.1}") } else { "from 0".to_owned() }
            }
            share => format!("{share:+.0} %"),
        }
    }
}

/// Reads all `*.json` in `directory`.
///
/// # Errors
/// It cannot be read, has fewer than two results files, or one that is something else.
pub(super) fn read(directory: &Path) -> Result<History, Error> {
    let paths = paths(directory)?;
    if paths.len() < 2 {
        let has = if paths.is_empty() { "no file" } else { "one file" };
        return Err(input(format!(
            "`{}` has {has} `*.json`; a history needs two",
            directory.display()
        )));
    }
    let mut commits = Vec::new();
    let mut documents = Vec::new();
    for path in &paths {
        let document = Document::read(path)?;
        let full = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = full.rsplit('-').next().filter(|hash| is_hash(hash)).unwrap_or(&full);
        let cpu = document.machine.text("cpu").unwrap_or_default();
        commits.push(Commit { name: name.into(), cpu, full: full.as_str().into() });
        documents.push(document);
    }
    let mut lines = lines(&documents);
    if lines.is_empty() {
        return Err(input(format!(
            "no figure is in two of the {} files of `{}`",
            paths.len(),
            directory.display()
        )));
    }
    // The sort is stable: figures that changed alike stay in the order of the lab.
    lines.sort_by_key(|line| std::cmp::Reverse(line.changes.last().map_or(0, |c| c.at)));
    Ok(History { commits, lines })
}

fn is_hash(text: &str) -> bool {
    (7..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns the JSON files of `directory` in the order of their names.
fn paths(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let fail = |e: std::io::Error| input(format!("cannot read `{}`: {e}", directory.display()));
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        // A hidden file is one that is being written.
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".json") && !name.starts_with('.') && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Returns the figures that at least two documents have, in order of appearance.
fn lines(documents: &[Document]) -> Vec<Line> {
    let mut index: HashMap<(Foreign, Foreign), usize> = HashMap::new();
    let mut lines: Vec<Line> = Vec::new();
    for (commit, document) in documents.iter().enumerate() {
        for entry in entries(document) {
            let key = (entry.metric.id.clone(), entry.metric.units.clone());
            let at = *index.entry(key).or_insert_with(|| {
                lines.push(Line {
                    id: entry.metric.id.clone(),
                    unit: entry.metric.units.clone(),
                    lower_is_better: entry.lower_is_better(),
                    values: vec![None; documents.len()],
                    changes: Vec::new(),
                });
                lines.len() - 1
            });
            lines[at].values[commit] = Some(entry.estimate());
        }
    }
    lines.retain(|line| line.values.iter().flatten().count() > 1);
    for line in &mut lines {
        let there: Vec<(usize, f64)> =
            line.values.iter().enumerate().filter_map(|(i, v)| v.map(|v| (i, v.value))).collect();
        let values: Vec<f64> = there.iter().map(|(_, v)| *v).collect();
        let found = changes(&values).into_iter();
        line.changes = found.map(|c| Change { at: there[c.at].0, ..c }).collect();
    }
    lines
}
