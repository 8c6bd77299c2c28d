//! The view's picture in the guide: a made-up run, drawn as on a terminal, as SVG. The test fails
//! if the file is not what the view draws. With `SATEEN_DRAW=1` it writes the file anew.

use super::draw::{Title, draw};
use crate::flow::watch::{History, Look, Waits, Wanted};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Color;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

/// A cell's size.
const CELL: (f64, f64) = (8.0, 17.0);
/// From a cell's top to the base line of its letters.
const BASE: f64 = 13.0;

fn title() -> Title {
    Title {
        threads: 8,
        rest: "8 threads, 8 queues of 65,536, clock sampled:8, steal on".to_owned(),
    }
}

/// Half a minute: the receivers' rate rises, then one handler becomes slow.
fn made_up() -> History {
    let mut history = History::default();
    let (mut sent, mut workers) = (0.0, [0.0; 8]);
    for tick in 0..=120u32 {
        let second = f64::from(tick) / 4.0;
        let wave = 1.0 + 0.04 * (second * 2.1).sin();
        let each = if second < 10.0 { 50_000.0 } else { 125_000.0 };
        for (i, worker) in workers.iter_mut().enumerate() {
            let slow = i == 0 && second > 20.0;
            *worker += if slow { 25.0 } else { each / 4.0 * (1.0 + 0.01 * i as f64) };
        }
        sent += 800_000.0 / 4.0 * wave;
        let received: f64 = workers.iter().sum::<f64>().min(sent);
        let depth = (sent - received).max(0.0) / 8.0;
        history.add(Look {
            at: Duration::from_millis(250) * tick,
            sent: sent as u64,
            received: received as u64,
            dropped: 0,
            depths: (0..8).map(|i| (depth * (1.0 + 0.05 * f64::from(i))) as u64).collect(),
            workers: workers.map(|n| n as u64).to_vec(),
            waits: Waits {
                p50: Duration::from_micros(8_300),
                p90: Duration::from_micros(31_000),
                p99: Duration::from_millis(180),
                max: Duration::from_millis(412),
            },
        });
    }
    history
}

fn drawn(width: u16, height: u16, wanted: &Wanted, history: &History) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("in memory");
    terminal.draw(|frame| draw(frame, &title(), wanted, history)).expect("in memory");
    let mut buffer = terminal.backend().buffer().clone();
    // A gauge draws the cell where its label would begin as a blank with a background.
    let reset = |cell: &&mut Cell| cell.symbol() == " " && cell.fg == Color::Reset;
    for cell in buffer.content.iter_mut().filter(reset).filter(|cell| cell.bg != Color::Reset) {
        let color = cell.bg;
        cell.set_symbol("█").set_fg(color).set_bg(Color::Reset);
    }
    buffer
}

const WANTED: Wanted =
    Wanted { send_rate: 100_000.0, receive_rate: 125_000.0, paused: false, slow: 1 };

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width);
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).chain(["\n"]).collect::<String>();
    rows.map(row).collect()
}

#[test]
fn the_picture_in_the_guide_is_what_it_draws() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sateen/src/guide/flow.svg");
    let svg = svg(&drawn(100, 30, &WANTED, &made_up()));
    if std::env::var_os("SATEEN_DRAW").is_some() {
        std::fs::write(&path, &svg).expect("the guide can be written");
    }
    let there = std::fs::read_to_string(&path).expect("the guide has the picture");
    assert!(there == svg, "{} is old: run this test with SATEEN_DRAW=1", path.display());
}

#[test]
fn everything_is_on_it() {
    let text = text(&drawn(100, 30, &WANTED, &made_up()));
    let words = [
        "sateen flow",
        "wanted: sent 800 k/s = 8 × 100 k",
        "received 1.00 M/s = 8 × 125 k",
        "1 slow",
        "in queue",
        "wait in queue",
        "412 ms",
        "worker: items a second",
        "end",
    ];
    for word in words {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    let paused = Wanted { paused: true, slow: 0, send_rate: f64::INFINITY, ..WANTED };
    let text = self::text(&drawn(100, 30, &paused, &History::default()));
    assert!(text.contains(" paused ") && text.contains("sent unlimited/s"), "{text}");
}

#[test]
fn any_window_will_do() {
    let history = made_up();
    for width in [1, 10, 49, 50, 64, 250] {
        for height in [1, 5, 13, 14, 24, 100] {
            drawn(width, height, &WANTED, &history);
            drawn(width, height, &WANTED, &History::default());
        }
    }
    let small = text(&drawn(49, 5, &WANTED, &history));
    assert!(small.contains("sent ") && small.contains("q ends it"), "{small}");
}

#[test]
fn what_has_no_room_is_counted() {
    let mut history = History::default();
    history.add(Look { depths: vec![3; 1000], workers: vec![0; 300], ..Look::default() });
    let text = text(&drawn(80, 24, &WANTED, &history));
    assert!(text.contains("… and 993 more"), "{text}");
}

/// Draws the cells as SVG without the help of a font: bars and dots are shapes, so that they meet.
fn svg(buffer: &Buffer) -> String {
    let (width, height) = (buffer.area.width, buffer.area.height);
    let (w, h) = (f64::from(width) * CELL.0, f64::from(height) * CELL.1);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
         height=\"{h}\" role=\"img\" aria-label=\"The view of sateen flow\">\n<rect width=\"{w}\" \
         height=\"{h}\" fill=\"#16181d\"/>\n\
         <g font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"13\">\n"
    );
    for y in 0..height {
        // Neighbours that look alike are one piece.
        let top = f64::from(y) * CELL.1;
        let mut x = 0;
        while x < width {
            let (cell, begin) = (&buffer[(x, y)], x);
            let alike = |x: u16| {
                let other = &buffer[(x, y)];
                (other.fg, other.bg) == (cell.fg, cell.bg)
            };
            let left = |x: u16| f64::from(x) * CELL.0;
            let front = color(cell.fg).unwrap_or("#d7dae0");
            let (mut path, mut text) = (String::new(), String::new());
            while x < width && alike(x) {
                let symbol = buffer[(x, y)].symbol();
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
            if let Some(background) = color(cell.bg) {
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
                let (x, length) = (begin + blanks as u16, text.chars().count() as f64 * CELL.0);
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
        Color::Reset => return None,
        Color::Black => "#16181d",
        Color::Yellow => "#e5c07b",
        Color::Cyan => "#56b6c2",
        Color::Magenta => "#c678dd",
        Color::Red => "#e06c75",
        Color::Gray => "#9da5b4",
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
