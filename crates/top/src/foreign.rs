//! Text of others: from files, sockets, the outputs of programs, and the system.
//!
//! It may hold anything: sequences that steer a terminal, letters that turn the direction of what
//! follows, the marks of Markdown and HTML. [`Foreign`] keeps it as it came and cannot be
//! displayed. Each form of output has one function here that makes a text harmless in it.
//!
//! | Form | Function |
//! |---|---|
//! | terminal | [`Foreign::plain`], [`visible`], [`visible_lines`] |
//! | CSV | [`csv`] |
//! | Markdown | [`markdown`] |
//! | HTML and SVG | [`html`] |
//! | JSON | [`json`] |
//!
//! The forms other than JSON begin with plain text, so none of them lets a sequence through.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Write};

/// The most letters of a foreign text that are shown.
pub const LETTERS: usize = 400;

/// A text of somebody else's. It compares and is written as JSON as it came.
///
/// It does not display, and what it holds cannot be reached without care:
///
/// ```compile_fail,E0277
/// let text = sateen_top::foreign::Foreign::from("\u{1b}[2J");
/// println!("{text}");
/// ```
/// ```compile_fail,E0616
/// let text = sateen_top::foreign::Foreign::from("\u{1b}[2J");
/// println!("{}", text.raw);
/// ```
/// ```compile_fail,E0277
/// let text = sateen_top::foreign::Foreign::from("\u{1b}[2J");
/// let displayed: &str = text.as_ref();
/// ```
/// ```
/// let text = sateen_top::foreign::Foreign::from("\u{1b}[2J");
/// assert_eq!(text.plain(), r"\u{1b}[2J");
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Foreign {
    raw: String,
    /// What is shown, where that is something else.
    plain: Option<String>,
}

impl Foreign {
    /// The text without letters that do something, and of at most [`LETTERS`] letters.
    pub fn plain(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.raw)
    }

    /// Returns whether there is no letter.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
}

impl From<String> for Foreign {
    fn from(raw: String) -> Self {
        let shown = match raw.char_indices().nth(LETTERS) {
            Some((end, _)) => Cow::from(format!("{}…", visible(&raw[..end]))),
            None => visible(&raw),
        };
        let plain = match shown {
            Cow::Borrowed(_) => None,
            Cow::Owned(plain) => Some(plain),
        };
        Self { raw, plain }
    }
}

impl From<&str> for Foreign {
    fn from(raw: &str) -> Self {
        Self::from(raw.to_owned())
    }
}

impl PartialEq<str> for Foreign {
    fn eq(&self, other: &str) -> bool {
        self.raw == other
    }
}

impl PartialEq<&str> for Foreign {
    fn eq(&self, other: &&str) -> bool {
        self.raw == *other
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.plain())
    }
}

impl Serialize for Foreign {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.raw)
    }
}

impl<'de> Deserialize<'de> for Foreign {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}

/// Returns whether `c` does something instead of showing: it steers a terminal, turns the direction
/// of what follows, or hides.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns `text` with letters that act written out, such as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\t' | '\r' | '\n' => out.extend(c.escape_default()),
            c if acts(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out.into()
}

/// The same, but line ends stay.
pub fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

/// Returns `text` as a field of a line of CSV, in quotes where need be. A spreadsheet takes it for
/// no formula.
pub fn csv(text: &str) -> String {
    let text = visible(text);
    let is_formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if is_formula { format!("'{text}").into() } else { text };
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into_owned(),
    }
}

/// Returns `text` as words of Markdown, in a table too: no mark and no HTML.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        if matches!(c, '\\' | '|' | '<' | '>' | '&' | '`' | '[' | ']' | '*' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns `text` for use between tags and in quoted attributes of HTML and SVG. What acts, and
/// what XML forbids, is replaced.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if acts(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Returns `text`, which is JSON, with letters that act as `\u` sequences: they can only be in
/// strings, except for blanks and line ends between the values.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            '\t' | '\r' => out.push(' '),
            c if acts(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // A string takes whatever it is given.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVIL: &str = "a\u{1b}[2J\u{7f}\u{9b}31m\u{202e}|<b>`x`,\"&[y](z)\\\n\t\r\u{e0041}";

    #[test]
    fn no_form_lets_anything_act() {
        let text = Foreign::from(EVIL);
        let forms = [
            text.plain().to_owned(),
            visible(EVIL).into_owned(),
            csv(EVIL),
            markdown(EVIL),
            html(EVIL),
            json(EVIL).replace('\n', ""),
            visible_lines(EVIL).replace('\n', ""),
            format!("{text:?}"),
        ];
        for form in forms {
            assert!(!form.contains(acts), "{form:?}");
        }
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| acts(*c)) {
            assert!(!visible(&c.to_string()).contains(acts), "{c:?}");
        }
    }

    #[test]
    fn each_form_escapes_its_own_marks() {
        assert_eq!(visible("a\u{1b}\n\u{9b}"), r"a\u{1b}\n\u{9b}");
        assert_eq!(visible_lines("a\nb\u{7f}"), "a\nb\\u{7f}");
        assert_eq!(markdown("a|<b>`&[*]~\\"), r"a\|\<b\>\`\&\[\*\]\~\\");
        assert_eq!(markdown("times_better t8"), "times_better t8");
        assert_eq!(html("<a href=\"'&"), "&lt;a href=&quot;&#39;&amp;");
        assert_eq!(html("a\nb\u{202e}"), "a b\u{fffd}");
        assert_eq!([csv("a"), csv("b,c"), csv("d\"e")], ["a", "\"b,c\"", "\"d\"\"e\""]);
        assert_eq!([csv("-1.5"), csv("=1+1"), csv("@x,")], ["-1.5", "'=1+1", "\"'@x,\""]);
    }

    #[test]
    fn json_says_the_same_in_other_letters() {
        let text = serde_json::to_string(&["\u{9b}\u{7f}\u{202e}\u{e0041}é漢", "plain"]);
        let text = text.expect("JSON") + "\r\n\t";
        let tame = json(&text);
        assert!(tame.starts_with("[\"\\u009b\\u007f\\u202e\\udb40\\udc41é漢\""), "{tame}");
        let read = |text: &str| serde_json::from_str::<Vec<String>>(text).expect("JSON");
        assert_eq!(read(&tame), read(&text));
    }

    #[test]
    fn a_long_text_is_cut_where_it_is_shown_and_compares_whole() {
        let (long, other) = (Foreign::from("é".repeat(LETTERS + 1)), "é".repeat(LETTERS));
        assert_eq!(long.plain(), format!("{other}…"));
        let other = Foreign::from(other);
        assert!(other != long && other.plain().chars().count() == LETTERS);
        assert!(long == *"é".repeat(LETTERS + 1));
        let text = serde_json::to_string(&long).expect("JSON");
        assert_eq!(serde_json::from_str::<Foreign>(&text).expect("JSON"), long);
    }
}
