//! A row for each series: its name, a point with its interval for each column, the value.

use super::axis::{Axis, wants_log};
use super::canvas::{Canvas, Failure, Pen, Side};
use super::legend::{Entry, lay_out};
use super::pens::{Ink, SHAPES};
use super::text::{LINE, bold_width, fitted, width};
use super::{Chart, Estimate, Series};

/// Height of a row.
const ROW: i32 = 17;

pub(super) fn draw(chart: &Chart, canvas: &Canvas<'_>, wide: i32) -> Result<i32, Failure> {
    let measure = chart.measure();
    let single = chart.columns.len() < 2;
    let log = wants_log(chart.values().map(|e| e.value));
    let name = |s: &Series| if s.look.leads { bold_width(&s.name) } else { width(&s.name) };
    let names = chart.series.iter().map(name).max().unwrap_or(0).min(wide / 2);
    let texts = chart.values().map(|e| width(&measure.text(e.value))).max().unwrap_or(0);
    let left = names + 10;
    let right = if single { wide - texts - 12 } else { wide - 14 };
    let caption = chart.caption(&measure, log);
    canvas.text(fitted(&caption, wide - 4), (2, LINE / 2), Side::Right, Ink::FAINT)?;
    let mut top = LINE + 4;
    if !single {
        // Shapes are for the columns here: names stand in front of the rows.
        let entries = chart.columns.iter().zip(column_shapes());
        let entries = entries.map(|(name, (shape, filled))| {
            let look = super::Look { ink: Ink::PLAIN, shape, filled, dash: 0, leads: false };
            Entry::new(look, name)
        });
        let legend = lay_out(entries.collect(), wide - 8);
        legend.draw(canvas, (2, top))?;
        top += legend.height + 4;
    }
    let bottom = top + ROW * chart.series.len() as i32;
    let extent = chart.values().flat_map(|e| [e.low, e.value, e.high]);
    let x = Axis::new(extent.filter(|v| !log || *v > 0.0), log, (left, right));
    for (index, series) in chart.series.iter().enumerate() {
        let row = top + ROW * index as i32;
        if series.look.leads {
            canvas.rect((0, row), (wide, row + ROW), Ink::BAND)?;
        }
    }
    let ticks: Vec<(f64, String)> = x.ticks(6).into_iter().map(|t| (t, measure.tick(t))).collect();
    for (tick, _) in &ticks {
        canvas.path(&[(x.at(*tick), top), (x.at(*tick), bottom)], Pen::thin(Ink::GRID))?;
    }
    let mut free = 0;
    for (tick, text) in ticks {
        let at = x.at(tick);
        let half = width(&text) / 2 + 1;
        if at - half >= free && at + half <= wide {
            canvas.text(text, (at, bottom + LINE / 2 + 2), Side::Middle, Ink::FAINT)?;
            free = at + half + 6;
        }
    }
    for (index, series) in chart.series.iter().enumerate() {
        let middle = top + ROW * index as i32 + ROW / 2;
        let room = if series.look.leads { names * 8 / 9 } else { names };
        let name = fitted(&series.name, room);
        if series.look.leads {
            canvas.bold(name, (left - 8, middle), Side::Left, series.look.ink)?;
        } else {
            canvas.text(name, (left - 8, middle), Side::Left, series.look.ink)?;
        }
        for Estimate { low, high, .. } in series.values.iter().flatten() {
            let way = [(x.at(*low), middle), (x.at(*high), middle)];
            if way[0] != way[1] {
                canvas.path(&way, Pen::thin(series.look.ink))?;
            }
        }
        let mut shapes = column_shapes();
        for (column, value) in series.values.iter().enumerate() {
            let (shape, filled) = shapes.next().unwrap_or((SHAPES[0], true));
            let Some(Estimate { value, low, high }) = *value else { continue };
            let mut look = series.look;
            if !single {
                (look.shape, look.filled) = (shape, filled);
            }
            canvas.mark((x.at(value), middle), &look)?;
            let name = chart.columns.get(column).map_or("", String::as_str);
            let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
            let (low, high) = (measure.text(low), measure.text(high));
            canvas.tip(format!("{name}{} ({low} to {high})", measure.full(value)))?;
            if single {
                canvas.text(measure.text(value), (wide - 4, middle), Side::Left, Ink::TEXT)?;
            }
        }
    }
    Ok(bottom + LINE + 4)
}

/// The shapes of the columns, without end.
fn column_shapes() -> impl Iterator<Item = (super::pens::Shape, bool)> {
    let filled = SHAPES.iter().map(|shape| (*shape, true));
    let hollow = SHAPES.iter().map(|shape| (*shape, false));
    filled.chain(hollow).cycle()
}
