//! Lines over columns, with the names at their ends; and one figure over many commits.

use super::axis::{Axis, wants_log};
use super::canvas::{Canvas, Failure, Pen, Side};
use super::pens::Ink;
use super::text::{LINE, bold_width, fitted, width};
use super::{Chart, Estimate, Kind, Series};

/// Height of the part with the values.
const PLOT: i32 = 150;
/// The most room for the names at the right.
const NAMES: i32 = 120;
/// Distance between names.
const STEP: i32 = 12;

pub(super) fn draw(chart: &Chart, canvas: &Canvas<'_>, wide: i32) -> Result<i32, Failure> {
    let history = chart.kind == Kind::History;
    let log = !history && wants_log(chart.values().map(|e| e.value));
    let measure = chart.measure();
    let top = LINE + 6;
    let tall = PLOT.max(STEP * chart.series.len() as i32);
    let bottom = top + tall;
    let extent = chart.values().flat_map(|e| [e.low, e.value, e.high]);
    // The intervals of a logarithmic axis may reach below zero, which has no place there.
    let extent = extent.filter(|v| !log || *v > 0.0);
    let y = match history {
        true => Axis::near(extent, (bottom - LINE, top + 4)),
        false => Axis::new(extent, log, (bottom, top)),
    };
    let ticks: Vec<(f64, String)> = y.ticks(6).into_iter().map(|t| (t, measure.tick(t))).collect();
    let left = 8 + ticks.iter().map(|(_, text)| width(text)).max().unwrap_or(0);
    let names = chart.series.iter().map(|s| bold_width(&s.name)).max().unwrap_or(0).min(NAMES);
    let right = if history { wide - 12 } else { wide - names - 22 };

    let caption = chart.caption(&measure, y.is_log());
    canvas.text(fitted(&caption, wide - 4), (2, LINE / 2), Side::Right, Ink::FAINT)?;
    let count = chart.columns.len().max(1) as i32;
    let room = (right - left - 20).max(1);
    let x = |column: usize| {
        let between = count - 1;
        if between == 0 { left + 10 + room / 2 } else { left + 10 + column as i32 * room / between }
    };
    if let Some(first) = chart.crowded {
        let from = if first == 0 { left } else { (x(first - 1) + x(first)) / 2 };
        canvas.rect((from, top), (right, bottom), Ink::BAND)?;
        let texts = ["more threads than cores", "threads > cores"];
        if let Some(text) = texts.into_iter().find(|text| width(text) <= right - from - 6) {
            canvas.text(text, (right - 3, top + LINE / 2), Side::Left, Ink::FAINT)?;
        }
    }
    for (tick, _) in &ticks {
        canvas.path(&[(left, y.at(*tick)), (right, y.at(*tick))], Pen::thin(Ink::GRID))?;
    }
    for (tick, text) in ticks {
        canvas.text(text, (left - 4, y.at(tick)), Side::Left, Ink::FAINT)?;
    }
    let below = columns(chart, canvas, (left, right, bottom), &x, wide)?;
    for mark in &chart.marks {
        let at = if mark.column == 0 { left } else { (x(mark.column - 1) + x(mark.column)) / 2 };
        canvas.path(&[(at, top), (at, bottom)], Pen::dashed(Ink::TEXT))?;
        let (side, at) = if at > wide / 2 { (Side::Left, at - 3) } else { (Side::Right, at + 3) };
        canvas.bold(fitted(&mark.text, wide / 3), (at, bottom - LINE / 2), side, Ink::TEXT)?;
    }
    for (index, series) in chart.series.iter().enumerate() {
        // Points of one column stand beside each other, so that intervals can be seen.
        let shift =
            if history { 0 } else { 3 * index as i32 - 3 * (chart.series.len() as i32 - 1) / 2 };
        let shift = shift.clamp(-9, 9);
        line(chart, canvas, series, &y, &|column| x(column) + shift, right)?;
    }
    if !history {
        name(chart, canvas, &y, &|column| x(column), (top, bottom, right, names))?;
    }
    Ok(below)
}

/// Writes the names of the columns. Returns where the picture ends.
fn columns(
    chart: &Chart,
    canvas: &Canvas<'_>,
    (left, right, bottom): (i32, i32, i32),
    x: &dyn Fn(usize) -> i32,
    wide: i32,
) -> Result<i32, Failure> {
    let middle = bottom + LINE / 2 + 3;
    let mut free = 2;
    let last = chart.columns.len().saturating_sub(1);
    let end = chart.columns.last().map_or(0, |c| wide - 2 - width(c));
    for (column, text) in chart.columns.iter().enumerate() {
        let text = fitted(text, wide / 2);
        let half = width(&text) / 2 + 1;
        let at = x(column).clamp(half + 2, (wide - half - 2).max(half + 2));
        // The last one is written in any case, where there are several.
        let hidden = at - half < free || (column < last && at + half > end - 6);
        if hidden && !(column == last && at - half >= free) {
            continue;
        }
        canvas.text(text, (at, middle), Side::Middle, Ink::FAINT)?;
        free = at + half + 8;
    }
    if chart.across.is_empty() {
        return Ok(middle + LINE / 2 + 2);
    }
    let across = fitted(&chart.across, right - left);
    // The text is centred, and as wide as the plot at most.
    canvas.text(across, ((left + right) / 2, middle + LINE), Side::Middle, Ink::FAINT)?;
    Ok(middle + LINE + LINE / 2 + 2)
}

/// Draws one series.
fn line(
    chart: &Chart,
    canvas: &Canvas<'_>,
    series: &Series,
    y: &Axis,
    x: &dyn Fn(usize) -> i32,
    right: i32,
) -> Result<(), Failure> {
    let points: Vec<(usize, Estimate)> =
        series.values.iter().enumerate().filter_map(|(i, v)| v.map(|v| (i, v))).collect();
    let measure = chart.measure();
    let pen = Pen::thin(series.look.ink);
    for (column, e) in &points {
        let (low, high) = (y.at(e.low), y.at(e.high));
        if low != high {
            canvas.path(&[(x(*column), low), (x(*column), high)], pen)?;
        }
    }
    let way: Vec<(i32, i32)> = points.iter().map(|(i, e)| (x(*i), y.at(e.value))).collect();
    if way.len() > 1 {
        canvas.path(&way, Pen::of(&series.look))?;
    } else if let Some((at, level)) = way.first()
        && chart.columns.len() > 1
    {
        // A value of one column only: its level, to compare the others with.
        canvas.path(&[(*at, *level), (right, *level)], Pen::dashed(series.look.ink))?;
    }
    for ((column, e), at) in points.iter().zip(way) {
        canvas.mark(at, &series.look)?;
        let name = chart.columns.get(*column).map_or("", String::as_str);
        let text = match (e.low, e.high) {
            (low, high) if low < high => {
                format!(" ({} to {})", measure.text(low), measure.text(high))
            }
            _ => String::new(),
        };
        canvas.tip(format!("{}, {name}: {}{text}", series.name, measure.full(e.value)))?;
    }
    Ok(())
}

/// Writes the name of each series beside its last point, moved apart where they would overlap.
fn name(
    chart: &Chart,
    canvas: &Canvas<'_>,
    y: &Axis,
    x: &dyn Fn(usize) -> i32,
    (top, bottom, right, names): (i32, i32, i32, i32),
) -> Result<(), Failure> {
    let mut ends: Vec<(i32, i32, &Series)> = Vec::new();
    for series in &chart.series {
        let values = series.values.iter().enumerate();
        let last = values.filter_map(|(i, v)| v.map(|v| (i, v))).next_back();
        let Some((column, e)) = last else { continue };
        let single = series.values.iter().flatten().count() == 1 && chart.columns.len() > 1;
        let at = if single { right } else { x(column) + 9 };
        ends.push((y.at(e.value), at, series));
    }
    ends.sort_by_key(|(at, ..)| *at);
    let mut places: Vec<i32> = ends.iter().map(|(at, ..)| *at).collect();
    apart(&mut places, top + 5, bottom - 2);
    for ((at, from, series), place) in ends.iter().zip(places) {
        canvas.path(&[(*from + 1, *at), (right + 10, place)], Pen::thin(series.look.ink))?;
        let room = if series.look.leads { names * 8 / 9 } else { names };
        let text = fitted(&series.name, room);
        let to = (right + 14, place);
        if series.look.leads {
            canvas.bold(text, to, Side::Right, series.look.ink)?;
        } else {
            canvas.text(text, to, Side::Right, series.look.ink)?;
        }
    }
    Ok(())
}

/// Moves sorted `places` apart by [`STEP`], within the limits as far as there is room.
fn apart(places: &mut [i32], top: i32, bottom: i32) {
    let mut free = top;
    for place in places.iter_mut() {
        *place = (*place).max(free);
        free = *place + STEP;
    }
    let mut free = bottom;
    for place in places.iter_mut().rev() {
        *place = (*place).min(free);
        free = *place - STEP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_move_apart() {
        let mut places = [10, 11, 12, 100, 149];
        apart(&mut places, 10, 150);
        assert!(places.windows(2).all(|p| p[1] - p[0] >= STEP), "{places:?}");
        let mut low = [149, 150, 150];
        apart(&mut low, 10, 150);
        assert_eq!(low, [126, 138, 150]);
    }
}
