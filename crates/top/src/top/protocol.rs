//! The lines of the protocol, as `docs/inspect.md` describes them.

use sateen_top::foreign::Foreign;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// The version that is spoken here.
const VERSION: u64 = 1;

/// What is asked, as a line.
pub(super) fn request(command: &str, file: Option<&str>) -> String {
    let request = serde_json::json!({"version": VERSION, "command": command, "file": file});
    format!("{request}\n")
}

/// What comes back: one of these is there.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    pub(super) hello: Option<IgnoredAny>,
    pub(super) frame: Option<Frame>,
    pub(super) report: Option<Report>,
    pub(super) trace: Option<Trace>,
    pub(super) error: Option<Foreign>,
}

#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

/// Reads a line.
///
/// # Errors
/// The line is empty, not the protocol's, or of another version: the end of a sentence whose
/// subject is the program.
pub(super) fn parse(line: &[u8]) -> Result<Answer, String> {
    if line.trim_ascii().is_empty() {
        return Err("answers with an empty line".to_owned());
    }
    let foreign = |_| {
        let start: String = String::from_utf8_lossy(line).chars().take(40).collect();
        let start = Foreign::from(start);
        format!("answers with a line that is none of the protocol's: `{}`", start.plain())
    };
    match serde_json::from_slice(line).map_err(&foreign)? {
        Versioned { version: VERSION } => serde_json::from_slice(line).map_err(foreign),
        Versioned { version } if version > VERSION => Err(format!(
            "speaks version {version} of the protocol, and this `sateen-top` speaks {VERSION}: \
             use a newer one"
        )),
        Versioned { version } => {
            Err(format!("speaks version {version} of the protocol, which is none"))
        }
    }
}

/// A look at a program.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Frame {
    pub(super) program: Foreign,
    pub(super) pid: u32,
    pub(super) time_ns: u64,
    /// None: the program could not say.
    pub(super) runtimes: Option<Vec<Runtime>>,
    pub(super) queues: Option<Vec<Queue>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Runtime {
    pub(super) number: u64,
    pub(super) workers: Vec<Worker>,
    pub(super) tasks: Option<Tasks>,
    #[serde(default)]
    pub(super) without_stack: u64,
    pub(super) waits: Vec<Wait>,
    pub(super) places: Vec<Contended>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Worker {
    pub(super) index: u64,
    pub(super) doing: Foreign,
    pub(super) busy_ns: u64,
    pub(super) idle_ns: u64,
    pub(super) asleep_ns: u64,
    pub(super) ended: u64,
    /// By name. Programs of before have none.
    #[serde(default)]
    pub(super) counts: BTreeMap<Foreign, u64>,
    pub(super) queued: u64,
    pub(super) pinned: Option<u64>,
    pub(super) ready: u64,
    pub(super) suspended: u64,
    pub(super) runs: Option<Work>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Work {
    pub(super) id: u64,
    pub(super) name: Option<Foreign>,
    #[serde(default)]
    pub(super) name_cut: bool,
    pub(super) spawned_at: Option<Foreign>,
    pub(super) for_ns: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Tasks {
    pub(super) running: u64,
    pub(super) ready: u64,
    pub(super) waiting: u64,
    pub(super) queued: u64,
    pub(super) futures: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Wait {
    pub(super) worker: u64,
    pub(super) kind: Foreign,
    pub(super) address: Foreign,
    #[serde(flatten)]
    pub(super) work: Work,
}

/// What several wait for.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Contended {
    pub(super) kind: Foreign,
    pub(super) address: Foreign,
    pub(super) waiters: u64,
    pub(super) longest_ns: u64,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Queue {
    pub(super) number: u64,
    pub(super) name: Foreign,
    pub(super) depth: u64,
    pub(super) capacity: u64,
    pub(super) sent: Option<u64>,
    pub(super) handled: u64,
    pub(super) dropped: u64,
    pub(super) workers: u64,
    pub(super) busy: u64,
    pub(super) closed: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Report {
    pub(super) runtimes: Vec<Told>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Told {
    pub(super) number: u64,
    #[serde(deserialize_with = "lines")]
    pub(super) text: Vec<Foreign>,
    pub(super) deadlocks: Vec<Foreign>,
    pub(super) blocked: Option<Foreign>,
    pub(super) held: Vec<Held>,
}

fn lines<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Foreign>, D::Error> {
    String::deserialize(from).map(|text| text.lines().map(Foreign::from).collect())
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Held {
    pub(super) address: Foreign,
    pub(super) by: Foreign,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Trace {
    pub(super) running: bool,
    pub(super) file: Option<Foreign>,
    pub(super) events: Option<u64>,
}
