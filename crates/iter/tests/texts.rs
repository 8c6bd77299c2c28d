//! The methods of texts do what those of `std` do.
#![cfg(not(loom))]

mod common;

use common::{Draw, everywhere, panics_with};
use sateen::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Characters of one to four bytes, and what separates lines and words.
const ALPHABET: [char; 16] = [
    'a',
    'b',
    ',',
    ' ',
    '\n',
    '\r',
    '\t',
    'ä',
    '\u{85}',
    'ß',
    '→',
    '\u{2009}',
    '\u{feff}',
    '𝄞',
    '\u{10ffff}',
    '\u{d7ff}',
];

fn drawn(chars: usize, alphabet: &[char]) -> String {
    let mut draw = Draw::new(chars as u64 + 3 * alphabet.len() as u64);
    (0..chars).map(|_| alphabet[draw.below(alphabet.len() as u64) as usize]).collect()
}

/// Mixed texts, and those of characters of one width.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> =
        ["", "\n", "\r\n", "\r", ",", ",,", "a", "→", "𝄞", "a\r\n\r", "a,𝄞", "𝄞,a", " a ", "\n\na"]
            .map(str::to_owned)
            .into();
    for chars in [2, 3, 7, 40, 500, 10_000] {
        texts.push(drawn(chars, &ALPHABET));
        texts.extend(["ab", "ä,", "→", "𝄞,", "  ", "\r\n"].map(|s| {
            let alphabet: Vec<char> = s.chars().collect();
            drawn(chars, &alphabet)
        }));
        // A single separator at an end or in the middle of a long part.
        let part = "→".repeat(chars);
        texts.extend([format!("{part},"), format!(",{part}"), format!("{part},{part}")]);
    }
    texts
}

#[track_caller]
fn same<I, M>(parallel: I, model: M)
where
    I: ParallelIterator + Clone,
    I::Item: PartialEq + std::fmt::Debug,
    M: Iterator<Item = I::Item>,
{
    let model: Vec<_> = model.collect();
    assert_eq!(parallel.clone().count(), model.len());
    assert_eq!(parallel.collect::<Vec<_>>(), model);
}

#[test]
fn characters() {
    everywhere(|| {
        for text in &texts() {
            same(text.par_chars(), text.chars());
            same(text.par_char_indices(), text.char_indices());
            same(text.par_bytes(), text.bytes());
            same(text.par_encode_utf16(), text.encode_utf16());
            assert_eq!(text.as_parallel_string(), text);
        }
    });
}

#[test]
fn parts_and_matches() {
    macro_rules! compare {
        ($text:ident, $pattern:expr) => {
            same($text.par_split($pattern), $text.split($pattern));
            same($text.par_split_inclusive($pattern), $text.split_inclusive($pattern));
            same($text.par_split_terminator($pattern), $text.split_terminator($pattern));
            same($text.par_matches($pattern), $text.matches($pattern));
            same($text.par_match_indices($pattern), $text.match_indices($pattern));
        };
    }
    everywhere(|| {
        for text in &texts() {
            compare!(text, ',');
            compare!(text, '→');
            compare!(text, '\0');
            compare!(text, [',', '𝄞']);
            compare!(text, &['ä', '\n']);
            compare!(text, &[',', 'ä', '𝄞'][..]);
            compare!(text, char::is_whitespace);
            compare!(text, |c: char| c != 'a');
            compare!(text, |_: char| true);
            compare!(text, |_: char| false);
            compare!(text, []);
        }
    });
}

#[test]
fn lines_and_words() {
    everywhere(|| {
        for text in &texts() {
            same(text.par_lines(), text.lines());
            same(text.par_split_whitespace(), text.split_whitespace());
            same(text.par_split_ascii_whitespace(), text.split_ascii_whitespace());
        }
    });
}

#[test]
fn searches_end_early() {
    everywhere(|| {
        let text = "word ".repeat(2000);
        assert_eq!(text.par_split(' ').find_any(|part| *part == "word"), Some("word"));
        assert_eq!(text.par_char_indices().find_first(|(_, c)| *c == 'd'), Some((3, 'd')));
        assert_eq!(text.par_match_indices('w').find_last(|_| true), Some((9995, "w")));
        assert_eq!(text.par_lines().position_of_longest(), text.len());
    });
}

trait Longest {
    fn position_of_longest(self) -> usize;
}

impl<'t, I: ParallelIterator<Item = &'t str>> Longest for I {
    fn position_of_longest(self) -> usize {
        self.map(str::len).max().unwrap_or(0)
    }
}

/// A text without separators is looked at once, however often it is cut.
#[test]
fn long_parts_cost_one_look() {
    everywhere(|| {
        let text = "→𝄞aä".repeat(5000);
        let looks = AtomicUsize::new(0);
        let none = |_: char| {
            looks.fetch_add(1, SeqCst);
            false
        };
        assert_eq!(text.par_split(none).count(), 1);
        assert_eq!(looks.load(SeqCst), 20_000);
    });
}

#[test]
fn hostile_patterns() {
    everywhere(|| {
        let text = drawn(3000, &ALPHABET);
        for at in [0, 1, 50, 2000] {
            let left = AtomicUsize::new(at);
            let bad = |c: char| {
                let left = left.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1));
                assert!(left.is_ok(), "the pattern");
                c == ','
            };
            macro_rules! panics {
                ($($method:ident)*) => {$(
                    left.store(at, SeqCst);
                    panics_with("the pattern", || text.$method(bad).collect::<Vec<_>>());
                )*};
            }
            panics!(par_split par_split_inclusive par_split_terminator);
            panics!(par_matches par_match_indices);
        }
        // A pattern that changes its mind changes only where parts end.
        let draw = Mutex::new(Draw::new(7));
        let whim = |_: char| draw.lock().expect("no poison").below(3) == 0;
        for _ in 0..20 {
            let inclusive: String = text.par_split_inclusive(whim).collect();
            assert_eq!(inclusive, text);
            let between: usize = text.par_split(whim).map(str::len).sum();
            assert!(between <= text.len());
            assert!(text.par_split_terminator(whim).all(|part| text.contains(part)));
            let found: Vec<_> = text.par_match_indices(whim).collect();
            assert!(found.iter().all(|(at, part)| text[*at..].starts_with(part)));
            assert!(text.par_matches(whim).all(|part| part.chars().count() == 1));
        }
        // One that waits and loops.
        let nested = |c: char| c == ',' && (0..10).into_par_iter().all(|n| n < 10);
        same(text.par_split(nested), text.split(','));
        panics_with("the closure", || {
            text.par_chars().for_each(|c| assert_ne!(c, '𝄞', "the closure"));
        });
    });
}

#[test]
fn drained_strings() {
    everywhere(|| {
        for text in &texts() {
            let boundaries: Vec<usize> =
                (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
            let last = boundaries.len() - 1;
            for (start, end) in [(0, last), (0, 0), (last, last), (last / 3, last / 2), (0, 1)] {
                let range = boundaries[start]..boundaries[end.min(last)];
                let mut model = text.clone();
                let gone: Vec<char> = model.drain(range.clone()).collect();
                for how in 0..5 {
                    let mut text = text.clone();
                    match how {
                        0 => assert_eq!(text.par_drain(range.clone()).collect::<Vec<_>>(), gone),
                        1 => drop(text.par_drain(range.clone())),
                        2 => drop(text.par_drain(range.clone()).find_any(|_| true)),
                        3 if !gone.is_empty() => panics_with("the one", || {
                            text.par_drain(range.clone()).for_each(|_| panic!("the one"));
                        }),
                        _ => {
                            std::mem::forget(text.par_drain(range.clone()));
                            continue;
                        }
                    }
                    assert_eq!(text, model);
                }
            }
        }
        let text = || "a→".to_owned();
        panics_with("the range Included(1) to Excluded(5) is not within 4 items", || {
            drop(text().par_drain(1..5));
        });
        for bad in [2..4, 3..4, 0..2, 1..3] {
            let at = if text().is_char_boundary(bad.start) { bad.end } else { bad.start };
            panics_with(&format!("byte {at} is inside of a character"), || {
                drop(text().par_drain(bad.clone()));
            });
        }
        let mut kept = text();
        kept.par_drain(..).for_each(drop);
        assert!(kept.is_empty() && kept.capacity() >= 4);
    });
}

#[test]
fn collected_texts() {
    everywhere(|| {
        for text in &texts() {
            assert_eq!(text.par_chars().collect::<String>(), *text);
            assert_eq!(text.par_split_inclusive('\n').collect::<String>(), *text);
            let mut twice = text.clone();
            twice.par_extend(text.par_chars());
            twice.par_extend(text.par_lines().map(str::to_owned));
            let lines: String = text.lines().collect();
            assert_eq!(twice, format!("{text}{text}{lines}"));
        }
    });
}

/// Ranges around each change of width, and around the surrogates.
#[test]
fn ranges_of_characters() {
    let ends = [
        '\0',
        'a',
        '\u{7f}',
        '\u{80}',
        '\u{7ff}',
        '\u{800}',
        '\u{d7fe}',
        '\u{d7ff}',
        '\u{e000}',
        '\u{e001}',
        '\u{ffff}',
        '\u{10000}',
        '\u{10ffff}',
    ];
    #[track_caller]
    fn same<I>(parallel: I, model: impl DoubleEndedIterator<Item = char> + Clone)
    where
        I: IndexedParallelIterator<Item = char> + Clone,
    {
        assert_eq!(parallel.len(), model.clone().count());
        assert_eq!(parallel.opt_len(), Some(parallel.len()));
        assert!(parallel.clone().collect::<Vec<_>>().into_iter().eq(model.clone()));
        let backwards = parallel.rev().skip(1).step_by(3).collect::<Vec<_>>();
        assert!(backwards.into_iter().eq(model.rev().skip(1).step_by(3)));
    }
    everywhere(|| {
        for start in ends {
            for end in ends {
                if u32::from(end).saturating_sub(u32::from(start)) > 0x3000 {
                    continue;
                }
                same((start..end).into_par_iter(), start..end);
                same((start..=end).into_par_iter(), start..=end);
            }
        }
        let all = '\0'..=char::MAX;
        assert_eq!(all.clone().into_par_iter().len(), 0x10_f800);
        assert_eq!(all.into_par_iter().map(|c| c.len_utf8()).sum::<usize>(), {
            0x80 + 2 * 0x780 + 3 * (0x1_0000 - 0x800 - 0x800) + 4 * 0x10_0000
        });
        let mut ended = 'a'..='b';
        assert_eq!(ended.by_ref().count(), 2);
        assert_eq!(ended.into_par_iter().count(), 0);
    });
}
