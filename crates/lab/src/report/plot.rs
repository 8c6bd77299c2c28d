//! One SVG for each experiment: a panel for each case, bars by configuration and implementation.

use super::{Destination, short};
use crate::adapter;
use crate::error::{Error, input};
use crate::ours::is_ours;
use crate::store::Record;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

/// Colours that colour-blind readers can tell apart (Okabe and Ito): ours in blues, peers in
/// others.
const OURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(170, 210, 240), RGBColor(86, 160, 220), RGBColor(0, 60, 110)];
const PEERS: [RGBColor; 5] = [
    RGBColor(213, 94, 0),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(150, 140, 40),
];
const PLAIN: RGBColor = RGBColor(140, 140, 140);
const PANEL: (u32, u32) = (560, 260);
const HEAD: u32 = 64;

/// Writes `DIR/EXPERIMENT.svg` for each experiment in `records`. Returns the paths.
///
/// # Errors
/// A file cannot be written, or the library refuses a drawing.
pub(crate) fn write(dir: &Path, records: &[Record]) -> Result<Vec<String>, Error> {
    let mut written = Vec::new();
    let all: Vec<&Record> = records.iter().filter(|r| !r.samples.is_empty()).collect();
    for name in distinct(&all, |r| r.experiment) {
        let of: Vec<&Record> = all.iter().copied().filter(|r| r.experiment == name).collect();
        let path = dir.join(format!("{name}.svg"));
        let svg = draw(name, &of).map_err(|e| input(format!("cannot draw `{name}`: {e}")))?;
        Destination::check(&path)?.write(&svg)?;
        written.push(path.display().to_string());
    }
    Ok(written)
}

type Failure = Box<dyn std::error::Error>;

fn draw(name: &str, records: &[&Record]) -> Result<String, Failure> {
    let cases = distinct(records, |r| r.figure.case.as_str());
    let implementations = distinct(records, |r| r.implementation);
    let columns = cases.len().clamp(1, 2) as u32;
    let lines = (cases.len() as u32).div_ceil(columns).max(1);
    let size = (PANEL.0 * columns, HEAD + PANEL.1 * lines);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let (head, body) = root.split_vertically(HEAD);
        legend(&head, name, &implementations)?;
        let panels = body.split_evenly((lines as usize, columns as usize));
        for (case, area) in cases.iter().zip(&panels) {
            let of: Vec<&Record> =
                records.iter().copied().filter(|r| r.figure.case == *case).collect();
            panel(area, case, &of, &implementations)?;
        }
        root.present()?;
    }
    Ok(svg)
}

/// The colour of each of `implementations`.
fn colours(implementations: &[&str]) -> Vec<RGBColor> {
    let (mut variants, mut peers) = (OURS[1..].iter().cycle(), PEERS.iter().cycle());
    let mut next = |name: &&str| match *name {
        adapter::OURS => OURS[0],
        adapter::SERIAL => PLAIN,
        name if is_ours(name) => variants.next().copied().unwrap_or(PLAIN),
        _ => peers.next().copied().unwrap_or(PLAIN),
    };
    implementations.iter().map(&mut next).collect()
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn legend(area: &Area<'_>, name: &str, implementations: &[&str]) -> Result<(), Failure> {
    let title = ("sans-serif", 18).into_font().color(&BLACK);
    area.draw(&Text::new(name.to_owned(), (12, 8), title))?;
    let machine = ("sans-serif", 11).into_font().color(&RGBColor(90, 90, 90));
    area.draw(&Text::new(crate::host::summary(), (120, 13), machine))?;
    let mut x = 12;
    for (implementation, colour) in implementations.iter().zip(colours(implementations)) {
        area.draw(&Rectangle::new([(x, 40), (x + 12, 52)], colour.filled()))?;
        let font = ("sans-serif", 12).into_font().color(&BLACK);
        area.draw(&Text::new((*implementation).to_owned(), (x + 17, 40), font))?;
        x += 34 + 7 * implementation.len() as i32;
    }
    Ok(())
}

fn panel(
    area: &Area<'_>,
    case: &str,
    records: &[&Record],
    implementations: &[&str],
) -> Result<(), Failure> {
    let Some(first) = records.first() else { return Ok(()) };
    let configs = distinct(records, |r| r.figure.config.as_str());
    let value = |r: &Record| r.summary().map_or(0.0, |s| s.median);
    let top = records.iter().map(|r| value(r)).fold(0.0, f64::max);
    let top = if top > 0.0 { top * 1.15 } else { 1.0 };
    let better = first.figure.trend.word().replace('-', " ");
    let caption = format!("{case}, {} ({better})", first.figure.unit);
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .caption(caption, ("sans-serif", 13))
        .x_label_area_size(22)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..configs.len() as f64, 0.0..top)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .y_labels(5)
        .y_label_formatter(&|v| short(*v))
        .label_style(("sans-serif", 11))
        .draw()?;
    let small = ("sans-serif", 10).into_font().color(&BLACK);
    let above = small.clone().pos(Pos::new(HPos::Center, VPos::Bottom));
    let below = small.pos(Pos::new(HPos::Center, VPos::Top));
    let of = |config: &str| -> Vec<&Record> {
        records.iter().copied().filter(|r| r.figure.config == config).collect()
    };
    let most = configs.iter().map(|c| of(c).len()).max().unwrap_or(1);
    let width = (0.86_f64 / most as f64).min(0.25);
    let colours = colours(implementations);
    for (group, config) in configs.iter().enumerate() {
        let here = of(config);
        let first = group as f64 + 0.5 - width * here.len() as f64 / 2.0;
        for (slot, record) in here.iter().enumerate() {
            let index = implementations.iter().position(|i| *i == record.implementation);
            let colour = colours[index.unwrap_or(0)];
            let left = first + slot as f64 * width;
            let (right, height) = (left + 0.92 * width, value(record));
            chart.draw_series([Rectangle::new([(left, 0.0), (right, height)], colour.filled())])?;
            let middle = (left + right) / 2.0;
            chart.draw_series([Text::new(short(height), (middle, height), above.clone())])?;
        }
        let (x, y) = chart.backend_coord(&(group as f64 + 0.5, 0.0));
        let (left, upper) = area.get_base_pixel();
        area.draw(&Text::new((*config).to_owned(), (x - left, y - upper + 5), below.clone()))?;
    }
    Ok(())
}

/// Returns the keys of `records` without repetitions, in order of first appearance.
fn distinct<'a>(records: &[&'a Record], key: impl Fn(&'a Record) -> &'a str) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for record in records {
        let k = key(record);
        if !seen.contains(&k) {
            seen.push(k);
        }
    }
    seen
}
