//! Each mistake of a user's has its message.
//!
//! `crates/rules` checks that each text of the source is in this file. Aborts
//! are in `docs/aborts.md`.
#![cfg(not(loom))]

use sateen_pool::{BlockPool, BuildError, Growth, HeapSizes, LockFreeTree, Pool};
use sateen_testkit::panic_of;
use std::alloc::Layout;

/// Texts of the source that no row shows, and why.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("the general allocator has no limit to raise", "when it is compiled"),
    ("pools whose blocks keep nothing while free have no keys", "when it is compiled"),
    (
        "the value is as large as the address space",
        "when it is compiled; no machine has the memory",
    ),
    ("a layout that no allocator can have", "when it is compiled, in a static"),
    ("pools whose blocks keep nothing have no keys", "the text above comes first"),
    ("only pools with memory of their own come here", "the text above comes first"),
    ("the index plus 1 is not 0", "an index is below 2^32 - 1"),
    ("{GUARDS} guards of one entry", "takes 2^31 - 1 guards; `pool/state.rs` tests the count"),
    ("{block:p} is no block of this pool", "in debug builds; `strategies.rs` shows it"),
    ("block {index} at {block:p} was free already", "as above"),
    ("block {index} at {block:p} was given out twice", "as above"),
];

/// What the user does, the text, and what gives it.
type Row = (&'static str, &'static str, fn() -> String);

fn not_built(capacity: usize, size: usize, align: usize) -> String {
    let built = BlockPool::<LockFreeTree>::new(capacity, size, align);
    built.expect_err("not built").to_string()
}

const TABLE: &[Row] = &[
    ("a pool without blocks", "a pool of 0 blocks", || not_built(0, 8, 8)),
    ("blocks without bytes", "blocks of 0 bytes", || not_built(8, 0, 8)),
    ("an odd alignment", "an alignment of 24, which is no power of two", || not_built(8, 8, 24)),
    ("more blocks than have numbers", "9 blocks, where at most 8 are possible", || {
        BuildError::Capacity { asked: 9, most: 8 }.to_string()
    }),
    (
        "more bytes than addresses",
        "8 blocks of MAX bytes, aligned to 8: too large to address",
        || not_built(8, usize::MAX, 8).replace(&usize::MAX.to_string(), "MAX"),
    ),
    (
        "growth to fewer blocks",
        "a pool of 10 blocks cannot grow to 5 in 31 steps of 1 or fewer",
        || {
            let pool = Pool::<u64>::builder(10).grow(Growth::Fixed(1), 5).build();
            pool.expect_err("not built").to_string()
        },
    ),
    ("more than the system has", "the system has no 7 bytes of memory", || {
        BuildError::OutOfMemory { bytes: 7 }.to_string()
    }),
    ("a value too many", "the pool is full: all of its 1 blocks are in use", || {
        let pool = Pool::<u64>::new(1).expect("a pool");
        let _first = pool.try_alloc(1).expect("room");
        pool.try_alloc(2).expect_err("full").to_string()
    }),
    ("a block that there is not", "block 1 of 1", || {
        let pool = BlockPool::<LockFreeTree>::new(1, 8, 8).expect("a pool");
        panic_of(|| pool.blocks().at(1))
    }),
    ("sizes with an odd alignment", "an alignment must be a power of two", || {
        panic_of(HeapSizes::<1, 8, 3>::new)
    }),
    ("an empty block", "an empty block aligned to 64", || {
        let sizes = HeapSizes::<1, 8, 8>::new();
        let empty = Layout::from_size_align(0, 64).expect("a layout");
        panic_of(|| sizes.take(empty))
    }),
];

#[test]
fn each_mistake_has_its_text() {
    for (mistake, text, make) in TABLE {
        assert_eq!(&make(), text, "{mistake}");
    }
    assert!(NOT_SHOWN.iter().all(|(text, why)| !text.is_empty() && !why.is_empty()));
}
