//! Ours against the other libraries, from runs of the same time.

use super::{STYLE, short};
use crate::adapter::SERIAL;
use crate::ours::{is_compared, is_ours};
use crate::stats;
use crate::store::Record;
use comfy_table::{CellAlignment, Table};

/// Returns a table with the ratio of medians of each of our implementations to each peer in the
/// same case and configuration. Returns `None` if there is nothing to compare. [`is_compared`]
/// names our implementations that are compared.
pub(crate) fn text(records: &[Record]) -> Option<String> {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(["figure", "ours", "peer", "ratio", "95 % interval", "verdict"]);
    let mut rows = 0;
    for ours in records.iter().filter(|r| is_compared(r.implementation)) {
        let same = |r: &&Record| {
            !is_ours(r.implementation)
                && r.implementation != SERIAL
                && (r.experiment, &r.figure.case, &r.figure.config)
                    == (ours.experiment, &ours.figure.case, &ours.figure.config)
        };
        for peer in records.iter().filter(same) {
            let (Some(a), Some(b)) = (ours.summary(), peer.summary()) else { continue };
            let figure = &ours.figure;
            let (ratio, interval, verdict) = match stats::ratio(&ours.samples, &peer.samples) {
                Some(r) => (
                    format!("{:.2}", r.value),
                    format!("{:.2} to {:.2}", r.low, r.high),
                    verdict(&r, figure.trend == crate::experiment::Trend::Lower),
                ),
                None => ("-".to_owned(), "-".to_owned(), ""),
            };
            table.add_row([
                format!("{}/{}/{}", ours.experiment, figure.case, figure.config),
                format!("{} {} {}", ours.implementation, short(a.median), figure.unit),
                format!("{} {}", peer.implementation, short(b.median)),
                ratio,
                interval,
                verdict.to_owned(),
            ]);
            rows += 1;
        }
    }
    for index in [3, 4] {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    (rows > 0).then(|| table.to_string())
}

/// Says that one is ahead only if the interval leaves no doubt.
fn verdict(ratio: &stats::Ratio, lower_is_better: bool) -> &'static str {
    match (ratio.high < 1.0, ratio.low > 1.0) {
        (true, _) if lower_is_better => "ahead",
        (_, true) if !lower_is_better => "ahead",
        (false, false) => "even",
        _ => "behind",
    }
}
