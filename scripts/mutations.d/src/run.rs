//! Builds and tests a copy of the source with one fault in it.

use crate::checks::Check;
use crate::faults::{Fault, edited};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Seconds for a model; models are bounded to take less than a minute.
const MODEL: u32 = 240;
/// Seconds for a test. A test that takes longer waits for ever.
const TEST: u32 = 120;
/// Seconds for building a test.
const BUILD: u32 = 1800;

/// The result for a fault.
pub(crate) enum Verdict {
    /// What noticed the fault, and how.
    Caught(String, &'static str),
    /// No check noticed it; names the models that did not finish, if any.
    Survived(Vec<String>),
    /// The fault does not build.
    Unbuilt(String),
    /// The fault does not fit the source or the table any more.
    Stale(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caught(by, how) => write!(f, "caught by {by}{how}"),
            Self::Survived(open) if open.is_empty() => write!(f, "SURVIVED"),
            Self::Survived(open) => write!(f, "SURVIVED ({} were not through)", open.join(", ")),
            Self::Unbuilt(log) => write!(f, "DOES NOT BUILD, see {log}"),
            Self::Stale(why) => write!(f, "STALE: {why}"),
        }
    }
}

/// A copy of the repository in `target/mutations`, with build folders of its own.
pub(crate) struct Copy {
    tree: PathBuf,
    plain: PathBuf,
    loom: PathBuf,
    logs: PathBuf,
}

impl Copy {
    pub(crate) fn new(job: usize) -> Self {
        let base = PathBuf::from("target/mutations");
        let base = std::path::absolute(base).expect("the current folder is known");
        Self {
            tree: base.join(format!("tree-{job}")),
            plain: base.join(format!("build-{job}")),
            loom: base.join(format!("loom-{job}")),
            logs: base.join("logs"),
        }
    }

    /// Runs `checks` on the source with `fault` in it until one fails.
    pub(crate) fn try_out(&self, fault: &Fault, checks: &[Check]) -> Result<Verdict, String> {
        let mut changed = BTreeMap::new();
        for (file, edits) in fault.edits(&read)? {
            changed.insert(file.to_owned(), edited(&read(file)?, &edits)?);
        }
        refresh(&self.tree, &changed)?;
        fs::create_dir_all(&self.logs).map_err(|e| e.to_string())?;
        let safe = fault.name.replace(|c: char| !c.is_alphanumeric() && c != '-', "_");
        let log = self.logs.join(format!("{safe}.log"));
        let _ = fs::remove_file(&log);
        let mut open = Vec::new();
        for check in checks {
            let built = self.cargo(check, BUILD, true)?;
            keep(&log, check, &built)?;
            if !built.status.success() {
                return Ok(Verdict::Unbuilt(log.display().to_string()));
            }
            let limit = if check.is_model() { MODEL } else { TEST };
            let ran = self.cargo(check, limit, false)?;
            keep(&log, check, &ran)?;
            let said = String::from_utf8_lossy(&ran.stdout);
            let none = said.contains("running 0 tests") && !said.contains("running 1");
            match ran.status.code() {
                Some(0) if none && check.filter.is_some() => {
                    return Err(format!("{check}: no such test"));
                }
                Some(0) => {}
                // Killed by `timeout`, or ended by itself.
                Some(124 | 137) if check.is_model() => open.push(check.to_string()),
                Some(124 | 137) => return Ok(Verdict::Caught(check.to_string(), ", by waiting")),
                _ => return Ok(Verdict::Caught(check.to_string(), "")),
            }
        }
        Ok(Verdict::Survived(open))
    }

    fn cargo(&self, check: &Check, seconds: u32, build_only: bool) -> Result<Output, String> {
        let mut command = Command::new("timeout");
        command
            .current_dir(&self.tree)
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_INCREMENTAL", "0");
        command.args(["-k", "10", &seconds.to_string(), "cargo", "test", "-p", &check.package()]);
        if check.is_model() {
            // As `.ci/run` builds them.
            command.env("RUSTFLAGS", "--cfg loom -A warnings").env("CARGO_TARGET_DIR", &self.loom);
            command.env("CARGO_PROFILE_RELEASE_LTO", "off");
            command.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
            command.env("CARGO_PROFILE_RELEASE_DEBUG", "none").arg("--release");
        } else {
            command.env("RUSTFLAGS", "-A warnings").env("CARGO_TARGET_DIR", &self.plain);
            command.env("CARGO_PROFILE_DEV_DEBUG", "none");
        }
        match &check.program {
            Some(program) => command.args(["--test", program]),
            None => command.arg("--lib"),
        };
        match (&check.filter, build_only) {
            (_, true) => command.arg("--no-run"),
            (Some(filter), false) => command.args(["--", filter]),
            (None, false) => &mut command,
        };
        command.output().map_err(|e| format!("timeout: {e}"))
    }
}

/// Reads a file of the working tree.
pub(crate) fn read(file: &str) -> Result<String, String> {
    fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))
}

/// Makes `tree` equal to the working tree, but for the files that are `changed`. Files that are
/// equal keep their time, so little is built anew.
pub(crate) fn refresh(tree: &Path, changed: &BTreeMap<String, String>) -> Result<(), String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|e| format!("git: {e}"))?;
    let mut kept = BTreeSet::new();
    for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = String::from_utf8_lossy(name).into_owned();
        let Ok(mut wanted) = fs::read(&name) else { continue };
        if let Some(text) = changed.get(&name) {
            wanted = text.clone().into_bytes();
        }
        let to = tree.join(&name);
        if fs::read(&to).ok().as_ref() != Some(&wanted) {
            let folder = to.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            fs::write(&to, wanted).map_err(|e| format!("{}: {e}", to.display()))?;
        }
        kept.insert(to);
    }
    remove_others(tree, &kept)
}

/// Removes the files that the working tree no longer has.
fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> Result<(), String> {
    let wrong = |e: std::io::Error| format!("{}: {e}", folder.display());
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(&path).map_err(wrong)?;
        }
    }
    // A folder that is empty now is no crate any more.
    _ = fs::remove_dir(folder);
    Ok(())
}

fn put(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

fn keep(log: &Path, check: &Check, output: &Output) -> Result<(), String> {
    let mut text = fs::read_to_string(log).unwrap_or_default();
    text += &format!("==== {check}\n");
    text += &String::from_utf8_lossy(&output.stdout);
    text += &String::from_utf8_lossy(&output.stderr);
    put(log, &text)
}
