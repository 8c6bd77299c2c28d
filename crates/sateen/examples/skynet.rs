//! A million tasks that each spawn ten more, as something to trace or to time.
//!
//! ```text
//! SATEEN_TRACE=skynet.pftrace cargo run --release -p sateen --features trace --example skynet
//! cargo run --release -p sateen --example skynet -- 100000
//! ```
//!
//! Source: the benchmark skynet, <https://github.com/atemerev/skynet>.

use sateen::spawn;
use std::time::Instant;

fn skynet(first: u64, size: u64) -> u64 {
    if size == 1 {
        return first;
    }
    let part = size / 10;
    let parts = (0..10).map(|i| spawn(move || skynet(first + i * part, part)));
    let parts: Vec<_> = parts.collect();
    // A task panics for one of its own that did.
    parts.into_iter().map(|part| part.join().expect("no task panics")).sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size = std::env::args().nth(1).unwrap_or_else(|| "1000000".to_owned());
    let size: u64 = size.parse().map_err(|error| format!("{size}: {error}"))?;
    if size == 0 || !(0..=9).any(|zeros| size == 10u64.pow(zeros)) {
        return Err(format!("{size}: a power of ten up to 1000000000 is wanted").into());
    }
    let runtime = sateen::Runtime::global()?;
    // Until the workers have begun.
    runtime.broadcast(|_| ());
    let start = Instant::now();
    let sum = runtime.install(|| skynet(0, size));
    println!("{sum} in {:?}", start.elapsed());
    Ok(())
}
