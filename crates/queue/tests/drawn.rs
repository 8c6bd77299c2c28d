//! The generators of the fuzz targets, on a fixed number of random seeds.
#![cfg(not(loom))]

#[path = "drawn/channels.rs"]
mod channels;
#[path = "drawn/queues.rs"]
mod queues;

use sateen_base::XorShift;

fn many(count: usize, run: impl Fn(&[u8])) {
    let mut random = XorShift::new(0xF022);
    for seed in 0..if cfg!(miri) { 4 } else { count } {
        let mut bytes = vec![0; 20 + seed % 1500];
        bytes.fill_with(|| (random.next_u64() >> 32) as u8);
        run(&bytes);
    }
}

#[test]
fn queues_do_what_their_twins_do() {
    many(3_000, queues::run);
}

#[test]
fn channels_do_what_their_twins_do() {
    many(3_000, channels::run);
}
