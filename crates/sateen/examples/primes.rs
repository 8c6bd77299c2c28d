//! Primes by a chain of tasks with a channel from each to the next. Each task keeps back the
//! multiples of one prime.
//!
//! `cargo run --release -p sateen --example primes -- 100` prints the first hundred.

use sateen::channel::{Receiver, bounded};
use sateen::spawn;

/// The numbers from 2 on, for as long as there is a receiver.
fn numbers() -> Receiver<u32> {
    let (sender, receiver) = bounded(64);
    // The task ends when its receiver is gone; the program does not wait for it.
    drop(spawn(move || (2..).try_for_each(|number| sender.send(number))));
    receiver
}

/// The numbers from `numbers` that are no multiples of `prime`.
fn without_multiples(numbers: Receiver<u32>, prime: u32) -> Receiver<u32> {
    let (sender, receiver) = bounded(64);
    drop(spawn(move || {
        numbers.into_iter().filter(|number| number % prime != 0).try_for_each(|n| sender.send(n))
    }));
    receiver
}

fn primes(count: usize) -> Vec<u32> {
    let mut rest = numbers();
    let mut primes = Vec::new();
    while primes.len() < count {
        let Ok(prime) = rest.recv() else { break };
        primes.push(prime);
        rest = without_multiples(rest, prime);
    }
    primes
}

fn main() {
    let count = std::env::args().nth(1);
    match count.as_deref().unwrap_or("20").parse() {
        Ok(count) => println!("{:?}", primes(count)),
        Err(error) => {
            eprintln!("how many primes? {:?} is no number: {error}", count.unwrap_or_default());
            std::process::exit(2);
        }
    }
}

#[test]
fn the_first_twenty() {
    let all = primes(20);
    assert_eq!(all[..5], [2, 3, 5, 7, 11]);
    assert_eq!(all.last(), Some(&71));
}
