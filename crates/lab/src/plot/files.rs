//! `--plot`: each picture in a file of its own.

use super::choose::{by_experiment, pictures};
use super::figures::entries;
use super::{Kind, frame};
use crate::error::{Error, input};
use crate::report::Destination;
use crate::report::json::Document;
use std::path::Path;

/// Writes `DIR/EXPERIMENT-QUESTION.svg` for each picture of `document`. Returns the paths.
///
/// # Errors
/// A file cannot be written, or the library refuses a drawing.
pub(crate) fn write(dir: &Path, document: &Document) -> Result<Vec<String>, Error> {
    let entries = entries(document);
    let cores = document.machine.whole("cores");
    let origin = origin(document);
    let mut written: Vec<String> = Vec::new();
    for group in by_experiment(&entries) {
        let experiment = group[0].experiment;
        for mut chart in pictures(&group, cores) {
            let question = match chart.kind {
                Kind::Ratios => "peers".to_owned(),
                _ => chart.title.trim_start_matches(experiment).to_owned(),
            };
            if !chart.title.starts_with(experiment) {
                chart.title = format!("{experiment}: {}", chart.title);
            }
            let name = file_name(&format!("{experiment}-{question}"));
            let path = dir.join(format!("{name}.svg"));
            let svg = frame::alone(&chart, &origin);
            let svg = svg.map_err(|e| input(format!("cannot draw `{name}`: {e}")))?;
            Destination::check(&path)?.write(&svg)?;
            written.push(path.display().to_string());
        }
    }
    Ok(written)
}

/// Returns where the figures come from, in a line.
fn origin(document: &Document) -> String {
    let text = |key| document.machine.text(key).map(|text| text.plain().to_owned());
    let cores = document.machine.whole("cores");
    let cores = cores.map(|n| format!("{n} usable core{}", if n == 1 { "" } else { "s" }));
    let rustc = text("rustc").map(|r| r.split(" (").next().unwrap_or_default().to_owned());
    let profile = text("profile").map(|p| format!("{p} build"));
    let parts = [text("cpu"), cores, text("kernel"), rustc, profile];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Returns `text` with nothing but letters, digits and single hyphens.
fn file_name(text: &str) -> String {
    let letters = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let text: String = letters.collect();
    text.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
