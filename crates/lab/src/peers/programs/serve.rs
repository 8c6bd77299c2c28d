//! Starts a program, and asks it for runs.
//!
//! A program is started once a turn, with case, workers and size as arguments. For each line that
//! the lab writes it does one run, and answers with a line: the result to check, and the values.

use crate::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A program that waits for its next run.
pub(super) struct Served {
    /// The result that every run must have.
    check: u64,
    child: Child,
    /// Closed to end the program.
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Served {
    /// Starts the program that `words` name, with its arguments, in `folder`. A name that begins
    /// with `./` is a file in that folder.
    ///
    /// # Errors
    /// The program cannot be started.
    pub(super) fn start(folder: &Path, words: &[String], check: u64) -> Result<Self, String> {
        let (program, arguments) = words.split_first().ok_or("no program")?;
        let mut command = Command::new(match program.strip_prefix("./") {
            Some(name) => folder.join(name),
            None => PathBuf::from(program),
        });
        command.current_dir(folder).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("`{program}`: {e}"))?;
        let to = child.stdin.take();
        let from = child.stdout.take().ok_or("a child without an output")?;
        Ok(Self { check, child, to, from: BufReader::new(from) })
    }

    /// Makes one run, and returns its values.
    ///
    /// # Errors
    /// The program ended, or its answer is wrong.
    pub(super) fn run(&mut self) -> Result<Vec<f64>, Error> {
        let line = self.ask().map_err(|_| self.obituary())?;
        let mut words = line.split_whitespace();
        let check = words.next().and_then(|w| w.parse::<u64>().ok());
        crate::error::expect("the program's result", check, Some(self.check))?;
        let values: Option<Vec<f64>> = words.map(|w| w.parse().ok()).collect();
        let values = values.filter(|v| !v.is_empty());
        values.ok_or_else(|| Error::Wrong(format!("not a run's values: `{}`", line.trim())))
    }

    /// Returns the program's line for one run.
    fn ask(&mut self) -> io::Result<String> {
        let to = self.to.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        to.write_all(b"\n")?;
        to.flush()?;
        let mut line = String::new();
        match self.from.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line),
        }
    }

    /// Returns why the program ended before it was told to.
    fn obituary(&mut self) -> Error {
        self.to = None;
        let mut reason = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            // A part of the errors is enough.
            let _ = errors.read_to_string(&mut reason);
        }
        let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
        Error::Wrong(format!("the program ended: {status} {}", reason.trim()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.to = None;
        // The program ends when its input does. Its status does not matter: it has answered
        // everything.
        let _ = self.child.wait();
    }
}
