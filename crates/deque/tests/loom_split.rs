//! The asymmetric stage: it has a private part, thieves publish items, and the owner takes items
//! back.
#![cfg(loom)]

mod loom_common;
use loom_common::*;
use sateen_deque::{Asymmetric, Worker};
use sateen_testkit::model;

type Deque = Worker<Item, Asymmetric>;

#[test]
fn last_items() {
    model(4, || {
        let w: Deque = deque(true);
        push(&w, 0..2);
        let t = thief(w.stealer(), 2);
        let mine = pop(&w, 2);
        all_once(&w, 2, [mine, t.join().unwrap()]);
    });
}

/// A thief takes items that another thief published, without a fence. The owner takes some back.
#[test]
fn two_thieves() {
    model(3, || {
        let w: Deque = deque(true);
        push(&w, 0..2);
        let (a, b) = (thief(w.stealer(), 1), thief(w.stealer(), 1));
        let mine = pop(&w, 1);
        all_once(&w, 2, [mine, a.join().unwrap(), b.join().unwrap()]);
    });
}

/// Some of the items are public from the start. The owner pops down into them and pushes again at
/// indices that were public before.
#[test]
fn taking_back() {
    model(3, || {
        let w: Deque = deque(true);
        push(&w, 0..4);
        let first = w.stealer().steal().success().expect("four are there");
        assert_eq!(first.0, 0);
        let t = thief(w.stealer(), 2);
        let mut mine = pop(&w, 3);
        push(&w, 4..5);
        mine.extend(pop(&w, 1));
        all_once(&w, 5, [vec![0], mine, t.join().unwrap()]);
    });
}

/// The owner publishes with each push because a thief has asked.
#[test]
fn sharing() {
    model(2, || {
        let w: Deque = deque(true);
        push(&w, 0..1);
        assert_eq!(w.stealer().steal().success(), Some(Item(0)));
        let t = thief(w.stealer(), 2);
        push(&w, 1..3);
        let mine = pop(&w, 2);
        all_once(&w, 3, [vec![0], mine, t.join().unwrap()]);
    });
}

/// A deque whose buffer is large for its only item. That item is the oldest that was ever pushed.
fn roomy() -> (Deque, Vec<u32>) {
    let w: Deque = deque(true);
    push(&w, 0..5);
    let popped = pop(&w, 4);
    assert_eq!(popped, [4, 3, 2, 1]);
    (w, popped)
}

/// The owner pops the last private item from a large buffer.
#[test]
fn last_items_of_many() {
    model(3, || {
        let (w, popped) = roomy();
        push(&w, 5..6);
        let t = thief(w.stealer(), 2);
        let mine = pop(&w, 2);
        all_once(&w, 6, [popped, mine, t.join().unwrap()]);
    });
}

/// The owner publishes with each push, and pops the last private item from a large buffer. A thief
/// that sees this pop also sees the items before.
#[test]
fn sharing_few_of_many() {
    model(3, || {
        let (w, popped) = roomy();
        assert_eq!(w.stealer().steal().success(), Some(Item(0)));
        let t = thief(w.stealer(), 1);
        push(&w, 5..7);
        let mine = pop(&w, 1);
        all_once(&w, 7, [vec![0], popped, mine, t.join().unwrap()]);
    });
}

/// The thief is there before the items. It may or may not publish them itself.
#[test]
fn pushed_under_watch() {
    model(3, || {
        let w: Deque = deque(true);
        let t = thief(w.stealer(), 1);
        push(&w, 0..2);
        let mine = pop(&w, 1);
        all_once(&w, 2, [mine, t.join().unwrap()]);
    });
}
