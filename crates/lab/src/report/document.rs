//! The layout of a results file.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Version of the layout.
pub(crate) const SCHEMA: u32 = 1;

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
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    /// What holds the median with 95 per cent confidence. Files of an older lab have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) interval: Option<[f64; 2]>,
    /// The median of each round. Files of an older lab have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rounds: Vec<f64>,
}

impl Document {
    /// Returns the document as text.
    pub(crate) fn text(&self) -> String {
        // Strings, finite numbers and maps with string keys always serialise.
        let text = serde_json::to_string_pretty(self).expect("a document of plain values");
        text + "\n"
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
