//! The lines of the protocol, as `docs/inspect.md` describes them.

use sateen_lab::foreign::Foreign;
use serde::Deserialize;
use std::fmt;

/// The version that is spoken here.
const VERSION: u64 = 1;
/// Foreign of several lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines(pub(super) Vec<Foreign>);

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self(text.lines().map(Foreign::from).collect()))
    }
}

/// What is asked, as a line.
pub(super) fn request(command: &str, file: Option<&str>) -> String {
    let request = match file {
        Some(file) => serde_json::json!({"version": VERSION, "command": command, "file": file}),
        None => serde_json::json!({"version": VERSION, "command": command}),
    };
    format!("{request}\n")
}

/// What comes back.
#[derive(Debug)]
pub(super) enum Answer {
    Hello,
    Frame(Box<Frame>),
    Report(Report),
    Trace(Trace),
    Error(Foreign),
}

/// What is wrong with a line, as the end of a sentence whose subject is the program.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Empty,
    Other(Foreign),
    Newer(u64),
    Older(u64),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("answers with an empty line"),
            Self::Other(start) => {
                write!(f, "answers with a line that is none of the protocol's: `{}`", start.plain())
            }
            Self::Newer(version) => write!(
                f,
                "speaks version {version} of the protocol, and this `sateen` speaks {VERSION}: \
                 use a newer `sateen`"
            ),
            Self::Older(version) => {
                write!(f, "speaks version {version} of the protocol, which is none")
            }
        }
    }
}

#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

/// A line: one of these is there.
#[derive(Deserialize)]
struct Line {
    hello: Option<Program>,
    frame: Option<Box<Frame>>,
    report: Option<Report>,
    trace: Option<Trace>,
    error: Option<Foreign>,
}

/// Reads a line.
///
/// # Errors
/// The line is empty, not the protocol's, or of another version.
pub(super) fn parse(line: &[u8]) -> Result<Answer, Fault> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Err(Fault::Empty);
    }
    let foreign = || {
        let start: String = String::from_utf8_lossy(line).chars().take(40).collect();
        Fault::Other(start.into())
    };
    let Versioned { version } = serde_json::from_slice(line).map_err(|_| foreign())?;
    if version > VERSION {
        return Err(Fault::Newer(version));
    }
    if version < VERSION {
        return Err(Fault::Older(version));
    }
    let line: Line = serde_json::from_slice(line).map_err(|_| foreign())?;
    let answer = match line {
        Line { error: Some(text), .. } => Answer::Error(text),
        Line { frame: Some(frame), .. } => Answer::Frame(frame),
        Line { report: Some(report), .. } => Answer::Report(report),
        Line { trace: Some(trace), .. } => Answer::Trace(trace),
        Line { hello: Some(_), .. } => Answer::Hello,
        _ => return Err(foreign()),
    };
    Ok(answer)
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Program {
    program: Foreign,
    pid: u32,
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
    pub(super) text: Lines,
    pub(super) deadlocks: Vec<Foreign>,
    pub(super) blocked: Option<Foreign>,
    pub(super) held: Vec<Held>,
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
