//! Each mistake of a user's has its message.
//!
//! `crates/rules` checks that each text of the source is in this file.
#![cfg(not(loom))]

use sateen_deque::{Injector, Worker};
use sateen_testkit::panic_of;

/// Texts of the source that no row shows, and why.
const NOT_SHOWN: &[(&str, &str)] =
    &[("deque capacity overflow", "takes 2^30 items at once, and more than a GiB for them")];

/// What the user does, the text, and what gives it.
type Row = (&'static str, &'static str, fn() -> String);

const TABLE: &[Row] = &[
    ("a batch of nothing", "a batch of at most 0 items", || {
        let (from, to) = (Worker::<u8>::new_fifo(), Worker::new_fifo());
        panic_of(|| from.stealer().steal_batch_with_limit(&to, 0))
    }),
    ("a batch of nothing, and an item", "a batch of at most 0 items", || {
        let (from, to) = (Worker::<u8>::new_fifo(), Worker::new_fifo());
        panic_of(|| from.stealer().steal_batch_with_limit_and_pop(&to, 0))
    }),
    ("a batch of nothing of an injector", "a batch of at most 0 items", || {
        panic_of(|| Injector::<u8>::new().steal_batch_with_limit(&Worker::new_fifo(), 0))
    }),
];

#[test]
fn each_mistake_has_its_text() {
    for (mistake, text, make) in TABLE {
        assert_eq!(&make(), text, "{mistake}");
    }
    assert!(NOT_SHOWN.iter().all(|(text, why)| !text.is_empty() && !why.is_empty()));
}
