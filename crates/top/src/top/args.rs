//! The command line.

use super::error::{Error, input};
use lexopt::prelude::*;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

const HELP: &str = "\
Shows a running program of Sateen: workers, tasks, waits, locks, queues, deadlocks

Usage: sateen-top [OPTIONS] [PROGRAM]

  PROGRAM           its name, the number of its process, or the path of its socket.
                    Without it: list the programs that there are

Options:
  --once            print one look, and end
  --every SECONDS   time between two looks, 0.2 if not given
  --format FORM     form of what is printed: text, or json (which means --once)
  --columns N       fit what --once prints into this many columns
                    (if not given: the terminal's, or 100)
  -h, --help        print this
  -V, --version     print the version

Examples:
  sateen-top                           # which programs can be looked at
  sateen-top kitchen                   # look at the one of this name
  sateen-top 4711 --once               # print what there is now; the number is the process's
  sateen-top 4711 --format json        # the same as the program says it

A program lets itself be looked at that has sateen's feature `inspect`, and runs with
SATEEN_INSPECT=1 or calls Builder::inspect(true).

Exit status:
  0  success, also if the reader of the output went away (`| head`)
  2  input that makes no sense, or a program that is not there; one line says which
  4  the output could not be written
  5  the program has ended, or answers nonsense or nothing";

/// What the user asks for.
#[derive(Debug)]
pub(super) struct Args {
    /// None: list the programs.
    pub(super) program: Option<String>,
    pub(super) once: bool,
    pub(super) every: Duration,
    pub(super) json: bool,
    pub(super) columns: Option<usize>,
}

impl Args {
    /// Reads the command line. None: it asked for a text, which has been printed.
    ///
    /// # Errors
    /// The command line makes no sense.
    pub(super) fn read() -> Result<Option<Self>, Error> {
        let every = Duration::from_millis(200);
        let mut args = Self { program: None, once: false, every, json: false, columns: None };
        let mut parser = lexopt::Parser::from_env();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("once") => args.once = true,
                Long("every") => {
                    let seconds = parser.value()?.parse_with(|it| within(it, 0.001, 86_400.0))?;
                    args.every = Duration::from_secs_f64(seconds);
                }
                Long("format") => args.json = parser.value()?.parse_with(is_json)?,
                Long("columns") => {
                    args.columns = Some(parser.value()?.parse_with(|it| within(it, 20, 1000))?);
                }
                Short('h') | Long("help") => return super::print(HELP).map(|()| None),
                Short('V') | Long("version") => {
                    let version = concat!("sateen-top ", env!("CARGO_PKG_VERSION"));
                    return super::print(version).map(|()| None);
                }
                Value(program) if args.program.is_none() => args.program = Some(program.string()?),
                _ => return Err(arg.unexpected().into()),
            }
        }
        Ok(Some(args))
    }
}

impl From<lexopt::Error> for Error {
    fn from(error: lexopt::Error) -> Self {
        input(format!("{error}; `sateen-top --help` lists the options"))
    }
}

/// A number from `low` to `high`.
fn within<T: FromStr + PartialOrd + Display>(text: &str, low: T, high: T) -> Result<T, String> {
    let value = text.parse().ok().filter(|value| (&low..=&high).contains(&value));
    value.ok_or_else(|| format!("not a number from {low} to {high}"))
}

fn is_json(form: &str) -> Result<bool, &'static str> {
    match form {
        "text" => Ok(false),
        "json" => Ok(true),
        _ => Err("not one of text, json"),
    }
}
