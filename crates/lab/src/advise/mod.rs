//! `sateen advise`: which lock, counter or pool is best in the user's own context, on the user's
//! own machine.
//!
//! The context comes from options and questions (`context`, `answers`). The loops of the
//! experiments measure all candidates in it for a few seconds, interleaved. `ranking` says which is
//! first and how sure that is, `price` what else it costs, and `lines` how to write it.

mod answers;
mod args;
mod context;
mod lines;
mod price;
mod ranking;

pub(crate) use args::AdviseArgs;

use crate::error::{Error, input};
use crate::experiment::{Experiment, Group, Others, Plan};
use crate::host;
use crate::measure::{Outputs, Printer, Saved};
use crate::report::json::Document;
use crate::report::verdict::{ENOUGH, Standing, times};
use crate::report::{Format, Grid, Screen, Tint, csv, print, short, table};
use crate::select::Selection;
use crate::stats::Ratio;
use crate::store::Record;
use answers::Answers;
use context::Context;
use ranking::Ranking;
use std::io::{self, IsTerminal};

/// The experiment that the records belong to.
struct Advice;

impl Experiment for Advice {
    fn name(&self) -> &'static str {
        "advise"
    }

    fn about(&self) -> &'static str {
        "The user's own context."
    }

    fn groups(&self, _plan: &Plan) -> Vec<Group> {
        Vec::new()
    }
}

/// Asks, measures, and prints the advice.
///
/// # Errors
/// An answer makes no sense, a file cannot be written, or a measurement fails.
pub(crate) fn run(args: &AdviseArgs) -> Result<(), Error> {
    let (stdin, stderr) = (io::stdin(), io::stderr());
    let person = !args.no_questions && stdin.is_terminal() && stderr.is_terminal();
    let (mut input_lock, mut output) = (stdin.lock(), stderr);
    let mut answers = if person {
        Answers::of_person(&mut input_lock, &mut output)
    } else {
        Answers::of_nobody()
    };
    let context = Context::of(args, &mut answers)?;
    let outputs = Outputs::json(args.json.as_deref())?;

    let mut machine = host::provenance();
    machine.insert("context".to_owned(), context.words().into());
    let printer = Advisor { context, screen: Screen::of(args.view) };
    let screen = printer.screen;
    let saved = Saved::begin(machine, outputs, printer)?;
    let mut head = vec![host::summary()];
    head.extend(host::complaints());
    head.push(format!("advise: {}{}", context.words(), answers.assumed()));
    saved.print(|| screen.say(&head.join("\n")))?;

    let groups = vec![context.group()];
    let candidates = groups[0].subjects.len().max(1) as u32;
    let budget = args.seconds / candidates;
    let plan = Plan { smoke: args.smoke, peers: Others::All, budget, ..Plan::default() };
    saved.run(&plan, &Selection::default(), &[(&Advice, groups)])?;
    saved.end().map(drop)
}

/// Prints the advice, once all candidates are measured.
struct Advisor {
    context: Context,
    screen: Screen,
}

impl Printer for Advisor {
    fn fresh(&self, _records: &[Record]) -> Result<(), Error> {
        Ok(())
    }

    fn end(&self, document: &Document, records: &[Record]) -> Result<(), Error> {
        match self.screen.format {
            Format::Text => print(&text(&self.context, records, &self.screen)?),
            Format::Csv => print(&format!("{}\n{}", csv::HEAD, csv::text(records))),
            Format::Json => print(&document.text()),
            Format::Markdown => print(&table::markdown(records)),
        }
    }
}

/// Returns the ranking with its figures, the winner's declaration, what it is bad at, and how sure
/// the ranking is.
fn text(context: &Context, records: &[Record], screen: &Screen) -> Result<String, Error> {
    // Time comes first in each group; a contest also has other figures.
    let case = records.first().map(|r| r.figure.case.clone()).unwrap_or_default();
    let times = records.iter().filter(|r| r.figure.case == case);
    let ranking = Ranking::of(times.map(|r| (r.implementation, r.samples.clone())).collect());
    let Some(winner) = ranking.rows().first() else {
        return Err(input("no candidate could be measured here"));
    };
    let mut out = ranks(&ranking, records, &case, screen);
    // Declarations are code: only the words around them are broken.
    let mut say = |line: &str| out += &format!("\n{}", screen.wrapped(line, 2));
    let line = lines::of(winner.name, context.block()).expect("each candidate has a line");
    say(&format!("Take {}: {}", winner.name, line.remark));
    price::words(winner.name, records, &case).iter().for_each(|line| say(line));
    out += &format!("\n\n{}\n", line.code);
    let mut say = |line: &str| out += &format!("\n{}", screen.wrapped(line, 2));
    say(&ranking.how_sure());
    let notes: Vec<&str> =
        records.first().map_or(Vec::new(), |r| r.notes.iter().map(String::as_str).collect());
    if !notes.is_empty() {
        say(&format!("The machine was not quite fit for it: {}.", notes.join("; ")));
    }
    let cores = host::cores();
    if context.threads() > cores {
        say(&format!(
            "With more threads than cores, the order is that of threads that take turns on \
             {cores} core{}. On a machine with a core for each thread, ask again.",
            host::plural(cores)
        ));
    }
    Ok(out)
}

fn ranks(ranking: &Ranking, records: &[Record], case: &str, screen: &Screen) -> String {
    let shown: Vec<&price::Side> = price::SIDES
        .iter()
        .filter(|side| ranking.rows().iter().any(|r| side.value(r.name, records, case).is_some()))
        .collect();
    let mut head = vec!["", "candidate", "ns"];
    head.extend(shown.iter().map(|side| side.title));
    head.push("beside the first");
    let mut grid = Grid::new(&head, 2..3 + shown.len());
    for (rank, row) in ranking.rows().iter().enumerate() {
        let mut cells = vec![format!("{}", rank + 1), row.name.to_owned(), short(row.median)];
        let value = |side: &&price::Side| side.value(row.name, records, case);
        cells.extend(shown.iter().map(|s| value(s).map_or(String::new(), |v| s.words(v))));
        let beside = row.behind.filter(|_| ranking.runs() >= ENOUGH).map(|r| {
            // How many times better, as all verdicts.
            let gain = Ratio { value: 1.0 / r.value, low: 1.0 / r.high, high: 1.0 / r.low };
            let standing = Standing::of(&gain);
            let interval = format!("{:.2} to {:.2}", r.low, r.high);
            let words = match standing {
                Standing::Ahead => format!("{} faster ({interval})", times(gain.value)),
                Standing::Even => format!("as fast ({interval})"),
                Standing::Behind => format!("{} slower ({interval})", times(r.value)),
            };
            (words.replace('\u{a0}', " "), standing.tint())
        });
        let (words, tint) = beside.unwrap_or((String::new(), Tint::Plain));
        cells.push(words);
        grid.add(cells, tint, Vec::new());
    }
    let mut out = grid.fitted(2, screen);
    let legend = "ns: nanoseconds by use, less is better. In brackets: 95 % interval of the time \
                  by that of the first; equal if it holds 1.";
    out += &format!("\n{}", screen.wrapped(legend, 2));
    for side in shown {
        out += &format!("\n{}", screen.wrapped(&format!("{}: {}", side.title, side.meaning), 2));
    }
    out + "\n"
}
