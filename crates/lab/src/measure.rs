//! A measurement from its start to its end: results are printed as they come, and files are written
//! at the end, also if that comes early.

use crate::cli::OutputArgs;
use crate::error::{Error, input};
use crate::experiment::{Experiment, Group, Plan};
use crate::report::json::Document;
use crate::report::{
    Destination, Format, Progress, Said, Screen, csv, diff, legend, lines, note, print, table,
    verdict,
};
use crate::rounds::{self, Opened};
use crate::runner::Runner;
use crate::select::Selection;
use crate::store::{Record, Shared};
use crate::{experiments, host, interrupt, plot, scale, tour};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What is printed of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    Nothing,
    Lines,
    Tables,
    /// Tables, each under the sentence of its experiment.
    Tour,
    /// At the end, how figures scale.
    Scale,
}

/// Prints records as they come, and at the end what they come to.
pub(crate) struct Reporter {
    show: Show,
    screen: Screen,
    /// Results to compare the new ones with.
    base: Option<Document>,
    said: Mutex<Said>,
}

impl Reporter {
    pub(crate) fn new(show: Show, screen: Screen, base: Option<Document>) -> Self {
        Self { show, screen, base, said: Mutex::default() }
    }

    fn head(&self) -> Result<(), Error> {
        match (self.show, self.screen.format) {
            (Show::Nothing | Show::Lines, _) | (_, Format::Json) => Ok(()),
            (_, Format::Csv) => print(csv::HEAD),
            (show, _) => {
                let mut all = vec![host::summary()];
                all.extend(host::complaints());
                all.extend((show == Show::Tour).then(tour::plan));
                self.screen.say(&all.join("\n"))
            }
        }
    }

    /// Prints the records of one experiment.
    fn records(&self, records: &[Record]) -> Result<(), Error> {
        let Some(first) = records.first() else { return Ok(()) };
        match (self.show, self.screen.format) {
            (Show::Nothing | Show::Scale, _) | (_, Format::Json) => Ok(()),
            (Show::Lines, Format::Text) => print(&lines::text(records)),
            (_, Format::Csv) => print(&csv::text(records)),
            (_, Format::Markdown) => {
                print(&format!("## {}\n\n{}", first.experiment, table::markdown(records)))
            }
            (show, Format::Text) => self.table(first.experiment, records, show == Show::Tour),
        }
    }

    fn table(&self, name: &str, records: &[Record], in_tour: bool) -> Result<(), Error> {
        let all = experiments::all();
        let experiment = all.iter().find(|e| e.name() == name);
        let title = match experiment {
            Some(e) if in_tour => tour::title(e.as_ref()),
            _ => name.to_owned(),
        };
        let blank = if in_tour { "\n" } else { "" };
        self.screen.say(&format!("\n{title}"))?;
        let mut text = format!("{blank}{}\n", table::text(records, &self.screen));
        if let Some(verdict) = experiment.and_then(|e| e.verdict(records, &self.screen)) {
            text += &format!("{verdict}\n");
        }
        text.push('\n');
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        text += &legend(records, &mut said, &self.screen);
        print(&text)
    }

    /// Prints what all records come to: first where ours is behind.
    fn end(&self, document: &Document, records: &[Record]) -> Result<(), Error> {
        match (self.show, self.screen.format) {
            (Show::Nothing | Show::Lines, Format::Text | Format::Markdown) => {}
            (_, Format::Json) => print(&document.text())?,
            (_, Format::Csv) => {}
            (Show::Scale, _) => {
                if !scale::report(records)? {
                    let text = "none of the selected figures has several numbers of workers";
                    return Err(input(text));
                }
            }
            (Show::Tables | Show::Tour, _) => {
                let title = "Sateen against the others";
                let text = verdict::summary(verdict::counted(records), title, &self.screen);
                if !text.is_empty() {
                    print(&text)?;
                }
            }
        }
        match &self.base {
            Some(base) => print(&diff::text(base, document, &self.screen)?),
            None => Ok(()),
        }
    }
}

/// Where results go besides the terminal, checked before anything is measured.
pub(crate) struct Outputs {
    json: Option<(Destination, PathBuf)>,
    plot: Option<PathBuf>,
}

impl Outputs {
    /// Checks that everything can be written.
    ///
    /// # Errors
    /// The system's reason, with the path; or the results were to share standard output with
    /// the tables.
    pub(crate) fn check(args: &OutputArgs) -> Result<Self, Error> {
        if args.json.as_deref().is_some_and(|path| path.as_os_str() == "-") {
            return Err(input(
                "--json `-`: standard output has the tables; `--format json` prints JSON there",
            ));
        }
        let json =
            args.json.as_deref().map(|path| Ok((Destination::check(path)?, path.to_owned())));
        if let Some(dir) = &args.plot {
            Destination::check_directory(dir)?;
        }
        Ok(Self { json: json.transpose()?, plot: args.plot.clone() })
    }

    /// The same for a results file only.
    ///
    /// # Errors
    /// See [`check`](Self::check).
    pub(crate) fn json(path: Option<&Path>) -> Result<Self, Error> {
        Self::check(&OutputArgs { json: path.map(Path::to_owned), ..OutputArgs::default() })
    }

    fn is_empty(&self) -> bool {
        self.json.is_none() && self.plot.is_none()
    }

    fn write(&self, document: &Document) -> Result<(), Error> {
        if let Some((json, _)) = &self.json {
            json.write(&document.text())?;
        }
        if let Some(dir) = &self.plot {
            for path in plot::files::write(dir, document)? {
                note(&format!("drew {path}"));
            }
        }
        Ok(())
    }
}

/// A measurement whose records can be saved at any time.
pub(crate) struct Saved<P> {
    pub(crate) store: Shared,
    /// Where the records come from.
    pub(crate) machine: Map<String, Value>,
    pub(crate) outputs: Outputs,
    pub(crate) printer: P,
    /// Whether the reader of standard output has gone away.
    gone: AtomicBool,
    /// Whether the files are written, and whole.
    done: AtomicBool,
}

/// What a measuring command prints.
pub(crate) trait Printer {
    /// Prints records that were not printed before.
    fn fresh(&self, records: &[Record]) -> Result<(), Error>;
    /// Prints what all records come to.
    fn end(&self, document: &Document, records: &[Record]) -> Result<(), Error>;
    /// Says that all is measured again.
    fn again(&self) -> Result<(), Error> {
        Ok(())
    }
}

impl Printer for Reporter {
    fn fresh(&self, records: &[Record]) -> Result<(), Error> {
        let mut parts = records.chunk_by(|a, b| a.experiment == b.experiment);
        parts.try_for_each(|of_one| self.records(of_one))
    }

    fn end(&self, document: &Document, records: &[Record]) -> Result<(), Error> {
        Self::end(self, document, records)
    }

    fn again(&self) -> Result<(), Error> {
        if self.screen.format == Format::Text { self.screen.say(tour::AGAIN) } else { Ok(()) }
    }
}

impl<P: Printer + Send + Sync + 'static> Saved<P> {
    /// Prepares a measurement. From now on a signal saves what there is.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub(crate) fn begin(
        machine: Map<String, Value>,
        outputs: Outputs,
        printer: P,
    ) -> Result<Arc<Self>, Error> {
        let (store, gone) = (Shared::default(), AtomicBool::new(false));
        let done = AtomicBool::new(false);
        let saved = Arc::new(Self { store, machine, outputs, printer, gone, done });
        let at_signal = Arc::clone(&saved);
        interrupt::install(move |signal| at_signal.save(Error::Ended(signal)))?;
        Ok(saved)
    }

    /// Prints, unless the reader has gone away. Then it ends the command quietly, or goes on if
    /// there are files to write.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(crate) fn print(&self, f: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        if self.gone.load(Ordering::Relaxed) {
            return Ok(());
        }
        match f() {
            Err(Error::Gone) if !self.outputs.is_empty() => {
                self.gone.store(true, Ordering::Relaxed);
                Ok(())
            }
            other => other,
        }
    }

    /// Saves what there is before the end, and returns what the command ends with.
    fn save(&self, why: Error) -> Error {
        let mut store = self.store.lock();
        if self.done.load(Ordering::Relaxed) {
            return why;
        }
        let fresh = store.take_unshown();
        let mut machine = self.machine.clone();
        machine.insert("partial".to_owned(), why.to_string().into());
        let document = Document::of(machine, &store.records);
        // Files first: the terminal may be gone. An old file is worth more than an empty one.
        let measured = document.metrics().next().is_some();
        let written = if measured { self.outputs.write(&document) } else { Ok(()) };
        if matches!(why, Error::Ended(_)) {
            let shown = self.print(|| self.printer.fresh(&fresh));
            if measured && shown.is_ok() {
                let _ = self.print(|| self.printer.end(&document, &store.records));
            }
        }
        match (written, &self.outputs.json) {
            (Err(e), _) => {
                note(&why.to_string());
                return e;
            }
            (Ok(()), Some((_, path))) if measured => {
                note(&format!("the results so far are in `{}`, marked as partial", path.display()));
            }
            (Ok(()), _) => {}
        }
        why
    }

    /// Measures with `runner`'s settings what `work` holds, and prints it as it comes.
    ///
    /// # Errors
    /// A measurement fails, or results cannot be printed; then files are written, as partial.
    pub(crate) fn run(
        &self,
        plan: &Plan,
        selection: &Selection,
        work: &[(&dyn Experiment, Vec<Group>)],
    ) -> Result<(), Error> {
        let idle = Progress::new(0);
        let said = RefCell::default();
        let runner = Runner { plan, selection, store: &self.store, progress: &idle, said };
        let length = work.iter().map(|(_, groups)| runner.length(groups)).sum();
        let progress = Progress::new(length);
        let runner = Runner { progress: &progress, ..runner };
        for (experiment, groups) in work {
            runner.run(*experiment, groups)?;
            let fresh = self.store.lock().take_unshown();
            progress.suspend(|| self.printed(|| self.printer.fresh(&fresh)))?;
        }
        progress.finish();
        Ok(())
    }

    /// Measures `all` in rounds. What the first pass finds is printed as it comes; the second goes
    /// through all experiments again, so that their rounds are far apart.
    ///
    /// # Errors
    /// See [`run`](Self::run).
    fn run_in_rounds(
        &self,
        plan: &Plan,
        selection: &Selection,
        all: &[Box<dyn Experiment>],
    ) -> Result<(), Error> {
        let progress = Progress::new(0);
        let said = RefCell::default();
        let runner = Runner { plan, selection, store: &self.store, progress: &progress, said };
        let wanted: Vec<u64> = all.iter().map(|e| runner.subjects(e.as_ref())).collect();
        let rounds = rounds::all(plan);
        let progress = Progress::new(wanted.iter().sum::<u64>() * u64::from(rounds));
        let runner = Runner { progress: &progress, ..runner };
        let first = rounds.min(rounds::PASSES[0]);
        let mut opened = Vec::new();
        for (experiment, subjects) in all.iter().zip(wanted) {
            if subjects == 0 {
                continue;
            }
            let work = Opened::new(&runner, experiment.as_ref());
            work.take(&runner, experiment.name(), 0..first)?;
            opened.push((experiment.name(), work));
            let fresh = self.store.lock().take_unshown();
            progress.suspend(|| self.printed(|| self.printer.fresh(&fresh)))?;
        }
        if rounds > first {
            progress.suspend(|| self.printed(|| self.printer.again()))?;
        }
        for (name, work) in &opened {
            work.take(&runner, name, first..rounds)?;
        }
        progress.finish();
        Ok(())
    }

    /// As [`print`](Self::print), and saves what there is if that fails.
    fn printed(&self, f: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
        self.print(f).map_err(|e| match e {
            Error::Output(_) => self.save(e),
            other => other,
        })
    }

    /// Writes the files and prints the end.
    ///
    /// # Errors
    /// Something cannot be written, or nothing was measured.
    pub(crate) fn end(&self) -> Result<Document, Error> {
        // A signal waits until the files are whole.
        let store = self.store.lock();
        let records = store.records.clone();
        let document = Document::of(self.machine.clone(), &records);
        self.outputs.write(&document)?;
        self.done.store(true, Ordering::Relaxed);
        drop(store);
        if document.metrics().next().is_none() {
            return Err(input("none of the selected figures could be measured here"));
        }
        self.print(|| self.printer.end(&document, &records))?;
        Ok(document)
    }
}

/// Measures what is wanted, prints results during the run, and writes the files at the end.
///
/// # Errors
/// A measurement fails, or something cannot be written.
pub(crate) fn measure(
    plan: &Plan,
    selection: &Selection,
    reporter: Reporter,
    outputs: Outputs,
) -> Result<Document, Error> {
    let mut machine = host::provenance();
    machine.insert("sizes".to_owned(), if plan.smoke { "smoke" } else { "full" }.into());
    machine.insert("budget_s".to_owned(), plan.budget.as_secs_f64().into());
    if plan.in_rounds {
        machine.insert("rounds".to_owned(), "processes".into());
    }
    let saved = Saved::begin(machine, outputs, reporter)?;
    saved.print(|| saved.printer.head())?;
    let all = experiments::all();
    let idle = Progress::new(0);
    let said = RefCell::default();
    let runner = Runner { plan, selection, store: &saved.store, progress: &idle, said };
    if plan.in_rounds {
        saved.run_in_rounds(plan, selection, &all)?;
    } else {
        let work: Vec<(&dyn Experiment, Vec<Group>)> =
            all.iter().map(|e| (e.as_ref(), runner.wanted(e.as_ref()))).collect();
        saved.run(plan, selection, &work)?;
    }
    saved.end()
}
