//! The results file: writing and reading.

use crate::error::{Error, input};
use crate::store::Record;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;

/// Version of the layout.
const SCHEMA: u32 = 1;

/// A results file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) schema: u32,
    /// Where the figures come from.
    pub(crate) machine: Map<String, Value>,
    pub(crate) results: Vec<Section>,
}

/// The figures of one experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) metrics: Vec<Metric>,
}

/// One figure.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Metric {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The median.
    pub(crate) value: f64,
    pub(crate) units: String,
    pub(crate) trend: String,
    pub(crate) description: String,
    pub(crate) best: f64,
    pub(crate) worst: f64,
    pub(crate) mean: f64,
    pub(crate) median: f64,
    pub(crate) sd: f64,
    pub(crate) runs: usize,
}

impl Document {
    /// The document for `records`; `machine` is completed with the records' notes.
    pub(crate) fn of(mut machine: Map<String, Value>, records: &[Record]) -> Self {
        let mut results: Vec<Section> = Vec::new();
        let mut notes = Map::new();
        for record in records {
            let Some(metric) = Metric::of(record) else { continue };
            if !record.notes.is_empty() {
                notes.insert(metric.id.clone(), Value::from(record.notes.clone()));
            }
            match results.last_mut() {
                Some(section) if section.name == record.experiment => section.metrics.push(metric),
                _ => {
                    let name = record.experiment.to_owned();
                    results.push(Section { name, metrics: vec![metric] });
                }
            }
        }
        machine.insert("notes".to_owned(), Value::Object(notes));
        Self { schema: SCHEMA, machine, results }
    }

    /// The document as text.
    pub(crate) fn text(&self) -> String {
        // Strings, finite numbers and maps with string keys always serialise.
        let text = serde_json::to_string_pretty(self).expect("a document of plain values");
        text + "\n"
    }

    /// Reads the file `path`.
    ///
    /// # Errors
    /// A file that cannot be read, is no JSON, or has another layout; one line with the path.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let fail = |reason: String| input(format!("cannot use `{}`: {reason}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| fail(e.to_string()))?;
        let value: Value =
            serde_json::from_str(&text).map_err(|e| fail(format!("not JSON ({e})")))?;
        match value.get("schema").and_then(Value::as_u64) {
            Some(s) if s == u64::from(SCHEMA) => {}
            Some(s) => return Err(fail(format!("schema {s} is not {SCHEMA}"))),
            None => return Err(fail("not a results file of the lab (no `schema`)".to_owned())),
        }
        serde_json::from_value(value).map_err(|e| fail(format!("not a results file ({e})")))
    }

    /// All figures.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = &Metric> {
        self.results.iter().flat_map(|section| &section.metrics)
    }

    /// The entry `key` of the machine section, if it is a string.
    pub(crate) fn machine_text(&self, key: &str) -> Option<&str> {
        self.machine.get(key).and_then(Value::as_str)
    }
}

impl Metric {
    fn of(record: &Record) -> Option<Self> {
        let s = record.summary()?;
        let figure = &record.figure;
        let (best, worst) = Record::best_and_worst(&s, figure.trend);
        Some(Self {
            id: record.id(),
            name: figure.name_for(record.implementation),
            value: s.median,
            units: figure.unit.to_owned(),
            trend: figure.trend.word().to_owned(),
            description: figure.description.clone(),
            best,
            worst,
            mean: s.mean,
            median: s.median,
            sd: s.sd,
            runs: s.runs,
        })
    }
}
