//! `sateen top`: a live view of a program that runs, or hangs.
//!
//! * `place`: who can be looked at. `connection`, `protocol`: what is asked, and what comes back.
//! * `seen`: what is known of the program, over time. `table`, `sheet`: that as lines.
//! * `view`: the lines on a terminal, and its keys.
//!
//! What a program sends is not trusted: names may have any letters, lines any form, numbers any
//! size.

#[cfg(unix)]
mod connection;
#[cfg(unix)]
mod place;
#[cfg(unix)]
mod protocol;
#[cfg(unix)]
mod seen;
#[cfg(unix)]
mod sheet;
#[cfg(unix)]
mod table;
#[cfg(unix)]
mod view;

use crate::error::Error;
use crate::values::{one_of, seconds, whole};
use std::time::Duration;

#[derive(Debug, clap::Args)]
#[cfg_attr(not(unix), allow(dead_code))]
#[command(after_help = "\
Examples:
  sateen top                           # which programs can be looked at
  sateen top kitchen                   # look at the one of this name
  sateen top 4711 --once               # print what there is now; the number is the process's
  sateen top 4711 --format json        # the same as the program says it

A program lets itself be looked at that has sateen's feature `inspect`, and runs with
SATEEN_INSPECT=1 or calls Builder::inspect(true).")]
pub(crate) struct TopArgs {
    /// The program: its name, the number of its process, or the path of its socket. Without it:
    /// list those that there are
    #[arg(value_name = "PROGRAM")]
    program: Option<String>,
    /// Print one look, and end
    #[arg(long)]
    once: bool,
    /// Time between two looks
    #[arg(long, value_name = "SECONDS", default_value = "0.2", value_parser = seconds,
        allow_negative_numbers = true)]
    every: Duration,
    /// Form of what is printed: text, or json (which means --once)
    #[arg(long, value_name = "FORM", value_parser = form, default_value = "text")]
    format: Form,
    /// Fit what --once prints into this many columns (if not given: the terminal's, or 100)
    #[arg(long, value_name = "N", value_parser = columns, allow_negative_numbers = true)]
    columns: Option<usize>,
}

/// The form of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
}

fn form(text: &str) -> Result<Form, String> {
    one_of(text, &[("text", Form::Text), ("json", Form::Json)])
}

fn columns(text: &str) -> Result<usize, String> {
    whole(text, 20, 1000)
}

/// Runs `sateen top`.
///
/// # Errors
/// There is no such program, it cannot be looked at, or it ends meanwhile.
#[cfg(not(unix))]
pub(crate) fn run(_: &TopArgs) -> Result<(), Error> {
    Err(crate::error::input("`top` needs Unix sockets, which this system lacks"))
}

/// Runs `sateen top`.
///
/// # Errors
/// There is no such program, it cannot be looked at, or it ends meanwhile.
#[cfg(unix)]
pub(crate) fn run(args: &TopArgs) -> Result<(), Error> {
    use crate::report::{Format, Screen, ViewArgs, print};
    let Some(program) = &args.program else { return list(args) };
    let place = place::find(program)?;
    let mut connection = connection::Connection::open(&place)?;
    if args.format == Form::Json {
        return print(&connection.frame_line()?);
    }
    if args.once {
        let screen = Screen::of(ViewArgs { columns: args.columns, format: Format::Text });
        let mut seen = seen::Seen::default();
        // Two looks, for what has happened in between.
        seen.add(connection.frame()?);
        std::thread::sleep(args.every);
        seen.add(connection.frame()?);
        if seen.wants_report() {
            seen.report = Some(connection.report()?);
        }
        return print(&sheet::text(&seen, screen.width));
    }
    view::run(&place, connection, args.every)
}

/// Says which programs there are.
#[cfg(unix)]
fn list(args: &TopArgs) -> Result<(), Error> {
    use crate::error::input;
    use crate::report::print;
    let places = place::all()?;
    let mut lines = Vec::new();
    for place in &places {
        let line = match connection::Connection::open(place).and_then(|mut it| it.hello_line()) {
            Ok(hello) if args.format == Form::Json => hello,
            Ok(_) => format!("{:>8}  {}", place.pid, place.name.plain()),
            // It ended just now, or long ago.
            Err(Error::Input(_)) => continue,
            Err(_) if args.format == Form::Json => continue,
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
