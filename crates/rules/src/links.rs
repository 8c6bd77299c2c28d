//! Links of a Markdown page to files and headings of this repository.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::path::Path;

/// The relative links of `page`, whose text is `text`, that lead nowhere, in order.
///
/// Addresses with a scheme are not followed. Pages that rustdoc shows may link to items
/// (`crate::join`): rustdoc checks those.
pub(crate) fn broken(page: &Path, text: &str) -> Vec<String> {
    let folder = page.parent().expect("a page lies in a folder");
    let mut found = Vec::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else {
            continue;
        };
        let elsewhere = ["://", "mailto:", "::", "@"].iter().any(|mark| dest_url.contains(mark));
        if elsewhere {
            continue;
        }
        let (file, heading) = dest_url.split_once('#').unwrap_or((&dest_url, ""));
        let target = if file.is_empty() { page.to_path_buf() } else { folder.join(file) };
        if !target.exists() {
            found.push(format!("{dest_url} (no such file)"));
        } else if !heading.is_empty() && target.extension().is_some_and(|e| e == "md") {
            let known = if file.is_empty() {
                anchors(text)
            } else {
                anchors(&std::fs::read_to_string(&target).unwrap_or_default())
            };
            if !known.iter().any(|anchor| anchor == heading) {
                found.push(format!("{dest_url} (no such heading)"));
            }
        }
    }
    found
}

/// The anchors that the usual renderers give the headings of `text`.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let before = found.iter().filter(|other| **other == anchor).count();
                found.push(if before == 0 { anchor } else { format!("{anchor}-{before}") });
            }
            _ => {}
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

#[test]
fn broken_links_are_found() {
    let page = super::root().join("README.md");
    let text = "# A `join`, seen twice\n\
        [fine](ARCHITECTURE.md) [fine](CHANGELOG.md#unreleased) [fine](#a-join-seen-twice)\n\
        [far](https://example.invalid/x) [item](crate::join)\n\
        `[code](is-no-link.md)`\n\n\
        [gone](gone.md) [moved](CHANGELOG.md#b) [lost](#there) ![picture](gone.svg)\n";
    let expected = [
        "gone.md (no such file)",
        "CHANGELOG.md#b (no such heading)",
        "#there (no such heading)",
        "gone.svg (no such file)",
    ];
    assert_eq!(broken(&page, text), expected);
}
