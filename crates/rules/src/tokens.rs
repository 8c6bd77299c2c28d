//! Rules that read Rust as tokens: comments and strings never match, nested imports do.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// What the facade replaces, by the name under `std`. `core` and `alloc` count as `std`.
const REPLACED: [&[&str]; 7] = [
    &["std", "sync", "atomic"],
    &["std", "thread"],
    &["std", "time", "Instant"],
    &["std", "time", "SystemTime"],
    &["std", "cell", "UnsafeCell"],
    &["std", "cell", "SyncUnsafeCell"],
    &["loom"],
];

/// Words that show that threads share something here. Words that begin with `Atomic` do so, too.
/// `Acquire` and `Release` are also names of other things, and no protocol has only those.
const SHARED: [&str; 6] = ["SpinLock", "RawSpinLock", "SpinWord", "fence", "Relaxed", "SeqCst"];

/// Parts of the above that no model has to see: they start no thread, share no data, and do not
/// wait.
const HARMLESS: [&[&str]; 3] =
    [&["std", "thread", "panicking"], &["std", "thread", "Result"], &["std", "thread", "LocalKey"]];

/// Lines and paths of `source` that name a primitive past the facade, tests left out.
///
/// An import of a whole module that holds one (`use std::sync;`, `use std::time::*;`) is reported
/// too, because its later uses cannot be recognised here.
pub(crate) fn real_primitives(source: &str) -> Vec<(usize, String)> {
    let mut paths = Vec::new();
    collect_paths(&trees(parse(source)), &mut paths);
    paths.retain(|path| path.is_replaced());
    paths.into_iter().map(|path| (path.line, path.segments.join("::"))).collect()
}

/// Lines of `source` that switch a test off or stand for code not written yet.
pub(crate) fn unfinished(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    if mentions(source, &["ignore", "todo", "unimplemented"]) {
        collect_unfinished(&trees(parse(source)), &mut found);
    }
    for (number, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let fence = doc.and_then(|doc| doc.trim_start().strip_prefix("```"));
        if fence.is_some_and(|kind| kind.contains("ignore")) {
            found.push((number + 1, "an example that is not compiled".to_owned()));
        }
    }
    found
}

/// Whether `source`, tests left out, names an atomic, a fence, an ordering of one, or a spinlock.
pub(crate) fn shares(source: &str) -> bool {
    let shared = |word: &String| {
        let kind = word.strip_prefix("Atomic").is_some_and(|rest| !rest.is_empty());
        kind || SHARED.contains(&word.as_str())
    };
    if !mentions(source, &["Atomic"]) && !mentions(source, &SHARED) {
        return false;
    }
    let mut words = Vec::new();
    collect_words(&trees(parse(source)), &mut words);
    words.iter().any(shared)
}

/// Whether the word `wanted` stands anywhere in `source`, outside comments and strings.
pub(crate) fn has_word(source: &str, wanted: &str) -> bool {
    mentions(source, &[wanted]) && words(&trees(parse(source))).iter().any(|word| word == wanted)
}

/// Whether the text has one of the words, be it in a comment. If not, it need not be parsed.
fn mentions(source: &str, words: &[&str]) -> bool {
    words.iter().any(|word| source.contains(word))
}

pub(crate) fn parse(source: &str) -> TokenStream {
    source.parse().unwrap_or_else(|error| panic!("not Rust: {error}\n{source}"))
}

pub(crate) fn trees(stream: TokenStream) -> Vec<TokenTree> {
    stream.into_iter().collect()
}

struct UsedPath {
    line: usize,
    segments: Vec<String>,
}

impl UsedPath {
    fn is_replaced(&self) -> bool {
        let mut path: Vec<&str> = self.segments.iter().map(String::as_str).collect();
        if ["core", "alloc"].contains(&path[0]) {
            path[0] = "std";
        }
        if path.last() == Some(&"*") {
            path.pop();
        }
        if HARMLESS.iter().any(|harmless| path.starts_with(harmless)) {
            return false;
        }
        // One word alone is a variable or a function of that name.
        self.segments.len() > 1
            && REPLACED.iter().any(|part| path.starts_with(part) || part.starts_with(&path))
    }
}

fn collect_paths(trees: &[TokenTree], found: &mut Vec<UsedPath>) {
    let mut at = 0;
    while at < trees.len() {
        if let Some((attribute, after)) = attribute(trees, at) {
            at = if is_for_tests(&attribute) { end_of_item(trees, after) } else { after };
            continue;
        }
        match &trees[at] {
            TokenTree::Ident(_) => at = path(trees, at, &[], found),
            TokenTree::Group(group) => {
                collect_paths(&self::trees(group.stream()), found);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// Reads the path, or tree of imports, that begins at `at`, below `prefix`. Returns the index after
/// it.
fn path(trees: &[TokenTree], at: usize, prefix: &[String], found: &mut Vec<UsedPath>) -> usize {
    let line = trees[at].span().start().line;
    let mut segments = prefix.to_vec();
    let mut at = at;
    loop {
        match trees.get(at) {
            Some(TokenTree::Ident(word)) if word == "self" && !segments.is_empty() => {}
            Some(TokenTree::Ident(word)) => segments.push(word.to_string()),
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => segments.push("*".to_owned()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner = self::trees(group.stream());
                let mut start = true;
                let mut inner_at = 0;
                while inner_at < inner.len() {
                    if start {
                        inner_at = path(&inner, inner_at, &segments, found);
                        start = false;
                    } else {
                        start = is_punct(inner.get(inner_at), ',');
                        inner_at += 1;
                    }
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if !(is_punct(trees.get(at), ':') && is_punct(trees.get(at + 1), ':')) {
            break;
        }
        at += 2;
    }
    found.push(UsedPath { line, segments });
    at
}

pub(crate) fn is_punct(tree: Option<&TokenTree>, wanted: char) -> bool {
    matches!(tree, Some(TokenTree::Punct(punct)) if punct.as_char() == wanted)
}

/// The attribute that begins at `at`, and the index after it.
pub(crate) fn attribute(trees: &[TokenTree], at: usize) -> Option<(Vec<TokenTree>, usize)> {
    if !is_punct(trees.get(at), '#') {
        return None;
    }
    let at = if is_punct(trees.get(at + 1), '!') { at + 2 } else { at + 1 };
    match trees.get(at) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
            Some((self::trees(group.stream()), at + 1))
        }
        _ => None,
    }
}

/// `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`, but not `#[cfg(not(test))]`, nor with
/// `any`.
pub(crate) fn is_for_tests(attribute: &[TokenTree]) -> bool {
    let words = words(attribute);
    let begins =
        |with: &[&str]| words.iter().zip(with).filter(|(a, b)| a == b).count() == with.len();
    words == ["test"] || begins(&["cfg", "test"]) || begins(&["cfg", "all", "test"])
}

/// All the words in `trees`, at any depth, in order.
pub(crate) fn words(trees: &[TokenTree]) -> Vec<String> {
    let mut found = Vec::new();
    for tree in trees {
        match tree {
            TokenTree::Ident(word) => found.push(word.to_string()),
            TokenTree::Group(group) => found.extend(words(&self::trees(group.stream()))),
            _ => {}
        }
    }
    found
}

/// The index after the item that begins at `at`: past its body, or its semicolon.
pub(crate) fn end_of_item(trees: &[TokenTree], mut at: usize) -> usize {
    let mut import = false;
    while let Some(tree) = trees.get(at) {
        at += 1;
        match tree {
            TokenTree::Ident(word) if word == "use" => import = true,
            TokenTree::Punct(punct) if punct.as_char() == ';' => break,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !import => break,
            _ => {}
        }
    }
    at
}

/// All words that are not in tests.
fn collect_words(trees: &[TokenTree], found: &mut Vec<String>) {
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        if let Some((attribute, after)) = attribute(trees, at) {
            at = if is_for_tests(&attribute) { end_of_item(trees, after) } else { after };
            continue;
        }
        match tree {
            TokenTree::Ident(word) => found.push(word.to_string()),
            TokenTree::Group(group) => collect_words(&self::trees(group.stream()), found),
            _ => {}
        }
        at += 1;
    }
}

fn collect_unfinished(trees: &[TokenTree], found: &mut Vec<(usize, String)>) {
    for (at, tree) in trees.iter().enumerate() {
        let line = tree.span().start().line;
        if let Some((attribute, _)) = attribute(trees, at) {
            let words = words(&attribute);
            let named = |wanted: &str| words.iter().any(|word| word == wanted);
            // Under miri some tests take hours. They run without miri, so nothing is lost.
            let conditional = words.first().is_some_and(|w| w == "cfg_attr") && !named("miri");
            if words.first().is_some_and(|w| w == "ignore") || (conditional && named("ignore")) {
                found.push((line, "a test that is switched off".to_owned()));
            }
        }
        match tree {
            TokenTree::Ident(word)
                if (word == "todo" || word == "unimplemented")
                    && is_punct(trees.get(at + 1), '!') =>
            {
                found.push((line, format!("{word}!")));
            }
            TokenTree::Group(group) => collect_unfinished(&self::trees(group.stream()), found),
            _ => {}
        }
    }
}

#[test]
fn primitives_are_found_however_they_are_named() {
    let found = |source: &str| -> Vec<String> {
        real_primitives(source).into_iter().map(|(_, path)| path).collect()
    };
    assert_eq!(found("use std::sync::atomic::AtomicU32;"), ["std::sync::atomic::AtomicU32"]);
    assert_eq!(
        found("use std::{fmt, sync::{Arc, atomic::{self, Ordering as O}}, thread};"),
        ["std::sync::atomic", "std::sync::atomic::Ordering", "std::thread"]
    );
    assert_eq!(
        found("fn f() { g(|| core::cell::UnsafeCell::new(1)) }"),
        ["core::cell::UnsafeCell::new"]
    );
    assert_eq!(found("m! { let t = ::std::time::Instant::now(); }"), ["std::time::Instant::now"]);
    assert_eq!(found("use std::sync::*; use std::time;"), ["std::sync::*", "std::time"]);
    assert_eq!(found("use loom::sync::Arc;"), ["loom::sync::Arc"]);
    assert_eq!(real_primitives("\n\nuse std::thread;"), [(3, "std::thread".to_owned())]);
}

#[test]
fn other_paths_are_left_alone() {
    let fine =
        "use std::sync::{Arc, Mutex, OnceLock}; use std::time::Duration; use std::cell::Cell;
        std::thread_local! { static X: u8 = 0; }
        // std::thread::spawn
        /// `std::thread::spawn`
        fn f(core: usize) -> std::thread::Result<()> { \"std::thread\"; std::thread::panicking() }
        use sateen_base::prim::{thread, atomic::AtomicU32};
        #[cfg(test)] use std::{thread, time::Instant};
        #[cfg(test)] #[allow(x)] mod tests { use std::sync::atomic::AtomicU32; }
        #[cfg(all(test, not_x))] fn g() { std::thread::yield_now() }";
    assert_eq!(real_primitives(fine), []);
    let gated = "#[cfg(not(test))] use std::thread;
        #[cfg(any(test, unix))] fn h() { std::thread::yield_now() }";
    assert_eq!(real_primitives(gated).len(), 2);
}

#[test]
fn unfinished_parts_are_found() {
    let lines = |source: &str| -> Vec<usize> {
        unfinished(source).into_iter().map(|(line, _)| line).collect()
    };
    assert_eq!(lines("fn f() {\n todo!()\n}\nfn g() { unimplemented!(\"x\") }"), [2, 4]);
    assert_eq!(lines("#[test]\n#[ignore = \"slow\"]\nfn f() {}"), [2]);
    assert_eq!(lines("#[cfg_attr(windows, ignore)]\nfn f() {}"), [1]);
    assert_eq!(lines("/// ```ignore\n/// x\n/// ```\nfn f() {}"), [1]);
    let fine = "#[cfg_attr(miri, ignore)] fn f() { let todo = \"todo!\"; ignore(todo) }";
    assert!(lines(fine).is_empty());
}

#[test]
fn what_threads_share_is_found() {
    assert!(shares("use sateen_base::prim::{Arc, AtomicU8};"));
    assert!(shares("fn f() { fence(SeqCst) }"));
    assert!(shares("struct S { all: SpinLock<u8> }"));
    assert!(!shares("use std::cmp::Ordering; fn f() {} // AtomicU8"));
    assert!(!shares("#[cfg(test)] mod tests { use std::sync::atomic::AtomicU8; }"));
    assert!(has_word("each! { plain: 1; }", "plain") && !has_word("// plain", "plain"));
}
