//! Each mistake of a user's has its message.
//!
//! `crates/rules` checks that each text of the source is in this file. Aborts
//! are in `docs/aborts.md`.
#![cfg(all(not(loom), not(miri), target_pointer_width = "64"))]

use futures_sink::Sink;
use sateen_queue::channel::{Select, bounded, never, unbounded};
use sateen_queue::mpmc::{Bounded, Unbounded};
use sateen_queue::{ArrayQueue, spsc};
use sateen_testkit::panic_of;
use std::pin::pin;
use std::time::Duration;

/// Texts of the source that no row shows, and why.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("made above", "a waiter that is missing was made in the line above"),
    ("without a limit", "a selection without a limit ends with an operation"),
    ("one of the operations was selected", "numbers come from the same list"),
    ("items too large", "when it is compiled: a segment would be larger than all memory"),
    ("a segment has come back twice", "in models alone"),
    ("position {position} names no slot", "by a hidden constructor, for tests"),
];

/// What the user does, the text, and what gives it.
type Row = (&'static str, &'static str, fn() -> String);

const TABLE: &[Row] = &[
    ("an item for nobody", "sending on a disconnected channel", || {
        let (sender, _) = unbounded();
        sender.send(1).expect_err("no receiver").to_string()
    }),
    ("one that does not wait", "sending on a disconnected channel", || {
        let (sender, _) = unbounded();
        sender.try_send(1).expect_err("no receiver").to_string()
    }),
    ("an item too many", "sending on a full channel", || {
        let (sender, _receiver) = bounded(0);
        sender.try_send(1).expect_err("no room").to_string()
    }),
    ("one that waits", "timed out waiting to send", || {
        let (sender, _receiver) = bounded(0);
        sender.send_timeout(1, Duration::ZERO).expect_err("no room").to_string()
    }),
    ("items of nobody", "receiving on an empty and disconnected channel", || {
        let (_, receiver) = unbounded::<()>();
        receiver.recv().expect_err("no sender").to_string()
    }),
    ("an item too early", "receiving on an empty channel", || {
        never::<()>().try_recv().expect_err("empty").to_string()
    }),
    ("one that is awaited", "timed out waiting to receive", || {
        never::<()>().recv_timeout(Duration::ZERO).expect_err("empty").to_string()
    }),
    ("a selection of what cannot be", "no operation of the selection is possible now", || {
        Select::new().try_select().expect_err("none").to_string()
    }),
    ("a selection that waits", "timed out waiting for an operation of the selection", || {
        Select::new().select_timeout(Duration::ZERO).expect_err("none").to_string()
    }),
    ("what is not ready", "no operation of the selection is ready now", || {
        Select::new().try_ready().expect_err("none").to_string()
    }),
    (
        "waiting for what is not",
        "timed out waiting for an operation of the selection to be ready",
        || Select::new().ready_timeout(Duration::ZERO).expect_err("none").to_string(),
    ),
    ("a selection of nothing", "no operations have been added to `Select`", || {
        panic_of(|| Select::new().select().index())
    }),
    ("waiting for nothing", "no operations have been added to `Select`", || {
        panic_of(|| Select::new().ready())
    }),
    ("an operation that there is not", "no operation has number 3", || {
        panic_of(|| Select::new().remove(3))
    }),
    ("an operation of another sender", "the selected operation is not of this sender", || {
        let ((sender, _receiver), (other, _other)) = (unbounded::<u8>(), unbounded());
        let mut select = Select::new();
        select.send(&sender);
        panic_of(|| select.select().send(&other, 1))
    }),
    ("an operation of another receiver", "the selected operation is not of this receiver", || {
        let ((sender, receiver), other) = (unbounded::<u8>(), never::<u8>());
        sender.send(1).expect("a receiver");
        let mut select = Select::new();
        select.recv(&receiver);
        panic_of(|| select.select().recv(&other))
    }),
    (
        "an operation that is dropped",
        "a selected operation was dropped without having been completed",
        || {
            let (sender, _receiver) = unbounded::<u8>();
            let mut select = Select::new();
            select.send(&sender);
            panic_of(|| drop(select.select()))
        },
    ),
    ("an item for a sink that is busy", "an item was given to a sink that was not ready", || {
        let (sender, _receiver) = bounded(1);
        let mut sink = pin!(sender.sink());
        let mut give = || sink.as_mut().start_send(1);
        give().expect("a receiver");
        panic_of(give)
    }),
    ("a push too many", "the queue is full", || {
        let queue = Bounded::new(1);
        queue.push(1).expect("room");
        queue.push(2).expect_err("full").to_string()
    }),
    ("a push for nobody", "the queue is closed", || {
        let (mut producer, consumer) = spsc::bounded(1);
        drop(consumer);
        producer.push(1).expect_err("closed").to_string()
    }),
    ("a pop too many", "the queue is empty", || {
        Bounded::<u8>::new(1).pop().expect_err("empty").to_string()
    }),
    ("a pop of what was left", "the queue is closed and drained", || {
        let (producer, mut consumer) = spsc::bounded::<u8>(1);
        drop(producer);
        consumer.pop().expect_err("closed").to_string()
    }),
    ("a queue without room", "capacity must be non-zero", || panic_of(|| Bounded::<u8>::new(0))),
    ("a ring without room", "capacity must be non-zero", || panic_of(|| spsc::bounded::<u8>(0))),
    ("a queue above the limit", "a capacity of 281474976710657 items is above 2^48", || {
        panic_of(|| Bounded::<u8>::new((1 << 48) + 1))
    }),
    ("a ring above it", "a capacity of 281474976710657 items is above the limit", || {
        panic_of(|| spsc::bounded::<u8>((1 << 48) + 1))
    }),
    ("a queue above all memory", "no memory for a queue of 281474976710656 items", || {
        panic_of(|| ArrayQueue::<[u64; 4096]>::new(1 << 48))
    }),
    ("a ring above all memory", "no memory for a queue of 281474976710656 items", || {
        panic_of(|| spsc::bounded::<[u64; 4096]>(1 << 48))
    }),
    ("a batch of nothing", "a batch of at most 0 items", || {
        panic_of(|| Unbounded::<u8>::new().pop_batch(0).is_some())
    }),
];

#[test]
fn each_mistake_has_its_text() {
    for (mistake, text, make) in TABLE {
        assert_eq!(&make(), text, "{mistake}");
    }
    assert!(NOT_SHOWN.iter().all(|(text, why)| !text.is_empty() && !why.is_empty()));
}
