//! The results file: writing and reading.

pub(crate) use super::document::{Document, Machine, Metric, SCHEMA, Section};

use crate::error::{Error, input};
use crate::host;
use crate::stats::{self, ENOUGH_ROUNDS};
use crate::store::Record;
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The most bytes of a results file. All figures with peers take a few.
const LARGEST: u64 = 64 << 20;

impl Document {
    /// Creates the document for `records`, and adds the records' notes to `machine`.
    pub(crate) fn of(machine: Map<String, Value>, records: &[Record]) -> Self {
        let mut machine = Machine::from(machine);
        let mut results: Vec<Section> = Vec::new();
        let mut notes = Map::new();
        for record in records {
            let Some(metric) = Metric::of(record) else { continue };
            if !record.notes.is_empty() {
                notes.insert(record.id(), Value::from(record.notes.clone()));
            }
            match results.last_mut() {
                Some(section) if section.name == *record.experiment => section.metrics.push(metric),
                _ => {
                    let name = record.experiment.into();
                    results.push(Section { name, metrics: vec![metric] });
                }
            }
        }
        machine.insert("notes", Value::Object(notes));
        Self { schema: SCHEMA, machine, results }
    }

    /// Reads the file `path`.
    ///
    /// # Errors
    /// The file cannot be read, is not JSON, or has another layout. One line names the path.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let fail = |reason: String| input(format!("cannot use `{}`: {reason}", path.display()));
        let mut text = String::new();
        // A device or a pipe may have no end.
        let read =
            File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
        if read.map_err(|e| fail(e.to_string()))? as u64 > LARGEST {
            return Err(fail(format!("it is larger than {} MiB", LARGEST >> 20)));
        }
        Self::parse(&text).map_err(fail)
    }

    /// Returns all figures.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.results.iter().flat_map(|section| &section.metrics)
    }

    /// Returns how many figures were measured while others used the machine.
    pub(crate) fn disturbed(&self) -> usize {
        let notes = self.machine.notes();
        let all = notes.values();
        all.filter(|notes| notes.iter().any(|note| host::is_disturbance(note.plain()))).count()
    }
}

impl Metric {
    fn of(record: &Record) -> Option<Self> {
        let s = record.summary()?;
        let figure = &record.figure;
        let (best, worst) = Record::best_and_worst(&s, figure.trend);
        Some(Self {
            id: record.id().into(),
            name: figure.name_for(record.implementation).into(),
            value: s.median,
            units: figure.unit.into(),
            trend: figure.trend.word().into(),
            description: figure.description.clone().into(),
            best,
            worst,
            mean: s.mean,
            median: s.median,
            sd: s.sd,
            runs: s.runs,
            interval: stats::interval_of_median(match record.rounds.len() {
                ENOUGH_ROUNDS.. => &record.rounds,
                _ => &record.samples,
            }),
            rounds: record.rounds.clone(),
        })
    }
}
