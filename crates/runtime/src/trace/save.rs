//! The users' interface to traces: start, stop, save.

use super::convert::{TraceSummary, convert};
use super::state::{Moment, Taken};
use crate::current_thread::CurrentThread;
use crate::runtime::Runtime;
use crate::shared::Shared;
use crate::worker::Worker;
use sateen_base::os;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Default capacity for each worker's events; see [`Trace::start_with`].
pub(crate) const EVENTS: usize = 1 << 16;

/// A runtime's trace: what each worker did and when. From [`Runtime::trace`].
///
/// Each worker writes its events into its own ring. When the ring is full the oldest events are
/// overwritten, and the saved trace says so. It opens in Perfetto (`https://ui.perfetto.dev`, which
/// keeps the file on your machine).
///
/// | Track | What it shows |
/// |---|---|
/// | one for each worker | working, idle and asleep; the tasks, branches and polls that ran |
/// | one for each task that has a name or was suspended | running, ready, waits for what |
/// | counters | ready tasks, sleepers, live fibers |
/// | one for each other thread | spawns, wake-ups, sends and receipts |
///
/// Arrows lead from a spawn to the start, from a wake-up to the resumption, from the send of a
/// channel's item to its receipt, and from the send of a worker queue's item to its handler.
///
/// # Examples
///
/// ```
/// let runtime = sateen::Runtime::builder().workers(2).build()?;
/// let trace = runtime.trace();
/// trace.start();
/// runtime.install(|| sateen::par_for(0..1000, |_| ()));
/// trace.stop();
/// let path = std::env::temp_dir().join(format!("sateen-doc-{}.pftrace", std::process::id()));
/// let summary = trace.save(&path)?;
/// assert!(summary.events > 0);
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    shared: &'a Shared,
}

impl Runtime {
    /// The runtime's trace.
    ///
    /// # Cost
    /// A load and a jump for each event while there is no trace. During a trace about 10 ns for
    /// each event: a start, an end, a suspension, a wake-up and so on.
    pub fn trace(&self) -> Trace<'_> {
        Trace { shared: &self.shared }
    }
}

impl CurrentThread {
    /// The runtime's trace; see [`Runtime::trace`].
    pub fn trace(&self) -> Trace<'_> {
        Trace { shared: self.shared() }
    }
}

impl Trace<'_> {
    /// Starts a new trace, with room for 65,536 events of each worker: 2 MiB. Discards the events
    /// of an earlier trace of this runtime.
    pub fn start(&self) {
        self.start_with(EVENTS);
    }

    /// [`Trace::start`] with room for `events` events of each worker, rounded up to a power of two;
    /// 32 bytes each. Rings of another size, from an earlier start, stay until the runtime ends.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(1).build()?;
    /// let trace = runtime.trace();
    /// trace.start_with(4);
    /// (0..100).for_each(|_| runtime.spawn(|| ()).join().unwrap());
    /// let summary = trace.write_to(std::io::sink())?;
    /// assert!(summary.overwritten > 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn start_with(&self, events: usize) {
        self.shared.traces.state().start(events, self.workers());
    }

    /// Stops the trace. Its events stay until the next start.
    pub fn stop(&self) {
        self.shared.traces.state().stop(self.workers());
    }

    /// Whether the trace is running.
    pub fn is_running(&self) -> bool {
        self.shared.traces.state().is_running()
    }

    /// Writes the current events into a file, which is replaced, in Perfetto's format. The trace
    /// may continue meanwhile. Without a start the file has no events.
    ///
    /// # Errors
    /// [`TraceError`], which names the file. Data written so far stays. An existing file must be a
    /// regular file, because a pipe or a device could block the caller. [`Trace::write_to`] writes
    /// to those.
    ///
    /// ```
    /// let runtime = sateen::Runtime::builder().workers(1).build()?;
    /// let error = runtime.trace().save("/no/such/folder/trace").unwrap_err();
    /// assert!(error.to_string().starts_with("cannot write the trace `/no/such/folder/trace`: "));
    /// # Ok::<(), sateen::BuildError>(())
    /// ```
    ///
    /// # Cost
    /// A copy of the rings, and some microseconds for each event, on the calling thread.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<TraceSummary, TraceError> {
        save(&self.take(), path.as_ref())
    }

    /// [`Trace::save`] to any writer.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: impl Write) -> io::Result<TraceSummary> {
        convert(&self.take(), Moment::now(), out)
    }

    fn take(&self) -> Vec<Taken> {
        self.shared.traces.state().take().into_iter().collect()
    }

    fn workers(&self) -> impl Iterator<Item = &Worker> {
        self.shared.workers.iter().map(|cell| &**cell)
    }
}

/// Writes the traces into one file.
pub(crate) fn save(all: &[Taken], path: &Path) -> Result<TraceSummary, TraceError> {
    let write = || {
        let file = os::create_regular(path)?;
        convert(all, Moment::now(), BufWriter::with_capacity(1 << 16, file))
    };
    write().map_err(|source| TraceError { path: path.to_owned(), source })
}

/// A trace could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub struct TraceError {
    /// The file.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write the trace `{}`: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for TraceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
