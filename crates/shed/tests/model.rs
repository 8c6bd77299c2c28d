//! Random operations on a shed and on its sequential twin give the same answers in the same order.
#![cfg(not(loom))]

mod beside_twin;

use sateen_base::XorShift;

#[test]
fn a_million_operations_beside_a_twin() {
    let mut random = XorShift::new(0x5EED);
    const OPERATIONS: u64 = if cfg!(miri) { 100 } else { 1_000_000 };
    let (mut bytes, mut operations) = ([0; if cfg!(miri) { 60 } else { 2000 }], 0);
    while operations < OPERATIONS {
        bytes.fill_with(|| (random.next_u64() >> 32) as u8);
        operations += beside_twin::run(&bytes);
    }
}
