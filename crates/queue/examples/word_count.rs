//! Several threads count words and share one queue of lines.
//!
//! The reader pushes lines while the counters already take them. Counters take lines in batches, so
//! a counter touches the shared end of the queue once for many lines.

use sateen::queue::{PopError, mpmc::Unbounded};
use std::collections::BTreeMap;

fn count(text: &str, threads: usize) -> BTreeMap<&str, usize> {
    let lines = Unbounded::new();
    let counter = || {
        let mut words: BTreeMap<&str, usize> = BTreeMap::new();
        let mut batch = Vec::with_capacity(16);
        loop {
            match lines.pop_into(&mut batch, 16) {
                Ok(_) => {
                    for word in batch.drain(..).flat_map(str::split_whitespace) {
                        *words.entry(word).or_default() += 1;
                    }
                }
                Err(PopError::Closed) => return words,
                Err(_) => std::thread::yield_now(),
            }
        }
    };
    std::thread::scope(|s| {
        let counters: Vec<_> = (0..threads).map(|_| s.spawn(counter)).collect();
        text.lines().for_each(|line| lines.push(line).expect("not closed yet"));
        lines.close();
        let mut total = BTreeMap::new();
        for counter in counters {
            for (word, n) in counter.join().expect("a counter panicked") {
                *total.entry(word).or_default() += n;
            }
        }
        total
    })
}

const TEXT: &str = "warp and weft\nweft over warp\nwarp under weft\nand so on and on";

fn main() {
    for (word, n) in count(TEXT, 3) {
        println!("{n:3} {word}");
    }
}

#[test]
fn many_counters_agree_with_one() {
    let text = format!("{TEXT}\n").repeat(500);
    let alone = count(&text, 1);
    assert_eq!(alone["warp"], 1500);
    for threads in [2, 4] {
        assert_eq!(count(&text, threads), alone);
    }
}
