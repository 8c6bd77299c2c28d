//! A channel beside its sequential twin, a `VecDeque`: the same operations give the same answers.
#![cfg(not(loom))]

use sateen_base::XorShift;
use sateen_queue::channel::{
    Receiver, Select, Sender, TryRecvError, TrySendError, bounded, unbounded,
};
use std::collections::VecDeque;

struct Twin {
    items: VecDeque<u64>,
    capacity: Option<usize>,
}

impl Twin {
    fn room(&self) -> usize {
        self.capacity.map_or(usize::MAX, |capacity| capacity - self.items.len())
    }
}

fn step(
    random: &mut XorShift,
    tx: &Sender<u64>,
    rx: &Receiver<u64>,
    twin: &mut Twin,
    next: &mut u64,
) {
    let full = twin.room() == 0;
    match random.below(7) {
        0 | 1 => {
            *next += 1;
            let sent = tx.try_send(*next);
            if full {
                assert_eq!(sent, Err(TrySendError::Full(*next)));
            } else {
                assert_eq!(sent, Ok(()));
                twin.items.push_back(*next);
            }
        }
        2 => assert_eq!(rx.try_recv().ok(), twin.items.pop_front()),
        3 => {
            let count = random.below(5).min(twin.room());
            let items: Vec<u64> = (*next + 1..).take(count).collect();
            *next += count as u64;
            assert_eq!(tx.send_all(items.clone()).unwrap(), count);
            twin.items.extend(items);
        }
        4 => {
            let mut buf = Vec::new();
            let max = random.below(5);
            let got = rx.try_recv_into(&mut buf, max);
            let wanted: Vec<u64> = twin.items.drain(..max.min(twin.items.len())).collect();
            match got {
                Ok(count) => assert_eq!(count, wanted.len()),
                Err(error) => assert_eq!((error, max > 0), (TryRecvError::Empty, true)),
            }
            assert_eq!(buf, wanted);
        }
        5 => {
            let mut select = Select::new();
            select.send(tx);
            match select.try_select() {
                Ok(selected) => {
                    assert!(!full);
                    *next += 1;
                    selected.send(tx, *next).unwrap();
                    twin.items.push_back(*next);
                }
                Err(_) => assert!(full),
            }
        }
        _ => {
            let mut select = Select::new();
            select.recv(rx);
            match select.try_select() {
                Ok(selected) => assert_eq!(selected.recv(rx).ok(), twin.items.pop_front()),
                Err(_) => assert!(twin.items.is_empty()),
            }
        }
    }
    assert_eq!((tx.len(), rx.len()), (twin.items.len(), twin.items.len()));
    assert_eq!(rx.is_empty(), twin.items.is_empty());
    assert_eq!(tx.is_full(), twin.capacity == Some(twin.items.len()));
}

#[test]
fn a_channel_does_what_its_twin_does() {
    for capacity in [Some(1), Some(2), Some(3), Some(7), Some(64), None] {
        for seed in 0..if cfg!(miri) { 1 } else { 20 } {
            let (tx, rx) = capacity.map_or_else(unbounded, bounded);
            let mut random = XorShift::new(seed);
            let mut twin = Twin { items: VecDeque::new(), capacity };
            let mut next = 0;
            for _ in 0..if cfg!(miri) { 40 } else { 500 } {
                step(&mut random, &tx, &rx, &mut twin, &mut next);
            }
            drop(tx);
            assert_eq!(rx.iter().collect::<Vec<_>>(), Vec::from(twin.items));
        }
    }
}
