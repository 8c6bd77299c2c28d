//! Bars from zero for steps that follow each other, with the other series as points.

use super::axis::Axis;
use super::canvas::{Canvas, Failure, Pen, Side};
use super::legend::{Entry, lay_out};
use super::pens::Ink;
use super::text::{LINE, fitted, width};
use super::{Chart, Estimate};

const PLOT: i32 = 150;

pub(super) fn draw(chart: &Chart, canvas: &Canvas<'_>, wide: i32) -> Result<i32, Failure> {
    let measure = chart.measure();
    let caption = chart.caption(&measure, false);
    canvas.text(fitted(&caption, wide - 4), (2, LINE / 2), Side::Right, Ink::FAINT)?;
    let legend = lay_out(chart.series.iter().map(Entry::of).collect(), wide - 8);
    legend.draw(canvas, (2, LINE + 2))?;
    let top = LINE + 2 + legend.height + LINE;
    let bottom = top + PLOT;
    let y = Axis::new(chart.values().flat_map(|e| [e.low, e.value, e.high]), false, (bottom, top));
    let ticks: Vec<(f64, String)> = y.ticks(5).into_iter().map(|t| (t, measure.tick(t))).collect();
    let left = 8 + ticks.iter().map(|(_, text)| width(text)).max().unwrap_or(0);
    let right = wide - 4;
    for (tick, text) in ticks {
        let at = y.at(tick);
        canvas.path(&[(left, at), (right, at)], Pen::thin(Ink::GRID))?;
        canvas.text(text, (left - 4, at), Side::Left, Ink::FAINT)?;
    }
    let count = chart.columns.len().max(1) as i32;
    let slot = (right - left) / count;
    // The bar is left of the middle if points stand beside it.
    let others = chart.series.len().saturating_sub(1) as i32;
    let half = (slot / 4).clamp(2, 24);
    for (column, name) in chart.columns.iter().enumerate() {
        let middle = left + slot * column as i32 + slot / 2;
        let bar = if others > 0 { middle - slot / 6 } else { middle };
        for (index, series) in chart.series.iter().enumerate() {
            let Some(Estimate { value, low, high }) = series.values[column] else { continue };
            let ink = series.look.ink;
            let at = if index == 0 {
                canvas.rect((bar - half, y.at(0.0)), (bar + half, y.at(value)), ink)?;
                bar
            } else {
                bar + half + 7 + (slot / 2 - half - 8).max(0) * (index as i32 - 1) / others.max(1)
            };
            let text = format!(
                "{}, {name}: {} ({} to {})",
                series.name,
                measure.full(value),
                measure.text(low),
                measure.text(high)
            );
            if index == 0 {
                canvas.tip(text.clone())?;
            }
            // On the bar itself the interval must be told from it.
            let ink = if index == 0 { Ink::TEXT } else { ink };
            if y.at(low) != y.at(high) {
                canvas.path(&[(at, y.at(low)), (at, y.at(high))], Pen::thin(ink))?;
            }
            if index > 0 {
                canvas.mark((at, y.at(value)), &series.look)?;
                canvas.tip(text)?;
            } else {
                let label = measure.text(value);
                if width(&label) <= slot {
                    let above = (bar, y.at(high.max(value)) - LINE / 2);
                    canvas.text(label, above, Side::Middle, Ink::TEXT)?;
                }
            }
        }
        let name = fitted(name, slot - 2);
        canvas.text(name, (middle, bottom + LINE / 2 + 3), Side::Middle, Ink::TEXT)?;
    }
    if chart.across.is_empty() {
        return Ok(bottom + LINE + 5);
    }
    let across = fitted(&chart.across, right - left);
    let at = ((left + right) / 2, bottom + LINE + LINE / 2 + 3);
    canvas.text(across, at, Side::Middle, Ink::FAINT)?;
    Ok(bottom + 2 * LINE + 6)
}
