//! How many times as fast ours is as each peer: a row for each figure.

use super::axis::Axis;
use super::canvas::{Canvas, Failure, Pen, Side};
use super::legend::{Entry, lay_out};
use super::pens::Ink;
use super::text::{LINE, fitted, width};
use super::{Chart, Estimate, Series, number};

const ROW: i32 = 15;

pub(super) fn draw(chart: &Chart, canvas: &Canvas<'_>, wide: i32) -> Result<i32, Failure> {
    let names = chart.columns.iter().map(|c| width(c)).max().unwrap_or(0).min(wide * 2 / 5);
    let (left, right) = (names + 10, wide - 16);
    let legend = lay_out(chart.series.iter().map(Entry::of).collect(), wide - 8);
    legend.draw(canvas, (2, 0))?;
    let head = legend.height + LINE / 2 + 2;
    let top = head + LINE / 2 + 3;
    let bottom = top + ROW * chart.columns.len() as i32;
    let extent = chart.values().flat_map(|e| [e.low, e.value, e.high]).chain([0.8, 1.25]);
    let x = Axis::new(extent.filter(|v| *v > 0.0), true, (left, right));
    let one = x.at(1.0);
    canvas.rect((left, top), (one, bottom), Ink::BAND)?;
    // The one that has room on its side of the line; else both, one above the other, do not fit.
    for (text, at, side, room) in
        [("← slower", one - 6, Side::Left, one), ("faster →", one + 6, Side::Right, wide - one - 8)]
    {
        if width(text) <= room - 6 {
            canvas.text(text, (at, head), side, Ink::FAINT)?;
        }
    }
    for tick in x.ticks(7) {
        canvas.path(&[(x.at(tick), top), (x.at(tick), bottom)], Pen::thin(Ink::GRID))?;
    }
    let mut free = 0;
    for tick in x.ticks(7) {
        let at = x.at(tick);
        let text = format!("{}×", super::axis::tick(tick));
        let half = width(&text) / 2 + 1;
        if at - half >= free && at + half <= wide {
            canvas.text(text, (at, bottom + LINE / 2 + 2), Side::Middle, Ink::FAINT)?;
            free = at + half + 6;
        }
    }
    canvas.path(&[(one, top), (one, bottom)], Pen::thin(Ink::TEXT))?;
    let middle = |row: usize| top + ROW * row as i32 + ROW / 2;
    for (row, name) in chart.columns.iter().enumerate() {
        canvas.text(fitted(name, names), (left - 8, middle(row)), Side::Left, Ink::TEXT)?;
    }
    let there = |series: &Series| -> Vec<(usize, Estimate)> {
        let all = series.values.iter().enumerate();
        all.filter_map(|(row, value)| value.map(|value| (row, value))).collect()
    };
    for series in &chart.series {
        for (row, Estimate { low, high, .. }) in there(series) {
            let way = [(x.at(low), middle(row)), (x.at(high), middle(row))];
            if way[0] != way[1] {
                canvas.path(&way, Pen::thin(series.look.ink))?;
            }
        }
    }
    for series in &chart.series {
        for (row, Estimate { value, low, high }) in there(series) {
            canvas.mark((x.at(value), middle(row)), &series.look)?;
            let [value, low, high] = [value, low, high].map(number);
            canvas.tip(format!("{}: {value}× ({low} to {high})", series.name))?;
        }
    }
    Ok(bottom + LINE + 4)
}
