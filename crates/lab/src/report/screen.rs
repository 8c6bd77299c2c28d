//! The place of a report: its width, its colours, its form.

use crate::error::Error;
use crate::values::{one_of, whole};
use ratatui::crossterm::terminal;
use sateen_top::foreign;
use std::env;
use std::io::{self, IsTerminal};

/// Width where there is no terminal.
const PIPED: usize = 100;
/// Width of a terminal that does not say.
const UNKNOWN: usize = 80;
const NARROWEST: usize = 20;
const WIDEST: usize = 1000;

/// How a report is printed.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ViewArgs {
    /// Fit tables into this many columns (if not given: the terminal's, or 100 without one)
    #[arg(long, value_name = "N", value_parser = columns, allow_negative_numbers = true)]
    pub(crate) columns: Option<usize>,
    /// Form of the figures: text, csv, json or markdown
    #[arg(long, value_name = "FORM", value_parser = format, default_value = "text")]
    pub(crate) format: Format,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// Tables for people.
    #[default]
    Text,
    /// One line a figure, with commas.
    Csv,
    /// The results file.
    Json,
    /// Tables as Markdown.
    Markdown,
}

impl Format {
    const ALL: [(&'static str, Self); 4] = [
        ("text", Self::Text),
        ("csv", Self::Csv),
        ("json", Self::Json),
        ("markdown", Self::Markdown),
    ];
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = Self::ALL.iter().find(|(_, format)| format == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

fn columns(text: &str) -> Result<usize, String> {
    whole(text, NARROWEST as u64, WIDEST as u64)
}

fn format(text: &str) -> Result<Format, String> {
    one_of(text, &Format::ALL)
}

/// A place to print on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// No line of a table is longer.
    pub(crate) width: usize,
    pub(crate) colour: bool,
    pub(crate) format: Format,
}

/// What a word's colour says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tint {
    Plain,
    Good,
    Bad,
}

impl Screen {
    /// Returns the screen that the user asks for, or has.
    pub(crate) fn of(args: ViewArgs) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let own = || match terminal::size() {
            Ok((width, _)) if width > 0 => usize::from(width).clamp(NARROWEST, WIDEST),
            _ => UNKNOWN,
        };
        let width = args.columns.unwrap_or_else(|| if is_terminal { own() } else { PIPED });
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { width, colour: is_terminal && !refused && !dumb, format: args.format }
    }

    /// Prints text for people, which the other forms leave out.
    ///
    /// # Errors
    /// As [`print`](super::print).
    pub(crate) fn say(&self, text: &str) -> Result<(), Error> {
        match self.format {
            Format::Text => super::print(&self.wrapped(text, 0)),
            Format::Markdown => {
                let lines = text.trim_start_matches('\n').lines().map(foreign::markdown);
                super::print(&(lines.collect::<Vec<_>>().join("\n") + "\n"))
            }
            Format::Csv | Format::Json => Ok(()),
        }
    }

    /// Breaks the lines of `text` between words where they are too long. Lines after a break are
    /// indented by `indent` more than their first one.
    pub(crate) fn wrapped(&self, text: &str, indent: usize) -> String {
        let lines = text.split('\n').map(|line| wrap(line, self.width, indent));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Colours `text`.
    pub(crate) fn tinted(&self, text: &str, tint: Tint) -> String {
        match tint {
            Tint::Good if self.colour => format!("\x1b[32m{text}\x1b[0m"),
            Tint::Bad if self.colour => format!("\x1b[31m{text}\x1b[0m"),
            _ => text.to_owned(),
        }
    }
}

/// A blank at which no line is broken, until the text is printed.
pub(crate) const TIE: char = '\u{a0}';

/// Returns `text` with blanks at which no line is broken.
pub(crate) fn tied(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

fn wrap(line: &str, width: usize, indent: usize) -> String {
    if length(line) <= width {
        return line.replace(TIE, " ");
    }
    let own = line.chars().take_while(|c| *c == ' ').count();
    let next = (own + indent).min(width / 2);
    let mut out = " ".repeat(own);
    let mut used = own;
    let mut fresh = true;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let length = length(word);
        if !fresh && used + 1 + length > width {
            out.push('\n');
            out += &" ".repeat(next);
            used = next;
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            used += 1;
        }
        out += word;
        used += length;
        fresh = false;
    }
    out.replace(TIE, " ")
}

/// Returns how many columns `text` takes. All our characters take one.
pub(crate) fn length(text: &str) -> usize {
    text.chars().count()
}

/// Returns `text` with blanks in front, up to `width`.
pub(crate) fn right(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

/// Returns `text` with blanks behind, up to `width`.
pub(crate) fn left(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(width: usize) -> Screen {
        Screen { width, colour: true, format: Format::Text }
    }

    #[test]
    fn lines_break_between_words() {
        let text = "  one two three\nfour";
        assert_eq!(screen(12).wrapped(text, 2), "  one two\n    three\nfour");
        assert_eq!(screen(80).wrapped(text, 2), text);
        let tied = format!("one {}", tied("two three"));
        assert_eq!(screen(10).wrapped(&tied, 0), "one\ntwo three");
        assert_eq!(screen(20).wrapped("a-word-that-is-longer-than-that", 0).lines().count(), 1);
    }

    #[test]
    fn colours_can_be_had_or_not() {
        assert_eq!(screen(80).tinted("slow", Tint::Bad), "\x1b[31mslow\x1b[0m");
        assert_eq!(screen(80).tinted("even", Tint::Plain), "even");
        assert_eq!(Screen { colour: false, ..screen(80) }.tinted("slow", Tint::Bad), "slow");
    }
}
