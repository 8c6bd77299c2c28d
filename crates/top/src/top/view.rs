//! The view on a terminal.

mod draw;
mod keys;

use super::connection::Connection;
use super::error::{Error, input};
use super::place::Place;
use super::protocol::{Frame, Report, Told, Trace};
use super::seen::Seen;
use draw::draw;
use keys::{Action, State};
use ratatui::crossterm::event::{self, Event};
use ratatui::{DefaultTerminal, try_init, try_restore};
use sateen_top::foreign::Foreign;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks at the signals' flag.
const GLANCE: Duration = Duration::from_millis(100);
/// A report interrupts the workers, so there are few.
const REPORTS: Duration = Duration::from_secs(2);

/// How much news waits for a terminal that takes no picture. A thread that brings more waits, and
/// asks the program nothing meanwhile.
const NEWS: usize = 16;

/// What the other threads bring.
enum News {
    Frame(Result<Frame, Error>),
    Key(Event),
    /// The terminal is gone.
    Blind,
    /// A report; whether it is to be written into a file.
    Report(Result<Report, Error>, bool),
    Trace(Result<Trace, Error>),
}

/// Shows the program until the user ends it, or the program ends.
///
/// # Errors
/// There is no terminal, or the program ends or makes no sense.
pub(super) fn run(place: &Place, connection: Connection, every: Duration) -> Result<(), Error> {
    if !is_possible() {
        return Err(input("there is no terminal to show the program on: `--once` prints one look"));
    }
    let stop = raised_by_signals().map_err(|e| input(format!("cannot handle signals: {e}")))?;
    let Ok(mut terminal) = try_init() else {
        // The first step may have succeeded.
        let _ = try_restore();
        return Err(input("the terminal refuses to show the program: `--once` prints one look"));
    };
    let (mut view, news) = View::new(place.clone());
    let end = view.watch(&mut terminal, &news, connection, every, &stop);
    if terminal.show_cursor().is_err() {
        // Its destructor would try again, and print a complaint that no one reads.
        std::mem::forget(terminal);
    }
    let _ = try_restore();
    end
}

/// Returns whether there is a terminal to read keys from, and to draw on.
fn is_possible() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb" || term.is_empty());
    !dumb && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// A flag that signals raise. A second one ends the process: a thread that writes to a terminal
/// which accepts nothing does not see the flag.
fn raised_by_signals() -> io::Result<Arc<AtomicBool>> {
    let raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&raised))?;
        flag::register(signal, Arc::clone(&raised))?;
    }
    Ok(raised)
}

struct View {
    place: Place,
    sender: SyncSender<News>,
    state: State,
    seen: Seen,
    /// When the last report was asked for.
    reported: Option<Instant>,
    /// A thread asks for a report or a trace.
    asking: bool,
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|e| input(format!("cannot start a thread: {e}")))
}

impl View {
    fn new(place: Place) -> (Self, Receiver<News>) {
        let (sender, news) = sync_channel(NEWS);
        let (state, seen) = (State::default(), Seen::default());
        (Self { place, sender, state, seen, reported: None, asking: false }, news)
    }

    /// Threads bring frames and keys. Nobody waits for them: a read of a terminal that has vanished
    /// may never end.
    fn listen(&self, mut connection: Connection, every: Duration) -> Result<(), Error> {
        let frames = self.sender.clone();
        start("frames", move || {
            loop {
                let next = Instant::now() + every;
                let frame = connection.frame();
                let over = frame.is_err();
                if frames.send(News::Frame(frame)).is_err() || over {
                    return;
                }
                thread::sleep(next.saturating_duration_since(Instant::now()));
            }
        })?;
        let keys = self.sender.clone();
        start("keys", move || {
            while let Ok(event) = event::read() {
                if keys.send(News::Key(event)).is_err() {
                    return;
                }
            }
            let _ = keys.send(News::Blind);
        })
    }

    fn watch(
        &mut self,
        terminal: &mut DefaultTerminal,
        news: &Receiver<News>,
        connection: Connection,
        every: Duration,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        self.state.wish.colour = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        self.listen(connection, every)?;
        while !stop.load(Ordering::Relaxed) {
            match news.recv_timeout(GLANCE) {
                Ok(News::Frame(frame)) => self.saw(frame?)?,
                Ok(News::Key(Event::Key(key))) => match self.state.press(key) {
                    Some(Action::End) => return Ok(()),
                    Some(action) => self.act(&action)?,
                    None => {}
                },
                Ok(News::Key(Event::Resize(..))) => {}
                Ok(News::Key(_)) | Err(RecvTimeoutError::Timeout) => continue,
                Ok(News::Blind) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(News::Report(report, keep)) => self.told(report, keep),
                Ok(News::Trace(trace)) => self.traced(trace),
            }
            // The terminal is gone, which ends the view like `q`.
            if terminal.draw(|frame| draw(frame, &self.seen, &mut self.state)).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn saw(&mut self, frame: Frame) -> Result<(), Error> {
        if self.state.frozen {
            return Ok(());
        }
        self.seen.add(frame);
        let due = self.reported.is_none_or(|at| at.elapsed() >= REPORTS);
        if self.seen.wants_report() && due && !self.asking {
            return self.act(&Action::Report);
        }
        if !self.seen.wants_report() {
            // What it says is no longer so.
            self.seen.report = None;
        }
        Ok(())
    }

    /// Asks on a connection of its own: an answer may take long.
    fn act(&mut self, action: &Action) -> Result<(), Error> {
        if self.asking {
            self.state.note = "the question before this one has no answer yet".to_owned();
            return Ok(());
        }
        let (sender, place) = (self.sender.clone(), self.place.clone());
        let file = match action {
            Action::TraceStop => match self.file(".pftrace").to_str() {
                Some(name) => Some(name.to_owned()),
                None => {
                    self.state.note = "the folder's name is not UTF-8".to_owned();
                    return Ok(());
                }
            },
            _ => None,
        };
        self.asking = true;
        if matches!(action, Action::Report | Action::Dump) {
            self.reported = Some(Instant::now());
        }
        let action = action.clone();
        start("asks", move || {
            let connection = Connection::open(&place);
            let answer = match action {
                Action::Report | Action::Dump => {
                    News::Report(connection.and_then(|mut it| it.report()), action == Action::Dump)
                }
                _ => News::Trace(connection.and_then(|mut it| it.trace(file.as_deref()))),
            };
            let _ = sender.send(answer);
        })
    }

    /// The place of a new file in the present folder. A link counts as a file, also one to nowhere.
    fn file(&self, ending: &str) -> PathBuf {
        let frame = self.seen.last();
        let (name, pid) =
            frame.map_or((&self.place.name, self.place.pid), |frame| (&frame.program, frame.pid));
        // The program may be any.
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let name: String = name.plain().chars().map(plain).take(40).collect();
        let path = |number: u32| PathBuf::from(format!("top-{name}-{pid}-{number}{ending}"));
        let free = (1..10_000).map(path).find(|path| fs::symlink_metadata(path).is_err());
        let path = free.unwrap_or_else(|| path(1));
        std::path::absolute(&path).unwrap_or(path)
    }

    fn told(&mut self, report: Result<Report, Error>, keep: bool) {
        self.asking = false;
        let report = match report {
            Ok(report) => report,
            Err(reason) => return self.state.note = reason.to_string(),
        };
        if keep {
            let text = |told: &Told| {
                let lines: Vec<&str> = told.text.iter().map(Foreign::plain).collect();
                format!("runtime {}\n{}\n", told.number, lines.join("\n"))
            };
            let text: String = report.runtimes.iter().map(text).collect();
            let path = self.file(".txt");
            // Not into what another one has put there meanwhile.
            let created = fs::OpenOptions::new().write(true).create_new(true).open(&path);
            self.state.note = match created.and_then(|mut file| file.write_all(text.as_bytes())) {
                Ok(()) => format!("the report is in {}", path.display()),
                Err(reason) => format!("cannot write `{}`: {reason}", path.display()),
            };
        }
        self.seen.report = Some(report);
    }

    fn traced(&mut self, trace: Result<Trace, Error>) {
        self.asking = false;
        match trace {
            Ok(Trace { running, file, events }) => {
                self.state.tracing = running;
                self.state.note = match (running, file, events) {
                    (true, ..) => "a trace runs; `t` ends it".to_owned(),
                    (_, Some(file), Some(events)) => {
                        format!("the trace is in {}: {events} events", file.plain())
                    }
                    _ => "the trace has ended".to_owned(),
                };
            }
            Err(reason) => self.state.note = reason.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_takes_no_picture_collects_no_news() {
        let place = Place { name: "x".into(), pid: 1, path: PathBuf::new() };
        let (view, news) = View::new(place);
        let room = || view.sender.try_send(News::Frame(Ok(Frame::default()))).is_ok();
        assert_eq!((0..10_000).filter(|_| room()).count(), NEWS);
        assert!(news.recv().is_ok() && room() && !room(), "a picture makes room for one");
    }
}
