//! How wide a text is at most, in the fonts that a browser may choose for `sans-serif`.

/// Size of a letter in pixels.
pub(super) const SIZE: f64 = 11.0;
/// Height of a line in pixels.
pub(super) const LINE: i32 = 14;

/// Returns the width of `text` in pixels, rather too large than too small: the wide letters are
/// those of DejaVu Sans, and what is not ASCII counts as a square.
pub(crate) fn width(text: &str) -> i32 {
    let em: f64 = text.chars().map(em).sum();
    (em * SIZE).ceil() as i32
}

/// The same for bold letters.
pub(super) fn bold_width(text: &str) -> i32 {
    width(text) * 9 / 8 + 1
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'l' | 'j' | 'I' | '\'' | '|' => 0.32,
        '.' | ',' | ':' | ';' | ' ' | 'f' | 't' | 'r' | '-' | '/' | '(' | ')' | '[' | ']' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        'A'..='Z' | '&' => 0.78,
        '·' | '’' => 0.4,
        'µ' | '×' | '–' | '±' => 0.84,
        ' '..='~' => 0.65,
        _ => 1.0,
    }
}

/// Returns `text`, or what of it has room in `room` pixels, with an ellipsis.
pub(crate) fn fitted(text: &str, room: i32) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = width("…");
    for c in text.chars() {
        used += (em(c) * SIZE).ceil() as i32;
        if used > room {
            break;
        }
        out.push(c);
    }
    out + "…"
}

/// Breaks `text` between words into lines of at most `room` pixels. A word that is too long for a
/// line is cut.
pub(super) fn wrapped(text: &str, room: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + width(word) + 5 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_cut() {
        assert_eq!(fitted("sateen", 100), "sateen");
        let short = fitted(&"w".repeat(1000), 100);
        assert!(short.ends_with('…') && width(&short) <= 100, "{short}");
        assert_eq!(fitted("sateen", 0), "…");
        let lines = wrapped("one two three four five six", 60);
        assert!(lines.len() > 1 && lines.iter().all(|l| width(l) <= 60), "{lines:?}");
        assert_eq!(lines.join(" "), "one two three four five six");
    }
}
