//! The generators of the fuzz targets, on a fixed number of random seeds.
#![cfg(not(loom))]

#[path = "drawn/semaphore.rs"]
mod semaphore;
#[path = "drawn/timers.rs"]
mod timers;

use sateen_base::XorShift;

fn many(count: usize, run: impl Fn(&[u8])) {
    let mut random = XorShift::new(0xF022);
    for seed in 0..if cfg!(miri) { 10 } else { count } {
        let mut bytes = vec![0; 20 + seed % 1500];
        bytes.fill_with(|| (random.next_u64() >> 32) as u8);
        run(&bytes);
    }
}

#[test]
fn timers_do_what_their_twins_do() {
    many(3_000, timers::run);
}

#[test]
fn a_semaphore_does_what_its_twin_does() {
    many(3_000, semaphore::run);
}
