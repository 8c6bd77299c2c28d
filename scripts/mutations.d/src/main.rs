//! Plants faults in a copy of the source, one at a time, and says which of them no test notices.
//!
//! Faults come from the crates' `tests/faults.txt`, written by hand, and from a draw over all
//! orderings, fences and wake-ups in the source (`sites.rs`). For each fault, the models and tests
//! that it or `docs/verification.md` names run until one fails (`checks.rs`, `run.rs`). A test that
//! takes longer than its limit has noticed the fault, because it waits for ever. A model that takes
//! longer says nothing, because its search may only have grown.
//!
//! Canaries are the faults that name a model which must find them. `.ci/run loom` runs them all
//! from one build (`models.rs`), so they are planted here only if `--only` asks for them.
//!
//! The exit status is 1 if a fault survives or no longer fits the source.

mod checks;
mod faults;
mod models;
mod run;
mod sites;
mod source;

use faults::Fault;
use run::Verdict;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Options {
    draw: usize,
    seed: u64,
    jobs: usize,
    only: Option<String>,
    list: bool,
    sites: bool,
    models: Option<PathBuf>,
}

const USAGE: &str =
    "usage: scripts/mutations [--draw N] [--seed N] [--jobs N] [--only WORD] [--list] [--sites]
       scripts/mutations --models DIR
  --draw N   faults drawn from the source (40)
  --seed N   what they are drawn by (1)
  --jobs N   copies of the source that are built and tested at once (1)
  --only W   faults whose name contains W, of those written by hand and of all that could be drawn
  --list     print the chosen faults, all canaries too, and what should notice them; run nothing
  --sites    print all that could be drawn
  --models D make D a copy of the source that holds all canaries, one of which SATEEN_FAULT plants;
             print for each of their models: crate, canary, model, and which of its tests";

fn options() -> Result<Options, String> {
    let (list, sites) = (false, false);
    let mut found = Options { draw: 40, seed: 1, jobs: 1, only: None, list, sites, models: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("not a number: {text}"));
        match word.as_str() {
            "--draw" => found.draw = number(value()?)? as usize,
            "--seed" => found.seed = number(value()?)?,
            "--jobs" => found.jobs = (number(value()?)? as usize).max(1),
            "--only" => found.only = Some(value()?),
            "--models" => found.models = Some(PathBuf::from(value()?)),
            "--list" => found.list = true,
            "--sites" => found.sites = true,
            _ => return Err(format!("unknown: {word}\n{USAGE}")),
        }
    }
    Ok(found)
}

/// Returns the faults written by hand, in the order of crates and files.
fn by_hand() -> Result<Vec<Fault>, String> {
    let crates = std::fs::read_dir("crates").map_err(|e| format!("crates: {e}"))?;
    let mut lists: Vec<PathBuf> =
        crates.flatten().map(|entry| entry.path().join("tests/faults.txt")).collect();
    lists.sort();
    let mut found = Vec::new();
    for list in lists.iter().filter(|list| list.is_file()) {
        found.append(&mut faults::read(list)?);
    }
    let mut names = BTreeSet::new();
    if let Some(again) = found.iter().find(|fault| !names.insert(&fault.name)) {
        return Err(format!("two faults have the name {}", again.name));
    }
    Ok(found)
}

fn chosen(options: &Options) -> Result<Vec<Fault>, String> {
    let mut by_hand = by_hand()?;
    let mut drawn = sites::all(&sites::excused()?)?;
    if options.sites {
        return Ok(drawn);
    }
    if let Some(word) = &options.only {
        by_hand.append(&mut drawn);
        by_hand.retain(|fault| fault.name.contains(word.as_str()));
        return Ok(by_hand);
    }
    if !options.list {
        by_hand.retain(|fault| fault.models.is_empty());
    }
    by_hand.extend(sites::draw(drawn, options.draw, options.seed));
    Ok(by_hand)
}

fn main() -> ExitCode {
    match start() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}

fn start() -> Result<bool, String> {
    let options = options()?;
    if let Some(tree) = &options.models {
        let canaries = by_hand()?;
        let changed = models::embedded(&canaries, &run::read)?;
        std::fs::create_dir_all(tree).map_err(|e| format!("{}: {e}", tree.display()))?;
        run::refresh(tree, &changed)?;
        print!("{}", models::runs(&canaries));
        return Ok(true);
    }
    let faults = chosen(&options)?;
    let table = checks::Table::read()?;
    if options.list || options.sites {
        let mut stale = Vec::new();
        for fault in &faults {
            println!("{}", fault.name);
            if options.list {
                let checks = table.of(fault)?;
                checks.iter().for_each(|check| println!("    {check}"));
            }
            if let Err(why) = fault.edits(&run::read) {
                stale.push(format!("{}: {why}", fault.name));
            }
            if let Err(why) = models::embedded(std::slice::from_ref(fault), &run::read) {
                stale.push(why);
            }
        }
        println!("{} faults", faults.len());
        stale.iter().for_each(|why| eprintln!("STALE: {why}"));
        return Ok(stale.is_empty());
    }
    if faults.is_empty() {
        return Err("no fault of that name".to_owned());
    }
    Ok(run_all(&faults, &table, options.jobs))
}

fn run_all(faults: &[Fault], table: &checks::Table, jobs: usize) -> bool {
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for job in 0..jobs.min(faults.len()) {
            let (next, verdicts) = (&next, &verdicts);
            scope.spawn(move || {
                let copy = run::Copy::new(job);
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = table
                        .of(fault)
                        .and_then(|checks| copy.try_out(fault, &checks))
                        .unwrap_or_else(Verdict::Stale);
                    println!("{:<60} {verdict}", fault.name);
                    verdicts.lock().expect("no printer panics").push((fault.name.clone(), verdict));
                }
            });
        }
    });
    let verdicts = verdicts.into_inner().expect("no printer panics");
    let caught = verdicts.iter().filter(|(_, verdict)| matches!(verdict, Verdict::Caught(..)));
    let (caught, all) = (caught.count(), verdicts.len());
    println!("caught {caught} of {all}");
    for (name, verdict) in verdicts.iter().filter(|(_, v)| !matches!(v, Verdict::Caught(..))) {
        println!("  {name}: {verdict}");
    }
    caught == all
}
