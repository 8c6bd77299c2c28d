//! A picture that stands alone: with its title, what it shows, and where it comes from.

use super::canvas::{Canvas, Failure, Side};
use super::pens::Ink;
use super::svg::style_sheet;
use super::text::{LINE, wrapped};
use super::{Chart, escaped};

/// Width of a picture in pixels.
const WIDTH: i32 = 560;
const MARGIN: i32 = 14;

/// Draws `chart` as an SVG file. `origin` says on which machine it was measured.
///
/// # Errors
/// The library refuses.
pub(crate) fn alone(chart: &Chart, origin: &str) -> Result<String, Failure> {
    let room = WIDTH - 2 * MARGIN;
    let drawing = chart.draw(room)?;
    let mut head = String::new();
    let canvas = Canvas::new(&mut head, (WIDTH as u32, 4000));
    let mut y = MARGIN + LINE / 2;
    // Bold letters are wider.
    for line in wrapped(&chart.title, room * 8 / 9) {
        canvas.bold(line, (MARGIN, y), Side::Right, Ink::TEXT)?;
        y += LINE + 2;
    }
    for line in wrapped(&chart.says, room) {
        canvas.text(line, (MARGIN, y), Side::Right, Ink::TEXT)?;
        y += LINE;
    }
    let top = y;
    y += drawing.height + LINE / 2;
    for line in wrapped(origin, room) {
        canvas.text(line, (MARGIN, y), Side::Right, Ink::FAINT)?;
        y += LINE;
    }
    drop(canvas);
    let (height, css, body) = (y + 4, style_sheet(), &drawing.body);
    let (title, says) = (escaped(&chart.title), escaped(&chart.says));
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-labelledby=\"t d\">\n\
         <title id=\"t\">{title}</title>\n<desc id=\"d\">{says}</desc>\n<style>{css}</style>\n\
         <rect class=\"f{}\" width=\"{WIDTH}\" height=\"{height}\"/>\n{head}\n\
         <g transform=\"translate({MARGIN} {top})\">\n{body}\n</g>\n</svg>\n",
        Ink::PAPER.0
    ))
}
