//! Lines of source files and pages fit a window.

use super::{files, none, read, root, shown};

/// Longest line, in characters.
const WIDEST: usize = 100;

/// Lines of `text` with more than [`WIDEST`] characters. A row of a table in a page cannot be
/// broken.
fn wide_lines(text: &str, is_page: bool) -> Vec<usize> {
    let is_row = |line: &str| is_page && line.trim_start().starts_with('|');
    let numbered = (1..).zip(text.lines());
    let wide = numbered.filter(|(_, line)| line.chars().count() > WIDEST && !is_row(line));
    wide.map(|(number, _)| number).collect()
}

#[test]
fn lines_fit_a_window() {
    let mut found = Vec::new();
    for extension in ["rs", "md"] {
        for file in files(&root(), extension) {
            let lines = wide_lines(&read(&file), extension == "md");
            found.extend(lines.iter().map(|line| format!("{}:{line}", shown(&file))));
        }
    }
    none("more than 100 columns", &found);
}

#[test]
fn a_wide_line_is_found() {
    let (fits, wide) = ("ä".repeat(100), "ä".repeat(101));
    let text = format!("{fits}\n{wide}\n| {fits} |\n");
    assert_eq!(wide_lines(&text, false), [2, 3]);
    assert_eq!(wide_lines(&text, true), [2]);
}
