//! Finds what the source says when something is wrong: panics, aborts, and the texts of errors.

use super::tokens::{attribute, end_of_item, is_for_tests, is_punct, parse, trees, words};
use proc_macro2::{Delimiter, Group, TokenTree};
use std::collections::BTreeSet;

/// How a text is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The process ends.
    Abort,
    /// By `panic!`, `assert!` and the like, or `expect`.
    Panic,
    /// By the `Display` of an error.
    Display,
}

/// A text of the source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) line: usize,
    pub(crate) how: How,
    /// `None`: it is no literal.
    pub(crate) text: Option<String>,
}

/// The texts of `source`, tests left out. `errors` are the types whose `Display` counts.
pub(crate) fn said(source: &str, errors: &BTreeSet<String>) -> Vec<Said> {
    let mut found = Vec::new();
    collect(&trees(parse(source)), errors, &mut found);
    found
}

/// The types that `source` makes errors.
pub(crate) fn errors(source: &str) -> BTreeSet<String> {
    let words = words(&trees(parse(source)));
    let of =
        |three: &[String]| (three[0] == "Error" && three[1] == "for").then(|| three[2].clone());
    words.windows(3).filter_map(of).collect()
}

/// All string literals of `source`.
pub(crate) fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    strings(&trees(parse(source)), &mut found);
    found.into_iter().map(|(_, text)| text).collect()
}

/// Whether `shown` has the fixed parts of `text`, a format string, in their order.
pub(crate) fn shows(shown: &str, text: &str) -> bool {
    let mut rest = shown;
    fixed(text).iter().all(|part| match rest.split_once(part.as_str()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// The parts of a format string between its placeholders.
pub(crate) fn fixed(text: &str) -> Vec<String> {
    let (mut parts, mut inside) = (vec![String::new()], false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let doubled = matches!(c, '{' | '}') && chars.peek() == Some(&c) && !inside;
        match c {
            '{' if !doubled => (inside, _) = (true, parts.push(String::new())),
            '}' if !doubled => inside = false,
            _ if inside => {}
            _ => {
                if doubled {
                    chars.next();
                }
                parts.last_mut().expect("one at least").push(c);
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn collect(all: &[TokenTree], errors: &BTreeSet<String>, found: &mut Vec<Said>) {
    let mut at = 0;
    while let Some(tree) = all.get(at) {
        if let Some((attribute, after)) = attribute(all, at) {
            at = if is_for_tests(&attribute) { end_of_item(all, after) } else { after };
            continue;
        }
        if let TokenTree::Ident(word) = tree {
            let line = word.span().start().line;
            if word == "impl" && is_display(all, at, errors) {
                let end = end_of_item(all, at);
                let mut texts = Vec::new();
                strings(&all[at..end], &mut texts);
                let display = |(line, text)| Said { line, how: How::Display, text: Some(text) };
                found.extend(texts.into_iter().map(display));
            }
            if let Some((how, skipped, arguments)) = call(all, at) {
                found.push(Said { line, how, text: text(&arguments, skipped) });
            }
        }
        if let TokenTree::Group(group) = tree {
            collect(&trees(group.stream()), errors, found);
        }
        at += 1;
    }
}

/// Whether the item that begins at `at` is the `Display` of one of `errors`.
fn is_display(all: &[TokenTree], at: usize, errors: &BTreeSet<String>) -> bool {
    let body = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        _ => false,
    };
    let head: Vec<TokenTree> = all[at..].iter().take_while(|tree| !body(tree)).cloned().collect();
    let words = words(&head);
    words.windows(3).any(|w| w[0] == "Display" && w[1] == "for" && errors.contains(&w[2]))
}

/// The call at `at`, if it says something: how, after how many arguments, and the arguments.
fn call(all: &[TokenTree], at: usize) -> Option<(How, usize, Group)> {
    let word = all[at].to_string();
    let before = |back: usize| at.checked_sub(back).map(|at| all[at].to_string());
    let (next, how, skipped) = match word.as_str() {
        "panic" | "unreachable" => (2, How::Panic, 0),
        "assert" => (2, How::Panic, 1),
        "assert_eq" | "assert_ne" => (2, How::Panic, 2),
        "expect" if before(1).as_deref() == Some(".") => (1, How::Panic, 0),
        "abort_with" if before(1).as_deref() != Some("fn") => (1, How::Abort, 0),
        "new" if before(3).as_deref() == Some("AbortGuard") => (1, How::Abort, 0),
        "abort" if before(3).as_deref() == Some("process") => (1, How::Abort, 0),
        _ => return None,
    };
    if next == 2 && !is_punct(all.get(at + 1), '!') {
        return None;
    }
    match all.get(at + next) {
        Some(TokenTree::Group(group)) => Some((how, skipped, group.clone())),
        _ => None,
    }
}

/// The argument after `skipped` others, if it is a literal. A call without arguments says its name.
fn text(arguments: &Group, skipped: usize) -> Option<String> {
    let all = trees(arguments.stream());
    if all.is_empty() {
        return Some("abort".to_owned());
    }
    let mut arguments = all.split(|tree| is_punct(Some(tree), ','));
    string(arguments.nth(skipped)?.first()?)
}

fn strings(all: &[TokenTree], found: &mut Vec<(usize, String)>) {
    let mut at = 0;
    while let Some(tree) = all.get(at) {
        // Comments of the documentation are attributes.
        if let Some((_, after)) = attribute(all, at) {
            at = after;
            continue;
        }
        if let TokenTree::Group(group) = tree {
            strings(&trees(group.stream()), found);
        }
        found.extend(string(tree).map(|text| (tree.span().start().line, text)));
        at += 1;
    }
}

/// The value of a string literal.
fn string(tree: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = tree else { return None };
    let source = literal.to_string();
    let inner = source.strip_prefix('"')?.strip_suffix('"')?;
    let (mut value, mut chars) = (String::new(), inner.chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                '\n' => while chars.next_if(|c| c.is_whitespace()).is_some() {},
                other => value.push(other),
            },
            c => value.push(c),
        }
    }
    Some(value)
}

#[test]
fn texts_are_found_however_they_are_said() {
    let source = "
        impl fmt::Display for E { fn fmt(&self) { match self { A => f.write_str(\"a\"),
            /// No text.
            B(n) => write!(f, \"b \\\n   {n}\") } } }
        impl fmt::Display for Other { fn fmt(&self) { f.write_str(\"no error\") } }
        impl std::error::Error for E {}
        fn abort_with(reason: &str) { process::abort() }
        fn f() { panic!(\"c {}\", 1); assert!(g(1, 2), \"d\"); assert_eq!(1, 2, \"e\");
            x.expect(\"f\"); expect(\"no\"); assert!(x); debug_assert!(x, \"no\");
            abort_with(\"g\"); AbortGuard::new(\"h\"); abort_with(&reason) }
        #[cfg(test)] mod tests { fn f() { panic!(\"no\") } }";
    let errors = errors(source);
    assert_eq!(errors, BTreeSet::from(["E".to_owned()]));
    let found = said(source, &errors);
    let of = |how| {
        let of = found.iter().filter(|said| said.how == how);
        of.map(|said| said.text.clone()).collect::<Vec<_>>()
    };
    let some = |texts: &[&str]| texts.iter().map(|&t| Some(t.to_owned())).collect::<Vec<_>>();
    assert_eq!(of(How::Display), some(&["a", "b {n}"]));
    let mut panics = some(&["c {}", "d", "e", "f"]);
    panics.push(None);
    assert_eq!(of(How::Panic), panics);
    let mut aborts = some(&["abort", "g", "h"]);
    aborts.push(None);
    assert_eq!(of(How::Abort), aborts);
    assert_eq!(literals("f(\"a\\\"\", g(b\"no\"), [\"b\"])"), ["a\"", "b"]);
}

#[test]
fn texts_are_matched_around_their_placeholders() {
    assert_eq!(fixed("no {x} of {{y}} {:?}"), ["no ", " of {y} "]);
    assert!(shows("there is no 3 of {y} 4", "no {x} of {{y}} {:?}"));
    assert!(!shows("no 3 of {y", "no {x} of {{y}}"));
    assert!(shows("anything", "{}"));
}
