//! Each mistake of a user's has its message.
//!
//! `crates/rules` checks that each text of the source is in this file.
#![cfg(not(loom))]

use sateen::iter::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use sateen::iter::repeat_n;
use sateen::prelude::*;
use sateen_testkit::panic_of;

/// Texts of the source that no row shows, and why.
const NOT_SHOWN: &[(&str, &str)] = &[
    (
        "{what}: a panic was caught, and what it left was used again",
        "`hostile.rs` shows it: a_consumer_that_panicked_is_used_again",
    ),
    (
        "a parallel iterator says that it has {} items, but it is driven without indices",
        "`hostile.rs` shows it: a_source_without_indices_must_not_say_its_length",
    ),
    ("windows of 0 items", "when it is compiled"),
    ("a window of {N} items is shorter", "the slice gives windows of that length"),
    ("each rank is a character's", "ranks come from a range of characters"),
    ("a range behind a vector's end", "the range was looked at before"),
];

/// What the user does, the text, and what gives it.
type Row = (&'static str, &'static str, fn() -> String);

/// Splits a producer behind its end.
struct Far;

impl<T> ProducerCallback<T> for Far {
    type Output = ();

    fn callback<P: Producer<Item = T>>(self, producer: P) {
        producer.split_at(9);
    }
}

/// What a [`Source`] does with its consumer.
enum Drives {
    /// Gives it so many items.
    Gives(usize),
    /// Splits it there.
    Splits(usize),
}

/// Says that it has so many items.
struct Source(usize, Drives);

impl ParallelIterator for Source {
    type Item = usize;

    fn drive_unindexed<C: UnindexedConsumer<usize>>(self, consumer: C) -> C::Result {
        self.drive(consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.0)
    }
}

impl IndexedParallelIterator for Source {
    fn len(&self) -> usize {
        self.0
    }

    fn drive<C: Consumer<usize>>(self, consumer: C) -> C::Result {
        match self.1 {
            Drives::Gives(items) => consumer.into_folder().consume_iter(0..items).complete(),
            Drives::Splits(at) => {
                consumer.split_at(at);
                panic!("it was split")
            }
        }
    }

    fn with_producer<CB: ProducerCallback<usize>>(self, callback: CB) -> CB::Output {
        (0..self.0).into_par_iter().with_producer(callback)
    }
}

/// A collection that takes nothing in.
#[derive(Debug, Default)]
struct Idle;

impl<T: Send> FromParallelIterator<T> for Idle {
    fn from_par_iter<I: IntoParallelIterator<Item = T>>(_items: I) -> Self {
        Self
    }
}

const HUGE: usize = usize::MAX;

/// `text` with the largest number for `MAX`.
fn huge(text: &str) -> String {
    text.replace("MAX", &HUGE.to_string())
}

const TABLE: &[Row] = &[
    (
        "a drain behind the end",
        "the range Included(2) to Excluded(5) is not within 3 items",
        || panic_of(|| vec![1, 2, 3].par_drain(2..5).count()),
    ),
    ("a drain inside of a character", "byte 1 is inside of a character", || {
        panic_of(|| "é".to_owned().par_drain(1..).count())
    }),
    ("blocks of nothing", "`block_size` must not be 0", || {
        panic_of(|| (0..3).into_par_iter().by_uniform_blocks(0))
    }),
    ("chunks of nothing", "chunk_size must not be zero", || {
        panic_of(|| (0..3).into_par_iter().chunks(0))
    }),
    ("chunks of nothing of a slice", "chunk_size must not be zero", || {
        panic_of(|| [1].par_chunks(0))
    }),
    ("exact ones", "chunk_size must not be zero", || panic_of(|| [1].par_chunks_exact(0))),
    ("windows of nothing", "window_size must not be zero", || panic_of(|| [1].par_windows(0))),
    ("steps of nothing", "`step` of `step_by` must not be 0", || {
        panic_of(|| (0..3).into_par_iter().step_by(0))
    }),
    ("a zip of what is not equal", "`zip_eq` of 3 items with 2", || {
        panic_of(|| (0..3).into_par_iter().zip_eq(0..2))
    }),
    ("a chain that is too long", "a chain of more than MAX items", || {
        panic_of(|| repeat_n(1, HUGE).chain(repeat_n(1, 1)).len())
    }),
    ("interleaving too much", "`interleave` of more than MAX items", || {
        panic_of(|| repeat_n(1, HUGE).interleave(repeat_n(1, HUGE)).len())
    }),
    ("interspersing too much", "`intersperse` makes more than MAX items", || {
        panic_of(|| repeat_n(1, HUGE).intersperse(2).len())
    }),
    ("a source that has too little", "a parallel iterator of 3 items yielded 2 of them", || {
        panic_of(|| Source(3, Drives::Gives(2)).collect::<Vec<_>>())
    }),
    (
        "a source that has too much",
        "a parallel iterator of 2 items yielded 3 or more in a piece of 2",
        || panic_of(|| Source(2, Drives::Gives(3)).collect::<Vec<_>>()),
    ),
    ("a consumer split behind its end", "a piece of 3 items was split at 4", || {
        panic_of(|| Source(3, Drives::Splits(4)).collect::<Vec<_>>())
    }),
    ("a vector split behind its end", "2 items were split at 9", || {
        panic_of(|| vec![1, 2].into_par_iter().with_producer(Far))
    }),
    ("a range split behind its end", "a range was split behind its end", || {
        panic_of(|| (0..2).into_par_iter().with_producer(Far))
    }),
    (
        "a collection that takes nothing",
        "a collection did not drive the parallel iterator that it was to take in",
        || panic_of(|| (0..3).into_par_iter().map(|n| (n, n)).collect::<(Idle, Vec<_>)>()),
    ),
];

#[test]
fn each_mistake_has_its_text() {
    for (mistake, text, make) in TABLE {
        assert_eq!(make(), huge(text), "{mistake}");
    }
    assert!(NOT_SHOWN.iter().all(|(text, why)| !text.is_empty() && !why.is_empty()));
}
