//! The generator of the fuzz target, on a fixed number of random seeds.
#![cfg(not(loom))]

#[path = "drawn/pools.rs"]
mod pools;

use sateen_base::XorShift;

#[test]
fn pools_do_what_their_twins_do() {
    let mut random = XorShift::new(0xF022);
    for seed in 0..if cfg!(miri) { 10 } else { 2_000 } {
        let mut bytes = vec![0; 20 + seed % 1500];
        bytes.fill_with(|| (random.next_u64() >> 32) as u8);
        pools::run(&bytes);
    }
}
