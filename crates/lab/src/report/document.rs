//! The layout of a results file.

use sateen_top::foreign::{self, Foreign};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Version of the layout.
pub(crate) const SCHEMA: u32 = 1;

/// A results file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) schema: u32,
    /// Where the figures come from.
    pub(crate) machine: Machine,
    pub(crate) results: Vec<Section>,
}

/// What is known of the origin of the figures, by names. Readers get numbers, and text that
/// does not display.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Machine(Map<String, Value>);

/// The figures of one experiment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Section {
    pub(crate) name: Foreign,
    pub(crate) metrics: Vec<Metric>,
}

/// One figure.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Metric {
    pub(crate) id: Foreign,
    pub(crate) name: Foreign,
    /// The median.
    pub(crate) value: f64,
    pub(crate) units: Foreign,
    pub(crate) trend: Foreign,
    pub(crate) description: Foreign,
    pub(crate) best: f64,
    pub(crate) worst: f64,
    pub(crate) mean: f64,
    pub(crate) median: f64,
    pub(crate) sd: f64,
    pub(crate) runs: usize,
    /// What holds the median with 95 per cent confidence. Files of an older lab have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) interval: Option<[f64; 2]>,
    /// The median of each round. Files of an older lab have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rounds: Vec<f64>,
}

impl From<Map<String, Value>> for Machine {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

impl Machine {
    pub(crate) fn insert(&mut self, key: &str, value: Value) {
        self.0.insert(key.to_owned(), value);
    }

    /// Returns the entry `key`, if it is a string.
    pub(crate) fn text(&self, key: &str) -> Option<Foreign> {
        self.0.get(key).and_then(Value::as_str).map(Foreign::from)
    }

    /// Returns the entry `key`, if it is a number.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key).and_then(Value::as_f64)
    }

    /// Returns the entry `key`, if it is a whole number.
    pub(crate) fn whole(&self, key: &str) -> Option<u64> {
        self.0.get(key).and_then(Value::as_u64)
    }

    /// Returns the notes on figures by their identities: why the machine was not fit for them.
    pub(crate) fn notes(&self) -> HashMap<Foreign, Vec<Foreign>> {
        let notes = self.0.get("notes").and_then(Value::as_object);
        let texts = |all: &Value| {
            let all = all.as_array().into_iter().flatten().filter_map(Value::as_str);
            all.map(Foreign::from).collect()
        };
        notes.into_iter().flatten().map(|(id, all)| (id.as_str().into(), texts(all))).collect()
    }
}

impl Document {
    /// Returns the document as text.
    pub(crate) fn text(&self) -> String {
        // Strings, finite numbers and maps with string keys always serialise.
        let text = serde_json::to_string_pretty(self).expect("a document of plain values");
        foreign::json(&text) + "\n"
    }

    /// Reads what [`text`](Self::text) wrote.
    ///
    /// # Errors
    /// The text is not JSON, or has another layout; the error is the reason.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        let value: Value = serde_json::from_str(text).map_err(|e| match e.is_eof() {
            true => format!("not JSON: it ends too early ({e})"),
            false => format!("not JSON ({e})"),
        })?;
        match value.get("schema").and_then(Value::as_u64) {
            Some(s) if s == u64::from(SCHEMA) => {}
            Some(s) if s > u64::from(SCHEMA) => {
                return Err(format!("schema {s} is newer than {SCHEMA}, which this lab reads"));
            }
            Some(s) => return Err(format!("schema {s} is not {SCHEMA}")),
            None => return Err("not a results file of the lab (no `schema`)".to_owned()),
        }
        serde_json::from_value(value).map_err(|e| format!("not a results file ({e})"))
    }
}
