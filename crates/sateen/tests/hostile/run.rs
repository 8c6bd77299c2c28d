//! Runs cells in child processes: a cell that hangs or crashes is named, and the others still run.

use crate::behaviour::Behaviour;
use crate::cell::{Cell, impossible};
use crate::entries::{self, Entry};
use crate::place::Place;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Set for a child: the cells to run, as `FIRST..END`.
const CELLS: &str = "SATEEN_HOSTILE_CELLS";
/// The words that the names of the cells must contain.
const ONLY: &str = "SATEEN_HOSTILE_ONLY";
/// Set to go to all places, also to those of [`Place::DEEP`].
const EVERYWHERE: &str = "SATEEN_HOSTILE_EVERYWHERE";
/// How long one cell may take. Long, because the test looks for hangs, not for slowness.
const LIMIT: Duration = Duration::from_secs(60);
/// Children at once.
const LANES: usize = 2;

struct Combination {
    entry: &'static Entry,
    behaviour: Behaviour,
    place: Place,
}

impl Combination {
    fn name(&self) -> String {
        format!("{} x {:?} x {:?}", self.entry.name, self.behaviour, self.place)
    }

    fn run(&self) {
        self.place.run(|runtime| Cell::new(self.entry, self.behaviour, runtime));
    }
}

/// The cells that can occur, and why others cannot.
fn combinations() -> (Vec<Combination>, BTreeMap<&'static str, usize>) {
    let (mut cells, mut never) = (Vec::new(), BTreeMap::new());
    let words = std::env::var(ONLY).unwrap_or_default();
    let everywhere = !words.is_empty() || std::env::var_os(EVERYWHERE).is_some();
    let places = || Place::ALL.into_iter().filter(|it| everywhere || !Place::DEEP.contains(it));
    for entry in entries::all() {
        for behaviour in Behaviour::ALL {
            for place in places() {
                let cell = Combination { entry, behaviour, place };
                if !words.split_whitespace().all(|word| cell.name().contains(word)) {
                    continue;
                }
                match impossible(entry, behaviour, place) {
                    Some(why) => *never.entry(why).or_insert(0) += 1,
                    None => cells.push(cell),
                }
            }
        }
    }
    (cells, never)
}

pub(crate) fn all() {
    let (cells, never) = combinations();
    if let Ok(range) = std::env::var(CELLS) {
        return child(&cells, &range);
    }
    let failed = Mutex::new(Vec::new());
    let share = cells.len().div_ceil(LANES).max(1);
    thread::scope(|s| {
        for first in (0..cells.len()).step_by(share) {
            let (cells, failed) = (&cells, &failed);
            s.spawn(move || lane(cells, first, (first + share).min(cells.len()), failed));
        }
    });
    println!("{} cells of {} entry points", cells.len(), entries::all().len());
    for (why, count) in never {
        println!("{count} cells cannot occur: {why}");
    }
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(failed.is_empty(), "{} cells failed:\n{}", failed.len(), failed.join("\n"));
}

/// Runs its cells one after another and says so on standard output.
fn child(cells: &[Combination], range: &str) {
    std::panic::set_hook(Box::new(|_| {}));
    let bounds: Vec<usize> = range.split("..").filter_map(|n| n.parse().ok()).collect();
    for (index, cell) in cells.iter().enumerate().take(bounds[1]).skip(bounds[0]) {
        say(&format!("cell {index}"));
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cell.run()));
        if let Err(payload) = ended {
            let text = payload
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            say(&format!("wrong {}", text.unwrap_or_default()));
            std::mem::forget(payload);
        }
    }
    say("done");
}

/// Writes past the capture of the test harness.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    _ = writeln!(out, "\n@{line}");
    _ = out.flush();
}

/// Runs cells `next..end` in children, one after another.
fn lane(cells: &[Combination], mut next: usize, end: usize, failed: &Mutex<Vec<String>>) {
    let note = |index: usize, what: &str| {
        let name = cells.get(index).map_or_else(|| "?".to_owned(), Combination::name);
        eprintln!("{name}: {what}");
        failed.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{name}: {what}"));
    };
    while next < end {
        let program = std::env::current_exe().expect("this test's own file");
        let mut child = Command::new(program)
            .args(["--exact", "every_entry_point_survives_every_behaviour_everywhere"])
            .args(["--nocapture", "--test-threads=1"])
            .env(CELLS, format!("{next}..{end}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child process");
        let out = child.stdout.take().expect("its output");
        let (lines, told) = channel();
        let reader = thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if let Some(line) = line.strip_prefix('@') {
                    _ = lines.send(line.to_owned());
                }
            }
        });
        let mut current = None;
        let end_of_child = loop {
            match told.recv_timeout(LIMIT) {
                Ok(line) if line == "done" => break None,
                Ok(line) => match (line.strip_prefix("cell "), line.strip_prefix("wrong ")) {
                    (Some(index), _) => current = index.parse().ok(),
                    (_, Some(text)) => note(current.unwrap_or(next), text),
                    _ => {}
                },
                Err(RecvTimeoutError::Timeout) => break Some("hangs".to_owned()),
                Err(RecvTimeoutError::Disconnected) => break Some("ends the process".to_owned()),
            }
        };
        _ = child.kill();
        let status = child.wait();
        _ = reader.join();
        let Some(how) = end_of_child else { return };
        let status = status.map_or_else(|e| e.to_string(), |status| status.to_string());
        note(current.unwrap_or(next), &format!("{how} ({status})"));
        next = current.unwrap_or(next) + 1;
    }
}
