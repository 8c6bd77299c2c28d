//! The lines of standard input through the workers: a parallel filter with a rate.

mod children;
mod sink;
mod work;

use super::args::{Settings, Work};
use super::load::{WithClock, limit, with_clock};
use crate::error::{Error, input, unwritten};
use crate::interrupt;
use sateen::sync::Semaphore;
use sateen_flow::{Clock, Throttle};
use sink::Sink;
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use work::Worker;

/// How many lines of each worker may be read and not yet printed, including lines that wait for
/// their turn. Each may have [`SHARE`] bytes; longer lines count as several.
const AHEAD: usize = 1024;
const SHARE: usize = 16 << 10;
/// The most bytes of a line with its end, and of what a command prints for one.
const MOST: usize = 16 << 20;
/// The most bytes of output that wait for an earlier line.
const WAITING: usize = 256 << 20;

/// Returns `bytes` in words.
fn mebibytes(bytes: usize) -> String {
    format!("{} MiB", bytes >> 20)
}

/// A line of the input.
struct Line {
    /// Its number, from 0.
    number: u64,
    /// With its line end, if it has one.
    bytes: Vec<u8>,
    /// How much of the room it takes until it is printed.
    room: usize,
}

/// Sends all lines of standard input through the workers.
///
/// # Errors
/// Input or output fails, or a command fails.
pub(super) fn run(settings: &Settings, work: Work, ordered: bool) -> Result<(), Error> {
    let (input, output) = (io::stdin().lock(), io::stdout());
    with_clock(settings.clock, Filter { settings, work, ordered, input, output })?
}

struct Filter<'a, R, W> {
    settings: &'a Settings,
    work: Work,
    ordered: bool,
    input: R,
    output: W,
}

impl<R: BufRead, W: Write + Send + 'static> WithClock for Filter<'_, R, W> {
    type Result = Result<(), Error>;

    fn run<C: Clock + Clone + Send + 'static>(mut self, clock: C) -> Result<(), Error> {
        let settings = self.settings;
        let eager = matches!(self.work, Work::Exec(_));
        let worker = Worker::new(self.work);
        let worker = Arc::new(worker.map_err(|e| input(format!("cannot start a shell: {e}")))?);
        let sink = Arc::new(Sink::new(self.output, self.ordered, WAITING));
        let all_room = AHEAD.saturating_mul(settings.threads);
        let room = Arc::new(Semaphore::new(all_room));
        let under_way = Arc::new(AtomicU64::new(0));

        let builder = settings.builder().receive_rate(limit(settings.receive_rate)?);
        let queue = builder.clock(clock.clone()).start({
            let (worker, sink) = (Arc::clone(&worker), Arc::clone(&sink));
            let (room, under_way) = (Arc::clone(&room), Arc::clone(&under_way));
            move |_, line: &mut Line| {
                let Some(_under_way) = worker.children.begin() else { return };
                let piece = worker.run(line.number, &line.bytes);
                room.add_permits(sink.put(line.number, piece, line.room, eager));
                // Ordering: the last thread sees what the others have put in; a lock guards that
                // anyway.
                if under_way.fetch_sub(1, Ordering::AcqRel) == 1 {
                    sink.flush();
                }
            }
        });
        let queue = queue.map_err(|e| input(e.to_string()))?;
        let sender = queue.sender();
        let mut throttle = Throttle::new(limit(settings.send_rate)?, clock);

        let (last, all) = (Arc::clone(&sink), Arc::clone(&worker));
        interrupt::install(move |signal| {
            // Reading may never end. Of the lines so far, those that are done come out, and what
            // the commands of others have said.
            if !all.children.end_early() {
                wait_for_the_end();
            }
            let total = all.total().unwrap_or_default();
            let written = last.finish_early(total.as_bytes());
            written.map_or_else(|e| unwritten("to standard output", &e), |()| Error::Ended(signal))
        })?;
        let mut number = 0;
        let read = loop {
            let mut bytes = Vec::new();
            let one = self.input.by_ref().take(MOST as u64 + 1);
            match { one }.read_until(b'\n', &mut bytes) {
                Ok(0) => break Ok(()),
                Ok(_) if bytes.len() > MOST => {
                    let (line, most) = (number + 1, mebibytes(MOST));
                    break Err(io::Error::other(format!("line {line} is longer than {most}")));
                }
                Ok(_) => {}
                Err(e) => break Err(e),
            }
            let takes = (1 + bytes.len() / SHARE).min(all_room);
            match room.acquire(takes) {
                Ok(permit) => permit.forget(),
                // No thread closes the queue.
                Err(_) => break Ok(()),
            }
            if sink.has_failed() {
                break Ok(());
            }
            throttle.wait();
            under_way.fetch_add(1, Ordering::Relaxed);
            if let Err(e) = sender.send(Line { number, bytes, room: takes }) {
                break Err(io::Error::other(e.to_string()));
            }
            number += 1;
        };
        if sink.has_failed() {
            // No program reads the output.
            drop(queue.abort());
        }
        queue.close();
        if !worker.children.done() {
            wait_for_the_end();
        }
        let through = sink.through();
        match sink.finish(worker.total().unwrap_or_default().as_bytes()) {
            // A reader that leaves is not an error.
            Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(()),
            other => other.map_err(|e| unwritten("to standard output", &e))?,
        }
        read.map_err(|e| input(format!("cannot read standard input: {e}")))?;
        if through != number {
            return Err(Error::Wrong(format!(
                "wrong result: {number} lines were sent and {through} came out"
            )));
        }
        worker.failure().map_or(Ok(()), |failure| Err(Error::Wrong(failure)))
    }
}

/// Another thread ends the process, and says with which status.
fn wait_for_the_end() -> ! {
    loop {
        thread::park();
    }
}
