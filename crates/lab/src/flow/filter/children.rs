//! The lines under way, and the commands that run for them: processes that end with this one,
//! however it ends.
//!
//! 1. They are one process group, with a *keeper*: a shell that reads from a pipe. This process
//!    holds the other end of the pipe, which no command inherits.
//! 2. Whatever ends this process closes the pipe, also SIGKILL. A command that is being started has
//!    the pipe until it is in the group, so the keeper finds it there.
//! 3. The keeper then asks all of the group to end, and kills what is left a second later.
//! 4. A filter that is done writes a line into the pipe instead. The keeper ends and touches
//!    nothing, so what a command leaves behind on purpose stays.
//!
//! A process that moves itself into another group is left alone. Elsewhere than on Unix there are
//! no such groups, and commands outlive a filter that is killed.

use std::io;
#[cfg(unix)]
use std::io::Write;
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
#[cfg(unix)]
use std::process::{ChildStdin, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// How long commands that were told to end may take. A process that left the group may hold their
/// output open for ever.
const PATIENCE: Duration = Duration::from_secs(3);

/// The lines under way, and the processes of their commands.
#[derive(Debug)]
pub(super) struct Children {
    /// None: no command starts, or none any more.
    keeper: RwLock<Option<Keeper>>,
    lines: Mutex<Lines>,
    idle: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    /// Lines whose commands run, or whose outputs are not yet printed.
    running: usize,
    /// How the filter ends, once that is certain.
    end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Done,
    Early,
}

/// A line that is under way.
#[derive(Debug)]
pub(super) struct UnderWay<'a>(&'a Children);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut lines = self.0.lock();
        lines.running -= 1;
        if lines.running == 0 {
            self.0.idle.notify_all();
        }
    }
}

impl Children {
    /// Without commands.
    pub(super) fn none() -> Self {
        Self { keeper: RwLock::new(None), lines: Mutex::default(), idle: Condvar::new() }
    }

    /// For commands: starts the keeper.
    ///
    /// # Errors
    /// There is no shell, or no process can be had.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { keeper: RwLock::new(Some(Keeper::start()?)), ..Self::none() })
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line is about to be worked on. None: the filter ends early, and the line is left out.
    pub(super) fn begin(&self) -> Option<UnderWay<'_>> {
        let mut lines = self.lock();
        if lines.end == Some(End::Early) {
            return None;
        }
        lines.running += 1;
        Some(UnderWay(self))
    }

    /// Starts `command` in the group.
    ///
    /// # Errors
    /// As [`Command::spawn`]; or the filter is ending.
    pub(super) fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        // While this lock is held, the pipe is not closed: the group has the command before.
        let keeper = self.keeper.read().unwrap_or_else(PoisonError::into_inner);
        let Some(keeper) = &*keeper else { return Err(io::Error::other("the filter ends")) };
        keeper.join(command).spawn()
    }

    /// Tells all commands to end, and waits until what they said is printed. Returns false if the
    /// filter was done before.
    pub(super) fn end_early(&self) -> bool {
        if !self.decide(End::Early) {
            return false;
        }
        // Closes the pipe. Nobody waits for the keeper: it may give a command a second.
        drop(self.keeper.write().unwrap_or_else(PoisonError::into_inner).take());
        let lines = self.lock();
        // What takes too long is not printed.
        drop(self.idle.wait_timeout_while(lines, PATIENCE, |lines| lines.running > 0));
        true
    }

    /// All lines are through. Returns false if the filter ends early, which is another thread's
    /// to say.
    pub(super) fn done(&self) -> bool {
        if !self.decide(End::Done) {
            return false;
        }
        let keeper = self.keeper.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(keeper) = keeper {
            keeper.dismiss();
        }
        true
    }

    /// Returns whether it ends as `end`: the first one to say so decides.
    fn decide(&self, end: End) -> bool {
        *self.lock().end.get_or_insert(end) == end
    }
}

/// See [`Children`]. Dropping it ends the group.
#[cfg(unix)]
#[derive(Debug)]
struct Keeper {
    process: Child,
    /// Its input.
    pipe: Option<ChildStdin>,
}

#[cfg(unix)]
impl Keeper {
    /// It ignores what ends the others, and a terminal's signals.
    const SCRIPT: &str =
        "trap '' TERM HUP INT QUIT; read line || { kill -TERM 0; sleep 1; kill -KILL 0; }";

    fn start() -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.args(["-c", Self::SCRIPT]).process_group(0);
        // It outlives this process for a moment, and must not hold its output open.
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = shell.spawn()?;
        let pipe = process.stdin.take();
        Ok(Self { process, pipe })
    }

    /// Puts `command` into the group.
    fn join<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        // A group has the number of its first process.
        command.process_group(self.process.id().cast_signed())
    }

    /// Lets it end without the others.
    fn dismiss(mut self) {
        // If somebody has killed it, there is nothing to tell.
        let _ = self.pipe.take().map(|mut pipe| pipe.write_all(b"\n"));
        let _ = self.process.wait();
    }
}

#[cfg(not(unix))]
#[derive(Debug)]
struct Keeper;

#[cfg(not(unix))]
impl Keeper {
    fn start() -> io::Result<Self> {
        Ok(Self)
    }

    fn join<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
    }

    fn dismiss(self) {}
}
