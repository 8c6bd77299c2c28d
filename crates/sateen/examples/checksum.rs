//! Hashes every file below a path on all cores, and prints lines `HASH  PATH`, ordered by path.
//!
//! ```text
//! cargo run --release --example checksum -- PATH [--workers N]
//! ```
//!
//! The hash is SHA-256 and the lines are those of `sha256sum`, which can check them (`--check`).
//! Links are followed. Some entries cannot be hashed: files that cannot be read, links that lead
//! nowhere or back to a folder that they lie in, names that are not UTF-8, and entries that are no
//! files (sockets, pipes, devices). Each gets a message on stderr, and the exit status is then 1.

use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use sateen::{Runtime, blocking, scope};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use walkdir::WalkDir;

/// Bytes read at once: a large file needs no more memory than this.
const CHUNK: usize = 128 * 1024;

/// Hashes every file below a path in parallel and prints `HASH  PATH`, ordered by path.
#[derive(Parser)]
#[command(name = "checksum")]
struct Options {
    /// The file or folder to hash
    path: PathBuf,
    /// Worker threads [default: as many as may run at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    workers: Option<u16>,
}

/// An entry that has no hash, and why.
struct Problem {
    path: PathBuf,
    reason: String,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut builder = Runtime::builder();
    if let Some(workers) = options.workers {
        builder = builder.workers(usize::from(workers));
    }
    let runtime = match builder.build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("checksum: {error}");
            return ExitCode::from(2);
        }
    };

    let bar = progress_bar();
    let hashed = Mutex::new(Vec::new());
    // One task for each file. All workers hash while a thread of its own still looks for more.
    let mut problems = runtime.install(|| {
        scope(|tasks| {
            let found = |name: String| {
                bar.inc_length(1);
                tasks.spawn(|_| {
                    let hash = hash(Path::new(&name));
                    bar.inc(1);
                    hashed.lock().expect("no task panics").push((name, hash));
                });
            };
            blocking(|| walk(&options.path, found))
        })
    });
    bar.finish_and_clear();

    let mut hashed = hashed.into_inner().expect("no task panics");
    hashed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    let mut lines = Vec::with_capacity(hashed.len());
    for (name, hash) in hashed {
        match hash {
            Ok(hash) => lines.push(line(&hash, &name)),
            Err(error) => problems.push(Problem::new(PathBuf::from(name), error)),
        }
    }
    report(&lines, problems)
}

/// Gives each file below `root` to `found`, in no order. Returns the entries that have no hash.
fn walk(root: &Path, found: impl Fn(String)) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in WalkDir::new(root).follow_links(true) {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) if !entry.file_type().is_file() => {
                problems.push(Problem::new(entry.into_path(), "not a file"));
            }
            Ok(entry) => match entry.into_path().into_os_string().into_string() {
                Ok(name) => found(name),
                Err(name) => problems.push(Problem::new(name.into(), "name is not UTF-8")),
            },
            Err(error) => problems.push(Problem::of_walk(root, error)),
        }
    }
    problems
}

/// SHA-256 of the file at `path`, in hexadecimal. A slow disk holds up no worker.
fn hash(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    // On the heap: a task's stack is small.
    let mut chunk = Vec::with_capacity(CHUNK);
    // A small file takes one call, for each call switches threads.
    let mut file = blocking(|| -> io::Result<File> {
        let mut file = File::open(path)?;
        read_chunk(&mut file, &mut chunk)?;
        Ok(file)
    })?;
    loop {
        hasher.update(&chunk);
        if chunk.len() < CHUNK {
            return Ok(hex::encode(hasher.finalize()));
        }
        blocking(|| read_chunk(&mut file, &mut chunk))?;
    }
}

/// Replaces `chunk` by the next [`CHUNK`] bytes of `file`, or by fewer at its end.
fn read_chunk(file: &mut File, chunk: &mut Vec<u8>) -> io::Result<()> {
    chunk.clear();
    file.take(CHUNK as u64).read_to_end(chunk)?;
    Ok(())
}

/// One line of output. As in `sha256sum`, a name that would break the line is escaped, and a
/// backslash before the hash says so.
fn line(hash: &str, name: &str) -> String {
    if name.contains(['\\', '\n', '\r']) {
        let name = name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        format!("\\{hash}  {name}")
    } else {
        format!("{hash}  {name}")
    }
}

/// Shows on stderr how many of the files found are hashed. Draws nothing if stderr is no terminal.
fn progress_bar() -> ProgressBar {
    let template = "{spinner} {pos} of {len} files hashed, {per_sec}";
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    ProgressBar::new(0).with_style(style)
}

/// Prints the lines, then the problems; the exit status says whether there were any.
fn report(lines: &[String], mut problems: Vec<Problem>) -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = lines.iter().try_for_each(|line| writeln!(out, "{line}"));
    let written = written.and_then(|()| out.flush());
    problems.sort_by(|a, b| a.path.cmp(&b.path));
    for Problem { path, reason } in &problems {
        eprintln!("checksum: {path:?}: {reason}");
    }
    if let Err(error) = &written {
        eprintln!("checksum: cannot write the result: {error}");
    }
    ExitCode::from(u8::from(written.is_err() || !problems.is_empty()))
}

impl Problem {
    fn new(path: PathBuf, reason: impl ToString) -> Self {
        Self { path, reason: reason.to_string() }
    }

    fn of_walk(root: &Path, error: walkdir::Error) -> Self {
        let path = error.path().unwrap_or(root).to_path_buf();
        if let Some(ancestor) = error.loop_ancestor() {
            let reason = format!("a link back to {ancestor:?}, not followed");
            return Self { path, reason };
        }
        match error.into_io_error() {
            Some(error) => Self::new(path, error),
            None => Self::new(path, "cannot be read"),
        }
    }
}
