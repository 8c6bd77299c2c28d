//! Pictures of figures, as SVG.
//!
//! A [`Chart`] answers one question. It says what is drawn, and a [`Kind`] how. `--plot` writes
//! charts into files of their own ([`files`]); the pages of `sateen report` and `sateen history`
//! hold them within HTML, in the colours of their style sheet.
//!
//! * `figures`: what a results file says, taken apart.
//! * `choose`: which pictures show an experiment.
//! * `lines`, `rows`, `bars`, `ratios`: the kinds of charts.
//! * `canvas`, `svg`: the plotting library, and its back end that writes small SVG.
//! * `pens`, `axis`, `text`: colours and shapes, places of values, widths of texts.
//!
//! Invariants: ours is blue and nothing else is; no text lies outside of its picture; what comes
//! from a results file is escaped.

mod axis;
mod bars;
mod canvas;
pub(crate) mod choose;
pub(crate) mod figures;
pub(crate) mod files;
mod frame;
mod legend;
mod lines;
pub(crate) mod pens;
mod ratios;
mod rows;
mod svg;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod words;

pub(crate) use axis::{Measure, number};
use canvas::{Canvas, Failure};
use pens::Look;
pub(crate) use sateen_top::foreign::html as escaped;

/// A value, and the interval that holds it with 95 per cent confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// One series: a value for each of some columns.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) look: Look,
    pub(crate) values: Vec<Option<Estimate>>,
}

/// How a chart shows its series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A line for each series over the columns, with its name at its end.
    Lines,
    /// A row for each series, with a point for each column.
    #[default]
    Rows,
    /// A bar for each column of the first series, points for the others.
    Bars,
    /// A row for each column, with a point for each series: how many times as fast ours is.
    Ratios,
    /// Points over the columns, and changes: a figure of many commits.
    History,
}

/// A place where a series changes.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// Index of the first column after it.
    pub(crate) column: usize,
    pub(crate) text: String,
}

/// One picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    pub(crate) kind: Kind,
    /// What it is about, in a few words.
    pub(crate) title: String,
    /// What it shows, in a sentence: the text alternative.
    pub(crate) says: String,
    pub(crate) unit: String,
    /// Which direction is better, in words; empty if none is.
    pub(crate) better: &'static str,
    /// What the columns are, such as `workers`; empty if their names say it.
    pub(crate) across: String,
    pub(crate) columns: Vec<String>,
    pub(crate) series: Vec<Series>,
    /// The first column with more threads than cores, if any has.
    pub(crate) crowded: Option<usize>,
    pub(crate) marks: Vec<Mark>,
    /// Values that the scale has room for too: those of pictures beside this one.
    pub(crate) also: Vec<Estimate>,
}

/// The content of a picture, without the element `svg` around it.
pub(crate) struct Drawing {
    pub(crate) body: String,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

impl Chart {
    /// Returns all values that have a place on the scale.
    pub(crate) fn values(&self) -> impl Iterator<Item = Estimate> + Clone + '_ {
        let own = self.series.iter().flat_map(|s| s.values.iter().flatten());
        own.chain(&self.also).copied()
    }

    /// Returns the measure in which values are written.
    fn measure(&self) -> Measure {
        Measure::new(&self.unit, self.values().map(|e| e.value))
    }

    /// Returns the unit and the better direction, as written above the values.
    fn caption(&self, measure: &Measure, log: bool) -> String {
        let parts = [measure.unit.as_str(), self.better, if log { "log scale" } else { "" }];
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Draws the chart, `width` pixels wide.
    ///
    /// # Errors
    /// The library refuses.
    pub(crate) fn draw(&self, width: i32) -> Result<Drawing, Failure> {
        let mut body = String::new();
        // The height follows from the content; nothing depends on the canvas's own.
        let canvas = Canvas::new(&mut body, (width as u32, 4000));
        let height = match self.kind {
            Kind::Lines | Kind::History => lines::draw(self, &canvas, width)?,
            Kind::Rows => rows::draw(self, &canvas, width)?,
            Kind::Bars => bars::draw(self, &canvas, width)?,
            Kind::Ratios => ratios::draw(self, &canvas, width)?,
        };
        drop(canvas);
        Ok(Drawing { body, width, height })
    }
}

impl Drawing {
    /// Returns the picture for a page, where `id` is its own and a text without special characters.
    pub(crate) fn inline(&self, id: &str, title: &str, says: &str) -> String {
        let (w, h) = (self.width, self.height);
        format!(
            "<svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
             <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{}</svg>",
            escaped(title),
            escaped(says),
            self.body
        )
    }
}
