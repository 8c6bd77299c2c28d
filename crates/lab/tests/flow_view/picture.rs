//! The picture of the view in the guide: a screen of a real run as SVG, and whether it adds up.

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

/// Draws the screen without the help of a font: bars and dots are shapes, so that they meet.
pub(crate) fn svg(screen: &Screen) -> String {
    let (height, width) = screen.size();
    let (w, h) = (f64::from(width) * CELL.0, f64::from(height) * CELL.1);
    let mut out = format!(
        "<!-- A screen of a real run, by `scripts/pictures flow`. -->\n\
         <svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
         height=\"{h}\" role=\"img\" aria-label=\"The view of sateen flow\">\n<rect width=\"{w}\" \
         height=\"{h}\" fill=\"#16181d\"/>\n\
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

/// A text of the picture, and its place in pixels.
struct Text {
    x: f64,
    content: String,
}

/// Returns the first text that begins so.
fn find<'a>(texts: &'a [Text], begin: &str) -> &'a Text {
    let found = texts.iter().find(|t| t.content.starts_with(begin));
    found.unwrap_or_else(|| panic!("no `{begin}` on the picture"))
}

/// Returns what was sent, received, and is in the queues; then the rate of what is received.
fn counts(texts: &[Text]) -> [f64; 4] {
    // The total before the rate, or the number alone.
    let total = |content: &str, begin: &str| {
        let rest = content[begin.len()..].trim();
        number(rest.split_once(' ').map_or(rest, |(total, _)| total))
    };
    let counted = |t: &&Text| t.content.starts_with("received ") && t.content.contains('(');
    let received = &texts.iter().find(counted).expect("what was received").content;
    let rate = received.split_once('(').map_or("", |(_, rate)| rate);
    [
        total(&find(texts, "sent ").content, "sent "),
        total(received, "received "),
        total(&find(texts, "in queue ").content, "in queue "),
        number(rate.trim_end_matches("/s)")),
    ]
}

/// Returns whether what was sent was received, is in a queue, or is with one of the eight handlers.
/// On most screens it is not: the counts are read one after another while the program runs.
pub(crate) fn is_of_one_moment(svg: &str) -> bool {
    let texts: Vec<Text> = svg.lines().filter_map(text).collect();
    let [sent, received, queued, _] = counts(&texts);
    (0.0..=8.0).contains(&(sent - received - queued))
}

/// Requires that the numbers on a picture of [`svg`] fit each other.
pub(crate) fn assert_adds_up(svg: &str) {
    assert!(is_of_one_moment(svg), "sent is not received and in queue");
    let texts: Vec<Text> = svg.lines().filter_map(text).collect();
    let [.., queued, rate] = counts(&texts);
    let find = |begin| find(&texts, begin);
    let limit = find("received ").content.rsplit('×').next().map(number).expect("a limit");
    let [queues, workers, waits] =
        ["items in queue", "worker: items a second", "wait in queue"].map(|title| find(title).x);
    // Each line of a box ends with its value.
    let values = |left: f64, right: f64| -> Vec<f64> {
        let inside = texts.iter().filter(|t| t.x > left + 24.0 && t.x < right - 16.0);
        let all =
            inside.filter(|t| t.content.chars().all(|c| c.is_ascii_digit() || " ,.kM".contains(c)));
        all.map(|t| number(&t.content)).collect()
    };
    let (depths, rates) = (values(queues, workers), values(workers, waits));
    assert_eq!((depths.len(), rates.len()), (8, 8), "{depths:?} {rates:?}");
    assert_eq!(depths.iter().sum::<f64>(), queued, "{depths:?}");
    assert!(rates.iter().all(|rate| *rate <= 1.03 * limit), "above {limit}: {rates:?}");
    let sum: f64 = rates.iter().sum();
    assert!((sum / rate - 1.0).abs() < 0.03, "{rates:?} are not {rate}");
}

fn text(line: &str) -> Option<Text> {
    let rest = line.strip_prefix("<text x=\"")?;
    let (x, rest) = rest.split_once('"')?;
    let content = rest.split_once('>')?.1.strip_suffix("</text>")?;
    Some(Text { x: x.parse().ok()?, content: content.to_owned() })
}

/// Reads a number as the view writes it: `1,234`, `125 k`, `1.00 M`.
fn number(text: &str) -> f64 {
    let text = text.trim().replace(',', "");
    let (digits, factor) = match text.split_once(' ') {
        Some((digits, "k")) => (digits, 1e3),
        Some((digits, "M")) => (digits, 1e6),
        _ => (text.as_str(), 1.0),
    };
    factor * digits.parse::<f64>().unwrap_or_else(|_| panic!("`{text}` is no number"))
}
