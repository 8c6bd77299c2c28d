//! One line a figure, separated by commas.

use super::verdict::{Comparison, by_figure};
use crate::store::Record;
use sateen_top::foreign;

/// The names of the columns.
pub(crate) const HEAD: &str = "experiment,case,implementation,config,unit,trend,median,mean,sd,min,\
                               max,runs,against,ratio,ratio_low,ratio_high,verdict,notes";

/// Returns a line for each record. What a figure is compared with is on the line of ours.
pub(crate) fn text(records: &[Record]) -> String {
    let mut out = String::new();
    for row in by_figure(records) {
        let comparison = Comparison::of(&row);
        for record in &row {
            let Some(s) = record.summary() else { continue };
            let figure = &record.figure;
            let mut fields = vec![
                record.experiment.to_owned(),
                figure.case.clone(),
                record.implementation.to_owned(),
                figure.config.clone(),
                figure.unit.to_owned(),
                figure.trend.word().to_owned(),
            ];
            fields.extend([s.median, s.mean, s.sd, s.min, s.max].map(|v| v.to_string()));
            fields.push(s.runs.to_string());
            let own =
                comparison.as_ref().filter(|c| c.ours.implementation == record.implementation);
            let gain = own.and_then(|c| Some((c, c.gain?)));
            fields.extend(gain.map_or(<[String; 5]>::default(), |(c, r)| {
                let [value, low, high] = [r.value, r.low, r.high].map(|v| format!("{v:.4}"));
                let words = c.words().unwrap_or_default().replace('\u{a0}', " ");
                [c.other.implementation.to_owned(), value, low, high, words]
            }));
            fields.push(record.notes.join("; "));
            out += &line(&fields);
        }
    }
    out
}

/// Returns a line of `fields`, quoted where need be.
pub(crate) fn line(fields: &[String]) -> String {
    fields.iter().map(|field| foreign::csv(field)).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_and_quotes_are_quoted() {
        let fields = ["a", "b,c", "d\"e"].map(str::to_owned);
        assert_eq!(line(&fields), "a,\"b,c\",\"d\"\"e\"\n");
    }
}
