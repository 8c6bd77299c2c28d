//! `HeapMagazine::keep_nothing`. This is a separate program, because that call concerns the whole
//! process.
#![cfg(not(loom))]

use sateen_pool::HeapMagazine;

#[test]
fn keeps_nothing_and_works() {
    HeapMagazine::keep_nothing();
    let heap = HeapMagazine::new::<[u64; 8]>();
    let blocks: Vec<_> = (0..100).filter_map(|_| heap.take()).collect();
    assert_eq!(blocks.len(), 100);
    for block in blocks {
        // SAFETY: the block was just taken. To a memory checker, a block that is not freed here
        // would be a leak.
        unsafe { heap.give(block) };
    }
}
