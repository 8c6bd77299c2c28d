//! Where addresses are few, mappings leave some of them to the heap.
#![cfg(all(
    not(loom),
    not(miri),
    target_os = "linux",
    target_pointer_width = "32",
    feature = "os"
))]

use sateen_base::os::Mapping;
use sateen_testkit::in_child;

/// Takes all that mappings are given, as a runtime does whose tasks all block.
#[test]
fn mappings_leave_addresses_to_the_heap() {
    if !in_child("mappings_leave_addresses_to_the_heap") {
        return;
    }
    let (mut maps, mut size) = (Vec::new(), 16 << 20);
    while size >= Mapping::PAGE {
        match Mapping::reserve(size) {
            Ok(map) => maps.push(map),
            Err(_) => size /= 2,
        }
    }
    let all: usize = maps.iter().map(Mapping::size).sum();
    assert!(all > 1 << 30, "{all} bytes");
    // What is left is an eighth of that. Half of it may lie in pieces that are too small.
    let pieces = all / 8 / 2 / (1 << 20);
    let mut heap = Vec::new();
    for piece in 0..pieces {
        let mut bytes = Vec::<u8>::new();
        assert!(bytes.try_reserve_exact(1 << 20).is_ok(), "{piece} of {pieces}");
        heap.push(bytes);
    }
}
