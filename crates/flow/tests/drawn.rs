//! The generator of the fuzz target, on a fixed number of random seeds.
#![cfg(not(loom))]

#[path = "drawn/worker_queue.rs"]
mod worker_queue;

use sateen_base::XorShift;

#[test]
fn a_worker_queue_loses_nothing() {
    let mut random = XorShift::new(0xF022);
    for seed in 0..if cfg!(miri) { 5 } else { 1_500 } {
        let mut bytes = vec![0; 20 + seed % 300];
        bytes.fill_with(|| (random.next_u64() >> 32) as u8);
        worker_queue::run(&bytes);
    }
}
