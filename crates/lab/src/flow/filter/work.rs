//! What workers do with a line.

use super::super::args::{Builtin, Work};
use super::children::Children;
use super::{MOST, mebibytes};
use sateen::sync::counter::StripedCounter;
use sha2::{Digest, Sha256};
use std::io::{self, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The pipes of every system have room for this many bytes. So a child gets a shorter line before
/// any thread reads its output.
const PIPE: usize = 4096;

/// Does the work, on any number of workers at once.
#[derive(Debug)]
pub(super) struct Worker {
    work: Work,
    /// Counts of lines, words and bytes.
    counts: [StripedCounter; 3],
    /// How many runs of a program have failed, and how the first one failed.
    failures: Mutex<Option<(u64, String)>>,
    pub(super) children: Children,
}

impl Worker {
    /// # Errors
    /// There is no shell for the commands.
    pub(super) fn new(work: Work) -> io::Result<Self> {
        let counts = std::array::from_fn(|_| StripedCounter::new());
        let children = match work {
            Work::Exec(_) => Children::new()?,
            Work::Builtin(_) => Children::none(),
        };
        Ok(Self { work, counts, failures: Mutex::new(None), children })
    }

    /// Returns the output for `line`, the `number`-th from 0. A line includes its line end, if it
    /// has one.
    pub(super) fn run(&self, number: u64, line: &[u8]) -> Vec<u8> {
        match &self.work {
            Work::Builtin(Builtin::Count) => {
                self.count(line);
                Vec::new()
            }
            Work::Builtin(Builtin::Hash) => hashed(line),
            Work::Exec(command) => {
                execute(command, line, &self.children).unwrap_or_else(|(output, reason)| {
                    self.fail(format!("line {}: {reason}", number + 1));
                    output
                })
            }
        }
    }

    fn count(&self, line: &[u8]) {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        let ends = usize::from(line.ends_with(b"\n"));
        for (counter, n) in self.counts.iter().zip([ends, words, line.len()]) {
            counter.add(n as u64);
        }
    }

    fn fail(&self, reason: String) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get_or_insert((0, reason)).0 += 1;
    }

    /// Returns what to print after all lines.
    pub(super) fn total(&self) -> Option<String> {
        let counted = self.work == Work::Builtin(Builtin::Count);
        counted.then(|| {
            let [lines, words, bytes] = self.counts.each_ref().map(StripedCounter::sum);
            format!("{lines} {words} {bytes}\n")
        })
    }

    /// Returns how the runs of the program have failed, if any has.
    pub(super) fn failure(&self) -> Option<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, first) = failures.as_ref()?;
        let Work::Exec(command) = &self.work else { return None };
        Some(format!("`{command}` failed for {count} of the lines, the first time for {first}"))
    }
}

/// Returns the line behind its SHA-256, in the form of `sha256sum`.
fn hashed(line: &[u8]) -> Vec<u8> {
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let mut out = hex::encode(Sha256::digest(text)).into_bytes();
    out.extend_from_slice(b"  ");
    out.extend_from_slice(text);
    out.push(b'\n');
    out
}

/// Runs `command` with `line` as its input. Returns its output and, if it failed, why.
fn execute(command: &str, line: &[u8], children: &Children) -> Result<Vec<u8>, (Vec<u8>, String)> {
    let nothing = |e: io::Error| (Vec::new(), e.to_string());
    let mut child = children
        .spawn(shell(command).stdin(Stdio::piped()).stdout(Stdio::piped()))
        .map_err(|e| (Vec::new(), format!("cannot start the shell: {e}")))?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (Some(input), Some(output)) = (input, output) else { return Ok(Vec::new()) };
    let (fed, (said, read)) = if line.len() <= PIPE {
        (feed(input, line), collect(output, &mut child))
    } else {
        thread::scope(|scope| {
            let feeder = thread::Builder::new().spawn_scoped(scope, move || feed(input, line));
            let collected = collect(output, &mut child);
            let fed = feeder.and_then(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            (fed, collected)
        })
    };
    let status = child.wait().map_err(nothing)?;
    if let Err(e) = fed.and(read) {
        return Err((said, e.to_string()));
    }
    if status.success() { Ok(said) } else { Err((said, status.to_string())) }
}

/// Returns what a child prints, and whether that went well. A child that prints too much is ended.
fn collect(output: ChildStdout, child: &mut Child) -> (Vec<u8>, io::Result<()>) {
    let mut said = Vec::new();
    // The pipe is closed after that: what else writes into it gets an error.
    let read = output.take(MOST as u64 + 1).read_to_end(&mut said);
    if said.len() <= MOST {
        return (said, read.map(drop));
    }
    said.truncate(MOST);
    // It may have ended already.
    let _ = child.kill();
    (said, Err(io::Error::other(format!("it printed more than {}", mebibytes(MOST)))))
}

/// Writes `line` and closes the input. A program need not read it.
fn feed(mut input: ChildStdin, line: &[u8]) -> io::Result<()> {
    match input.write_all(line) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(e),
        _ => Ok(()),
    }
}

#[cfg(windows)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.args(["/C", command]);
    shell
}

#[cfg(not(windows))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    shell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_bytes() {
        let empty = b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  \n";
        assert_eq!(hashed(b"\n"), empty);
        assert_eq!(hashed(b""), empty);
        let abc = b"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n";
        assert_eq!((hashed(b"abc\n"), hashed(b"abc")), (abc.to_vec(), abc.to_vec()));
        assert!(hashed(b"\xff\xfe\n").ends_with(b"  \xff\xfe\n"));
    }

    #[test]
    fn counts_add_up() {
        let worker = Worker::new(Work::Builtin(Builtin::Count)).expect("no shell is needed");
        for line in [&b"one two\n"[..], b"\n", b"  \xff three \r\n", b"last"] {
            assert!(worker.run(0, line).is_empty());
        }
        assert_eq!(worker.total().as_deref(), Some("3 5 25\n"));
        assert_eq!(worker.failure(), None);
    }

    #[cfg(unix)]
    #[test]
    fn programs_get_the_line_and_may_leave_it() {
        let run = |command: &str, line: &[u8]| {
            let worker = Worker::new(Work::Exec(command.to_owned())).expect("a shell");
            (worker.run(6, line), worker.failure())
        };
        assert_eq!(run("tr a b", b"\xffaa\n"), (b"\xffbb\n".to_vec(), None));
        assert_eq!(run("echo no", &vec![b'x'; 1 << 20]), (b"no\n".to_vec(), None));
        let long = vec![b'y'; 1 << 20];
        assert_eq!(run("cat", &long), (long.clone(), None));
        let (said, failure) = run("echo half; exit 3", b"x");
        assert_eq!(said, b"half\n");
        let failure = failure.expect("it failed");
        assert!(failure.contains("line 7") && failure.contains('3'), "{failure}");
    }
}
