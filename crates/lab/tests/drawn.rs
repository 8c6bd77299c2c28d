//! The generator of the fuzz target, on a fixed number of random seeds.

#[path = "../src/report/document.rs"]
#[allow(dead_code, unreachable_pub)]
mod document;
#[path = "drawn/results.rs"]
mod results;

use sateen_base::XorShift;

#[test]
fn results_are_refused_or_read_as_they_were_written() {
    let mut random = XorShift::new(0xF022);
    for seed in 0..3_000 {
        let mut bytes = vec![0; 1 + seed % 600];
        bytes.fill_with(|| (random.next_u64() >> 32) as u8);
        results::run(&bytes);
    }
}
