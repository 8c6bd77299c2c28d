//! A screen of a real run as SVG.

use std::fmt::Write;
use vt100::{Color, Screen};

/// A cell's size.
const CELL: (f64, f64) = (8.0, 17.0);
/// From a cell's top to the base line of its letters.
const BASE: f64 = 13.0;

/// A cell as it is drawn.
#[derive(Clone, PartialEq)]
struct Cell {
    symbol: String,
    front: Color,
    back: Color,
}

fn cell(screen: &Screen, row: u16, column: u16) -> Cell {
    let cell = screen.cell(row, column).expect("on the screen");
    let symbol = if cell.has_contents() { cell.contents().to_owned() } else { " ".to_owned() };
    let (front, back) = match cell.inverse() {
        true => (cell.bgcolor(), cell.fgcolor()),
        false => (cell.fgcolor(), cell.bgcolor()),
    };
    // A gauge draws the cell where its label would begin as a blank with a background.
    if symbol == " " && front == Color::Default && back != Color::Default {
        return Cell { symbol: "█".to_owned(), front: back, back: Color::Default };
    }
    Cell { symbol, front, back }
}

/// Draws the screen of `program`, which `scripts/pictures NAME` starts, without the help of a font:
/// bars and dots are shapes, so that they meet.
pub(crate) fn svg(screen: &Screen, name: &str, program: &str) -> String {
    let (height, width) = screen.size();
    let (w, h) = (f64::from(width) * CELL.0, f64::from(height) * CELL.1);
    let mut out = format!(
        "<!-- A screen of a real run, by `scripts/pictures {name}`. -->\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
         height=\"{h}\" role=\"img\" aria-label=\"The view of {program}\">\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"#16181d\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"13\">\n"
    );
    for y in 0..height {
        // Neighbours that look alike are one piece.
        let top = f64::from(y) * CELL.1;
        let row: Vec<Cell> = (0..width).map(|x| cell(screen, y, x)).collect();
        let mut x = 0;
        while x < row.len() {
            let (first, begin) = (&row[x], x);
            let alike = |other: &Cell| (other.front, other.back) == (first.front, first.back);
            let left = |x: usize| x as f64 * CELL.0;
            let front = color(first.front).unwrap_or("#d7dae0");
            let (mut path, mut text) = (String::new(), String::new());
            while x < row.len() && alike(&row[x]) {
                let symbol = row[x].symbol.as_str();
                let shape = shape(symbol, left(x), top);
                if shape.is_some() == path.is_empty() && x > begin || text.ends_with("  ") {
                    break;
                }
                match shape {
                    Some(shape) => path += &shape,
                    None => text += symbol,
                }
                x += 1;
            }
            if let Some(background) = color(first.back) {
                let (w, h) = (left(x - begin), CELL.1);
                let _ = writeln!(
                    out,
                    "<rect x=\"{}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" \
                     fill=\"{background}\"/>",
                    left(begin)
                );
            }
            let blanks = text.chars().take_while(|c| *c == ' ').count();
            let text = text.trim();
            if !path.is_empty() {
                let _ = writeln!(out, "<path d=\"{path}\" fill=\"{front}\"/>");
            } else if !text.is_empty() {
                let (x, length) = (begin + blanks, text.chars().count() as f64 * CELL.0);
                let text = text.replace('&', "&amp;").replace('<', "&lt;");
                let _ = writeln!(
                    out,
                    "<text x=\"{}\" y=\"{}\" fill=\"{front}\" \
                     textLength=\"{length}\">{text}</text>",
                    left(x),
                    top + BASE
                );
            }
        }
    }
    out += "</g>\n</svg>\n";
    out
}

fn color(color: Color) -> Option<&'static str> {
    Some(match color {
        Color::Default => return None,
        Color::Idx(0) => "#16181d",
        Color::Idx(1) => "#e06c75",
        Color::Idx(2) => "#98c379",
        Color::Idx(3) => "#e5c07b",
        Color::Idx(5) => "#c678dd",
        Color::Idx(6) => "#56b6c2",
        Color::Idx(7) => "#9da5b4",
        _ => "#5c6370",
    })
}

/// Returns the path of a symbol that is not a letter, in the cell with that corner.
fn shape(symbol: &str, x: f64, y: f64) -> Option<String> {
    let symbol = symbol.chars().next()?;
    let rect = |dx: f64, dy: f64, w: f64, h: f64| format!("M{} {}h{w}v{h}h-{w}z", x + dx, y + dy);
    let (middle, center) = (CELL.1 / 2.0, CELL.0 / 2.0);
    // Lines are a pixel thick and span half a cell to each side.
    let (left, right) = (rect(0.0, middle, center + 1.0, 1.0), rect(center, middle, center, 1.0));
    let (up, down) = (rect(center, 0.0, 1.0, middle), rect(center, middle, 1.0, middle));
    Some(match symbol {
        '─' => left + &right,
        '│' => up + &down,
        '┌' => right + &down,
        '┐' => left + &down,
        '└' => right + &up,
        '┘' => left + &up,
        '┤' => left + &up + &down,
        '├' => right + &up + &down,
        '┬' => left + &right + &down,
        '┴' => left + &right + &up,
        '┼' => left + &right + &up + &down,
        // From one eighth up to seven.
        '▁'..='▇' => {
            let eighths = f64::from(u32::from(symbol) - u32::from('▁') + 1);
            let high = (CELL.1 - 4.0) * eighths / 8.0;
            rect(0.0, CELL.1 - 2.0 - high, CELL.0, high)
        }
        '█' => rect(0.0, 2.0, CELL.0, CELL.1 - 4.0),
        // From seven eighths down to one.
        '▉'..='▏' => {
            let eighths = f64::from(u32::from('▏') - u32::from(symbol) + 1);
            rect(0.0, 2.0, CELL.0 * eighths / 8.0, CELL.1 - 4.0)
        }
        '\u{2801}'..='\u{28ff}' => {
            let dots = u32::from(symbol) - 0x2800;
            // In the order of Unicode: the upper three of the left column, of the right one, then
            // the two below.
            let places = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)];
            let set = places.iter().enumerate().filter(|(bit, _)| dots >> bit & 1 == 1);
            set.map(|(_, (column, row))| {
                rect(1.0 + 4.0 * f64::from(*column), 1.0 + 4.25 * f64::from(*row), 2.0, 2.0)
            })
            .collect()
        }
        _ => return None,
    })
}
