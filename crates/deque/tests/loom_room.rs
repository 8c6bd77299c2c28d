//! Growing, shrinking and reusing cells while thieves are at work.
#![cfg(loom)]

mod loom_common;
use loom_common::*;
use sateen_deque::{Asymmetric, Cached, Plain, Stage, Steal, Worker};
use sateen_testkit::model;

/// The owner fills the ring while a thief empties it. A cell is reused only after the thief has
/// marked it.
fn reuse<S: Stage>(lifo: bool) {
    model(3, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..2);
        let t = thief(w.stealer(), 2);
        push(&w, 2..4);
        let mine = pop(&w, 1);
        all_once(&w, 4, [mine, t.join().unwrap()]);
    });
}

/// A thief marks a cell. A lap later the owner takes an item from that cell, and another lap later
/// a thief does. The first mark looks like the last one.
fn marks_of_other_laps<S: Stage>(lifo: bool) {
    model(2, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..1);
        assert_eq!(w.stealer().steal(), Steal::Success(Item(0)));
        let mut mine = vec![0];
        for item in 1..4 {
            push(&w, item..item + 1);
            mine.extend(pop(&w, 1));
        }
        push(&w, 4..5);
        let t = thief(w.stealer(), 1);
        push(&w, 5..7);
        all_once(&w, 7, [mine, t.join().unwrap()]);
    });
}

/// The buffer is replaced twice. The second replacement goes into the half of the root that the
/// thief may have read.
fn grow_twice<S: Stage>(lifo: bool) {
    model(2, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..2);
        let t = thief(w.stealer(), 1);
        push(&w, 2..6);
        all_once(&w, 6, [t.join().unwrap()]);
    });
}

/// Two thieves, one of them slow, while the buffer is replaced.
fn two_thieves<S: Stage>(lifo: bool) {
    model(2, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..2);
        let (a, b) = (thief(w.stealer(), 1), thief(w.stealer(), 1));
        push(&w, 2..4);
        all_once(&w, 4, [a.join().unwrap(), b.join().unwrap()]);
    });
}

/// The owner shrinks the buffer while a thief uses it.
fn shrink<S: Stage>(lifo: bool) {
    model(3, move || {
        let w: Worker<Item, S> = deque(lifo);
        // Four cells, then four pops from the lowest part of them.
        push(&w, 0..3);
        assert_eq!(pop(&w, 2).len(), 2);
        push(&w, 3..4);
        assert_eq!(pop(&w, 1).len(), 1);
        push(&w, 4..5);
        let t = thief(w.stealer(), 2);
        let mine = pop(&w, 2);
        push(&w, 5..6);
        let taken: Vec<u32> = if lifo { vec![2, 1, 3] } else { vec![0, 1, 2] };
        all_once(&w, 6, [taken, mine, t.join().unwrap()]);
    });
}

/// The owner is dropped while a thief may still read from a retired buffer.
fn owner_goes<S: Stage>(lifo: bool) {
    model(4, move || {
        let w: Worker<Item, S> = deque(lifo);
        push(&w, 0..2);
        let t = thief(w.stealer(), 1);
        push(&w, 2..3);
        drop(w);
        let got = t.join().unwrap();
        assert!(got.is_empty() || got == [0]);
    });
}

#[test]
fn reuse_of_cells() {
    reuse::<Cached>(true);
    reuse::<Cached>(false);
    reuse::<Plain>(true);
}

#[test]
fn marks_of_laps() {
    marks_of_other_laps::<Cached>(true);
    marks_of_other_laps::<Cached>(false);
    marks_of_other_laps::<Plain>(true);
    marks_of_other_laps::<Plain>(false);
}

#[test]
fn growing_twice() {
    grow_twice::<Cached>(true);
    grow_twice::<Cached>(false);
}

#[test]
fn growing_under_two_thieves() {
    two_thieves::<Cached>(true);
}

#[test]
fn shrinking() {
    shrink::<Cached>(true);
    shrink::<Cached>(false);
}

#[test]
fn the_owner_goes() {
    owner_goes::<Cached>(true);
}

#[test]
fn split_reuse() {
    reuse::<Asymmetric>(true);
}

#[test]
fn split_growing() {
    grow_twice::<Asymmetric>(true);
}

#[test]
fn split_shrinking() {
    shrink::<Asymmetric>(true);
}
