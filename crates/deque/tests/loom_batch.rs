//! Batches against an owner that pops.
#![cfg(loom)]

mod loom_common;
use loom::thread;
use loom_common::*;
use sateen_deque::{Asymmetric, Cached, Injector, Stage, Worker};
use sateen_testkit::model;
use std::sync::Arc;

/// A thief takes half of four or five items while the owner takes from its end.
fn batch<S: Stage>(preemptions: usize, lifo: bool, keep: bool) {
    model(preemptions, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..4);
        let s = w.stealer();
        let t = thread::spawn(move || {
            let own: Worker<Item> = deque(true);
            let mut got = Vec::new();
            if keep {
                got.extend(s.steal_batch_and_pop(&own).success().map(|item| item.0));
            } else {
                let _ = s.steal_batch(&own);
            }
            got.extend(pop(&own, 4));
            got
        });
        let mine = pop(&w, 3);
        all_once(&w, 4, [mine, t.join().unwrap()]);
    });
}

#[test]
fn lifo() {
    batch::<Cached>(4, true, false);
    batch::<Cached>(4, true, true);
}

#[test]
fn fifo() {
    batch::<Cached>(4, false, false);
    batch::<Cached>(4, false, true);
}

#[test]
fn split() {
    batch::<Asymmetric>(4, true, false);
    batch::<Asymmetric>(4, true, true);
}

/// Two workers take batches from the injector.
#[test]
fn from_the_injector() {
    model(3, || {
        let q = Arc::new(Injector::from_iter((0..3).map(Item)));
        let other = {
            let q = q.clone();
            thread::spawn(move || {
                let own: Worker<Item> = deque(true);
                let first = q.steal_batch_and_pop(&own).success().map(|item| item.0);
                let mut got = pop(&own, 3);
                got.extend(first);
                got
            })
        };
        let own: Worker<Item> = deque(false);
        let _ = q.steal_batch(&own);
        let mut mine = pop(&own, 3);
        let theirs = other.join().unwrap();
        while let Some(item) = q.steal().success() {
            mine.push(item.0);
        }
        all_once(&own, 3, [mine, theirs]);
    });
}
