//! Something to look at in a trace: blocks of numbers go from a thread to two tasks.
//!
//! ```text
//! SATEEN_TRACE=blocks.pftrace cargo run --release -p sateen --features trace --example blocks
//! ```
//!
//! A plain thread makes blocks and sends them. One task sorts them, both halves at once, and sends
//! each on to a second task, which adds up. The guide's page *see it run* has a picture of it,
//! which `scripts/pictures trace` draws.

use sateen::channel::{Receiver, Sender, bounded};
use sateen::{Runtime, Spawn, join};
use std::thread;

/// Numbers in a block.
const SIZE: u32 = 24_000;

fn make(blocks: u32, out: &Sender<Vec<u32>>) {
    for block in 0..blocks {
        let mix = |n: u32| (n ^ block).wrapping_mul(2_654_435_761).rotate_left(15);
        if out.send((0..SIZE).map(mix).collect()).is_err() {
            return;
        }
    }
}

/// Sorts the halves as two branches, and merges them.
fn sort(mut block: Vec<u32>) -> Vec<u32> {
    let (low, high) = block.split_at_mut(SIZE as usize / 2);
    join(|| low.sort_unstable(), || high.sort_unstable());
    block.sort();
    block
}

fn sort_all(blocks: &Receiver<Vec<u32>>, sorted: &Sender<Vec<u32>>) {
    for block in blocks {
        if sorted.send(sort(block)).is_err() {
            return;
        }
    }
}

/// How far the numbers of all blocks lie apart.
fn add_up(sorted: &Receiver<Vec<u32>>) -> u64 {
    let distance = |block: Vec<u32>| block.windows(2).map(|w| u64::from(w[1] - w[0])).sum::<u64>();
    sorted.iter().map(distance).sum()
}

fn run(blocks: u32) -> Result<u64, Box<dyn std::error::Error>> {
    let runtime = Runtime::builder().workers(2).build()?;
    // Threads take a millisecond to start, which is not what the picture is about.
    runtime.broadcast(|_| ());
    let (out, made) = bounded(1);
    let (to_sum, sorted) = bounded(1);
    let sum = runtime.spawn_with(Spawn::new().name("add up"), move || add_up(&sorted));
    let sorter = runtime.spawn_with(Spawn::new().name("sort"), move || sort_all(&made, &to_sum));
    thread::Builder::new().name("maker".to_owned()).spawn(move || make(blocks, &out))?;
    sorter.join()?;
    Ok(sum.join()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{}", run(5)?);
    Ok(())
}

#[test]
fn each_block_is_sorted_and_added_up() {
    let all = run(3).expect("no panic");
    let one = |block: u32| {
        let numbers = (0..SIZE).map(|n| (n ^ block).wrapping_mul(2_654_435_761).rotate_left(15));
        let (least, most) = (numbers.clone().min(), numbers.max());
        u64::from(most.expect("some") - least.expect("some"))
    };
    assert_eq!(all, (0..3).map(one).sum::<u64>());
}
