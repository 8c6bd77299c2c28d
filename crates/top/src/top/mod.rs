//! A live view of a program that runs, or hangs.
//!
//! * `args`: what the user asks for. `error`: what ends the program early.
//! * `place`: who can be looked at. `connection`, `protocol`: what is asked, and what comes back.
//! * `seen`: what is known of the program, over time. `table`, `sheet`: that as lines.
//! * `view`: the lines on a terminal, and its keys.
//!
//! What a program sends is not trusted: names may have any letters, lines any form, numbers any
//! size.

mod args;
mod connection;
mod error;
mod place;
mod protocol;
mod seen;
mod sheet;
mod table;
mod view;

use args::Args;
use connection::Connection;
use error::{Error, input};
use ratatui::crossterm::terminal;
use seen::Seen;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

pub(crate) fn main() -> ExitCode {
    let Err(error) = run() else { return ExitCode::SUCCESS };
    // Standard error may be gone.
    let _ = writeln!(io::stderr(), "sateen-top: {error}");
    ExitCode::from(error.status())
}

fn run() -> Result<(), Error> {
    let Some(args) = Args::read()? else { return Ok(()) };
    let Some(program) = &args.program else { return list(args.json) };
    let place = place::find(program)?;
    let mut connection = Connection::open(&place)?;
    if args.json {
        return print(&connection.frame_line()?);
    }
    if args.once {
        let mut seen = Seen::default();
        // Two looks, for what has happened in between.
        seen.add(connection.frame()?);
        std::thread::sleep(args.every);
        seen.add(connection.frame()?);
        if seen.wants_report() {
            seen.report = Some(connection.report()?);
        }
        return print(&sheet::text(&seen, args.columns.unwrap_or_else(width)));
    }
    view::run(&place, connection, args.every)
}

/// The terminal's width, or 100.
fn width() -> usize {
    match terminal::size() {
        Ok((width @ 1.., _)) if io::stdout().is_terminal() => width.into(),
        _ => 100,
    }
}

/// Says which programs there are.
fn list(json: bool) -> Result<(), Error> {
    let mut lines = Vec::new();
    for place in place::all()? {
        let line = match Connection::open(&place).and_then(|mut it| it.hello_line()) {
            Ok(hello) if json => hello,
            Ok(_) => format!("{:>8}  {}", place.pid, place.name.plain()),
            // It ended just now, or long ago.
            Err(Error::Input(_)) => continue,
            Err(_) if json => continue,
            Err(reason) => format!("{:>8}  {}: {reason}", place.pid, place.name.plain()),
        };
        lines.push(line);
    }
    if lines.is_empty() {
        return Err(input(format!(
            "no program can be looked at: none has a socket in `{}`. Start one with \
             SATEEN_INSPECT=1; it needs sateen's feature `inspect`",
            place::folder().display()
        )));
    }
    print(&lines.join("\n"))
}

/// Prints `text` and a line end.
fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        // The reader has gone away, as in `sateen-top | head`: that is no error.
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => {
            written.map_err(|e| Error::Output(format!("cannot write to standard output: {e}")))
        }
    }
}
