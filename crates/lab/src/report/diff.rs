//! New figures against old ones.

use super::json::{Document, Metric};
use crate::error::{Error, input};

/// One figure that both documents have.
struct Change<'a> {
    base: &'a Metric,
    new: &'a Metric,
}

impl Change<'_> {
    /// New value over base; 1 if both are zero.
    fn ratio(&self) -> f64 {
        if self.new.value == self.base.value { 1.0 } else { self.new.value / self.base.value }
    }

    /// Returns how many times worse the new figure is; below 1 if it is better.
    fn worsening(&self) -> f64 {
        if self.base.trend == "higher-is-better" { 1.0 / self.ratio() } else { self.ratio() }
    }
}

/// Returns the figures of `new` that `base` has too.
///
/// # Errors
/// There is none in common, or the unit or trend of one has changed.
fn changes<'a>(base: &'a Document, new: &'a Document) -> Result<Vec<Change<'a>>, Error> {
    let mut found = Vec::new();
    for metric in new.metrics() {
        let Some(old) = base.metrics().find(|m| m.id == metric.id) else { continue };
        if (&old.units, &old.trend) != (&metric.units, &metric.trend) {
            return Err(input(format!(
                "`{}` is in {} ({}) in one file and in {} ({}) in the other",
                metric.id, old.units, old.trend, metric.units, metric.trend
            )));
        }
        found.push(Change { base: old, new: metric });
    }
    if found.is_empty() {
        return Err(input("the two sets of results have no figure in common"));
    }
    Ok(found)
}

/// Returns `new unit = ratio x base unit` for each figure in common, under its identity, and then
/// what to know before believing it.
///
/// # Errors
/// See [`changes`].
pub(crate) fn text(base: &Document, new: &Document) -> Result<String, Error> {
    let changes = changes(base, new)?;
    let mut out = String::new();
    for change in &changes {
        let (base, new, units) = (change.base, change.new, &change.new.units);
        out += &format!("{}:\n", new.id);
        out += &format!(
            "  {:.2} {units} = {:.2} x {:.2} {units}\n",
            new.value,
            change.ratio(),
            base.value
        );
    }
    let missing = new.metrics().count() - changes.len();
    if missing > 0 {
        out += &format!("note: {missing} figures are not in the base\n");
    }
    for key in ["cpu", "sizes", "profile", "rustc", "kernel"] {
        let (was, is) = (base.machine_text(key), new.machine_text(key));
        if was != is {
            let show = |v: Option<&str>| v.unwrap_or("unknown").to_owned();
            out += &format!("note: {key} differs: base {}, new {}\n", show(was), show(is));
        }
    }
    Ok(out)
}

/// Fails if any figure is worse by more than the factor `threshold`.
///
/// # Errors
/// [`Error::Wrong`] names those figures. See also [`changes`].
pub(crate) fn judge(base: &Document, new: &Document, threshold: f64) -> Result<(), Error> {
    let worse: Vec<String> = changes(base, new)?
        .iter()
        .filter(|c| c.worsening() > threshold)
        .map(|c| format!("{} ({:.2} x worse)", c.new.id, c.worsening()))
        .collect();
    if worse.is_empty() {
        return Ok(());
    }
    Err(Error::Wrong(format!("worse by more than {threshold}: {}", worse.join(", "))))
}
