//! `sateen advise`: which lock, counter or pool is best in the user's own context, on the user's
//! own machine.
//!
//! The context comes from options and questions (`context`, `answers`). The loops of the
//! experiments measure all candidates in it for a few seconds, interleaved. `ranking` says which is
//! first and how sure that is, and `lines` how to write it.

mod answers;
mod args;
mod context;
mod lines;
mod ranking;

pub(crate) use args::AdviseArgs;

use crate::error::{Error, input};
use crate::experiment::{Experiment, Group, Plan};
use crate::report::json::Document;
use crate::report::{Destination, Progress, STYLE, print, short};
use crate::runner::Runner;
use crate::select::Selection;
use crate::store::{Record, Shared};
use crate::{host, interrupt};
use answers::Answers;
use comfy_table::{CellAlignment, Table};
use context::Context;
use ranking::Ranking;
use std::cell::RefCell;
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
    let json = args.json.as_deref().map(Destination::check).transpose()?;

    print(&[vec![host::summary()], host::complaints()].concat().join("\n"));
    let assumed = answers.assumed();
    print(&format!("advise: {}{assumed}", context.words()));
    let (machine, records) = measure(&context, args)?;
    print(&text(&context, &records)?);
    json.map_or(Ok(()), |json| json.write(&Document::of(machine, &records).text()))
}

/// Returns the origin of the records, and the records of all candidates.
fn measure(
    context: &Context,
    args: &AdviseArgs,
) -> Result<(serde_json::Map<String, serde_json::Value>, Vec<Record>), Error> {
    let store = Shared::default();
    let mut machine = host::provenance();
    machine.insert("context".to_owned(), context.words().into());
    let asked = *context;
    interrupt::install(store.clone(), move |records| {
        if let Ok(text) = text(&asked, records) {
            print(&text);
        }
    })?;
    let groups = [context.group()];
    let candidates = groups[0].subjects.len().max(1) as u32;
    let budget = args.seconds / candidates;
    let plan = Plan { smoke: args.smoke, peers: true, budget, ..Plan::default() };
    let (selection, idle) = (Selection::default(), Progress::new(0));
    let runner = Runner {
        plan: &plan,
        selection: &selection,
        store: &store,
        progress: &idle,
        said: RefCell::default(),
    };
    let progress = Progress::new(runner.length(&groups));
    let runner = Runner { progress: &progress, ..runner };
    runner.run(&Advice, &groups)?;
    progress.finish();
    let records = store.lock().take_unshown();
    Ok((machine, records))
}

/// Returns the ranking with its figures, the winner's declaration, and how sure the ranking is.
fn text(context: &Context, records: &[Record]) -> Result<String, Error> {
    // Time comes first in each group; a contest also has other figures.
    let case = records.first().map(|r| r.figure.case.clone()).unwrap_or_default();
    let times = records.iter().filter(|r| r.figure.case == case);
    let ranking = Ranking::of(times.map(|r| (r.implementation, r.samples.clone())).collect());
    let Some(winner) = ranking.rows().first() else {
        return Err(input("no candidate could be measured here"));
    };
    let mut out = table(&ranking, records, &case);
    match lines::of(winner.name, context.block()) {
        Some(line) => out += &format!("\nTake {}: {}\n\n{}\n", winner.name, line.remark, line.code),
        None => out += &format!("\nTake {}.\n", winner.name),
    }
    out += &format!("\n{}", ranking.how_sure());
    let notes: Vec<&str> =
        records.first().map_or(Vec::new(), |r| r.notes.iter().map(String::as_str).collect());
    if !notes.is_empty() {
        out += &format!("\nThe machine was not quite fit for it: {}.", notes.join("; "));
    }
    let cores = host::cores();
    if context.threads() > cores {
        out += &format!(
            "\nWith more threads than cores, the order is that of threads that take turns on \
             {cores} core{}. On a machine with a core for each thread, ask again.",
            host::plural(cores)
        );
    }
    Ok(out)
}

fn table(ranking: &Ranking, records: &[Record], case: &str) -> String {
    let others = [("-cpu", "processor ns"), ("-fairness", "least/most served")];
    let value = |name: &str, suffix: &str| {
        let case = format!("{case}{suffix}");
        let same = |r: &&Record| r.implementation == name && r.figure.case == case;
        records.iter().find(same).and_then(Record::summary).map(|s| short(s.median))
    };
    let shown: Vec<_> = others
        .into_iter()
        .filter(|(suffix, _)| ranking.rows().iter().any(|row| value(row.name, suffix).is_some()))
        .collect();
    let mut table = Table::new();
    table.load_style(STYLE);
    let mut header = vec!["".to_owned(), "candidate".to_owned(), "ns".to_owned()];
    header.extend(["by first", "95 % interval"].map(str::to_owned));
    header.extend(shown.iter().map(|(_, title)| (*title).to_owned()));
    table.set_header(header);
    for (rank, row) in ranking.rows().iter().enumerate() {
        let mut cells = vec![format!("{}", rank + 1), row.name.to_owned(), short(row.median)];
        cells.extend(row.behind.map_or([String::new(), String::new()], |r| {
            [format!("{:.2}", r.value), format!("{:.2} to {:.2}", r.low, r.high)]
        }));
        cells.extend(shown.iter().map(|(suffix, _)| value(row.name, suffix).unwrap_or_default()));
        table.add_row(cells);
    }
    for index in 2..5 + shown.len() {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}
