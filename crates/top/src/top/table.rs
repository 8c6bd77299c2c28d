//! Tables that fit any width: columns go before lines are cut.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Between two columns.
const GAP: usize = 2;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) head: &'static str,
    /// Numbers end at the right.
    pub(super) right: bool,
    /// Where there is little room, columns with a larger number go first; 0 stays.
    pub(super) goes: u8,
    /// It may become as narrow as this.
    pub(super) least: usize,
}

impl Column {
    pub(super) const fn number(head: &'static str, goes: u8) -> Self {
        Self { head, right: true, goes, least: 0 }
    }

    pub(super) const fn text(head: &'static str, goes: u8, least: usize) -> Self {
        Self { head, right: false, goes, least }
    }
}

/// A text and its colours.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) style: Style,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), style: Style::new() }
    }
}

impl Cell {
    pub(super) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

pub(super) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// Cuts `text` to `room` columns.
pub(super) fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += width(c.encode_utf8(&mut [0; 4]));
        if used >= room {
            break;
        }
        out.push(c);
    }
    if room > 0 {
        out.push('…');
    }
    out
}

/// Lays out `rows` below their heads. No line is longer than `room`.
pub(super) fn table(
    columns: &[Column],
    rows: &[Vec<Cell>],
    head: Style,
    room: usize,
) -> Vec<Line<'static>> {
    let natural = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cell.text));
        cells.chain([width(columns[at].head)]).max().unwrap_or(0)
    };
    let mut shown: Vec<(usize, usize)> = (0..columns.len()).map(|at| (at, natural(at))).collect();
    // Nothing is in a column that no row fills.
    shown.retain(|&(at, _)| rows.iter().any(|row| row.get(at).is_some_and(|c| !c.text.is_empty())));
    let total = |shown: &[(usize, usize)]| {
        shown.iter().map(|(_, width)| width + GAP).sum::<usize>().saturating_sub(GAP)
    };
    // Wide texts become narrow first, then columns go.
    loop {
        let over = total(&shown).saturating_sub(room);
        if over == 0 {
            break;
        }
        let spare = |&(at, width): &(usize, usize)| match columns[at].least {
            0 => 0,
            least => width.saturating_sub(least),
        };
        if let Some(widest) = shown.iter_mut().max_by_key(|it| spare(it))
            && spare(widest) > 0
        {
            widest.1 -= spare(widest).min(over);
            continue;
        }
        let last = shown.iter().enumerate().max_by_key(|(_, (at, _))| columns[*at].goes);
        match last.map(|(place, (at, _))| (place, columns[*at].goes)) {
            Some((place, 1..)) => {
                shown.remove(place);
            }
            _ => break,
        }
    }
    let line = |cell: &dyn Fn(usize) -> Cell| {
        let mut spans = Vec::new();
        let mut left = room;
        for (place, &(at, column)) in shown.iter().enumerate() {
            if place > 0 {
                spans.push(Span::raw(" ".repeat(GAP.min(left))));
                left -= GAP.min(left);
            }
            let Cell { text, style } = cell(at);
            let text = cut(&text, column.min(left));
            let space = " ".repeat(column.min(left).saturating_sub(width(&text)));
            left -= column.min(left);
            let text = Span::styled(text, style);
            let is_last = place + 1 == shown.len();
            match (columns[at].right, is_last) {
                (true, _) => spans.extend([Span::raw(space), text]),
                (false, true) => spans.push(text),
                (false, false) => spans.extend([text, Span::raw(space)]),
            }
        }
        Line::from(spans)
    };
    let heads = line(&|at| Cell::styled(columns[at].head, head));
    let rows = rows.iter().map(|row| line(&|at| row.get(at).cloned().unwrap_or_default()));
    std::iter::once(heads).chain(rows).collect()
}
