//! One line for each figure, for `--brief`.

use super::short;
use crate::store::Record;

/// Returns `identity value unit` for each record, followed by the notes.
pub(crate) fn text(records: &[Record]) -> String {
    let mut out = String::new();
    for record in records {
        let Some(s) = record.summary() else { continue };
        out += &format!("{} {} {}", record.id(), short(s.median), record.figure.unit);
        if !record.notes.is_empty() {
            out += &format!("  ({})", record.notes.join("; "));
        }
        out.push('\n');
    }
    out
}
