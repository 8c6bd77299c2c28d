//! The queue for one producer and one consumer under the model checker.
#![cfg(loom)]

use loom::thread;
use sateen_queue::PopError;
use sateen_queue::spsc::starting_at;
use sateen_testkit::model;

/// The producer pushes more items than there are slots, and then closes. The consumer is told
/// "closed" after the last item.
#[test]
fn round_the_ring_to_the_end() {
    for capacity in [1, 2] {
        model(3, move || {
            let (mut producer, mut consumer) = starting_at(capacity, usize::MAX);
            let pushing = thread::spawn(move || {
                for i in 0..3 {
                    let mut item = Box::new(i);
                    while let Err(full) = producer.push(item) {
                        item = full.into_inner();
                        thread::yield_now();
                    }
                }
            });
            let mut got = Vec::new();
            loop {
                match consumer.pop() {
                    Ok(item) => got.push(*item),
                    Err(PopError::Closed) => break,
                    Err(_) => thread::yield_now(),
                }
            }
            assert_eq!(got, [0, 1, 2]);
            pushing.join().unwrap();
        });
    }
}

/// Batches at both ends.
#[test]
fn batches() {
    model(3, || {
        let (mut producer, mut consumer) = starting_at(2, usize::MAX);
        let pushing = thread::spawn(move || {
            let mut items = (0..4).map(Box::new);
            while items.len() > 0 {
                if producer.push_from(&mut items).is_err() {
                    thread::yield_now();
                }
            }
        });
        let mut got = Vec::new();
        loop {
            match consumer.pop_into(&mut got, 2) {
                Ok(_) => {}
                Err(PopError::Closed) => break,
                Err(_) => thread::yield_now(),
            }
        }
        assert!(got.into_iter().map(|item| *item).eq(0..4));
        pushing.join().unwrap();
    });
}

/// The consumer is dropped while the producer pushes. Every item is dropped once.
#[test]
fn the_consumer_goes() {
    model(3, || {
        let (mut producer, consumer) = starting_at(2, 0);
        let gone = thread::spawn(move || drop(consumer));
        let item = std::sync::Arc::new(());
        let back = producer.push(item.clone());
        gone.join().unwrap();
        assert!(producer.is_closed());
        assert!(producer.push(item.clone()).unwrap_err().is_closed());
        drop((back, producer));
        assert_eq!(std::sync::Arc::strong_count(&item), 1);
    });
}
