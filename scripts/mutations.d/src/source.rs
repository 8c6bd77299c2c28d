//! Rust as text: comments, strings, and the bodies of functions.

use std::ops::Range;

/// Returns `source` with blanks instead of comments and, if `strings`, of strings and characters.
/// It has the same length.
pub(crate) fn blanked(source: &str, strings: bool) -> String {
    let mut out = source.as_bytes().to_vec();
    let bytes = source.as_bytes();
    let mut at = 0;
    let blank = |out: &mut Vec<u8>, from: usize, to: usize| {
        let to = to.min(out.len());
        out[from..to].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
    };
    while at < bytes.len() {
        let from = at;
        match bytes[at] {
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
                blank(&mut out, from, at);
                continue;
            }
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'\'' => {
                // A character, not a lifetime.
                let end = if bytes.get(at + 1) == Some(&b'\\') { at + 3 } else { at + 2 };
                at = if bytes.get(end) == Some(&b'\'') { end + 1 } else { at + 1 };
                if at != end + 1 {
                    continue;
                }
            }
            _ => {
                at += 1;
                continue;
            }
        }
        if strings {
            blank(&mut out, from, at);
        }
    }
    String::from_utf8(out).unwrap_or_else(|bad| {
        // Only blanks were written, over whole characters or within them.
        String::from_utf8_lossy(bad.as_bytes()).into_owned()
    })
}

/// Returns `text` without spaces, and where each of its bytes was.
pub(crate) fn squeezed(text: &str) -> (String, Vec<usize>) {
    let kept = || text.char_indices().filter(|(_, c)| !c.is_whitespace());
    let index = kept().flat_map(|(at, c)| at..at + c.len_utf8()).chain([text.len()]).collect();
    (kept().map(|(_, c)| c).collect(), index)
}

/// Returns what lies between the braces of each function that is in no other.
pub(crate) fn bodies(source: &str) -> Vec<Range<usize>> {
    let code = blanked(source, true);
    let bytes = code.as_bytes();
    let word = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let inside = found.last().is_some_and(|body| at < body.end);
        if inside || at > 0 && word(at - 1) || !word(at + 3) {
            continue;
        }
        // The signature ends with the body, or with a semicolon if it has none.
        let mut depth = 0;
        let open = (at..bytes.len()).find(|&at| {
            match bytes[at] {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                _ => {}
            }
            depth == 0 && matches!(bytes[at], b'{' | b';')
        });
        let Some(open) = open.filter(|&open| bytes[open] == b'{') else { continue };
        let close = (open..bytes.len()).find(|&at| {
            match bytes[at] {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        found.extend(close.map(|close| open + 1..close));
    }
    found
}

#[test]
fn bodies_are_found() {
    let source = "type F = fn(u8);\ntrait T { fn a(&self, x: [u8; 2]); }\n// fn no() {}\n\
                  fn b() -> &'static str where Self: Sized { fn c() {} \"}\" }\nfn d() { '{' }\n";
    let found: Vec<&str> = bodies(source).into_iter().map(|body| &source[body]).collect();
    assert_eq!(found, [" fn c() {} \"}\" ", " '{' "]);
}

#[test]
fn comments_and_strings_are_blanked() {
    let source = "a // b\n\"c // d\" 'e' 'f: &'g";
    assert_eq!(blanked(source, false), "a     \n\"c // d\" 'e' 'f: &'g");
    assert_eq!(blanked(source, true), "a     \n             'f: &'g");
    assert_eq!(squeezed("a bc\n"), ("abc".to_owned(), vec![0, 2, 3, 5]));
}
