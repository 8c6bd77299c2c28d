//! Rows and columns of text, and what becomes of them on a narrow screen.

use super::screen::{Screen, Tint, left, length, right};
use sateen_top::foreign;
use std::ops::Range;

/// A table whose first row names the columns.
pub(crate) struct Grid {
    head: Vec<String>,
    rows: Vec<Line>,
    /// Columns whose cells stand at the right.
    numbers: Range<usize>,
}

struct Line {
    cells: Vec<String>,
    /// Of the last cell that is neither a number nor first.
    tint: Tint,
    /// Whole lines below the row.
    below: Vec<String>,
}

/// Returns a line across the table.
pub(crate) fn rule(width: usize) -> String {
    "─".repeat(width)
}

/// Returns a row of a table in Markdown.
pub(super) fn markdown<T: AsRef<str>>(cells: &[T]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| foreign::markdown(cell.as_ref())).collect();
    format!("| {} |\n", cells.join(" | "))
}

impl Grid {
    /// Creates an empty table.
    pub(crate) fn new(head: &[&str], numbers: Range<usize>) -> Self {
        let head = head.iter().map(|word| (*word).to_owned()).collect();
        Self { head, rows: Vec::new(), numbers }
    }

    /// Adds a row, with lines below it. The colour is that of the words after the numbers.
    pub(crate) fn add(&mut self, cells: Vec<String>, tint: Tint, below: Vec<String>) {
        self.rows.push(Line { cells, tint, below });
    }

    fn widths(&self) -> Vec<usize> {
        let of = |i: usize| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(i));
            cells.chain(self.head.get(i)).map(|cell| length(cell)).max().unwrap_or(0)
        };
        (0..self.head.len()).map(of).collect()
    }

    /// Returns how wide the table is.
    pub(crate) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
    }

    /// Returns the table.
    pub(crate) fn text(&self, screen: &Screen) -> String {
        let (widths, width) = (self.widths(), self.width());
        let line = |cells: &[String], tint: Tint| {
            let mut out = String::new();
            for (i, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                let is_number = self.numbers.contains(&i);
                let padded = if is_number { right(cell, *width) } else { left(cell, *width) };
                let is_verdict = i == self.numbers.end;
                out += if i > 0 { "  " } else { "" };
                out += &if is_verdict { screen.tinted(&padded, tint) } else { padded };
            }
            out.trim_end().to_owned()
        };
        let mut lines = vec![rule(width), line(&self.head, Tint::Plain), rule(width)];
        for row in &self.rows {
            lines.push(line(&row.cells, row.tint));
            lines.extend(row.below.iter().cloned());
        }
        lines.push(rule(width));
        lines.join("\n")
    }

    /// Returns the table if it fits the screen. Else each row becomes lines: the first cells, as
    /// many as `kept`, then the others with the names of their columns.
    pub(crate) fn fitted(&self, kept: usize, screen: &Screen) -> String {
        if self.width() <= screen.width {
            return self.text(screen);
        }
        let mut lines = Vec::new();
        for row in &self.rows {
            let first = row.cells[..kept].join(" ");
            lines.push(screen.wrapped(first.trim_end(), 2));
            let pairs = self.head.iter().zip(&row.cells).skip(kept);
            let words: Vec<String> = pairs
                .filter(|(_, cell)| !cell.is_empty())
                .map(|(head, cell)| super::screen::tied(&format!("{head} {cell}")))
                .collect();
            if !words.is_empty() {
                lines.push(screen.wrapped(&format!("    {}", words.join(", ")), 0));
            }
            lines.extend(row.below.iter().cloned());
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::screen::Format;

    fn grid() -> Grid {
        let mut grid = Grid::new(&["candidate", "ns", "verdict"], 1..2);
        grid.add(["ttas", "4.2", ""].map(str::to_owned).into(), Tint::Plain, Vec::new());
        let cells = ["mutex", "12", "3.0 × slower"].map(str::to_owned).into();
        grid.add(cells, Tint::Bad, vec!["  below".to_owned()]);
        grid
    }

    #[test]
    fn it_has_columns_or_lines() {
        let screen = |width| Screen { width, colour: false, format: Format::Text };
        let wide = grid().fitted(1, &screen(80));
        assert_eq!(wide.lines().nth(1), Some("candidate   ns  verdict"), "{wide}");
        assert_eq!(wide.lines().nth(4), Some("mutex       12  3.0 × slower"), "{wide}");
        let narrow = grid().fitted(1, &screen(20));
        let lines: Vec<&str> = narrow.lines().collect();
        assert_eq!(
            lines,
            ["ttas", "    ns 4.2", "mutex", "    ns 12,", "    verdict 3.0 × slower", "  below"]
        );
    }
}
