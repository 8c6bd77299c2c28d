//! An experiment: what it is about, its pictures, its figures.

use super::runs::Run;
use super::{paragraph, table};
use crate::experiments;
use crate::plot::choose::pictures;
use crate::plot::figures::{Entry, compare, comparisons, ours_of, rows};
use crate::plot::pens::looks;
use crate::plot::words;
use crate::plot::{Chart, Kind, Series, escaped};

/// Pictures that are shown at once; the others are one click away.
const SHOWN: usize = 7;
/// Width of a picture in its own pixels.
const WIDTH: i32 = 400;
/// More figures than this are not shown between runs: those that differ most are.
const CHANGES: usize = 40;

type Failure = Box<dyn std::error::Error>;

/// Returns the section of the experiment `name`, which has the number `index` on the page. `of` has
/// its figures for each of `runs`.
///
/// # Errors
/// The plotting library refuses.
pub(super) fn section(
    index: usize,
    name: &str,
    runs: &[Run],
    of: &[Vec<Entry<'_>>],
) -> Result<String, Failure> {
    let all = experiments::all();
    let about = all.iter().find(|e| e.name() == name).map_or("", |e| e.about());
    let mut out = format!("<section id=\"x{index}\"><h2>{}</h2>\n", escaped(name));
    out += &paragraph(about);
    let says = words::all(&comparisons(&of[0]));
    if !says.is_empty() {
        out += &format!("<p class=\"says\">{}</p>\n", escaped(&says));
    }
    let figures = drawn(index, runs, of)?;
    let (first, rest) = figures.split_at(figures.len().min(SHOWN));
    if !first.is_empty() {
        out += &format!("<div class=\"grid\">\n{}</div>\n", first.concat());
    }
    if !rest.is_empty() {
        out += &format!(
            "<details><summary>{} more pictures</summary>\n\
             <div class=\"grid\">\n{}</div></details>\n",
            rest.len(),
            rest.concat()
        );
    }
    out += &table::figures(name, runs, of);
    Ok(out + "</section>\n")
}

/// Returns the pictures of an experiment: what changed between the runs, then each question, with
/// the runs beside each other.
fn drawn(index: usize, runs: &[Run], of: &[Vec<Entry<'_>>]) -> Result<Vec<String>, Failure> {
    let mut charts: Vec<Vec<Chart>> =
        of.iter().zip(runs).map(|(entries, run)| pictures(entries, run.cores())).collect();
    let mut out = Vec::new();
    let mut draw = |chart: &Chart, label: &str| -> Result<(), Failure> {
        let id = format!("p{index}-{}", out.len());
        out.push(figure(&id, chart, label)?);
        Ok(())
    };
    if let Some(chart) = changes(runs, of) {
        draw(&chart, "")?;
    }
    for run in 0..charts.len() {
        for chart in std::mem::take(&mut charts[run]) {
            // The same question in the runs after this one.
            let mut same = vec![(run, chart)];
            for (other, rest) in charts.iter_mut().enumerate().skip(run + 1) {
                let (kind, title) = (same[0].1.kind, same[0].1.title.clone());
                let at = rest.iter().position(|c| c.kind == kind && c.title == title);
                same.extend(at.map(|at| (other, rest.remove(at))));
            }
            share_scale(&mut same);
            for (run, chart) in &same {
                draw(chart, if runs.len() > 1 { &runs[*run].label } else { "" })?;
            }
        }
    }
    Ok(out)
}

/// Gives all of `charts` the same scale, so that they can be compared.
fn share_scale(charts: &mut [(usize, Chart)]) {
    let same_unit = charts.windows(2).all(|c| c[0].1.unit == c[1].1.unit);
    if charts.len() > 1 && same_unit {
        let all: Vec<_> = charts.iter().flat_map(|(_, c)| c.values().collect::<Vec<_>>()).collect();
        for (_, chart) in charts {
            chart.also.clone_from(&all);
        }
    }
}

/// Returns a picture with its caption.
pub(crate) fn figure(id: &str, chart: &Chart, label: &str) -> Result<String, Failure> {
    let title = match label {
        "" => chart.title.clone(),
        label => format!("{}: {label}", chart.title),
    };
    let drawing = chart.draw(WIDTH)?;
    // Tall ones stand beside several others.
    let rows = 1 + (drawing.height - 1) / 290;
    let class = if rows > 1 { format!(" class=\"t{}\"", rows.min(4)) } else { String::new() };
    let svg = drawing.inline(id, &title, &chart.says);
    Ok(format!(
        "<figure{class}><figcaption><h3>{}</h3>{}</figcaption>{svg}</figure>\n",
        escaped(&title),
        paragraph(&chart.says)
    ))
}

/// Returns how ours changed from the first run to each of the others.
fn changes(runs: &[Run], of: &[Vec<Entry<'_>>]) -> Option<Chart> {
    let (first, others) = of.split_first()?;
    if others.is_empty() {
        return None;
    }
    let base: Vec<Entry<'_>> = rows(first).iter().filter_map(|row| ours_of(row)).collect();
    let ratio = |other: &[Entry<'_>], ours: &Entry<'_>| {
        let same = |e: &&Entry<'_>| e.metric.id == ours.metric.id;
        let new = other.iter().find(same)?;
        let fits = new.metric.units == ours.metric.units;
        fits.then(|| compare(new.estimate(), ours.estimate(), ours.lower_is_better())).flatten()
    };
    let mut rows: Vec<(String, f64, Vec<_>)> = Vec::new();
    for ours in &base {
        let values: Vec<_> = others.iter().map(|other| ratio(other, ours)).collect();
        let most = values.iter().flatten().map(|e| e.value.ln().abs()).fold(0.0, f64::max);
        if values.iter().any(Option::is_some) {
            rows.push((format!("{} {}", ours.case, ours.config), most, values));
        }
    }
    if rows.is_empty() {
        return None;
    }
    let total = rows.len();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    rows.truncate(CHANGES);
    let labels: Vec<&str> = runs[1..].iter().map(|r| r.label.as_str()).collect();
    let series = labels.iter().zip(looks_of(labels.len())).enumerate().map(|(i, (name, look))| {
        let values = rows.iter().map(|row| row.2[i]).collect();
        Series { name: (*name).to_owned(), look, values }
    });
    Some(Chart {
        kind: Kind::Ratios,
        title: format!("{}: ours beside the run {}", base[0].experiment, runs[0].label),
        says: format!(
            "How many times as good ours is as in {}: the {} of {total} figures that differ most.",
            runs[0].label,
            rows.len()
        ),
        series: series.collect(),
        columns: rows.into_iter().map(|row| row.0).collect(),
        ..Chart::default()
    })
}

/// Returns how `count` runs look: like peers, since blue is for the base.
fn looks_of(count: usize) -> Vec<crate::plot::pens::Look> {
    let names: Vec<String> = (0..count).map(|i| format!("run {i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    looks(&names)
}
